"""The layout of a kernel's shared variables, and the bytes of the scratchpad that are private to a CTA.

For scratchpad sharing: bytes below floor(bytes * (100 - share) / 100) are a CTA's own, those above are its pair's. In
PTX the variables that the kernel names are laid out in order from 0 on, by their alignment: those of the module, then
those of the body, each in textual order; an unsized one (`.extern .shared .b8 x[]`) begins where the sized ones end.
In PTXPlus 16 bytes of header and the parameters precede them, and every declared variable takes bytes.

Not handled: kernels that call functions with shared variables (or unknown functions), which are laid out in between;
their layout is not `exact`, and nothing may be taken for private. Reference: PTX ISA, section 5.4; V. Jatala, J.
Anantpur, A. Karkare, HPDC 2016, section III (equation 4).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from ptxtool.analysis.occupancy.sharing_plan import private_part
from ptxtool.base.diag import error
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Declaration, Declarator, Function
from ptxtool.ir.variables import alignment_of, declared_size, round_up

HEADER_BYTES = 16
"""PTXPlus: the bytes before the parameters."""
_SPACES = frozenset({"shared", "sstarr"})


@dataclass(frozen=True)
class SharedVariable:
    """One variable: `size` is 0 where it has none of its own (dynamic), `in_body` whether the kernel declares it."""

    name: str
    offset: int
    size: int
    alignment: int
    in_body: bool
    declaration: Declaration = field(repr=False)

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True)
class SharedLayout:
    """The shared variables of one kernel by address. `bytes` are the static ones of a CTA; `start` is the first that
    a variable can have, after PTXPlus's parameters."""

    kernel: Function = field(repr=False, compare=False)
    variables: tuple[SharedVariable, ...]
    start: int
    bytes: int
    exact: bool

    def variable(self, name: str) -> SharedVariable | None:
        return next((v for v in self.variables if v.name == name), None)

    def boundary(self, percent: Fraction, scratchpad: int = 0) -> int:
        """The first byte that a pair shares. `scratchpad` is the bytes per CTA, 0 for the static ones. Raises E502."""
        if scratchpad and scratchpad < self.bytes:
            what = f"scratchpad = {scratchpad} is less than the {self.bytes} bytes of '{self.kernel.name}'"
            raise error("E502", what, help="give the bytes per CTA, dynamic shared memory included")
        return private_part(scratchpad or self.bytes, percent) if self.exact else 0


def shared_declarations(kernel: Function) -> Iterator[tuple[Declaration, Declarator, bool]]:
    """The shared variables visible in a kernel, in the order of their layout, and whether its body declares them."""
    inner = (s for s in kernel.body or () if isinstance(s, Declaration))
    for declarations, in_body in ((kernel.module.storage(), False), (inner, True)):
        for declaration in declarations:
            if declaration.space in _SPACES:
                yield from ((declaration, declarator, in_body) for declarator in declaration.declarators)


def shared_layout(kernel: Function) -> SharedLayout:
    """The layout of a kernel's shared variables."""
    ptxplus = kernel.module.is_ptxplus
    start = HEADER_BYTES + _parameter_bytes(kernel) if ptxplus else 0
    end = start
    found: dict[str, SharedVariable] = {}
    unsized: list[tuple[Declaration, Declarator, bool]] = []
    for declared in _in_use(kernel):
        declaration, declarator, in_body = declared
        size, alignment = declared_size(declaration, declarator), alignment_of(declaration)
        if declarator.name in found:
            continue
        if size == 0:
            unsized.append(declared)
            continue
        offset = round_up(end, alignment)
        end = offset + size
        found[declarator.name] = SharedVariable(
            declarator.name, offset, size, alignment, in_body, declaration
        )
    for declaration, declarator, in_body in unsized:
        alignment, name = alignment_of(declaration), declarator.name
        end = round_up(end, alignment)
        found.setdefault(name, SharedVariable(name, end, 0, alignment, in_body, declaration))
    size = round_up(end, 16) if ptxplus else end
    return SharedLayout(kernel, tuple(found.values()), start, size, exact=_calls_no_variables(kernel))


def _in_use(function: Function) -> Iterator[tuple[Declaration, Declarator, bool]]:
    """Those of `shared_declarations` that take bytes: in PTX the ones that the function names."""
    named = {n.text for node in function.instructions for o in node.operands for n in names(o)}
    for declared in shared_declarations(function):
        if function.module.is_ptxplus or declared[1].name in named:
            yield declared


def _calls_no_variables(kernel: Function) -> bool:
    """Whether all functions that a kernel calls, directly or not, are known and have no shared variables."""
    functions = kernel.module.functions
    known, left = {kernel.name}, [kernel]
    while left:
        for node in left.pop().instructions:
            if node.opcode.base != "call":
                continue
            called = {n.text for o in node.operands for n in names(o) if n.text in functions}
            if not called:  # through a register
                return False
            for name in called - known:
                if functions[name].body is None or any(_in_use(functions[name])):
                    return False
                left.append(functions[name])
            known |= called
    return True


def _parameter_bytes(kernel: Function) -> int:
    end = 0
    for declaration in kernel.parameters:
        for declarator in declaration.declarators:
            end = round_up(end, alignment_of(declaration)) + declared_size(declaration, declarator)
    return round_up(end, 4)
