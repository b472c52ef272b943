"""Arithmetic of lane operations at the ends of its range; expected values are those of Python's own integers."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from uncompiled import in_python

from ptxsim.execute import arithmetic
from ptxsim.execute.arithmetic import DOWN, TO_ODD, UP, ZERO

SMALLEST = -(2**63)


def call(name: str, *arguments: int) -> int:
    return int(in_python(getattr(arithmetic, name))(*map(np.int64, arguments)))


def unsigned(name: str, *arguments: int) -> int:
    return int(in_python(getattr(arithmetic, name))(*map(np.uint64, arguments)))


@pytest.mark.parametrize(
    ("a", "b", "quotient"),
    [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (-8, 2, -4), (5, 0, 0), (SMALLEST, -1, SMALLEST)],
)
def test_division_is_towards_zero(a: int, b: int, quotient: int) -> None:
    with np.errstate(over="ignore"):
        assert call("divide", a, b) == quotient


def test_unsigned_division_by_zero_gives_ones_and_the_dividend() -> None:
    assert unsigned("divide_unsigned", 5, 0) == 2**64 - 1
    assert unsigned("remainder_unsigned", 5, 0) == 5


@pytest.mark.parametrize(
    ("a", "b"), [(2**64 - 1, 2**64 - 1), (2**63 + 12345, 2**33 + 7), (2**32, 2**32), (3, 5)]
)
def test_the_upper_half_of_a_product(a: int, b: int) -> None:
    with np.errstate(over="ignore"):
        assert unsigned("multiply_high", a, b) == a * b >> 64


@pytest.mark.parametrize(
    ("position", "length", "expected"),
    [(4, 8, 0xDE), (0, 64, -(2**63) + 0xBDEF), (63, 1, 1), (64, 8, 0), (4, 0, 0), (60, 200, 8)],
)
def test_fields_of_bits(position: int, length: int, expected: int) -> None:
    assert call("bit_field", -(2**63) + 0xBDEF, position, length) == expected


def test_a_field_beyond_the_last_bit_is_extended_from_it() -> None:
    assert call("bit_field_signed", -2, 40, 8, 31) == -1
    assert call("bit_field_signed", 0b0110, 1, 2, 31) == -1
    assert call("bit_field_signed", 0b0110, 1, 3, 31) == 3


@pytest.mark.parametrize(
    ("mode", "control", "expected"),
    [
        (0, 0x7531, 0x77553311),  # bytes of 0x77665544_33221100
        (0, 0x000F, 0x00000000),  # bit 3: the sign of byte 7
        (1, 3, 0x66554433),
        (2, 1, 0x66770011),
        (3, 2, 0x22222222),
        (4, 2, 0x33222222),
        (5, 2, 0x22221100),
        (6, 1, 0x33223322),
    ],
)
def test_permutations(mode: int, control: int, expected: int) -> None:
    assert call("permute", 0x33221100, 0x77665544, control, mode) == expected


@pytest.mark.parametrize(
    ("mask", "base", "offset", "expected"),
    [
        (0b1010, 0, 1, 1),
        (0b1010, 0, 2, 3),
        (0b1010, 3, -2, 1),
        (0b1010, 2, 0, -1),
        (0b1010, 3, 0, 3),
        (0b1010, 0, 3, -1),
    ],
)
def test_the_nth_set_bit(mask: int, base: int, offset: int, expected: int) -> None:
    assert call("find_nth_set", mask, base, offset) == expected & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("value", "signed", "without_sign"),
    [
        (math.nan, 0, 0),
        (1e30, 2**63 - 1, 2**64 - 1),
        (-1e30, SMALLEST, 0),
        (2.0**63 + 2048, 2**63 - 1, 2**63 + 2048),
        (-1.0, -1, 0),
    ],
)
def test_floats_beyond_the_integers(value: float, signed: int, without_sign: int) -> None:
    for name, expected in (("to_signed", signed), ("to_unsigned", without_sign)):
        assert int(in_python(getattr(arithmetic, name))(value)) == expected


@pytest.mark.parametrize(
    ("mode", "value", "expected"),
    [
        (ZERO, 1 + 2.0**-30, 1.0),
        (ZERO, -1 - 2.0**-30, -1.0),
        (DOWN, -1 - 2.0**-30, -1 - 2.0**-23),
        (UP, 1 + 2.0**-30, 1 + 2.0**-23),
        (UP, 1.5, 1.5),
        (ZERO, 1e39, 3.4028234663852886e38),
    ],
)
def test_directed_rounding_to_f32(mode: int, value: float, expected: float) -> None:
    with np.errstate(over="ignore"):
        assert float(in_python(arithmetic.narrow)(value, mode)) == expected


def adjusted(value: float, error: float, mode: int) -> Any:
    bits = np.float64(value).view(np.int64)
    return np.int64(in_python(arithmetic.adjust)(bits, error, mode)).view(np.float64)


def test_the_error_of_a_result_moves_it_by_one_place() -> None:
    above, below = math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)
    assert adjusted(1.0, 1e-20, UP) == above
    assert adjusted(1.0, 1e-20, DOWN) == 1.0
    assert adjusted(1.0, -1e-20, ZERO) == below
    assert adjusted(-1.0, 1e-20, ZERO) == -below
    assert adjusted(1.0, 1e-20, TO_ODD) == above  # 1 is even
    assert adjusted(above, -1e-20, TO_ODD) == above
    assert adjusted(0.0, -1e-20, DOWN) == -5e-324


def test_fractions_are_rounded_once() -> None:
    half = Fraction(1, 2**24)
    assert arithmetic.round_fraction(1 + half, np.float32) == 1  # halfway, to even
    assert arithmetic.round_fraction(1 + half + Fraction(1, 2**60), np.float32) == np.float32(1 + 2**-23)
    assert arithmetic.round_fraction(Fraction(2) ** 128 - Fraction(2) ** 103, np.float32) == np.inf
    assert arithmetic.round_fraction(-Fraction(3, 2**150), np.float32) == -np.float32(2**-148)


ONES = 2**64 - 1


@pytest.mark.parametrize(
    ("a", "b", "product"),
    [
        (0b11, 0b11, 0b101),  # (x + 1)^2 = x^2 + 1
        (0b111, 0b101, 0b11011),  # (x^2 + x + 1)(x^2 + 1) = x^4 + x^3 + x + 1
        (1 << 63, 1 << 63, 1 << 126),
        (1 << 63, 0b11, 0b11 << 63),
        (ONES, 1, ONES),
        (ONES, ONES, sum(1 << k for k in range(0, 127, 2))),  # a square has the even powers alone
        (0, ONES, 0),
    ],
)
def test_carryless_products_are_those_of_polynomials(a: int, b: int, product: int) -> None:
    for x, y in ((a, b), (b, a)):
        assert unsigned("carryless_high", x, y) << 64 | unsigned("carryless_low", x, y) == product
