"""Constant expressions in plain Python, a second time and from the manual alone.

A value is a pair: its type, "s64", "u64" or "f64", and its number. Shifts by 64 and more, and `c ? a : b` of two types,
are what ptxas makes of them; the manual says nothing, or converts both sides.
Reference: PTX ISA, sections 4.5.5 and 4.5.6 (table of the evaluation rules).
"""

import struct
from collections.abc import Callable

from ptxtool.ir.nodes import Binary, Cast, Conditional, Group, Immediate, Operand, Unary
from ptxtool.isa.literals import literal
from ptxtool.isa.types import Type

Value = tuple[str, int | float]


def constant_bits(operand: Operand, kind: Type, named: Callable[[Operand], int]) -> int:
    """The bits of a constant expression in a type. Raises `ValueError` or `KeyError` for what is none."""
    if isinstance(operand, Immediate):
        return literal(operand.text).bits(kind)
    type_, number = _evaluate(operand, named)
    if type_ != "f64":
        return int(number) & ((1 << kind.bits) - 1)
    if kind.bits == 32 or kind.is_float:
        return literal(f"0d{struct.pack('>d', number).hex()}").bits(kind)
    return int(struct.pack(">d", number).hex(), 16) & ((1 << kind.bits) - 1)


def _evaluate(operand: Operand, named: Callable[[Operand], int]) -> Value:
    if isinstance(operand, Immediate):
        found = literal(operand.text)
        if found.kind != "int":
            return "f64", float(found.value)
        magnitude = int(found.value)
        fits = -(2**63) < magnitude < 2**63
        return _wrap("s64" if fits and operand.text[-1] != "U" else "u64", magnitude)
    if isinstance(operand, Group):
        return _evaluate(operand.items[0], named)
    if isinstance(operand, Cast):
        return _wrap(operand.type.strip("."), _whole(_evaluate(operand.operand, named)))
    if isinstance(operand, Conditional):
        condition = _whole(_evaluate(operand.condition, named))
        return _evaluate(operand.then if condition else operand.otherwise, named)
    if isinstance(operand, Unary):
        return _unary(operand.operator, _evaluate(operand.operand, named))
    if isinstance(operand, Binary):
        return _binary(operand.operator, _evaluate(operand.left, named), _evaluate(operand.right, named))
    return _wrap("s64", named(operand))


def _wrap(type_: str, number: int) -> Value:
    number %= 2**64
    return type_, number - 2**64 if type_ == "s64" and number >= 2**63 else number


def _whole(value: Value) -> int:
    type_, number = value
    if type_ == "f64":
        raise ValueError("a fraction where a whole number must be")
    return int(number)


def _unary(symbol: str, value: Value) -> Value:
    type_, number = value
    match symbol:
        case "-" if type_ == "f64":
            return type_, -number
        case "-":
            return _wrap(type_, -int(number))
        case "+":
            return value
        case "~":
            return _wrap("u64", ~_whole(value))
        case _:
            return "s64", 1 if _whole(value) == 0 else 0


def _binary(symbol: str, left: Value, right: Value) -> Value:
    if "f64" in (left[0], right[0]):
        return _fractions(symbol, left, right)
    if symbol in ("<<", ">>"):
        factor = 2 ** (_whole(right) % 64)
        return _wrap(left[0], _whole(left) * factor if symbol == "<<" else _whole(left) // factor)
    common = "u64" if symbol == "%" or "u64" in (left[0], right[0]) else "s64"
    a, b = (_whole(_wrap(common, _whole(side))) for side in (left, right))
    match symbol:
        case "+":
            return _wrap(common, a + b)
        case "-":
            return _wrap(common, a - b)
        case "*":
            return _wrap(common, a * b)
        case "/":
            return _wrap(common, (a - (abs(a) % abs(b)) * (1 if a > 0 else -1)) // b)
        case "%":
            return _wrap("s64", a % b)
        case "&":
            return _wrap(common, a & b)
        case "|":
            return _wrap(common, a | b)
        case "^":
            return _wrap(common, a ^ b)
        case "&&":
            return "s64", int(a != 0 and b != 0)
        case "||":
            return "s64", int(a != 0 or b != 0)
    return "s64", _compare(symbol, a, b)


def _compare(symbol: str, a: int | float, b: int | float) -> int:
    less, equal = a < b, a == b
    truths = {
        "<": less,
        "<=": less or equal,
        "==": equal,
        "!=": not equal,
        ">=": not less,
        ">": not (less or equal),
    }
    return int(truths[symbol])


def _fractions(symbol: str, left: Value, right: Value) -> Value:
    if left[0] != right[0]:
        raise ValueError("a fraction and a whole number in one operation")
    a, b = float(left[1]), float(right[1])
    match symbol:
        case "+":
            return "f64", a + b
        case "-":
            return "f64", a - b
        case "*":
            return "f64", a * b
        case "/":
            return "f64", a / b
    return "s64", _compare(symbol, a, b)
