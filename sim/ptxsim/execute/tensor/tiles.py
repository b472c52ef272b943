"""Products of large tiles: decoded elements in a scratch, and sums as tensor cores form them, a row at a time.

The scratch holds A (by rows), B (by rows, that is with its columns side by side) and the result. An element of A and B
is two doubles: its value, and the power of two that is its scale (exponent as it is stored, at least that of
subnormals); zero, infinities and NaNs have power 0, because they do not decide how terms are aligned. With them the
model of `tensor_model.py` is plain arithmetic of doubles: the products are exact (two significands of at most 11 bits),
the unit is the largest product of powers times 2^-F, a term is `trunc(a * b / unit)`, and infinities and NaNs come out
as IEEE has them. The loops over columns are vectorised.

Integers are sums of exact doubles (at most 2^16 products of 16 bits).
"""

import numpy as np

from ptxsim.base.jit import flat_f64, flat_i64, njit, types
from ptxsim.execute.tensor.mma import FLOATS, IEEE, ONE_NAN

COLUMNS = 256  # from row to row of B and of the result
DEPTH = 256  # from row to row of A
ROWS = 128
A_VALUES, A_POWERS = 0, ROWS * DEPTH
B_VALUES = 2 * ROWS * DEPTH
B_POWERS = B_VALUES + DEPTH * COLUMNS
RESULT = B_POWERS + DEPTH * COLUMNS
SUMS = RESULT + ROWS * COLUMNS
UNITS = SUMS + COLUMNS
SCRATCH_WORDS = UNITS + COLUMNS
"""Places in the scratch, in words of 64 bits."""

_BLOCK = 64  # columns whose part of B stays in the first cache
_EXPONENT = 0x7FF0000000000000
_NO_UNIT = 2.0**-600  # where every term is zero
_FRACTIONS = np.array([2.0**-n for n in range(24)])
HALF_BITS = 10  # fraction bits of an `.f16` result, which is rounded; an `.f32` one is cut


@njit(types.void(types.uint64, types.int64, types.int64, types.int64, types.int64, types.int64))
def put_element(scratch, value_at, power_at, bits, kind, code):
    """Decode an element (formats as in `mma.py`) into the scratch."""
    values, patterns = flat_f64(scratch, SCRATCH_WORDS), flat_i64(scratch, SCRATCH_WORDS)
    if kind != FLOATS:
        width = code & 0xFF
        sign = np.int64(1) << (width - 1) if code >> 8 else np.int64(0)
        values[value_at] = np.float64((bits ^ sign) - sign)
        return
    fraction_bits, exponent_bits, rule = code & 0xFF, (code >> 8) & 0xFF, code >> 16
    top = (np.int64(1) << exponent_bits) - 1
    fraction = bits & ((np.int64(1) << fraction_bits) - 1)
    exponent = (bits >> fraction_bits) & top
    negative = (bits >> (fraction_bits + exponent_bits)) & 1
    if exponent == top and (
        rule == IEEE or (rule == ONE_NAN and fraction == (np.int64(1) << fraction_bits) - 1)
    ):
        patterns[power_at] = 0
        value = np.inf if rule == IEEE and fraction == 0 else np.nan
        values[value_at] = -value if negative else value
        return
    significand = fraction | (np.int64(1) << fraction_bits if exponent else np.int64(0))
    scale = max(exponent, np.int64(1)) - (top >> 1)
    patterns[power_at] = (scale + 1023) << 52 if significand else np.int64(0)
    value = np.float64(significand) * (values[power_at] * _FRACTIONS[fraction_bits])
    values[value_at] = -value if negative else value


