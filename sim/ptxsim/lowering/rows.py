"""Rows, constants and micro-operations of one kernel: the result of its lowering so far.

For `sources.py`, `addresses.py` and `builder.py`, which add the meaning of operands, each building on the one before.
Intermediate results go to temporary rows, which are free again after the instruction.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NoReturn, Self

from ptxsim.execute.codes import PREDICATE
from ptxsim.lowering.callgraph import CallGraph
from ptxsim.lowering.frames import FrameVariable
from ptxsim.lowering.variable_layout import CallFrame, Parameter, Symbol, VariableLayout, own_name
from ptxtool.analysis.flow.liveness import Liveness, liveness
from ptxtool.ir.nodes import Function, Instruction, Memory, Name, Operand, Vector
from ptxtool.ir.symbols import Register, hardware_register
from ptxtool.isa.lanes import operations
from ptxtool.isa.literals import literal
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type

FALSE, TRUE = -1, -2
"""Predicate rows that are constant."""

NO_ROW = -1
"""The row of a register before anything asks for it: `row_allocation.py` gives rows to those that instructions name."""

# of PREDICATE: bit 2 * a + b
_TRUTH_TABLES = {
    "false": 0,
    "true": 0b1111,
    "and": 0b1000,
    "or": 0b1110,
    "xor": 0b0110,
    "copy": 0b1100,
    "not": 0b0011,
}

WORD = TYPES["b32"]
LONG = TYPES["b64"]


class Unsupported(Exception):
    """A feature of an instruction that cannot be simulated."""


def unsupported(what: str) -> NoReturn:
    raise Unsupported(what)


def row_bits(type_: Type) -> int:
    """The file whose rows hold the values of a type: 64, or 32."""
    return 64 if type_.bits == 64 else 32


def signed(type_: Type) -> str:
    """How the names of lane operations on integers of a type end: "s32", "u64", ..."""
    return f"{'s' if type_.is_signed else 'u'}{row_bits(type_)}"


def extension(type_: Type) -> str:
    """The lane operation that extends a 32-bit row to 64 bits as integers of a type are extended."""
    return "sext_u64" if type_.is_signed else "zext_u64"


@dataclass(frozen=True)
class Operation:
    """One instruction and how the table reads it."""

    index: int
    instruction: Instruction
    match: Match
    type: Type
    stype: Type

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.instruction.operands

    def has(self, modifier: str) -> bool:
        return modifier in self.match.modifiers

    @property
    def rounding(self) -> str:
        """rn, rz, rm, rp; rn by default."""
        return self.match.one_of("rn", "rz", "rm", "rp") or "rn"


@dataclass
class Rows:
    """The state of the lowering of a kernel, or of a function that it reaches.

    All of them share micro-operations, rows, constants and the other fields that `sibling` passes on; each function has
    rows of its own for its registers.
    """

    kernel: Function
    layout: VariableLayout
    graph: CallGraph
    start: int = 0  # its first instruction in the program
    first_register: int = 0  # the number of its first register in the program
    family: dict[str, Self] = field(default_factory=dict)
    shared_rows: dict[str, int] = field(default_factory=dict)
    calls: dict[int, CallFrame] = field(default_factory=dict)  # by instruction of the program
    uops: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    constants: dict[int, dict[int, int]] = field(default_factory=lambda: {32: {}, 64: {}})
    n_rows: dict[int, int] = field(default_factory=lambda: {32: 0, 64: 0, 1: 0})
    free: dict[int, list[int]] = field(default_factory=lambda: {32: [], 64: [], 1: []})
    taken: dict[int, list[int]] = field(default_factory=lambda: {32: [], 64: [], 1: []})
    special_rows: dict[int, int] = field(default_factory=dict)
    # of each register: file (32, 64, 1), first row, rows
    register_rows: list[tuple[int, int, int]] = field(default_factory=list)
    carry_row: int = -1
    break_row: int = -1
    barrier_row: int = -1  # where the result of a barrier's reduction goes
    position: int = 0
    machine: dict[str, int] = field(default_factory=dict)  # special registers that a machine fixes
    launch_rows: dict[str, int] = field(default_factory=dict)  # those that a launch fixes, in constant rows
    access_bytes: int = 0
    element_bytes: int = 0
    space: int = 0
    products: int = 0  # that a tensor core makes of the instruction, which is `mma`, `wgmma` or `tcgen05`
    product_kind: str = ""
    product_type: str = ""  # of A; of `tcgen05` its kind

    as_gpgpu_sim: bool = False  # PTXPlus as GPGPU-Sim executes it, where that is not what hardware does

    undeclared: dict[str, Register] = field(default_factory=dict)  # PTXPlus: the hardware's, by name

    invoked: int | None = None  # the instruction enters the function that begins there, -1: each lane its own
    return_start: int = 0  # the first micro-operation after the call
    is_passing: bool = False  # the instruction reads or writes parameters in a frame

    def __post_init__(self: Self) -> None:
        self.ptxplus = self.kernel.module.is_ptxplus
        self.as_gpgpu_sim = self.as_gpgpu_sim and self.ptxplus
        self.registers = self.kernel.registers
        self._operations = operations()
        self.is_kernel = self.kernel is self.graph.kernel
        self.family[self.kernel.name] = self

    @cached_property
    def has_pairs(self) -> bool:
        """Whether CTAs may work in pairs: addresses of shared memory then have the rank of their CTA."""
        return "cta_group::2" in self.kernel.module.source.text

    @cached_property
    def live(self) -> Liveness:
        """The live registers of the function, per warp."""
        return liveness(self.kernel)

    def sibling(self, function: Function) -> Self:
        """The builder of another function of the program."""
        return replace(
            self,
            kernel=function,
            start=self.graph.starts[function.name],
            first_register=sum(len(b.registers) for b in self.family.values()),
            register_rows=[],
            carry_row=-1,
        )

    # ---- differences of GPGPU-Sim

    def takes_absolute(self, op: Operation) -> bool:
        """Whether PTXPlus's `.abs` is about the first source; GPGPU-Sim looks at it in `set` only."""
        return self.ptxplus and op.has("abs") and (op.match.form.sem == "set" or not self.as_gpgpu_sim)

    def loaded_type(self, type_: Type) -> Type:
        """The type that decides how a load extends what it reads: GPGPU-Sim's do not extend `.s8` by its sign."""
        return TYPES["u8"] if self.as_gpgpu_sim and type_.name == "s8" else type_

    def is_converted(self, op: Operation) -> bool:
        """Whether a fetch means what GPGPU-Sim's converter prints for it; decuda, before it, printed no `.v4`."""
        return self.as_gpgpu_sim and op.match.form.sem == "tex" and op.has("v4")

    # ---- rows

    def new_row(self, bits: int) -> int:
        row = self.n_rows[bits]
        self.n_rows[bits] += 1
        return row

    def temporary(self, bits: int = 32) -> int:
        """A row that is free again after the instruction."""
        row = self.free[bits].pop() if self.free[bits] else self.new_row(bits)
        self.taken[bits].append(row)
        return row

    def release_temporaries(self) -> None:
        for bits, rows in self.taken.items():
            self.free[bits] += rows
            rows.clear()

    def constant(self, value: int, bits: int = 32) -> int:
        """The constant row of a value."""
        table = self.constants[bits]
        return ~table.setdefault(value & ((1 << bits) - 1), len(table))

    def launch_constant(self, name: str) -> int:
        """The constant row of a special register whose value the launch determines; no other constant shares it."""
        if name not in self.launch_rows:
            table = self.constants[32]
            self.launch_rows[name] = table[-1 - len(self.launch_rows)] = len(
                table
            )  # no constant is negative here
        return ~self.launch_rows[name]

    def constant_float(self, value: float, bits: int) -> int:
        return self.constant(literal(repr(float(value))).bits(TYPES[f"f{bits}"]), bits)

    def special_row(self, number: int) -> int:
        if number not in self.special_rows:
            self.special_rows[number] = self.new_row(32)
        return self.special_rows[number]

    # ---- micro-operations

    def emit(self, what: str | int, d: int = 0, a: int = -1, b: int = -1, c: int = -1, e: int = 0) -> int:
        """A lane operation, by its name, or another micro-operation, by its code; its destination row."""
        code = what if isinstance(what, int) else self._operations[what].number
        self.uops.append((code, d, a, b, c, _signed32(e)))
        return d

    def compute(self, name: str, a: int, b: int = -1, c: int = -1, e: int = 0) -> int:
        """A lane operation into a temporary row."""
        return self.emit(name, self.temporary(self._operations[name].result_bits), a, b, c, e)

    def combine(self, name: str, a: int, b: int = FALSE, d: int | None = None) -> int:
        """A logical operation on two predicates, into predicate `d` or a temporary one."""
        return self.emit(PREDICATE, self.temporary(1) if d is None else d, a, b, e=_TRUTH_TABLES[name])

    # ---- registers

    def register(self, name: str) -> Register | None:
        """The register of a name; PTXPlus may use some of the hardware's without declaring them."""
        found = self.registers.resolve(name, self.position)
        if found is None and self.ptxplus and name not in self.undeclared:
            made = hardware_register(name, len(self.register_rows))
            if made is not None:
                self.undeclared[name] = made
                self.register_rows.append((32, self.n_rows[32], 1))
                self.n_rows[32] += 1
        return found or self.undeclared.get(name)

    def register_of(self, operand: Operand) -> Register | None:
        """The register that an operand names."""
        return self.register(operand.text) if isinstance(operand, Name) else None

    def predicate_row(self, operand: Operand) -> int | None:
        """The first row of a predicate or condition-code register; None for any other operand."""
        register = self.register_of(operand)
        return None if register is None or not register.is_predicate else self.row_of(register)[1]

    def row_of(self, register: Register, part: str = "") -> tuple[int, int]:
        """File (32, 64, 1) and row of a register or of a component of a vector register."""
        bits, first, count = self.register_rows[register.index]
        if first == NO_ROW:
            first = self.new_row(bits)
            self.register_rows[register.index] = bits, first, count
        if register.vector > 1:
            if part not in ("x", "y", "z", "w", "r", "g", "b", "a"):
                unsupported(f"vector register '{register.name}' without a component")
            first += "xyzw".find(part) if part in "xyzw" else "rgba".find(part)
        elif register.type == "b128" and part == "y":
            first += 1
        return bits, first

    def halves(self, operand: Operand) -> tuple[Operand, Operand]:
        """The two 64-bit halves of a 128-bit operand: a vector, or a register, whose components they are then."""
        if isinstance(operand, Vector) and len(operand.items) in (2, 4):
            items = operand.items
            if len(items) == 2:
                return items[0], items[1]
            return Vector(items[:2]), Vector(items[2:])
        if isinstance(operand, Name) and operand.text == "_":
            return operand, operand
        register = self.register_of(operand)
        if register is None or register.type != "b128" or not isinstance(operand, Name):
            unsupported("this 128-bit operand")
        return Name(operand.text, "x"), Name(operand.text, "y")

    # ---- variables

    def symbol(self, name: str) -> Symbol | None:
        """What a name that is no register means outside of the frame."""
        own = None if self.is_kernel else self.layout.symbols.get(own_name(self.kernel, name))
        return own or self.layout.symbols.get(name)

    def parameter(self, name: str) -> Parameter | None:
        """The kernel's parameter of a name."""
        return next((p for p in self.layout.parameters if p.name == name), None)

    def place_in_frame(self, name: str) -> FrameVariable | None:
        """The variable, parameter or result of a name in the function's frame."""
        return None if self.ptxplus else self.graph.frame(self.kernel).find(name, self.position)

    def shared_row(self, name: str) -> int:
        """A 32-bit row of the whole program: "frame", where a lane's frame begins; "grown", what `alloca` has taken."""
        if name not in self.shared_rows:
            self.shared_rows[name] = self.new_row(32)
        return self.shared_rows[name]

    def variable_of(self, operand: Operand) -> FrameVariable | None:
        """The variable of the function's frame that an operand names, which is no register."""
        if not isinstance(operand, Name) or self.register(operand.text) is not None:
            return None
        return self.place_in_frame(operand.text)

    def frame_address(self, place: FrameVariable) -> int:
        """The row of a local address in the frame."""
        offset = self.constant(place.offset)
        return offset if self.is_kernel else self.compute("add_u32", self.shared_row("frame"), offset)

    def is_in_frame(self, operand: Operand) -> bool:
        """Whether a memory operand of the parameter space means the frame, and not the parameters of the kernel."""
        if not self.is_kernel:
            return True
        base = operand.base if isinstance(operand, Memory) else None
        return base is not None and self.variable_of(base) is not None


def _signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
