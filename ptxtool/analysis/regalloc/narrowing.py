"""The 64-bit values that need both of their words on a machine with 32-bit addresses.

For `lower-ptxplus`: PTXPlus has 32-bit registers and addresses, PTX of today computes addresses in 64 bits. The low
word of a sum, difference, product, shift to the left, bitwise operation, move or selection depends on nothing but the
low words of its operands. So a value whose high word no instruction needs can be computed in 32 bits, exactly:

    high(v) = exists an instruction that reads the high word of v itself (a comparison, a division, a store, ...)
           or an instruction d = op(.., v, ..), op from the list above, with high(d)

An access reads the low word of its address: all of memory is assumed to lie within the first 4 GiB. The least solution
is computed backward over all instructions at once, without regard to their order.

Not handled: values of 128 bits. A register that has several independent values counts as one.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from ptxtool.ir.nodes import Instruction, Name, Operand, Unary, Vector
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES

Value = Hashable
"""The key of a 64-bit register or of a word of a parameter."""

_LOW_FROM_LOW = frozenset(
    ["add", "sub", "and", "or", "xor", "not", "neg", "mov", "selp", "slct", "cvta", "shl"]
)
"""Operations whose result's low word depends on the low words of their 64-bit operands alone."""


class Demand(msgspec.Struct, frozen=True):
    """The demands of one instruction on 64-bit values: `whole` are needed with all bits; `passed` are (result, operand)
    pairs of which the operand's high word is needed where the result's is."""

    whole: tuple[Value, ...] = ()
    passed: tuple[tuple[Value, Value], ...] = ()


NO_DEMAND = Demand()


@dataclass(frozen=True)
class Narrowing:
    """The values that need 64 bits, each with the number of the first demand for its high word."""

    wide: Mapping[Value, int]

    def is_wide(self, value: Value) -> bool:
        return value in self.wide


def narrowing(demands: Iterable[Demand]) -> Narrowing:
    """Solve the demands of a kernel."""
    wide: dict[Value, int] = {}
    operands_of: dict[Value, list[Value]] = {}
    pending: list[Value] = []
    for number, demand in enumerate(demands):
        for value in demand.whole:
            if value not in wide:
                wide[value] = number
                pending.append(value)
        for result, operand in demand.passed:
            operands_of.setdefault(result, []).append(operand)
    while pending:
        result = pending.pop()
        for operand in operands_of.get(result, ()):
            if operand not in wide:
                wide[operand] = wide[result]
                pending.append(operand)
    return Narrowing(wide)


def demand(instruction: Instruction, match: Match, value: Callable[[str], Value | None]) -> Demand:
    """The demand of a PTX instruction; `value` returns a 64-bit register by its name, None for other names."""
    operands = instruction.operands
    read = _values(operands[1:], value)
    if not read:
        return NO_DEMAND
    base, to, from_ = instruction.opcode.base, _bits(match.type), _bits(match.stype)
    if base in ("st", "red"):
        return Demand(read) if to >= 64 else NO_DEMAND
    if base in ("ld", "ldu"):
        return NO_DEMAND
    if base == "cvt":
        kinds = TYPES[match.type].kind, TYPES[match.stype].kind
        if "f" in kinds or "sat" in match.modifiers:
            return Demand(read)
        return Demand((), _pairs(operands[0], read, value)) if to == from_ == 64 else NO_DEMAND
    is_packed = any(isinstance(o, Vector) for o in operands)
    through = (
        base in _LOW_FROM_LOW and not is_packed and match.type[:1] != "f" and not match.modifiers & {"cc"}
    )
    if base in ("mov", "selp", "slct"):  # of any type
        through = not is_packed
    if base in ("mul", "mad"):
        through = bool(match.modifiers & {"lo", "wide"}) and "cc" not in match.modifiers
    if through:
        return Demand((), _pairs(operands[0], read, value))
    return Demand(read)


def _bits(name: str) -> int:
    return TYPES[name].bits if name in TYPES else 0


def _pairs(
    result: Operand, read: Iterable[Value], value: Callable[[str], Value | None]
) -> tuple[tuple[Value, Value], ...]:
    target = value(result.text) if isinstance(result, Name) else None
    return () if target is None else tuple((target, source) for source in read)


def _values(sources: Iterable[Operand], value: Callable[[str], Value | None]) -> tuple[Value, ...]:
    """The 64-bit values among operands; those inside an address are not read as values."""
    found: list[Value] = []
    for operand in sources:
        if type(operand) is Name:
            known = value(operand.text)
            if known is not None:
                found.append(known)
        elif type(operand) is Vector:
            found += _values(operand.items, value)
        elif type(operand) is Unary:
            found += _values((operand.operand,), value)
    return tuple(found)
