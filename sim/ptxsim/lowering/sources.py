"""Operands as sources: rows of registers, special registers, immediates and addresses of variables. For `addresses.py`.

Values of 16 and 8 bits are read extended to 32 bits, by the sign of the type asked for.
"""

from abc import ABC, abstractmethod

from ptxsim.base.program import SHARED
from ptxsim.execute import codes
from ptxsim.lowering.rows import (
    FALSE,
    TRUE,
    WORD,
    Operation,
    Rows,
    extension,
    row_bits,
    unsupported,
)
from ptxsim.lowering.variable_layout import LAUNCH_REGISTERS, Symbol, constant_bits
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.ir.symbols import Register
from ptxtool.isa.literals import literal
from ptxtool.isa.special import PART_ALIASES, special
from ptxtool.isa.types import Type

_SPECIAL_NUMBERS = {
    "laneid": codes.LANEID,
    "warpid": codes.WARPID,
    "smid": codes.SMID,
    "lanemask_eq": codes.LANEMASK_EQ,
    "lanemask_le": codes.LANEMASK_LE,
    "lanemask_lt": codes.LANEMASK_LT,
    "lanemask_ge": codes.LANEMASK_GE,
    "lanemask_gt": codes.LANEMASK_GT,
    "cluster_ctarank": codes.CLUSTER_CTARANK,
    "cluster_nctarank": codes.CLUSTER_NCTARANK,
    "is_explicit_cluster": codes.EXPLICIT_CLUSTER,
    **{
        f"{name}.{part}": number + k
        for name, number in (
            ("tid", codes.TID_X),
            ("ntid", codes.NTID_X),
            ("ctaid", codes.CTAID_X),
            ("nctaid", codes.NCTAID_X),
            ("clusterid", codes.CLUSTERID_X),
            ("nclusterid", codes.NCLUSTERID_X),
            ("cluster_ctaid", codes.CLUSTER_CTAID_X),
            ("cluster_nctaid", codes.CLUSTER_NCTAID_X),
        )
        for k, part in enumerate("xyz")
    },
}
_SPECIAL_ZERO = frozenset(
    {
        "gridid",
        "current_graph_exec",
        *(f"envreg{n}" for n in (0, *range(3, 32))),
        "tid.w",
        "ctaid.w",
        "clusterid.w",
        "cluster_ctaid.w",
    }
)
_SPECIAL_ONE = frozenset({"ntid.w", "nctaid.w", "nclusterid.w", "cluster_nctaid.w"})


