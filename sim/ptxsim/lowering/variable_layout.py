"""Where the variables of a kernel lie: addresses of every symbol, and the first bytes of the spaces.

For lowering (addresses) and for the memory image of a launch (bytes). Global variables are laid out from
GLOBAL_BASE on, each on its own 256-byte boundary; constants, shared and local variables and parameters from 0 on,
by their alignment, in textual order. Global variables and constants lie at the same places for every kernel of a
module; those of a second module on one machine follow the first's (`ModuleBase`). Only shared variables that the
kernel or a function it reaches names take room; an
unsized one (`.extern .shared .b8 x[]`) begins where the sized ones end, which is where dynamic shared memory lies. The
address of a function is a number below GLOBAL_BASE; local variables of functions lie in frames (lowering/frames.py).

PTXPlus: parameters lie in shared memory from 0x10 on, each at a multiple of its own size, the total rounded up to 4;
16 bytes of header lie before them (execute/start.py). Declared shared variables
follow, named or not: code may name their addresses. ptxas has resolved them without a declaration, so that the size of
that part is the launch's `dynamic_shared`. `.constptr NAME, BASE, OFFSET` makes NAME mean BASE + OFFSET.

Reference: PTX ISA, section 5.4 (variables, initializers, alignment); GPGPU-Sim's manual, PTXPlus.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ptxsim.base.program import CONST, GLOBAL, LOCAL, NO_SPACE, PARAM, SHARED, TEXTURE
from ptxsim.execute.codes import CONST_WINDOW, LOCAL_WINDOW, SHARED_WINDOW
from ptxsim.execute.texture.texture_table import HANDLE_BASE, HANDLE_STEP
from ptxsim.lowering.frames import FunctionFrame, VariableSpace
from ptxtool.base.diag import error
from ptxtool.ir.constants import constant
from ptxtool.ir.names import names
from ptxtool.ir.nodes import (
    Apply,
    Declaration,
    Declarator,
    Directive,
    Function,
    Immediate,
    Memory,
    Module,
    Name,
    Operand,
    Unary,
    Vector,
)
from ptxtool.ir.variables import alignment_of, declared_size, element_type, round_up
from ptxtool.isa.literals import integer, literal
from ptxtool.isa.types import TYPES, Type

GLOBAL_BASE = 0x1000_0000
CODE_BASE, CODE_BYTES = 0x10_0000, 16
"""Where the addresses of functions begin, and how far they are apart. No memory lies there."""
ALIGNMENT = 256
"""Of buffers and global variables, as cudaMalloc gives."""
RESERVED_REGISTERS = tuple(f"reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1"))
RESERVED_BYTES = 1024
"""Shared memory of the system, where cooperative groups of several warps meet. Kernels that ask for it have it."""
WORKSPACE_REGISTERS = ("envreg1", "envreg2")
"""Upper and lower half of the address at which a cooperative launch has zeroed memory, for barriers of the grid."""
SIZE_REGISTERS = ("dynamic_smem_size", "total_smem_size", "aggr_smem_size")
"""Bytes of shared memory: what the launch adds, with what the kernel declares, with what is reserved for the system."""
LAUNCH_REGISTERS = (*SIZE_REGISTERS, *RESERVED_REGISTERS, *WORKSPACE_REGISTERS)
"""Special registers that a launch fixes; `MemoryImage` writes them."""
PARAM_START = 0x10
"""PTXPlus: where the parameters begin in shared memory."""
UNDECLARED_LOCAL_BYTES = 1024
"""PTXPlus: local memory per thread of a kernel that uses it without declaring its size."""

MOST_BYTES = {GLOBAL: 1 << 30, CONST: 1 << 24}
"""Of the variables of a module; a GPU has 64 KiB of constants in a bank, and ten banks of them."""

OPAQUE = ("texref", "samplerref", "surfref")
"""Types of variables that are no memory: their addresses are handles (execute/texture/texture_table.py)."""

_SPACES = {
    "global": GLOBAL,
    "const": CONST,
    "shared": SHARED,
    "sstarr": SHARED,
    "local": LOCAL,
    "param": PARAM,
}
_WINDOWS = {CONST: CONST_WINDOW, LOCAL: LOCAL_WINDOW, SHARED: SHARED_WINDOW}


@dataclass(frozen=True)
class Symbol:
    """A variable: the number of its space, its address there, its size and its element type."""

    name: str
    space: int
    address: int
    size: int
    type: str

    @property
    def generic_address(self) -> int:
        return self.address + _WINDOWS.get(self.space, 0)


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: its place, and whether it is declared as a pointer (`.ptr`)."""

    name: str
    offset: int
    size: int
    type: str
    is_array: bool
    is_pointer: bool
    copied_bytes: int | None = None  # how many of its bytes a launch copies; None: all
    align: int = 1


