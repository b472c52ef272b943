"""Constant expressions: what an initial value, an immediate or an offset such as `(1 << 4) + 3U` is worth.

Whole numbers have 64 bits, and are signed unless a literal has a `U` or is beyond 2^63 - 1; an operator with an
unsigned operand takes both as unsigned, `~` and `%` always do. Fractions are f64 and do not mix with whole numbers.
As ptxas has it, distances of shifts count modulo 64 (the manual says nothing of 64 and more) and `c ? a : b` has the
type of the one chosen (in the manual the common one).

Names and `generic(x)` are the caller's: `named` tells what they are worth.
Reference: PTX ISA, sections 4.5.5 and 4.5.6 (constant expressions, summary of their evaluation).
"""

import operator
from collections.abc import Callable

import msgspec

from ptxtool.ir.nodes import Binary, Cast, Conditional, Group, Immediate, Operand, Unary
from ptxtool.isa.literals import float_bits, literal
from ptxtool.isa.types import Type

_BITS = 64
_MASK = (1 << _BITS) - 1


class Constant(msgspec.Struct, frozen=True):
    """A fraction, or a whole number from -2^63 to 2^63 - 1, or from 0 to 2^64 - 1 if it is unsigned."""

    number: int | float
    is_unsigned: bool = False

    def bits(self, type: Type) -> int:
        """The bits in a type: whole numbers wrap, fractions are rounded to the type's width."""
        if isinstance(self.number, float):
            return float_bits(self.number, type)
        return self.number & ((1 << type.bits) - 1)


def _whole(number: int, is_unsigned: bool) -> Constant:
    number &= _MASK
    return Constant(
        number if is_unsigned or not number >> (_BITS - 1) else number - (1 << _BITS), is_unsigned
    )


def _nothing_named(operand: Operand) -> int:
    raise ValueError("it is no constant expression")


def constant(value: Operand, named: Callable[[Operand], int] = _nothing_named) -> Constant:
    """The worth of a constant expression. Raises `ValueError` for what is none, with the reason."""
    match value:
        case Immediate(text=text):
            found = literal(text)
            if found.kind != "int":
                return Constant(float(found.value))
            return _whole(found.payload, text.endswith("U") or abs(found.payload) >> (_BITS - 1) != 0)
        case Group(items=(item,)):
            return constant(item, named)
        case Cast(type=name):
            if name.lstrip(".") not in ("s64", "u64"):
                raise ValueError(f"'({name})' is no cast of constants; '(.s64)' and '(.u64)' are")
            return _whole(_integer(constant(value.operand, named)), name.endswith("u64"))
        case Unary():
            return _unary(value.operator, constant(value.operand, named))
        case Binary():
            return _binary(value.operator, constant(value.left, named), constant(value.right, named))
        case Conditional():
            chosen = _integer(constant(value.condition, named)) != 0
            return constant(value.then if chosen else value.otherwise, named)
    return _whole(named(value), False)


def _integer(value: Constant) -> int:
    if isinstance(value.number, float):
        raise ValueError("it needs whole numbers here")
    return value.number


def _unary(symbol: str, a: Constant) -> Constant:
    if symbol == "+":
        return a
    if symbol == "-":
        return Constant(-a.number) if isinstance(a.number, float) else _whole(-a.number, a.is_unsigned)
    if symbol == "~":
        return _whole(~_integer(a), True)
    return Constant(int(not _integer(a)))


_COMPARISONS: dict[str, Callable[[int | float, int | float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BITWISE: dict[str, Callable[..., int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_ARITHMETIC: dict[str, Callable[..., int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _binary(symbol: str, a: Constant, b: Constant) -> Constant:
    if isinstance(a.number, float) and isinstance(b.number, float):
        return _of_fractions(symbol, a.number, b.number)
    left, right = _integer(a), _integer(b)
    if symbol == "&&":
        return Constant(int(bool(left) and bool(right)))
    if symbol == "||":
        return Constant(int(bool(left) or bool(right)))
    if symbol in ("<<", ">>"):
        distance = right % _BITS
        return _whole(left << distance if symbol == "<<" else left >> distance, a.is_unsigned)
    is_unsigned = a.is_unsigned or b.is_unsigned or symbol == "%"
    if is_unsigned:
        left, right = left & _MASK, right & _MASK
    if symbol in _COMPARISONS:
        return Constant(int(_COMPARISONS[symbol](left, right)))
    if symbol in "/%":
        if right == 0:
            raise ValueError("it divides by zero")
        if symbol == "%":
            return _whole(left % right, False)
        return _whole(abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1), is_unsigned)
    if found := _BITWISE.get(symbol) or _ARITHMETIC.get(symbol):
        return _whole(found(left, right), is_unsigned)
    raise ValueError(f"'{symbol}' is no operator of constants")


def _of_fractions(symbol: str, a: float, b: float) -> Constant:
    if symbol in _COMPARISONS:
        return Constant(int(_COMPARISONS[symbol](a, b)))
    if symbol == "/":
        if b == 0:
            raise ValueError("it divides by zero")
        return Constant(a / b)
    if symbol in _ARITHMETIC:
        return Constant(float(_ARITHMETIC[symbol](a, b)))
    raise ValueError(f"'{symbol}' needs whole numbers")