class Sources(Rows, ABC):
    """Reads operands: registers, immediates, names; PTXPlus's memory operands as `addresses.py` has them."""

    @abstractmethod
    def load_operand(self, operand: Memory, type_: Type) -> int:
        """PTXPlus: a memory operand as a value."""

    # ---- sources

    def source(self, op: Operation, index: int, type_: Type | None = None) -> int:
        """The row of an operand's value, extended to the width of its file, in the instruction's type by default."""
        return self.value(op.operands[index], type_ or op.type)

    def value(self, operand: Operand, type_: Type) -> int:
        """The row of a value: of the 64-bit file for types of 64 bits, of the 32-bit file for others."""
        if type_.bits == 128:
            unsupported("128-bit values")
        if isinstance(operand, Unary) and operand.operator == "-":
            if not isinstance(operand.operand, Immediate):
                return self.negate(self.value(operand.operand, type_), type_)
            number = literal(operand.operand.text)
            if number.kind == "int" and type_.is_float and self.ptxplus:  # the bits of a float, negated
                return self.negate(self.constant(number.bits(type_), max(32, type_.bits)), type_)
            return self._extended_constant(literal("-" + operand.operand.text).bits(type_), type_)
        if isinstance(operand, Name):
            return self._name(operand, type_)
        if isinstance(operand, Memory):
            return self.load_operand(operand, type_)
        if isinstance(operand, Vector):
            return self._pair(operand, type_)
        if isinstance(operand, Immediate):
            return self._extended_constant(literal(operand.text).bits(type_), type_)
        try:
            row = self._extended_constant(constant_bits(operand, type_, self.layout.symbols), type_)
        except ValueError as problem:
            unsupported(f"operand: {problem}")
        is_shared = any(self._is_shared(self.symbol(name.text)) for name in names(operand))
        return self._with_rank(row, type_) if is_shared else row

    def _is_shared(self, symbol: Symbol | None) -> bool:
        return symbol is not None and symbol.space == SHARED

    def _with_rank(self, row: int, type_: Type) -> int:
        """The address of a shared variable as a value."""
        if not self.has_pairs or type_.bits < 32:
            return row
        rank = self.compute(
            "add_u32", self.special_row(codes.CLUSTER_CTARANK), self.constant(codes.FIRST_RANK)
        )
        start = self.compute("shl_u32", rank, self.constant(codes.RANK_SHIFT))
        start = self.compute("zext_u64", start) if type_.bits == 64 else start
        return self.compute(f"add_u{row_bits(type_)}", row, start)

    def negate(self, row: int, type_: Type) -> int:
        if type_.is_float:
            if type_.bits == 16:
                return self.compute("xor_u32", row, self.constant(0x8000))
            return self.compute(f"neg_f{row_bits(type_)}", row)
        return self.extend(self.compute(f"neg_u{row_bits(type_)}", row), type_)

    def extend(self, row: int, type_: Type) -> int:
        """A 32-bit row cut to a type of 16 or 8 bits and extended again."""
        if type_.bits >= 32:
            return row
        return self.compute(f"{'sext' if type_.is_signed else 'zext'}{type_.bits}_u32", row)

    def _extended_constant(self, bits: int, type_: Type) -> int:
        if type_.is_signed and type_.bits < 32 and bits >> (type_.bits - 1):
            bits -= 1 << type_.bits
        return self.constant(bits, row_bits(type_))

    def _name(self, operand: Name, type_: Type) -> int:
        """A register, a special register or a variable's address."""
        register = self.register(operand.text)
        if register is not None:
            return self._register_value(register, operand.part, type_)
        if operand.text == "WARP_SZ":
            return self.constant(32, row_bits(type_))
        if operand.text.startswith("%"):
            return self._special(operand, type_)
        place = self.place_in_frame(operand.text)
        if place is not None:
            row = self.frame_address(place)
            return self.compute("zext_u64", row) if type_.bits == 64 else row
        symbol = self.symbol(operand.text)
        if symbol is not None:
            row = self.constant(symbol.address, row_bits(type_))
            return self._with_rank(row, type_) if self._is_shared(symbol) else row
        parameter = self.parameter(operand.text)
        if parameter is not None:
            return self.constant(parameter.offset, row_bits(type_))
        unsupported(f"'{operand.text}' as an operand")

    def _register_value(self, register: Register, part: str, type_: Type) -> int:
        if register.is_zero and not self.as_gpgpu_sim:
            return self.constant(0, row_bits(type_))
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
            is_extended = (type_.is_signed and type_.bits == 16) or type_.bits == 8
            return self.extend(half, type_) if is_extended else half
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
        return self.compute(extension(type_), row)

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
            return self.constant(int(name in _SPECIAL_ONE), row_bits(type_))
        if name in ("clock64", "globaltimer"):
            row = self.emit(codes.CLOCK64, self.temporary(64))
            return row if wide else self.compute("trunc_u64", row)
        shifts = {"clock": 0, "globaltimer_lo": 0, "clock_hi": 32, "globaltimer_hi": 32, "halfclock": 1}
        if name in shifts:
            row = self.emit(codes.CLOCK32, self.temporary(), e=shifts[name])
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

    def predicate(self, operand: Operand) -> int:
        """The row of a predicate that is true where the operand holds (PTXPlus: where Z is clear)."""
        inverted = self.ptxplus
        if isinstance(operand, Unary) and operand.operator == "!":
            inverted, operand = not inverted, operand.operand
        if isinstance(operand, Immediate):
            return TRUE if (literal(operand.text).payload != 0) != (inverted and not self.ptxplus) else FALSE
        if isinstance(operand, Name) and operand.text == "%is_explicit_cluster":
            return self.compute("eq_u32", self._special(operand, WORD), self.constant(int(not inverted)))
        row = self.predicate_row(operand)
        if row is None:
            unsupported("a predicate operand that is no predicate register")
        return self.combine("not", row) if inverted else row