@dataclass(frozen=True)
class CallFrame:
    """What a call does to the stack, for the checks: copies are (to, from, bytes) in the caller's frame."""

    caller_bytes: int
    """Where the callee's frame begins, in the caller's."""
    callee_bytes: int
    arguments: tuple[tuple[int, int, int], ...]
    results: tuple[tuple[int, int, int], ...]
    entered: tuple[str, ...]
    """The functions that it may enter, unless one of them may be active already."""


@dataclass(frozen=True)
class ModuleBase:
    """Where a module begins on its machine: its global variables, its constants (not PTXPlus's), its code."""

    variables: int = GLOBAL_BASE
    constants: int = 0
    code: int = 0


AT_BEGINNING = ModuleBase()


@dataclass(frozen=True)
class VariableLayout:
    """Addresses and initial bytes: `global_bytes` from the origin's `variables`, `constant_bytes` from 0."""

    symbols: dict[str, Symbol]
    parameters: tuple[Parameter, ...]
    param_bytes: int
    param_start: int  # where parameters lie in shared memory (PTXPlus), or in the parameter space
    static_shared_bytes: int
    local_bytes: int
    global_bytes: bytes = field(repr=False)
    constant_bytes: bytes = field(repr=False)
    address_bits: int = 64
    origin: ModuleBase = AT_BEGINNING
    launch_rows: Mapping[str, int] = field(default_factory=dict)
    """Rows of 32-bit constants that hold one of LAUNCH_REGISTERS: its value is known when the launch is."""
    calls: Mapping[int, CallFrame] = field(default_factory=dict, repr=False)
    """Calls of functions, by instruction."""
    stack_rows: Mapping[str, int] = field(default_factory=dict)
    """Rows of "frame", where a lane's frame begins, and of "grown", what `alloca` has taken above `frame_end`."""
    frame_end: int = 0
    stack_bytes: int = 0
    """What a thread has for recursion, and for `alloca`."""
    frames: Mapping[str, FunctionFrame] = field(default_factory=dict, repr=False)
    """Of every function of the program."""


def address_bits(module: Module) -> int:
    """Bits of an address: 32 in PTXPlus and under `.address_size 32`."""
    return 32 if module.is_ptxplus or (module.directive("address_size") or "").strip() == "32" else 64


def names_in(function: Function) -> set[str]:
    """Every identifier that occurs in a function's operands."""
    return {name.text for i in function.instructions for operand in i.operands for name in names(operand)}


def own_name(function: Function, name: str) -> str:
    """The symbol of a variable that a function other than the kernel declares in its body."""
    return f"{function.name}::{name}"


def lay_out(
    kernel: Function, functions: Sequence[Function] = (), origin: ModuleBase = AT_BEGINNING
) -> VariableLayout:
    """The layout of a kernel, the functions it reaches, and their module.

    Raises `PtxError` for an invalid initialiser.
    """
    module = kernel.module
    ptxplus = module.is_ptxplus
    parameters, param_bytes = parameters_of(kernel, PARAM_START if ptxplus else 0)
    spaces = {
        GLOBAL: VariableSpace(origin.variables),
        CONST: VariableSpace(0 if ptxplus else origin.constants),
        SHARED: VariableSpace(PARAM_START + param_bytes if ptxplus else 0),
        LOCAL: VariableSpace(),
    }
    symbols: dict[str, Symbol] = {}
    initialised: list[tuple[Symbol, Declaration, Declarator]] = []
    unsized: list[tuple[str, Declaration]] = []
    if not ptxplus:
        symbols = _code_addresses(module)
    used = names_in(kernel).union(*map(names_in, functions))
    inner = [(f, s) for f in (kernel, *functions) for s in _declared_in(f) if not _is_static(s)]
    outer = [(kernel, s) for s in module.storage()]
    outer += [
        (kernel if f.name == kernel.name else f, s)
        for f in module.functions.values()
        for s in _declared_in(f)
        if _is_static(s)
    ]
    n_handles = 1
    for name, _ in textures_of_head(kernel):
        symbols[name] = Symbol(name, TEXTURE, HANDLE_BASE + HANDLE_STEP * n_handles, 0, "texref")
        n_handles += 1
    for owner, declaration in (*outer, *inner):
        space = _SPACES.get(declaration.space.partition("[")[0])
        opaque = "texref" if declaration.space == "tex" else declaration.type
        if opaque in OPAQUE and declaration.space != "param":
            for declarator in declaration.declarators:
                if declarator.name not in symbols:
                    handle = HANDLE_BASE + HANDLE_STEP * n_handles
                    symbols[declarator.name] = Symbol(declarator.name, TEXTURE, handle, 0, opaque)
                    n_handles += 1
            continue
        if space is None or space == PARAM or (space == LOCAL and owner is not kernel):
            continue
        for declarator in declaration.declarators:
            name = declarator.name if owner is kernel else own_name(owner, declarator.name)
            if name in symbols or (space == SHARED and declarator.name not in used and not ptxplus):
                continue
            size = declared_size(declaration, declarator)
            if space == SHARED and size == 0:
                unsized.append((name, declaration))
                continue
            alignment = ALIGNMENT if space == GLOBAL else alignment_of(declaration)
            address = spaces[space].place(size, alignment)
            symbols[name] = Symbol(name, space, address, size, declaration.type)
            if declarator.value is not None and space in (GLOBAL, CONST) and declaration.type in TYPES:
                initialised.append((symbols[name], declaration, declarator))
    for name, declaration in unsized:
        address = round_up(spaces[SHARED].end, alignment_of(declaration))
        spaces[SHARED].end = address
        symbols[name] = Symbol(name, SHARED, address, 0, declaration.type)
    _alias_constants(module, symbols)
    starts = {GLOBAL: origin.variables, CONST: 0}
    memory = {
        space: bytearray(_checked_size(kernel, space, spaces[space].end - start))
        for space, start in starts.items()
    }
    for symbol, declaration, declarator in initialised:
        at = symbol.address - starts[symbol.space]
        _initialise(memory[symbol.space], at, declaration, declarator, symbols, module)
    static_shared = spaces[SHARED].end
    return VariableLayout(
        symbols=symbols,
        parameters=parameters,
        param_bytes=param_bytes,
        param_start=PARAM_START if ptxplus else 0,
        static_shared_bytes=round_up(static_shared, 16) if ptxplus else static_shared,
        local_bytes=_local_bytes(kernel, spaces[LOCAL].end, ptxplus),
        global_bytes=bytes(memory[GLOBAL]),
        constant_bytes=bytes(memory[CONST]),
        address_bits=address_bits(module),
        origin=origin,
    )


