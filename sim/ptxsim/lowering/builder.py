"""The workshop of lowering: rows, constants and micro-operations of one kernel, and reading and writing of operands.

Rules (integer.py, floating.py, ...) turn one instruction each into micro-operations with it:

    d = b.destination(op, 0, type)        where a result goes
    b.emit("add_u32", d.row, b.source(op, 1, type), b.source(op, 2, type))
    d.finish()                            halves merged, pairs split, condition codes set

Values of 16 and 8 bits are read extended to 32 bits, by the sign of the type asked for, and 16-bit registers hold them
zero-extended. Intermediate results go to temporary rows, which are free again behind the instruction; the register
itself is written last, because it may be a source too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ptxsim.lowering.callgraph import CallGraph
from ptxsim.lowering.frames import Place
from ptxsim.lowering.layout import (
    LAUNCH_REGISTERS,
    CallFrame,
    Layout,
    Symbol,
    constant_bits,
    evaluate,
    own_name,
)
from ptxsim.program import CONST, GENERIC, GLOBAL, LOCAL, PARAM, SHARED
from ptxsim.semantics import codes
from ptxsim.semantics.codes import (
    ACCESS32,
    ACCESS64,
    CLOCK32,
    CLOCK64,
    LOAD_32,
    LOAD_64,
    LOCAL_WINDOW,
    PREDICATE,
)
from ptxtool.analysis.liveness import Liveness, liveness
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Dual, Function, Immediate, Instruction, Memory, Name, Operand, Unary, Vector
from ptxtool.ir.symbols import Register, hardware_register
from ptxtool.isa.lanes import operations
from ptxtool.isa.literals import literal
from ptxtool.isa.special import PART_ALIASES, special
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type

FALSE, TRUE = -1, -2
"""Predicate rows that are constant."""

# truth tables of PREDICATE: bit 2 * a + b
AND_TABLE, OR_TABLE, XOR_TABLE, COPY_TABLE, NOT_TABLE = 0b1000, 0b1110, 0b0110, 0b1100, 0b0011
BOOLEAN_TABLES = {"and": AND_TABLE, "or": OR_TABLE, "xor": XOR_TABLE}

WORD = TYPES["b32"]
LONG = TYPES["b64"]

_SPECIAL_NUMBERS = {
    "laneid": codes.LANEID,
    "warpid": codes.WARPID,
    "smid": codes.SMID,
    "lanemask_eq": codes.LANEMASK_EQ,
    "lanemask_le": codes.LANEMASK_LE,
    "lanemask_lt": codes.LANEMASK_LT,
    "lanemask_ge": codes.LANEMASK_GE,
    "lanemask_gt": codes.LANEMASK_GT,
    **{
        f"{name}.{part}": number + k
        for name, number in (
            ("tid", codes.TID_X),
            ("ntid", codes.NTID_X),
            ("ctaid", codes.CTAID_X),
            ("nctaid", codes.NCTAID_X),
        )
        for k, part in enumerate("xyz")
    },
}
_SPECIAL_ZERO = frozenset({"gridid", *(f"envreg{n}" for n in (0, *range(3, 32))), "tid.w", "ctaid.w"})
_SPECIAL_ONE = frozenset({"ntid.w", "nctaid.w"})
_SPACE_NUMBERS = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONST, "param": PARAM}


class Unsupported(Exception):
    """What an instruction asks for and cannot be simulated."""


def unsupported(what: str) -> NoReturn:
    raise Unsupported(what)


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
        """rn, rz, rm, rp; rn where none is given."""
        return self.match.one_of("rn", "rz", "rm", "rp") or "rn"


@dataclass
class Destination:
    """Where a result goes: compute into `row`, then call `finish`."""

    row: int
    finish: Callable[[], None]


@dataclass
class Address:
    """The parts of a memory operand: a base row, a second row or None, and an offset."""

    base: int
    is_long: bool
    second: int | None
    offset: int
    increment: tuple[int, int] | None = None  # register row and row of what is added behind the access


@dataclass
class Builder:
    """The state of the lowering of a kernel, or of a function that it reaches.

    All of them share micro-operations, rows, constants and what else `sibling` passes on; each function has rows of its
    own for its registers.
    """

    kernel: Function
    layout: Layout
    graph: CallGraph
    start: int = 0  # its first instruction in the program
    first_register: int = 0  # the number of its first register in the program
    family: dict[str, "Builder"] = field(default_factory=dict)
    shared_rows: dict[str, int] = field(default_factory=dict)
    calls: dict[int, CallFrame] = field(default_factory=dict)  # by instruction of the program
    uops: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    constants: dict[int, dict[int, int]] = field(default_factory=lambda: {32: {}, 64: {}})
    n_rows: dict[int, int] = field(default_factory=lambda: {32: 0, 64: 0, 1: 0})
    free: dict[int, list[int]] = field(default_factory=lambda: {32: [], 64: [], 1: []})
    taken: dict[int, list[int]] = field(default_factory=lambda: {32: [], 64: [], 1: []})
    special_rows: dict[int, int] = field(default_factory=dict)
    register_rows: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # file (32, 64, 1), first row, rows
    carry_row: int = -1
    break_row: int = -1
    barrier_row: int = -1  # where the result of a barrier's reduction goes
    position: int = 0
    machine: dict[str, int] = field(default_factory=dict)  # special registers that a machine fixes
    launch_rows: dict[str, int] = field(default_factory=dict)  # those that a launch fixes, in constant rows
    access_bytes: int = 0
    element_bytes: int = 0
    space: int = 0

    as_gpgpu_sim: bool = False  # PTXPlus as GPGPU-Sim executes it, where that is not what hardware does

    undeclared: dict[str, Register] = field(
        default_factory=dict
    )  # PTXPlus: registers of the hardware, by name

    invoked: int | None = None  # the instruction enters the function that begins there, -1: each lane its own
    return_start: int = 0  # the first micro-operation behind the call
    is_passing: bool = False  # the instruction reads or writes parameters in a frame

    def __post_init__(self) -> None:
        self.ptxplus = self.kernel.module.is_ptxplus
        self.as_gpgpu_sim = self.as_gpgpu_sim and self.ptxplus
        self.registers = self.kernel.registers
        self._operations = operations()
        self._liveness: Liveness | None = None
        self.is_kernel = self.kernel is self.graph.kernel
        self.family[self.kernel.name] = self

    def sibling(self, function: Function) -> "Builder":
        """The builder of another function of the program."""
        return replace(
            self,
            kernel=function,
            start=self.graph.starts[function.name],
            first_register=sum(len(b.registers) for b in self.family.values()),
            register_rows=[],
            carry_row=-1,
        )

    # ---- what GPGPU-Sim does otherwise

    def takes_absolute(self, op: Operation) -> bool:
        """Whether PTXPlus's `.abs` is about the first source; GPGPU-Sim looks at it in `set` only."""
        return self.ptxplus and op.has("abs") and (op.match.form.sem == "set" or not self.as_gpgpu_sim)

    def loaded_type(self, type_: Type) -> Type:
        """The type that decides how a load extends what it reads: GPGPU-Sim's do not extend `.s8` by its sign."""
        return TYPES["u8"] if self.as_gpgpu_sim and type_.name == "s8" else type_

    # ---- rows

    def new_row(self, bits: int) -> int:
        row = self.n_rows[bits]
        self.n_rows[bits] += 1
        return row

    def temporary(self, bits: int = 32) -> int:
        """A row that is free again behind the instruction."""
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
        """The constant row of a special register whose value the launch gives; nobody else shares it."""
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

    def emit(self, name: str, d: int, a: int = -1, b: int = -1, c: int = -1, e: int = 0) -> int:
        """A lane operation; its destination row."""
        self.uops.append((self._operations[name].number, d, a, b, c, _signed32(e)))
        return d

    def emit_code(self, code: int, d: int = 0, a: int = -1, b: int = -1, c: int = -1, e: int = 0) -> int:
        """Another micro-operation; its destination row."""
        self.uops.append((code, d, a, b, c, _signed32(e)))
        return d

    def compute(self, name: str, a: int, b: int = -1, c: int = -1, e: int = 0) -> int:
        """A lane operation into a temporary row."""
        return self.emit(name, self.temporary(self._operations[name].result_bits), a, b, c, e)

    def combine(self, table: int, a: int, b: int = FALSE, d: int | None = None) -> int:
        """A truth table of two predicates, into a temporary one."""
        return self.emit_code(PREDICATE, self.temporary(1) if d is None else d, a, b, -1, table)

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

    def row_of(self, register: Register, part: str = "") -> tuple[int, int]:
        """File (32, 64, 1) and row of a register or of a component of a vector register."""
        bits, first, _ = self.register_rows[register.index]
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
        register = self.register(operand.text) if isinstance(operand, Name) else None
        if register is None or register.type != "b128" or not isinstance(operand, Name):
            unsupported("this 128-bit operand")
        return Name(operand.text, "x"), Name(operand.text, "y")

    # ---- variables

    def symbol(self, name: str) -> Symbol | None:
        """What a name that is no register means outside of the frame."""
        own = None if self.is_kernel else self.layout.symbols.get(own_name(self.kernel, name))
        return own or self.layout.symbols.get(name)

    def place_in_frame(self, name: str) -> Place | None:
        """The variable, parameter or result of a name in the function's frame."""
        return None if self.ptxplus else self.graph.frame(self.kernel).find(name, self.position)

    def live_after(self, index: int) -> int:
        """The registers that are live behind an instruction, as a set of bits."""
        if self._liveness is None:
            self._liveness = liveness(self.kernel)
        return self._liveness.after_bits[index]

    def shared_row(self, name: str) -> int:
        """A 32-bit row of the whole program: "frame", where a lane's frame begins; "grown", what `alloca` has taken."""
        if name not in self.shared_rows:
            self.shared_rows[name] = self.new_row(32)
        return self.shared_rows[name]

    def frame_address(self, place: Place) -> int:
        """The row of a local address in the frame."""
        offset = self.constant(place.offset)
        return offset if self.is_kernel else self.compute("add_u32", self.shared_row("frame"), offset)

    def is_in_frame(self, operand: Operand) -> bool:
        """Whether a memory operand of the parameter space means the frame, and not the parameters of the kernel."""
        base = operand.base if isinstance(operand, Memory) else None
        if not self.is_kernel:
            return True
        return (
            isinstance(base, Name)
            and self.register(base.text) is None
            and self.place_in_frame(base.text) is not None
        )

    # ---- sources

    def source(self, op: Operation, index: int, type_: Type | None = None) -> int:
        """The row of an operand's value, extended to the width of its file, in the instruction's type by default."""
        return self.value(op.operands[index], type_ or op.type)

    def value(self, operand: Operand, type_: Type) -> int:
        """The row of a value: of the 64-bit file for types of 64 bits, of the 32-bit file for others."""
        if type_.bits == 128:
            unsupported("128-bit values")
        if (
            isinstance(operand, Unary)
            and operand.operator == "-"
            and not isinstance(operand.operand, Immediate)
        ):
            return self.negate(self.value(operand.operand, type_), type_)
        if isinstance(operand, Name):
            found = self._name(operand, type_)
            if found is not None:
                return found
        elif isinstance(operand, Memory):
            return self.load_operand(operand, type_)
        elif isinstance(operand, Vector):
            return self._pair(operand, type_)
        elif isinstance(operand, Immediate):
            return self._extended_constant(literal(operand.text).bits(type_), type_)
        elif (
            isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Immediate)
        ):
            number = literal(operand.operand.text)
            if (
                number.kind == "int" and type_.is_float and self.ptxplus
            ):  # PTXPlus: the bits of a float, negated
                return self.negate(self.constant(number.bits(type_), max(32, type_.bits)), type_)
            return self._extended_constant(literal("-" + operand.operand.text).bits(type_), type_)
        try:
            return self._extended_constant(constant_bits(operand, type_, self.layout.symbols), type_)
        except ValueError as problem:
            unsupported(f"operand: {problem}")

    def negate(self, row: int, type_: Type) -> int:
        if type_.is_float:
            if type_.bits == 16:
                return self.compute("xor_u32", row, self.constant(0x8000))
            return self.compute("neg_f64" if type_.bits == 64 else "neg_f32", row)
        negated = self.compute("neg_u64" if type_.bits == 64 else "neg_u32", row)
        return self.extend(negated, type_) if type_.bits < 32 else negated

    def extend(self, row: int, type_: Type) -> int:
        """A 32-bit row cut to a type of 16 or 8 bits and extended again."""
        return (
            row
            if type_.bits >= 32
            else self.compute(f"{'sext' if type_.is_signed else 'zext'}{type_.bits}_u32", row)
        )

    def _extended_constant(self, bits: int, type_: Type) -> int:
        if type_.is_signed and type_.bits < 32 and bits >> (type_.bits - 1):
            bits -= 1 << type_.bits
        return self.constant(bits, 64 if type_.bits == 64 else 32)

    def _name(self, operand: Name, type_: Type) -> int | None:
        """A register, a special register or a variable's address; None for anything else."""
        register = self.register(operand.text)
        if register is not None:
            return self._register_value(register, operand.part, type_)
        if operand.text == "WARP_SZ":
            return self.constant(32, 64 if type_.bits == 64 else 32)
        if operand.text.startswith("%"):
            return self._special(operand, type_)
        place = self.place_in_frame(operand.text)
        if place is not None:
            row = self.frame_address(place)
            return self.compute("zext_u64", row) if type_.bits == 64 else row
        symbol = self.symbol(operand.text)
        if symbol is not None:
            return self.constant(symbol.address, 64 if type_.bits == 64 else 32)
        parameter = next((p for p in self.layout.parameters if p.name == operand.text), None)
        if parameter is not None:
            return self.constant(parameter.offset, 64 if type_.bits == 64 else 32)
        unsupported(f"'{operand.text}' as an operand")

    def _register_value(self, register: Register, part: str, type_: Type) -> int:
        if register.is_zero and not self.as_gpgpu_sim:
            return self.constant(0, 64 if type_.bits == 64 else 32)
        bits, row = self.row_of(register, part)
        if bits == 1:
            if not self.ptxplus:
                unsupported(f"predicate '{register.name}' as a value")
            return self.flags_value(row)
        if bits == 64:
            return row if type_.bits == 64 else self.extend(self.compute("trunc_u64", row), type_)
        if type_.bits == 64:
            return self._wide_value(register, row, type_)
        if part in ("lo", "hi"):
            half = self.compute("zext16_u32" if part == "lo" else "high16_u32", row)
            return (
                self.extend(half, type_)
                if (type_.is_signed and type_.bits == 16) or type_.bits == 8
                else half
            )
        if part and register.vector == 1:
            unsupported(f"the part '.{part}' of a register")
        clean = not self.ptxplus and register.bits // register.vector == 16 and type_.bits == 16
        if type_.bits >= 32 or (clean and not type_.is_signed):
            return row
        return self.extend(row, type_)

    def _wide_value(self, register: Register, row: int, type_: Type) -> int:
        """A 64-bit value of a 32-bit register: PTXPlus, with the next register as its upper half."""
        following = self._next_register(register)
        if following is not None:
            return self.compute("pack_u64", row, following)
        return self.compute("sext_u64" if type_.is_signed else "zext_u64", row)

    def _next_register(self, register: Register) -> int | None:
        digits = register.name.lstrip("$%abcdefghijklmnopqrstuvwxyz_")
        if not self.ptxplus or self.as_gpgpu_sim or not digits.isdecimal():
            return None
        name = f"{register.name[: -len(digits)]}{int(digits) + 1}"
        following = self.registers.resolve(name, self.position)
        return None if following is None or following.is_predicate else self.row_of(following)[1]

    def flags_value(self, row: int) -> int:
        """The raw 4 bits of a condition-code register."""
        value = self.constant(0)
        for k in range(4):
            bit = self.compute("sel_u32", self.constant(1 << k), self.constant(0), row + k)
            value = bit if k == 0 else self.compute("or_u32", value, bit)
        return value

    def _special(self, operand: Name, type_: Type) -> int:
        found = special(operand.text)
        name = operand.text[1:]
        part = PART_ALIASES.get(operand.part, operand.part)
        if part:
            name = f"{name}.{part}"
        if found is None:
            unsupported(f"'{operand.text}' as an operand")
        wide = type_.bits == 64
        if name in _SPECIAL_ZERO or name in _SPECIAL_ONE:
            return self.constant(int(name in _SPECIAL_ONE), 64 if wide else 32)
        if name in ("clock64", "globaltimer"):
            row = self.emit_code(CLOCK64, self.temporary(64))
            return row if wide else self.compute("trunc_u64", row)
        shifts = {"clock": 0, "globaltimer_lo": 0, "clock_hi": 32, "globaltimer_hi": 32, "halfclock": 1}
        if name in shifts:
            row = self.emit_code(CLOCK32, self.temporary(), e=shifts[name])
        elif name in self.machine:
            row = self.constant(self.machine[name])
        elif name in LAUNCH_REGISTERS:
            row = self.launch_constant(name)
        elif name in _SPECIAL_NUMBERS:
            row = self.special_row(_SPECIAL_NUMBERS[name])
        else:
            unsupported(f"the special register '{operand.text}'")
        return self.compute("zext_u64", row) if wide else self.extend(row, type_)

    def _pair(self, operand: Vector, type_: Type) -> int:
        """`{$r4,$r5}` as one 64-bit value."""
        if type_.bits != 64 or len(operand.items) != 2:
            unsupported("a vector operand here")
        low, high = (self.value(item, WORD) for item in operand.items)
        return self.compute("pack_u64", low, high)

    # ---- predicates

    def predicate(self, operand: Operand, table: int | None = None) -> int:
        """The row of a predicate that is true where the operand holds (PTXPlus: where Z is clear)."""
        inverted = self.ptxplus
        if isinstance(operand, Unary) and operand.operator == "!":
            inverted, operand = not inverted, operand.operand
        if isinstance(operand, Immediate):
            return TRUE if (literal(operand.text).payload != 0) != (inverted and not self.ptxplus) else FALSE
        register = self.register(operand.text) if isinstance(operand, Name) else None
        if register is None or not register.is_predicate:
            unsupported("a predicate operand that is no predicate register")
        row = self.row_of(register)[1]
        return self.combine(NOT_TABLE, row) if inverted else row

    # ---- destinations

    def destination(
        self, op: Operation, index: int = 0, type_: Type | None = None, flags: bool = True
    ) -> Destination:
        """Where operand `index` of an instruction wants a result of a type."""
        return self.place(op.operands[index], type_ or op.type)

    def place(self, operand: Operand, type_: Type) -> Destination:
        """A destination for a value of a type: a row to compute into and what finishes it."""
        wide = type_.bits == 64
        if isinstance(operand, Dual):
            return self._dual(operand, type_)
        if isinstance(operand, Vector):
            return self._pair_destination(operand.items, type_)
        if isinstance(operand, Memory):
            row = self.temporary(64 if wide else 32)
            return Destination(row, lambda: self.store_operand(operand, row, type_))
        if not isinstance(operand, Name):
            unsupported("this destination")
        register = self.register(operand.text)
        if operand.text == "_" or (register is not None and register.is_sink and not self.as_gpgpu_sim):
            return Destination(self.temporary(64 if wide else 32), lambda: None)
        if register is None:
            unsupported(f"'{operand.text}' as a destination")
        bits, row = self.row_of(register, operand.part)
        if bits == 1:
            if not self.ptxplus:
                unsupported(f"predicate '{register.name}' as a destination")
            temporary = self.temporary(64 if wide else 32)
            return Destination(temporary, lambda: self.set_flags(row, temporary, type_))
        if bits == 64:
            if wide:
                return Destination(row, lambda: None)
            temporary = self.temporary()
            extension = "sext_u64" if type_.is_signed else "zext_u64"
            return Destination(
                temporary, lambda: self._nothing(self.emit(extension, row, self.extend(temporary, type_)))
            )
        if wide:
            return self._wide_destination(register, row)
        return self._word_destination(register, row, operand.part, type_)

    @staticmethod
    def _nothing(_: Any) -> None:
        return None

    def _word_destination(self, register: Register, row: int, part: str, type_: Type) -> Destination:
        if part in ("lo", "hi"):
            half = self.temporary()
            merge = "merge_low_u32" if part == "lo" else "merge_high_u32"
            return Destination(half, lambda: self._nothing(self.emit(merge, row, row, half)))
        if part and register.vector == 1:
            unsupported(f"the part '.{part}' of a register")
        if register.bits // register.vector == 16 or type_.bits < 32:
            # 16-bit registers hold values zero-extended; wider ones the value extended by its sign
            narrow = self.temporary()
            keep = type_ if register.bits // register.vector > 16 else TYPES["u16"]
            if type_.bits < keep.bits:  # an 8-bit result in a 16-bit register: extended by its sign first
                return Destination(narrow, lambda: self._narrow(row, self.extend(narrow, type_), keep))
            return Destination(narrow, lambda: self._narrow(row, narrow, keep))
        return Destination(row, lambda: None)

    def _narrow(self, row: int, value: int, type_: Type) -> None:
        self.emit(f"{'sext' if type_.is_signed else 'zext'}{type_.bits}_u32", row, value)

    def _wide_destination(self, register: Register, row: int) -> Destination:
        """A 64-bit result in a 32-bit register: PTXPlus, with the next register as its upper half."""
        value = self.temporary(64)
        following = self._next_register(register)

        def finish() -> None:
            self.emit("trunc_u64", row, value)
            if following is not None:
                self.emit("high_u64", following, value)

        return Destination(value, finish)

    def _pair_destination(self, items: tuple[Operand, ...], type_: Type) -> Destination:
        if type_.bits != 64 or len(items) != 2:
            unsupported("a vector destination here")
        value = self.temporary(64)
        places = [self.place(item, WORD) for item in items]

        def finish() -> None:
            for place, split in zip(places, ("trunc_u64", "high_u64"), strict=True):
                self.emit(split, place.row, value)
                place.finish()

        return Destination(value, finish)

    def _dual(self, operand: Dual, type_: Type) -> Destination:
        """PTXPlus `$p0|$r1`, `$p0/$o127`: the result, and its flags in a condition-code register."""
        flags = self.register(operand.first.text) if isinstance(operand.first, Name) else None
        if not self.ptxplus or flags is None or not flags.is_predicate:
            unsupported("this pair of destinations")
        row = self.row_of(flags)[1]
        value = self.temporary(64 if type_.bits == 64 else 32)
        place = self.place(operand.second, type_)

        def finish() -> None:
            self.set_flags(row, value, type_)
            self.emit("mov_u64" if type_.bits == 64 else "mov_u32", place.row, value)
            place.finish()

        return Destination(value, finish)

    def predicate_destination(self, operand: Operand) -> int:
        """The row of a PTX predicate to write; a sink gets a temporary one."""
        if isinstance(operand, Name):
            register = self.register(operand.text)
            if operand.text == "_":
                return self.temporary(1)
            if register is not None and register.is_predicate:
                return self.row_of(register)[1]
        unsupported("a destination that is no predicate register")

    def set_flags(self, row: int, value: int, type_: Type) -> None:
        """Z and S of a result; C and O clear. A NaN sets both Z and S ("unordered").

        GPGPU-Sim: Z of a signed result looks at all bits but the sign, a NaN sets neither, S of f64 is clear.
        """
        if type_.is_float:
            if type_.bits == 16:
                value, type_ = self.compute("h2f", value), TYPES["f32"]
            kind = f"f{type_.bits}"
            zero = self.constant(0, type_.bits)
            unordered = FALSE if self.as_gpgpu_sim else self.compute(f"num_{kind}", value, value, e=1)
            self.combine(OR_TABLE, self.compute(f"eq_{kind}", value, zero), unordered, d=row)
            negative = self.compute(f"lt_{kind}", value, zero)
            if self.as_gpgpu_sim and type_.bits == 64:
                negative = FALSE
            self.combine(OR_TABLE, negative, unordered, d=row + 1)
        else:
            width = max(32, type_.bits)
            if type_.bits < 32:
                value = self.extend(value, TYPES[f"s{type_.bits}"])
            zero = self.constant(0, width)
            magnitude = value
            if self.as_gpgpu_sim and type_.is_signed:
                magnitude = self.compute(
                    f"and_u{width}", value, self.constant((1 << (type_.bits - 1)) - 1, width)
                )
            self.emit(f"eq_u{width}", row, magnitude, zero)
            self.emit(f"lt_s{width}", row + 1, value, zero)
        self.combine(0, FALSE, FALSE, d=row + 2)
        self.combine(0, FALSE, FALSE, d=row + 3)

    # ---- memory operands

    def address(self, operand: Operand, space: int) -> Address:
        """The parts of an address."""
        if not isinstance(operand, Memory):
            unsupported("an address without brackets")
        base, offset, constant = operand.base, operand.offset, 0
        if operand.coordinates:
            unsupported("coordinates in an address")
        if operand.symbol and self.ptxplus and operand.symbol in self.layout.symbols:
            constant += self.layout.symbols[operand.symbol].address
        increment: tuple[int, int] | None = None
        second: int | None = None
        if operand.post_increment:
            if not isinstance(base, Name) or offset is None:
                unsupported("this post-increment")
            register = self.register(base.text)
            if register is None or base.part:
                unsupported("a post-increment of something that is no whole register")
            increment = (self.row_of(register)[1], self._offset_row(offset))
            offset = None
        if offset is not None:
            number = self._integer(offset)
            if number is None:
                second = self.value(offset, TYPES["u32"])
            else:
                constant += number
        if base is None:
            return self._made_address(None, second, constant, increment)
        number = self._integer(base)
        if number is not None:
            return self._made_address(None, second, constant + number, increment)
        if isinstance(base, Name):
            place = self.place_in_frame(base.text)
            symbol = self.symbol(base.text)
            parameter = next((p for p in self.layout.parameters if p.name == base.text), None)
            if self.register(base.text) is None:
                if place is not None:
                    return self._frame_address(place, space, second, constant, increment)
                if parameter is not None and space == PARAM:
                    return self._made_address(None, second, constant + parameter.offset, increment)
                if symbol is not None:
                    start = symbol.generic_address if space == GENERIC else symbol.address
                    return self._made_address(None, second, constant + start, increment)
                unsupported(f"the address '{base.text}'")
        return self._made_address(base, second, constant, increment)

    def _frame_address(
        self, place: Place, space: int, second: int | None, constant: int, increment: tuple[int, int] | None
    ) -> Address:
        """A variable of the frame, in local or in generic addresses."""
        if space not in (LOCAL, GENERIC):
            unsupported(f"'{place.name}' in this state space")
        constant += place.offset
        if self.is_kernel:
            window = LOCAL_WINDOW if space == GENERIC else 0
            return self._made_address(None, second, constant + window, increment)
        row = self.shared_row("frame")
        if space == GENERIC:
            row = self.compute("add_u32", row, self.constant(LOCAL_WINDOW))
        return Address(row, False, second, constant, increment)

    def _made_address(
        self, base: Operand | None, second: int | None, constant: int, increment: tuple[int, int] | None
    ) -> Address:
        if base is None:
            if not -(2**31) <= constant < 2**31:
                return Address(self.constant(constant, 64), True, second, 0, increment)
            return Address(self.constant(0), False, second, constant, increment)
        is_long = False
        if isinstance(base, Name) and not base.part:
            register = self.register(base.text)
            is_long = register is not None and self.row_of(register)[0] == 64
        if not -(2**31) <= constant < 2**31:
            unsupported("an address offset of more than 31 bits")
        row = self.value(base, LONG if is_long else TYPES["u32"])
        return Address(row, is_long, second, constant, increment)

    def _integer(self, operand: Operand) -> int | None:
        """The value of an offset that is a number; None if it is a register."""
        if isinstance(operand, Name) and (self.register(operand.text) or self.symbol(operand.text)):
            return None
        try:
            return evaluate(operand, self.layout.symbols)
        except ValueError:
            return None

    def _offset_row(self, offset: Operand) -> int:
        number = self._integer(offset)
        return self.value(offset, TYPES["u32"]) if number is None else self.constant(number)

    def emit_access(self, operand: Operand, space: int, n_bytes: int) -> Address:
        """The address and its check; remembers the access for the timing model."""
        address = self.address(operand, space)
        self.emit_address(address, space, n_bytes)
        return address

    def emit_address(
        self, address: Address, space: int, n_bytes: int, more: int | None = None, offset: int = 0
    ) -> None:
        """The check of an access of n bytes at an address, plus a row where given, plus an offset."""
        second = self.constant(0) if address.second is None else address.second
        if more is not None:
            second = more if address.second is None else self.compute("add_u32", second, more)
        code = ACCESS64 if address.is_long else ACCESS32
        self.emit_code(code, 0, address.base, second, space | n_bytes << 8, address.offset + offset)
        self.access_bytes, self.space = n_bytes, space

    def finish_access(self, address: Address) -> None:
        """The post-increment."""
        if address.increment is not None:
            row, amount = address.increment
            self.emit("add_u32", row, row, amount)

    def operand_space(self, operand: Memory) -> int:
        """PTXPlus: the space of `s[..]`, `g[..]`, `l..[..]`, `c..[..]`."""
        symbol = self.layout.symbols.get(operand.symbol)
        if symbol is not None:
            return symbol.space
        letter = operand.symbol[:1]
        if operand.symbol in ("s", "g") or letter == "l":
            return {"s": SHARED, "g": GLOBAL, "l": LOCAL}[letter]
        if not operand.symbol:
            unsupported("an address here")
        add = f" (add '.const .u32 {operand.symbol}[N] = {{ ... }};')" if letter == "c" else ""
        unsupported(f"'{operand.symbol}[...]' is not declared{add}")

    def load_operand(self, operand: Memory, type_: Type) -> int:
        """PTXPlus: a memory operand as a value."""
        if not operand.symbol:
            unsupported("an address as a value")
        address = self.emit_access(operand, self.operand_space(operand), type_.bytes)
        self.element_bytes = type_.bytes
        row = self.temporary(64 if type_.bits == 64 else 32)
        self.emit_code(load_code(type_), row)
        self.finish_access(address)
        return row

    def store_operand(self, operand: Memory, row: int, type_: Type) -> None:
        """PTXPlus: a value into a memory operand."""
        space = self.operand_space(operand)
        if space == CONST:
            unsupported("a store to constant memory")
        address = self.emit_access(operand, space, type_.bytes)
        self.element_bytes = type_.bytes
        self.emit_code(store_code(type_), a=row)
        self.finish_access(address)


def load_code(type_: Type) -> int:
    """The LOAD micro-operation of a type; floats of 16 bits are their bits."""
    if type_.bits == 64:
        return LOAD_64
    if type_.bits == 32:
        return LOAD_32
    signed = type_.is_signed
    if type_.bits == 16:
        return codes.LOAD_S16 if signed else codes.LOAD_U16
    return codes.LOAD_S8 if signed else codes.LOAD_U8


def store_code(type_: Type) -> int:
    return {8: codes.STORE_8, 16: codes.STORE_16, 32: codes.STORE_32, 64: codes.STORE_64}[type_.bits]


def _signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


Rule = Callable[[Builder, Operation], None]
RULES: dict[str, Rule] = {}
"""The rule of every `sem` of the instruction table that can be simulated."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule under the `sem` names it lowers."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


__all__ = ["RULES", "Address", "Builder", "Destination", "Diagnostic", "Operation", "Unsupported", "rule"]
