"""The addresses of a lowered kernel's variables: parameters, shared and local variables, constants.

For selection, which turns names into addresses, and for `layout.py`, which prints the declarations. The rules are the
dialect's: parameters from `s[0x0010]` on in order, each aligned, the total rounded up to 4; shared variables
after them, an unsized one (dynamic shared memory) last; constants in the segment `constant0`, where `.constptr` lets
the host find them by name; local variables from 0 on. Global variables keep their names.

Refused by name (`Refusal`): initial values that are addresses, parameters of types the dialect lacks.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from math import prod

from ptxtool.ir.blocks import block_bound
from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Declaration, Declarator, Function, Module, Operand, Vector
from ptxtool.ir.variables import alignment_of, declared_size, element_type, round_up
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.flatten import Refusal

PARAMETERS = 0x10
"""The address of the first parameter in shared memory."""
_EXCHANGE = "%shuffles"
"""The words through which warps shuffle; no variable has this name."""
_MOST_THREADS = 1024


def most_threads(kernel: Function) -> int:
    """The upper bound of threads in a CTA of the kernel."""
    bound = block_bound(kernel)
    return min(_MOST_THREADS, bound.threads) if bound else _MOST_THREADS


def _is_texture(declaration: Declaration) -> bool:
    """Whether a variable is a texture: `.global .texref image;`, before PTX 1.5 `.tex .u32 image;`."""
    return declaration.type == "texref" or declaration.space == "tex"


def _declarations(function: Function) -> Iterator[Declaration]:
    """The declarations in a function's body."""
    return (s for _, s in function.other_statements if isinstance(s, Declaration))


def parameter_name(kernel: Function, name: str) -> str:
    """The name of a parameter as the converter prints it."""
    return f"__cudaparm_{name if name.startswith(kernel.name) else f'{kernel.name}_{name}'}"


@dataclass(frozen=True)
class VariableAddress:
    """A variable: its space ("param", "shared", "const", "local", "global") and its address there.

    A global variable's address is its name: `address` is 0.
    """

    space: str
    name: str
    address: int


def initial_bytes(declaration: Declaration, declarator: Declarator) -> bytes:
    """The initial value of a variable. Raises `Refusal` for values that are no numbers."""
    element = element_type(declaration)
    memory = bytearray(declared_size(declaration, declarator))
    dimensions = [d or 0 for d in declarator.dimensions] + ([declaration.vector] * (declaration.vector > 1))
    for index, value in _elements(declarator.value, dimensions):
        try:
            bits = constant(value).bits(element)
        except ValueError:
            what = f"the initial value of '{declarator.name}' is an address"
            raise Refusal(f"{what}: addresses have 32 bits there, and the variable 64") from None
        start = index * element.bytes
        memory[start : start + element.bytes] = bits.to_bytes(element.bytes, "little")
    return bytes(memory)


def _elements(value: Operand | None, dimensions: list[int]) -> Iterator[tuple[int, Operand]]:
    """(element index, value) of nested lists."""
    if isinstance(value, Vector):
        inner = prod(dimensions[1:])
        for k, item in enumerate(value.items):
            for index, found in _elements(item, dimensions[1:]):
                yield k * inner + index, found
    elif value is not None:
        yield 0, value


