"""Atomics of 16 bits: their halves of a word, order of halves, NaNs, and exchanges."""

import pytest
from three_ways import words


@pytest.mark.parametrize(
    ("operation", "old", "operand", "expected"),
    [
        ("add.noftz.f16", 0x3C00, 0x3C00, 0x4000),
        ("add.noftz.f16", 0x0001, 0x0001, 0x0002),  # subnormals are kept
        ("add.noftz.f16", 0x7BFF, 0x7BFF, 0x7C00),
        ("add.noftz.bf16", 0x3F80, 0x3F80, 0x4000),
        ("cas.b16", 0x1234, 0x5678, 0x1234),
        ("cas.b16", 0x5678, 0x5678, 0x9999),
    ],
)
def test_half_of_a_word(operation: str, old: int, operand: int, expected: int) -> None:
    """The upper half changes, and the lower one stays."""
    more = ", %h3" if operation.startswith("cas") else ""
    body = f"""mov.b16 %h1, {operand}; mov.b16 %h3, 0x9999;
	atom.global.{operation} %h2, [%d2+2], %h1{more}; ld.global.u32 %r6, [%d2];"""
    assert words(body, 1, [old << 16 | 0xABCD]) == [expected << 16 | 0xABCD]


@pytest.mark.parametrize(
    ("operation", "old", "operand", "expected"),
    [
        ("min", 0xBC003C00, 0x40003800, 0xBC003800),
        ("max", 0xBC003C00, 0x40003800, 0x40003C00),
        ("min", 0x00008000, 0x80000000, 0x80008000),  # -0 is below +0
        ("max", 0x7E003C00, 0x40007E00, 0x40003C00),  # a number wins against a NaN
        ("min", 0x7E017E01, 0x7E027E02, 0x7FFF7FFF),  # of two NaNs comes the one
    ],
)
def test_extremes_of_halves(operation: str, old: int, operand: int, expected: int) -> None:
    body = f"""mov.b32 {{%h1, %h2}}, {operand};
	red.global.{operation}.noftz.v2.f16 [%d2], {{%h1, %h2}}; ld.global.u32 %r6, [%d2];"""
    assert words(body, 1, [old]) == [expected]
