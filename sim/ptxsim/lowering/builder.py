"""The builder of micro-operations: destinations, on top of rows, sources and addresses (a file each); and the rules.

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
from ptxsim.lowering.rows import FALSE, WORD, Operation, Rows, extension, row_bits, unsupported
from ptxtool.ir.nodes import Dual, Memory, Name, Operand, Vector
from ptxtool.ir.symbols import Register
from ptxtool.isa.types import TYPES, Type


@dataclass
class Destination:
    """Where a result goes: compute into `row`, then call `finish`; `write` does both."""

    builder: Rows
    row: int
    finish: Callable[[], object] = lambda: None

    def write(self, what: str | int, a: int = -1, b: int = -1, c: int = -1, e: int = 0) -> None:
        """Compute the result by one lane operation, or another micro-operation."""
        self.builder.emit(what, self.row, a, b, c, e)
        self.finish()


class UopBuilder(Addresses):
    """What the rules of instructions work with; it adds the destinations."""

    def destination(self, op: Operation, index: int = 0, type_: Type | None = None) -> Destination:
        """Where operand `index` of an instruction wants a result of a type."""
        return self.place(op.operands[index], type_ or op.type)

    def place(self, operand: Operand, type_: Type) -> Destination:
        """A destination for a value of a type: a row to compute into and what finishes it."""
        if isinstance(operand, Dual):
            return self._dual(operand, type_)
        if isinstance(operand, Vector):
            return self._pair_destination(operand.items, type_)
        if isinstance(operand, Memory):
            row = self.temporary(row_bits(type_))
            return Destination(self, row, lambda: self.store_operand(operand, row, type_))
        if not isinstance(operand, Name):
            unsupported("this destination")
        register = self.register(operand.text)
        if operand.text == "_" or (register is not None and register.is_sink and not self.as_gpgpu_sim):
            return Destination(self, self.temporary(row_bits(type_)))
        if register is None:
            unsupported(f"'{operand.text}' as a destination")
        bits, row = self.row_of(register, operand.part)
        if bits == 1:
            if not self.ptxplus:
                unsupported(f"predicate '{register.name}' as a destination")
            flagged = self.temporary(row_bits(type_))
            return Destination(self, flagged, lambda: self.set_flags(row, flagged, type_))
        if bits == type_.bits == 64:
            return Destination(self, row)
        if bits == 64:
            narrow = self.temporary()
            return Destination(
                self, narrow, lambda: self.emit(extension(type_), row, self.extend(narrow, type_))
            )
        if type_.bits == 64:
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

            def finish() -> None:  # an 8-bit result in a 16-bit register: extended by its sign first
                value = self.extend(narrow, type_) if type_.bits < keep.bits else narrow
                self.emit(f"{'sext' if keep.is_signed else 'zext'}{keep.bits}_u32", row, value)

            return Destination(self, narrow, finish)
        return Destination(self, row)

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
                place.write(split, value)

        return Destination(self, value, finish)

    def _dual(self, operand: Dual, type_: Type) -> Destination:
        """PTXPlus `$p0|$r1`, `$p0/$o127`: the result, and its flags in a condition-code register."""
        row = self.predicate_row(operand.first) if self.ptxplus else None
        if row is None:
            unsupported("this pair of destinations")
        value = self.temporary(row_bits(type_))
        place = self.place(operand.second, type_)

        def finish() -> None:
            self.set_flags(row, value, type_)
            place.write(f"mov_u{row_bits(type_)}", value)

        return Destination(self, value, finish)

    def predicate_destination(self, operand: Operand) -> int:
        """The row of a PTX predicate to write; a sink gets a temporary one."""
        if isinstance(operand, Name) and operand.text == "_":
            return self.temporary(1)
        row = self.predicate_row(operand)
        if row is None:
            unsupported("a destination that is no predicate register")
        return row

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
            self.combine("or", self.compute(f"eq_{kind}", value, zero), unordered, d=row)
            negative = self.compute(f"lt_{kind}", value, zero)
            if self.as_gpgpu_sim and type_.bits == 64:
                negative = FALSE
            self.combine("or", negative, unordered, d=row + 1)
        else:
            width = row_bits(type_)
            value = self.extend(value, TYPES[f"s{type_.bits}"])
            zero = self.constant(0, width)
            magnitude = value
            if self.as_gpgpu_sim and type_.is_signed:
                all_but_sign = self.constant((1 << (type_.bits - 1)) - 1, width)
                magnitude = self.compute(f"and_u{width}", value, all_but_sign)
            self.emit(f"eq_u{width}", row, magnitude, zero)
            self.emit(f"lt_s{width}", row + 1, value, zero)
        self.combine("false", FALSE, d=row + 2)
        self.combine("false", FALSE, d=row + 3)


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