class ModuleVariables:
    """The variables that all kernels of a module share: constants and globals. `used` are those that code names."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.used: set[str] = set()
        self.textures = tuple(d.name for item, d in self._declared() if _is_texture(item))
        self._variables: list[tuple[VariableAddress, Declaration, Declarator]] = []
        segments = chain(["constant0"], map("constant0_{}".format, count()))
        self.segment = next(name for name in segments if name not in module.variables)
        end = 0
        for declaration, declarator in self._declared():
            space, address = declaration.space.partition("[")[0], 0
            if space == "const":
                address = round_up(end, alignment_of(declaration))
                end = address + declared_size(declaration, declarator)
            if space in ("const", "global") and declaration.type in TYPES:
                place = VariableAddress(space, declarator.name, address)
                self._variables.append((place, declaration, declarator))

    def _declared(self) -> Iterator[tuple[Declaration, Declarator]]:
        inner = chain.from_iterable(map(_declarations, self.module.functions.values()))
        found = (*self.module.storage(), *(s for s in inner if s.space in ("global", "const")))
        yield from ((d, x) for d in found for x in d.declarators)

    def in_space(self, space: str) -> Iterator[tuple[VariableAddress, Declaration, Declarator]]:
        """The variables of a space, "const" or "global", that code names."""
        return (v for v in self._variables if v[0].space == space and v[0].name in self.used)

    def constant_words(self) -> Sequence[int]:
        """The words of the constant segment, up to the last that code names."""
        memory = bytearray()
        for place, declaration, declarator in self.in_space("const"):
            memory += bytes(place.address - len(memory)) + initial_bytes(declaration, declarator)
        memory += bytes(-len(memory) % 4)
        return struct.unpack(f"<{len(memory) // 4}I", memory)

    def find(self, name: str) -> VariableAddress | None:
        """A variable by its name. Raises `Refusal` where its initial value is an address."""
        found = self._named.get(name)
        if found is not None and name not in self.used:
            for _, declaration, declarator in self._variables:
                if declarator.name == name and declarator.value is not None:
                    initial_bytes(declaration, declarator)
            self.used.add(name)
        return found

    @cached_property
    def _named(self) -> dict[str, VariableAddress]:
        # of two variables with one name the global one
        variables = sorted(self._variables, key=lambda variable: variable[0].space == "global")
        return {place.name: place for place, _, _ in variables}


class KernelVariables:
    """The variables of one kernel. Local ones get their addresses on the first `find`, all others at once.

    `used` finds the names that its instructions have; it is called where shared variables are declared.
    """

    def __init__(
        self,
        kernel: Function,
        functions: set[str],
        shared: ModuleVariables,
        used: Callable[[], set[str]],
        exchanges: bool,
    ) -> None:
        self.kernel, self._module = kernel, shared
        self.exchange: VariableAddress | None = None
        """The words, one per thread of a CTA, through which warps shuffle."""
        self.parameters: dict[str, VariableAddress] = {}
        self.texture_parameters: dict[str, str] = {}
        """The parameters that may be texture objects, with their names in PTXPlus."""
        self.textures = shared.textures
        end = PARAMETERS
        for declaration in kernel.parameters:
            for declarator in declaration.declarators:
                end = round_up(end, alignment_of(declaration))
                self.parameters[declarator.name] = VariableAddress("param", declarator.name, end)
                end += declared_size(declaration, declarator)
                if not declarator.dimensions and alignment_of(declaration) == 8:
                    self.texture_parameters[declarator.name] = parameter_name(kernel, declarator.name)
        self.parameter_end = round_up(end, 4)
        self.shared: dict[str, tuple[VariableAddress, int, int]] = {}  # address, bytes, alignment
        self._locals: dict[tuple[str, str], VariableAddress] = {}
        self.local_bytes = 0
        self._place_shared(functions, used, exchanges)

    def _place_shared(self, functions: set[str], used: Callable[[], set[str]], exchanges: bool) -> None:
        module = self.kernel.module
        found = [(d, x) for d in module.storage() for x in d.declarators]
        for name in sorted(functions, key=list(module.functions).index):
            found += [(s, x) for s in _declarations(module.functions[name]) for x in s.declarators]
        self.has_locals = any(d.space == "local" for d, _ in found)
        declared = [(d, x) for d, x in found if d.space == "shared"]
        names = used() if declared else ()
        sized = [(d, x) for d, x in declared if x.name in names]
        wanted = [(x.name, declared_size(d, x), alignment_of(d)) for d, x in sized]
        if exchanges:
            wanted.append((_EXCHANGE, 4 * most_threads(self.kernel), 4))
        wanted.sort(key=lambda item: item[1] == 0)  # dynamic shared memory last
        end = self.parameter_end
        for name, n_bytes, alignment in wanted:
            if name not in self.shared:
                end = round_up(end, alignment)
                self.shared[name] = (VariableAddress("shared", name, end), n_bytes, alignment)
                end += n_bytes
        if exchanges:
            self.exchange = self.shared[_EXCHANGE][0]

    def find(self, name: str, function: Function) -> VariableAddress | None:
        """The variable that a name means in a function that the kernel calls, or in the kernel itself."""
        if function is self.kernel and name in self.parameters:
            return self.parameters[name]
        if name in self.shared:
            return self.shared[name][0]
        local = self._locals.get((function.name, name))
        if local is not None:
            return local
        for declaration in _declarations(function):
            if declaration.space != "local":
                continue
            for declarator in declaration.declarators:
                if declarator.name == name:
                    start = round_up(self.local_bytes, alignment_of(declaration))
                    self.local_bytes = start + declared_size(declaration, declarator)
                    local = self._locals[function.name, name] = VariableAddress("local", name, start)
                    return local
        return self._module.find(name)
