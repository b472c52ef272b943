"""Small formats by the tables of OCP: the values of their codes, at the ends of their ranges."""

import math

import pytest
from uncompiled import in_python

from ptxsim.execute.small_floats import FINITE, IEEE, ONE_NAN, format_to_double

E4M3, E5M2 = 3 | 4 << 4 | ONE_NAN << 11, 2 | 5 << 4 | IEEE << 11
E2M1, E3M2, E2M3 = 1 | 2 << 4 | FINITE << 11, 2 | 3 << 4 | FINITE << 11, 3 | 2 << 4 | FINITE << 11


def value(code: int, form: int) -> float:
    return float(in_python(format_to_double)(code, form))


@pytest.mark.parametrize(
    ("form", "code", "expected"),
    [
        # OFP8, table 2; MX, tables 2 and 3
        (E4M3, 0x7E, 448.0),
        (E4M3, 0x08, 2.0**-6),
        (E4M3, 0x07, 0.875 * 2.0**-6),
        (E4M3, 0x01, 2.0**-9),
        (E4M3, 0xB8, -1.0),
        (E5M2, 0x7B, 57344.0),
        (E5M2, 0x04, 2.0**-14),
        (E5M2, 0x01, 2.0**-16),
        (E5M2, 0x7C, math.inf),
        (E5M2, 0xFC, -math.inf),
        (E2M1, 0b0111, 6.0),
        (E2M1, 0b1001, -0.5),
        (E3M2, 0b011111, 28.0),
        (E3M2, 0b000001, 0.0625),
        (E2M3, 0b011111, 7.5),
        (E2M3, 0b000001, 0.125),
    ],
)
def test_values_of_codes(form: int, code: int, expected: float) -> None:
    assert value(code, form) == expected


def test_only_the_highest_codes_of_formats_that_have_them_are_no_numbers() -> None:
    assert [code for code in range(128) if math.isnan(value(code, E4M3))] == [0x7F]
    assert [code for code in range(128) if math.isnan(value(code, E5M2))] == [0x7D, 0x7E, 0x7F]
    assert all(math.isfinite(value(code, E2M1)) for code in range(16))


def test_codes_are_in_the_order_of_their_values() -> None:
    for form, codes in ((E4M3, 127), (E5M2, 125), (E2M1, 8), (E3M2, 32), (E2M3, 32)):
        values = [value(code, form) for code in range(codes)]
        assert values == sorted(set(values))
    assert math.copysign(1, value(0x80, E4M3)) == -1