@njit(types.void(types.uint64, types.int64, types.int64))
def set_aside(scratch, row, k):
    """Move the elements of a compressed row of A, half of k, to SUMS and UNITS, and clear the row."""
    values = flat_f64(scratch, SCRATCH_WORDS)
    v, p = A_VALUES + row * DEPTH, A_POWERS + row * DEPTH
    for j in range(k // 2):
        values[SUMS + j], values[UNITS + j] = values[v + j], values[p + j]
    for j in range(k):
        values[v + j] = values[p + j] = 0.0


@njit(types.void(types.uint64, types.int64, types.int64, types.int64, types.int64))
def _round(scratch, sums, width, result_bits, is_half):
    """Round or cut `width` sums to the format of the result."""
    values, patterns = flat_f64(scratch, SCRATCH_WORDS), flat_i64(scratch, SCRATCH_WORDS)
    if is_half:
        for c in range(sums, sums + width):
            x = values[c]
            patterns[c] &= _EXPONENT
            quantum = max(values[c] * 2.0**-10, 2.0**-24)
            magic = 1.5 * 2.0**52 * quantum
            rounded = np.copysign((x + magic) - magic, x) if values[c] < np.inf else x
            values[c] = np.copysign(np.inf, x) if abs(rounded) >= 65536.0 else rounded
        return
    kept = -(np.int64(1) << (52 - result_bits))
    for c in range(sums, sums + width):
        patterns[c] &= kept
    for c in range(sums, sums + width):
        x = values[c]
        if abs(x) < 2.0**-126:
            x = np.trunc(x * 2.0**149) * 2.0**-149
        values[c] = np.copysign(np.inf, x) if abs(x) >= 2.0**128 else x


@njit(
    types.void(
        types.uint64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.int64,
    )
)
def multiply_floats(scratch, rows, columns, k, group, unit_bits, result_bits, is_half):
    """result += A B: groups of `group` products are added together with the result so far."""
    values, patterns = flat_f64(scratch, SCRATCH_WORDS), flat_i64(scratch, SCRATCH_WORDS)
    finest = 2.0**-14 if is_half else 2.0**-126  # scale of the result's subnormals
    full = np.float64(np.int64(1) << unit_bits)
    for begin in range(0, columns, _BLOCK):
        width = min(columns - begin, np.int64(_BLOCK))
        for row in range(rows):
            d = RESULT + row * COLUMNS + begin
            for first in range(0, k, group):
                last = min(first + group, k)
                for c in range(width):
                    exponent = patterns[d + c] & _EXPONENT
                    patterns[UNITS + c] = exponent if exponent != _EXPONENT else np.int64(0)
                for c in range(width):
                    power = values[UNITS + c]
                    values[UNITS + c] = max(power, finest) if power > 0.0 else _NO_UNIT
                for j in range(first, last):
                    a = values[A_POWERS + row * DEPTH + j]
                    if a == 0.0:
                        continue
                    b = B_POWERS + j * COLUMNS + begin
                    for c in range(width):
                        power = a * values[b + c]
                        values[UNITS + c] = power if power > values[UNITS + c] else values[UNITS + c]
                for c in range(width):
                    values[UNITS + c] = full / values[UNITS + c]
                    values[SUMS + c] = 0.0 + np.trunc(values[d + c] * values[UNITS + c])
                for j in range(first, last):
                    a = values[A_VALUES + row * DEPTH + j]
                    b = B_VALUES + j * COLUMNS + begin
                    for c in range(width):
                        values[SUMS + c] += np.trunc(a * values[b + c] * values[UNITS + c])
                for c in range(width):
                    values[SUMS + c] /= values[UNITS + c]
                _round(scratch, SUMS, width, result_bits, is_half)
                for c in range(width):
                    values[d + c] = values[SUMS + c]


@njit(types.void(types.uint64, types.int64, types.int64))
def negate_a(scratch, rows, k):
    """A *= -1."""
    values = flat_f64(scratch, SCRATCH_WORDS)
    for row in range(rows):
        for j in range(k):
            values[A_VALUES + row * DEPTH + j] *= -1.0


@njit(types.void(types.uint64, types.int64, types.int64, types.int64, types.int64))
def multiply_integers(scratch, rows, columns, k, saturates):
    """result += A B, kept to 32 bits with a sign: by saturation, or by wrapping around."""
    values = flat_f64(scratch, SCRATCH_WORDS)
    for begin in range(0, columns, _BLOCK):
        width = min(columns - begin, np.int64(_BLOCK))
        for row in range(rows):
            d = RESULT + row * COLUMNS + begin
            for j in range(k):
                a = values[A_VALUES + row * DEPTH + j]
                b = B_VALUES + j * COLUMNS + begin
                for c in range(width):
                    values[d + c] += a * values[b + c]
            for c in range(width):
                total = values[d + c]
                if saturates:
                    total = min(max(total, -(2.0**31)), 2.0**31 - 1.0)
                else:
                    total -= np.floor((total + 2.0**31) * 2.0**-32) * 2.0**32
                values[d + c] = total


@njit(types.int64(types.uint64, types.int64))
def half_bits(scratch, at):
    """The `.f16` bits of a value of the scratch that is one."""
    value, pattern = flat_f64(scratch, SCRATCH_WORDS)[at], flat_i64(scratch, SCRATCH_WORDS)[at]
    if value != value:
        return np.int64(0x7FFF)
    sign = np.int64(0x8000) if pattern < 0 else np.int64(0)
    if abs(value) == np.inf:
        return sign | 0x7C00
    if abs(value) < 2.0**-14:
        return sign | np.int64(abs(value) * 2.0**24)
    exponent = (pattern >> 52 & 0x7FF) - 1023
    return sign | (exponent + 15) << 10 | pattern >> 42 & 0x3FF


@njit(types.int64(types.uint64, types.int64))
def single_bits(scratch, at):
    """The `.f32` bits of a value of the scratch that is one."""
    value, pattern = flat_f64(scratch, SCRATCH_WORDS)[at], flat_i64(scratch, SCRATCH_WORDS)[at]
    if value != value:
        return np.int64(0x7FFFFFFF)
    sign = np.int64(0x80000000) if pattern < 0 else np.int64(0)
    if abs(value) == np.inf:
        return sign | 0x7F800000
    if abs(value) < 2.0**-126:
        return sign | np.int64(abs(value) * 2.0**149)
    exponent = (pattern >> 52 & 0x7FF) - 1023
    return sign | (exponent + 127) << 23 | pattern >> 29 & 0x7FFFFF