def _checked_size(kernel: Function, space: int, size: int) -> int:
    """The size of a space. Raises E402 for one that no GPU has: before memory is reserved for it."""
    if size <= MOST_BYTES[space]:
        return size
    kind = {GLOBAL: "global", CONST: "const"}[space]
    declared = [
        (declared_size(item, d), item)
        for item in kernel.module.storage()
        if item.space.startswith(kind)
        for d in item.declarators
    ]
    largest = max(declared, key=lambda each: each[0], default=(0, None))[1]
    start, end = (largest.start, largest.end) if largest else (kernel.start, kernel.body_start)
    message = f"the '.{kind}' variables take {size} bytes; at most {MOST_BYTES[space]} are possible"
    raise error("E402", message, kernel.module.source, start, end, "use smaller variables, or a buffer")


def _declared_in(function: Function) -> Iterator[Declaration]:
    return (s for s in function.body or () if isinstance(s, Declaration))


def _is_static(declaration: Declaration) -> bool:
    """Whether a variable in a function's body lives as long as its module does."""
    space = _SPACES.get(declaration.space.partition("[")[0])
    return space in (GLOBAL, CONST) and declaration.type not in OPAQUE


def textures_of_head(kernel: Function) -> list[tuple[str, Directive]]:
    """The textures between the name and the body of a PTXPlus entry, as decuda's converter printed them."""
    return [(d.text.split()[-1], d) for d in kernel.directives if d.name == "tex" and d.text]


def _code_addresses(module: Module) -> dict[str, Symbol]:
    """The address of every function, by name."""
    functions = [f.name for f in module.functions.values() if f.kind == "func"]
    return {n: Symbol(n, NO_SPACE, CODE_BASE + CODE_BYTES * k, 0, "b64") for k, n in enumerate(functions)}


def parameters_of(kernel: Function, start: int = 0) -> tuple[tuple[Parameter, ...], int]:
    """The parameters and the bytes they take, from `start` on (which is a multiple of 16)."""
    made: list[Parameter] = []
    space = VariableSpace()
    for declaration in kernel.parameters:
        for declarator in declaration.declarators:
            size = declared_size(declaration, declarator)
            align = alignment_of(declaration)
            address = start + space.place(size, align)
            is_pointer = "ptr" in declaration.qualifiers
            is_array = bool(declarator.dimensions)
            kinds = declaration.type, is_array, is_pointer
            made.append(Parameter(declarator.name, address, size, *kinds, align=align))
    return tuple(made), round_up(space.end, 4)


