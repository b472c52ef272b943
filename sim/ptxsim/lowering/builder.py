"""The workshop of lowering, complete: upon rows, sources and addresses (a file each) the destinations; and the rules.

Rules (integer.py, floating.py, ...) turn one instruction each into micro-operations with it:

    d = b.destination(op, 0, type)        where a result goes
    b.emit("add_u32", d.row, b.source(op, 1, type), b.source(op, 2, type))
    d.finish()                            halves merged, pairs split, condition codes set

Values of 16 and 8 bits are read extended to 32 bits, by the sign of the type asked for, and 16-bit registers hold them
zero-extended. Intermediate results go to temporary rows, which are free again after the instruction; the register
itself is written last, because it may be a source too.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ptxsim.lowering.addresses import Addresses
from ptxsim.lowering.rows import FALSE, OR_TABLE, WORD, Operation, Rows, unsupported
from ptxtool.ir.nodes import Dual, Memory, Name, Operand, Vector
from ptxtool.ir.symbols import Register
from ptxtool.isa.types import TYPES, Type


@dataclass
class Destination:
    """Where a result goes: compute into `row`, then call `finish`; `write` does both."""

    builder: Rows
    row: int
    finish: Callable[[], object] = lambda: None

    def write(self, name: str, a: int = -1, b: int = -1, c: int = -1, e: int = 0) -> None:
        """Compute the result by one lane operation."""
        self.builder.emit(name, self.row, a, b, c, e)
        self.finish()


class UopBuilder(Addresses):
    """What the rules of instructions work with; it adds the destinations."""

    def destination(self, op: Operation, index: int = 0, type_: Type | None = None) -> Destination:
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
            return Destination(self, row, lambda: self.store_operand(operand, row, type_))
        if not isinstance(operand, Name):
            unsupported("this destination")
        register = self.register(operand.text)
        if operand.text == "_" or (register is not None and register.is_sink and not self.as_gpgpu_sim):
            return Destination(self, self.temporary(64 if wide else 32))
        if register is None:
            unsupported(f"'{operand.text}' as a destination")
        bits, row = self.row_of(register, operand.part)
        if bits == 1:
            if not self.ptxplus:
                unsupported(f"predicate '{register.name}' as a destination")
            temporary = self.temporary(64 if wide else 32)
            return Destination(self, temporary, lambda: self.set_flags(row, temporary, type_))
        if bits == 64:
            if wide:
                return Destination(self, row)
            temporary = self.temporary()
            extension = "sext_u64" if type_.is_signed else "zext_u64"
            return Destination(
                self, temporary, lambda: self.emit(extension, row, self.extend(temporary, type_))
            )
        if wide:
            return self._wide_destination(register, row)
        return self._word_destination(register, row, operand.part, type_)

    def _word_destination(self, register: Register, row: int, part: str, type_: Type) -> Destination:
        if part in ("lo", "hi"):
            half = self.temporary()
            merge = "merge_low_u32" if part == "lo" else "merge_high_u32"
            return Destination(self, half, lambda: self.emit(merge, row, row, half))
        if part and register.vector == 1:
            unsupported(f"the part '.{part}' of a register")
        if register.bits // register.vector == 16 or type_.bits < 32:
            # 16-bit registers hold values zero-extended; wider ones the value extended by its sign
            narrow = self.temporary()
            keep = type_ if register.bits // register.vector > 16 else TYPES["u16"]
            if type_.bits < keep.bits:  # an 8-bit result in a 16-bit register: extended by its sign first
                return Destination(self, narrow, lambda: self._narrow(row, self.extend(narrow, type_), keep))
            return Destination(self, narrow, lambda: self._narrow(row, narrow, keep))
        return Destination(self, row)

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

        return Destination(self, value, finish)

    def _pair_destination(self, items: tuple[Operand, ...], type_: Type) -> Destination:
        if type_.bits != 64 or len(items) != 2:
            unsupported("a vector destination here")
        value = self.temporary(64)
        places = [self.place(item, WORD) for item in items]

        def finish() -> None:
            for place, split in zip(places, ("trunc_u64", "high_u64"), strict=True):
                self.emit(split, place.row, value)
                place.finish()

        return Destination(self, value, finish)

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

        return Destination(self, value, finish)

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


Rule = Callable[[UopBuilder, Operation], None]
RULES: dict[str, Rule] = {}
"""The rule of every `sem` of the instruction table that can be simulated."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule under the `sem` names it lowers."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register
