"""Constant expressions, by hand from the table of the manual (PTX ISA 4.5.6), in both implementations.

Every value was also compared with what ptxas 13.0 puts into a constant bank.
"""

import pytest
from reference.constants import constant_bits

from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Operand
from ptxtool.isa.types import TYPES
from ptxtool.parse import parse

ALL = 2**64


def _expression(text: str) -> Operand:
    module = parse(f".version 8.0\n.target sm_80\n.const .s64 c = {text};\n")
    value = module.variables["c"].declarators[0].value
    assert value is not None
    return value


def _no_name(operand: Operand) -> int:
    raise KeyError(operand)


@pytest.mark.parametrize(
    ("text", "type_name", "wanted"),
    [
        # signed: cut off towards 0, the sign from the left
        ("-7 / 2", "s64", -3),
        ("7 / -2", "s64", -3),
        ("-1 >> 1", "s64", -1),
        ("-3 >> 1 << 1", "s64", -4),
        ("-1 < 1", "s64", 1),
        ("(-1 & -1) < 0", "s64", 1),
        # a `U` on one side makes both unsigned: -1 is 2^64 - 1
        ("-1 / 2U", "u64", 2**63 - 1),
        ("-1 < 1U", "s64", 0),
        ("(-1 | 0U) < 0", "s64", 0),
        ("1 - 2U > 0", "s64", 1),
        ("1U << 3 > -1", "s64", 0),
        # so does a literal beyond 2^63 - 1, with a minus too
        ("0xffffffffffffffff >> 1", "u64", 2**63 - 1),
        ("9223372036854775808 >> 1", "s64", 2**62),
        ("-0x8000000000000000 / 2", "s64", 2**62),
        ("-9223372036854775808 / -1", "s64", 0),
        # a minus keeps the type: -5U is 2^64 - 5
        ("-(5U) / 2", "s64", 2**63 - 3),
        # `~` is unsigned, `!` signed
        ("~0 / 2", "s64", 2**63 - 1),
        ("!0 - 2 < 0", "s64", 1),
        # `%` takes both as unsigned, and its result is signed: 2^64 - 7 is 0 modulo 3
        ("-7 % 3", "s64", 0),
        ("7 % -2", "s64", 7),
        ("(1 % 2 - 2) / 2", "s64", 0),
        ("(1 % 2 - 5) / 2", "s64", -2),
        # casts
        ("(.u64)-1 >> 60", "u64", 15),
        ("(.s64)0xfffffffffffffff0 >> 2", "s64", -4),
        # comparisons and what joins them
        ("3 < 2 < 1", "s64", 1),
        ("1 ^ 3 & 2 == 2", "s64", 0),
        ("2 && 1", "s64", 1),
        ("0 || 0", "s64", 0),
        ("7 > 3 ? 5 : 6", "s64", 5),
        ("(1 == 1) - 2 < 0U", "s64", 0),
        ("5 != 5", "s64", 0),
        # as ptxas has it: distances modulo 64, the type of the value chosen
        ("1 << 65", "s64", 2),
        ("8 >> -1", "s64", 0),
        ("(1 ? -1 : 1U) / 2", "s64", 0),
        ("(0 ? -1 : 1U) - 2 > 0", "s64", 1),
        # more than a double can tell apart
        ("9007199254740993 / 1", "s64", 2**53 + 1),
        ("18446744073709551615 / 10", "u64", 0x1999999999999999),
        # fractions: f64 up to the end, then the type's width; 32 untyped bits are an f32
        ("1.5 + 1.0", "b64", 0x4004000000000000),
        ("1.5 + 1.0", "b32", 0x40200000),
        ("-1.5 - 0.5", "f64", 0xC000000000000000),
        ("-(1.5)", "f32", 0xBFC00000),
        ("1.0 / 3.0", "f32", 0x3EAAAAAB),
        ("1.5 * 2.0 >= 3.0", "s64", 1),
        ("1 + (1.5 > 1.0)", "s64", 2),
    ],
)
def test_constant_expression(text: str, type_name: str, wanted: int) -> None:
    type_ = TYPES[type_name]
    assert constant(_expression(text)).bits(type_) == wanted % 2**type_.bits
    assert constant_bits(_expression(text), type_, _no_name) == wanted % 2**type_.bits


@pytest.mark.parametrize(
    ("text", "type_name", "wanted"),
    [
        ("1.5", "b32", 0x3FC00000),
        ("-1.5", "b32", 0xBFC00000),
        ("0d3ff8000000000000", "b32", 0x3FC00000),
        ("0f3fc00000", "b64", 0x3FC00000),
        ("1.5", "b64", 0x3FF8000000000000),
        ("1.1", "b16", 0x999A),
        ("1e300", "f32", 0x7F800000),
    ],
)
def test_literal(text: str, type_name: str, wanted: int) -> None:
    assert constant_bits(_expression(text), TYPES[type_name], _no_name) == wanted


@pytest.mark.parametrize(
    "text", ["5 / 0", "5 % 0", "1.0 / 0.0", "1 + 1.5", "~1.5", "1.5 << 1", "(.f32) 1", "other", "1.0 ? 2 : 3"]
)
def test_what_is_no_constant(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        constant(_expression(text))