def _alias_constants(module: Module, symbols: dict[str, Symbol]) -> None:
    """`.constptr NAME, BASE, OFFSET;`."""
    for item in module.items:
        if not isinstance(item, Directive) or item.name != "constptr":
            continue
        words = [w.strip() for w in item.text.split(",")]
        base = symbols.get(words[1]) if len(words) == 3 else None
        old = symbols.get(words[0])
        if base is None or old is None:
            what = f"'.constptr {item.text}' names a variable that is not declared"
            help_text = "declare both variables before it"
            raise error("E201", what, module.source, item.start, item.end, help=help_text)
        try:
            offset = int(words[2], 0)
        except ValueError:
            what = f"'{words[2]}' is no offset"
            raise error("E206", what, module.source, item.start, item.end, help="give a number") from None
        symbols[words[0]] = Symbol(old.name, base.space, base.address + offset, old.size, old.type)


def _local_bytes(kernel: Function, declared: int, ptxplus: bool) -> int:
    """Local memory per thread; PTXPlus names local memory by absolute addresses, declared or not."""
    if not ptxplus:
        return round_up(declared, 16)
    uses_local = any(
        "local" in i.opcode.modifiers
        or any(isinstance(o, Memory) and o.symbol.startswith("l") for o in i.operands)
        for i in kernel.instructions
    )
    return round_up(max(declared, UNDECLARED_LOCAL_BYTES) if uses_local else declared, 16)


# ---- initialisers


def _initialise(
    memory: bytearray,
    at: int,
    declaration: Declaration,
    declarator: Declarator,
    symbols: dict[str, Symbol],
    module: Module,
) -> None:
    """Write a variable's initial value."""
    type_ = element_type(declaration)
    dimensions = [d or 0 for d in declarator.dimensions]
    if declaration.vector > 1:
        dimensions.append(declaration.vector)
    try:
        for index, data in _elements(declarator.value, dimensions, type_, symbols):
            start = at + index * type_.bytes
            memory[start : start + len(data)] = data
    except ValueError as problem:
        what = f"initial value of '{declarator.name}': {problem}"
        help_text = "give literals, or addresses of variables declared before"
        start, end = declaration.start, declaration.end
        raise error("E206", what, module.source, start, end, help=help_text) from None


def _elements(
    value: Operand | None, dimensions: list[int], type_: Type, symbols: dict[str, Symbol]
) -> Iterator[tuple[int, bytes]]:
    """(element index, bytes from there on) of a nested initialiser list; what is not listed stays zero."""
    if isinstance(value, Vector):
        inner = prod(dimensions[1:])
        literals = [item.text for item in value.items if isinstance(item, Immediate)]
        if inner == 1 and len(literals) == len(value.items):  # tables: 100,000 numbers of which few differ
            data = {text: literal(text).bits(type_).to_bytes(type_.bytes, "little") for text in set(literals)}
            yield 0, b"".join([data[text] for text in literals])
            return
        for k, item in enumerate(value.items):
            for index, of_item in _elements(item, dimensions[1:], type_, symbols):
                yield k * inner + index, of_item
    elif value is not None:
        yield 0, constant_bits(value, type_, symbols).to_bytes(type_.bytes, "little")


def constant_bits(value: Operand, type_: Type, symbols: dict[str, Symbol]) -> int:
    """The bits of a constant expression in a type. Raises `ValueError`."""
    if isinstance(value, Immediate):
        return literal(value.text).bits(type_)
    if isinstance(value, Unary) and value.operator == "-" and isinstance(value.operand, Immediate):
        return literal("-" + value.operand.text).bits(type_)
    return constant(value, lambda named: _named(named, symbols)).bits(type_)


def evaluate(value: Operand, symbols: dict[str, Symbol]) -> int:
    """An integer constant expression of 64 bits with a sign; a name is an address in its space. Raises `ValueError`."""
    number = constant(value, lambda named: _named(named, symbols)).number
    if isinstance(number, float):
        raise ValueError("it is no whole number")
    return number - (1 << 64) if number >> 63 > 0 else number


def _named(value: Operand, symbols: dict[str, Symbol]) -> int:
    """The value of a name, `generic(x)` or a byte of an address, `0xff00(x)`."""
    if isinstance(value, Name) and not value.part:
        if value.text == "WARP_SZ":
            return 32
        if value.text in symbols:
            return symbols[value.text].address
        raise ValueError(f"'{value.text}' is not declared")
    if isinstance(value, Apply) and len(value.arguments) == 1 and len(value.arguments[0].items) == 1:
        (inner,) = value.arguments[0].items
        if value.function == "generic" and isinstance(inner, Name) and inner.text in symbols:
            return symbols[inner.text].generic_address
        if value.function != "generic":
            mask = integer(value.function)
            return (evaluate(inner, symbols) & mask) >> max((mask & -mask).bit_length() - 1, 0)
    raise ValueError("it is no constant expression")
