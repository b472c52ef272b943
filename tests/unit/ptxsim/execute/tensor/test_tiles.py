"""Sums of large tiles, worked out by hand; all types against the reference: `test_warpgroup.py`."""

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.execute.tensor import tiles

multiply_floats = for_python(tiles.multiply_floats)
multiply_integers = for_python(tiles.multiply_integers)


def scratch(a: list[float], b: list[float], d: float) -> np.ndarray:
    """One row of A, one column of B, one element of D."""
    words = np.zeros(tiles.SCRATCH_WORDS)
    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        for values, powers, place, number in (
            (tiles.A_VALUES, tiles.A_POWERS, j, x),
            (tiles.B_VALUES, tiles.B_POWERS, j * tiles.COLUMNS, y),
        ):
            words[values + place] = number
            words[powers + place] = 2.0 ** np.floor(np.log2(abs(number))) if number else 0.0
    words[tiles.RESULT] = d
    return words


@pytest.mark.parametrize(
    ("a", "b", "d", "unit_bits", "is_half", "expected"),
    [
        # the unit is 2^-25 of the largest term: 2^-26 is cut to nothing, 2^-25 * 3/2 to 2^-25, and 1 + 2^-25 to 1
        ([1.0, 2.0**-13], [1.0, 2.0**-13], 0.0, 25, 0, 1.0),
        # 2^-24 + 2^-24 are one last place of the result
        ([1.0, 2.0**-12, 2.0**-12], [1.0, 2.0**-12, 2.0**-12], 0.0, 25, 0, 1.0 + 2.0**-23),
        # with 23 bits both are cut before they are added
        ([1.0, 2.0**-12, 2.0**-12], [1.0, 2.0**-12, 2.0**-12], 0.0, 23, 0, 1.0),
        # 2049 is a tie between 2048 and 2050, which goes to the even one; an .f32 result keeps it
        ([2048.0, 1.0], [1.0, 1.0], 0.0, 25, 1, 2048.0),
        ([2048.0, 1.0], [1.0, 1.0], 0.0, 25, 0, 2049.0),
        ([-65504.0], [1.0], -16.0, 25, 1, -np.inf),
        ([np.inf, 1.0], [1.0, 1.0], 5.0, 25, 0, np.inf),
    ],
)
def test_sums_of_floats(
    a: list[float], b: list[float], d: float, unit_bits: int, is_half: int, expected: float
) -> None:
    with np.errstate(all="ignore"):
        words = scratch(a, b, d)
    for j, number in enumerate(a):
        if np.isinf(number):
            words[tiles.A_POWERS + j] = 0.0
    multiply_floats(words.ctypes.data, 1, 1, len(a), 16, unit_bits, 10 if is_half else 23, is_half)
    assert words[tiles.RESULT] == expected


@pytest.mark.parametrize(("saturates", "expected"), [(0, -(2.0**31)), (1, 2.0**31 - 1)])
def test_sums_of_integers(saturates: int, expected: float) -> None:
    words = scratch([1.0, -2.0], [3.0, 1.0], 2.0**31 - 1)
    multiply_integers(words.ctypes.data, 1, 1, 2, saturates)
    assert words[tiles.RESULT] == expected


HALVES = {1.0: 0x3C00, -2.0: 0xC000, 65504.0: 0x7BFF, 2.0**-24: 1, -np.inf: 0xFC00, 2.0**-14: 0x0400}
SINGLES = {1.0: 0x3F800000, -2.0: 0xC0000000, 2.0**-149: 1, np.inf: 0x7F800000, 2.0**-126: 0x00800000}


@pytest.mark.parametrize(("function", "expected"), [("half_bits", HALVES), ("single_bits", SINGLES)])
def test_bits_of_results(function: str, expected: dict[float, int]) -> None:
    bits_of = for_python(getattr(tiles, function))
    words = np.zeros(tiles.SCRATCH_WORDS)
    for value, bits in expected.items():
        words[7] = value
        assert bits_of(words.ctypes.data, 7) == bits
    words[7] = np.nan
    assert bits_of(words.ctypes.data, 7) == (0x7FFF if function == "half_bits" else 0x7FFFFFFF)
