"""Floating-point formats of 4 to 19 bits: compiled conversions from and to f64.

For lane operations. A format is a number, so that one function knows them all: bits 0-3 mantissa bits, 4-7 exponent
bits, 8-10 rounding (as in arithmetic.py; 5: stochastic), 11-12 what the highest codes are (`IEEE`, `ONE_NAN`,
`FINITE`), 13 saturate, 14-18 the random bits that stochastic rounding adds below the last place.

Reference: OCP, "8-bit Floating Point Specification (OFP8)", 2023, and "Microscaling Formats (MX) Specification", 2023.
"""

import math
from typing import Any

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.execute.arithmetic import sign_bit

STOCHASTIC = 5
IEEE, ONE_NAN, FINITE = range(3)
"""Infinities and NaNs; no infinity and one NaN; neither."""


@njit("int64(float64, int64, int64)")
def double_to_format(a: Any, noise: Any, form: Any) -> Any:
    """The bits of a value in a format. Without NaNs a NaN becomes the largest number."""
    mantissa_bits, exponent_bits = form & 15, (form >> 4) & 15
    mode, kind = (form >> 8) & 7, (form >> 11) & 3
    ones = (np.int64(1) << (mantissa_bits + exponent_bits)) - 1
    largest = ones if kind == FINITE else ones - 1
    if kind == IEEE:
        largest = (ones >> mantissa_bits << mantissa_bits) - 1
    if a != a:
        return largest if kind == FINITE else ones
    sign = ones + 1 if sign_bit(a) else np.int64(0)
    size = abs(a)
    minimum = 2 - (np.int64(1) << (exponent_bits - 1))
    to_zero = (form >> 13) & 1 != 0
    bits = largest + 1
    if size != np.inf:
        to_zero |= mode == 1
        exponent = minimum
        if size != 0.0:
            exponent = max(np.int64(math.frexp(size)[1] - 1), minimum)
        scaled = math.ldexp(size, int(mantissa_bits - exponent))
        whole = np.floor(scaled)
        rest = scaled - whole
        if mode == 0:
            whole = np.rint(scaled)
        elif mode == 4:
            whole = whole + 1.0 if rest >= 0.5 else whole
        elif mode == STOCHASTIC:
            n = int((form >> 14) & 31)
            whole = whole + np.floor(math.ldexp(np.floor(math.ldexp(rest, n)) + np.float64(noise), -n))
        bits = ((exponent - minimum) << mantissa_bits) + np.int64(whole)
    if bits > largest:
        bits = largest if to_zero or kind == FINITE else largest + 1
    return sign | bits


@njit("float64(int64, int64)")
def format_to_double(a: Any, form: Any) -> Any:
    """The value of the bits of a format."""
    mantissa_bits, exponent_bits = form & 15, (form >> 4) & 15
    kind = (form >> 11) & 3
    ones = (np.int64(1) << (mantissa_bits + exponent_bits)) - 1
    size = a & ones
    top = ones >> mantissa_bits << mantissa_bits
    if (kind == IEEE and size > top) or (kind == ONE_NAN and size == ones):
        value: Any = np.float64(np.nan)
    elif kind == IEEE and size == top:
        value = np.float64(np.inf)
    else:
        exponent = max(size >> mantissa_bits, np.int64(1))
        mantissa = size - ((exponent - 1) << mantissa_bits)
        value = math.ldexp(
            np.float64(mantissa), int(exponent + 1 - (np.int64(1) << (exponent_bits - 1)) - mantissa_bits)
        )
    return -value if (a & (ones + 1)) != 0 else value
