"""Numbers of the reference interpreter: 32 lanes of raw bits, and exact rounding.

For `reference_ops.py`. A value is an array of 32 `uint64`, one per lane, whose bits above the type's width are
zero (*raw*); `signed` and `floats` give its meaning, `raw_integers` and `raw_floats` the way back. Whatever numpy does
not round as the instruction set says goes through `round_real`: an exact rational number (`Fraction`), rounded once.
A NaN result is the canonical one (0x7fffffff for f32: PTX ISA, "Floating Point Instructions").
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Raw = NDArray[np.uint64]
LANES = 32

FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_WORDS = {16: np.uint16, 32: np.uint32, 64: np.uint64}
CANONICAL_NAN = {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FF8000000000000}
# format: (significand bits with the hidden one, largest exponent, smallest normal exponent)
_FORMATS = {16: (11, 15, -14), 32: (24, 127, -126), 64: (53, 1023, -1022)}


def mask_of(bits: int) -> np.uint64:
    return np.uint64((1 << min(bits, 64)) - 1)


def full(value: int) -> Raw:
    """The same raw value in every lane."""
    return np.full(LANES, value & 0xFFFFFFFFFFFFFFFF, np.uint64)


def signed(raw: Raw, bits: int) -> NDArray[np.int64]:
    """Raw values as two's complement numbers."""
    shift = np.uint64(64 - bits)
    return (raw << shift).view(np.int64) >> np.int64(64 - bits)


def raw_integers(values: NDArray[np.int64] | Raw, bits: int) -> Raw:
    """Whole numbers modulo 2**bits."""
    return values.astype(np.uint64) & mask_of(bits)


def floats(raw: Raw, bits: int) -> NDArray[np.floating]:
    """Raw values as floating-point numbers of that width."""
    return raw.astype(_WORDS[bits]).view(FLOATS[bits])


def raw_floats(values: NDArray[np.floating]) -> Raw:
    """Floating-point numbers as raw values; NaNs become the canonical one."""
    bits = values.dtype.itemsize * 8
    raw = values.view(_WORDS[bits]).astype(np.uint64)
    return np.where(np.isnan(values), np.uint64(CANONICAL_NAN[bits]), raw)


def by_lane(function: Callable[..., int], *operands: Raw) -> Raw:
    """Apply a function of Python integers to every lane; its result is taken modulo 2**64."""
    lanes = zip(*(o.tolist() for o in operands), strict=True)
    return np.array([function(*values) & 0xFFFFFFFFFFFFFFFF for values in lanes], np.uint64)


def to_signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def is_nan(value: int, bits: int) -> bool:
    precision = _FORMATS[bits][0]
    return (value & ((1 << (bits - 1)) - 1)) > (((1 << (bits - precision)) - 1) << (precision - 1))


def is_infinite(value: int, bits: int) -> bool:
    precision = _FORMATS[bits][0]
    return (value & ((1 << (bits - 1)) - 1)) == (((1 << (bits - precision)) - 1) << (precision - 1))


def real(value: int, bits: int) -> Fraction:
    """The exact value of a finite floating-point number given by its bits."""
    precision, _, low = _FORMATS[bits]
    exponent = value >> (precision - 1) & ((1 << (bits - precision)) - 1)
    significand = value & ((1 << (precision - 1)) - 1)
    if exponent:
        significand |= 1 << (precision - 1)
    scale = max(exponent, 1) - 1 + low - (precision - 1)
    magnitude = Fraction(significand) * (Fraction(2) ** scale)
    return -magnitude if value >> (bits - 1) else magnitude


def round_real(value: Fraction, bits: int, mode: str = "rn", negative_zero: bool = False) -> int:
    """Round an exact number once; `mode` is "rn", "rz", "rm" or "rp". Gives the bits of the result.

    `negative_zero` is the sign of an exact zero.
    """
    precision, highest, lowest = _FORMATS[bits]
    sign = 1 << (bits - 1)
    if value == 0:
        return sign if negative_zero else 0
    negative = value < 0
    magnitude = -value if negative else value
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    scale = max(exponent, lowest) - (precision - 1)  # the last place is 2**scale
    scaled = magnitude / Fraction(2) ** scale
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1 == 1),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    whole += up
    if whole >= 1 << precision:
        whole >>= 1
        scale += 1
    infinity = ((1 << (bits - precision)) - 1) << (precision - 1)
    if whole >= 1 << (precision - 1) and scale + precision - 1 > highest:
        away = mode == "rn" or (mode == "rm" and negative) or (mode == "rp" and not negative)
        result = infinity if away else infinity - 1
    elif whole < 1 << (precision - 1):
        result = whole  # subnormal, or zero
    else:
        biased = scale + precision - 1 - lowest + 1
        result = biased << (precision - 1) | (whole & ((1 << (precision - 1)) - 1))
    return result | (sign if negative else 0)


def exact_sum(a: int, b: int, bits: int, mode: str) -> int:
    """a + b, rounded once."""
    return exact_fma(a, _FORMATS[bits][1] << (_FORMATS[bits][0] - 1), b, bits, mode)  # a * 1 + b


def exact_fma(a: int, b: int, c: int, bits: int, mode: str) -> int:
    """a * b + c, rounded once."""
    if is_nan(a, bits) or is_nan(b, bits) or is_nan(c, bits):
        return CANONICAL_NAN[bits]
    sign = bits - 1
    magnitude = (1 << sign) - 1
    product_sign = (a ^ b) >> sign & 1
    if is_infinite(a, bits) or is_infinite(b, bits):
        other = b if is_infinite(a, bits) else a
        if not other & magnitude or (is_infinite(c, bits) and (c >> sign) != product_sign):
            return CANONICAL_NAN[bits]
        precision = _FORMATS[bits][0]
        return product_sign << sign | ((1 << (bits - precision)) - 1) << (precision - 1)
    if is_infinite(c, bits):
        return c
    exact = real(a, bits) * real(b, bits) + real(c, bits)
    if product_sign == c >> sign:
        negative_zero = bool(product_sign)
    else:
        negative_zero = mode == "rm"
    return round_real(exact, bits, mode, negative_zero)


def exact_product(a: int, b: int, bits: int, mode: str) -> int:
    """a * b, rounded once."""
    sign = (a ^ b) & (1 << (bits - 1))
    return exact_fma(a, b, sign, bits, mode)  # adding a zero of the product's own sign changes nothing


def exact_quotient(a: int, b: int, bits: int, mode: str) -> int:
    """a / b, rounded once."""
    sign = bits - 1
    magnitude = (1 << sign) - 1
    negative = (a ^ b) >> sign & 1
    precision = _FORMATS[bits][0]
    infinity = ((1 << (bits - precision)) - 1) << (precision - 1)
    if is_nan(a, bits) or is_nan(b, bits):
        return CANONICAL_NAN[bits]
    if is_infinite(a, bits):
        return CANONICAL_NAN[bits] if is_infinite(b, bits) else negative << sign | infinity
    if is_infinite(b, bits):
        return negative << sign
    if not b & magnitude:
        return negative << sign | infinity if a & magnitude else CANONICAL_NAN[bits]
    return round_real(real(a, bits) / real(b, bits), bits, mode, bool(negative))


def exact_root(a: int, bits: int, mode: str) -> int:
    """The square root, rounded once."""
    sign = bits - 1
    if is_nan(a, bits) or not a & ((1 << sign) - 1):
        return CANONICAL_NAN[bits] if is_nan(a, bits) else a
    if a >> sign:
        return CANONICAL_NAN[bits]
    if is_infinite(a, bits):
        return a
    value = real(a, bits)
    shift = 256 + value.denominator.bit_length()  # far more digits than any format has
    scaled = (value.numerator << (2 * shift)) // value.denominator
    root = math.isqrt(scaled)
    sticky = root * root != scaled or (value.numerator << (2 * shift)) % value.denominator != 0
    return round_real(Fraction(2 * root + sticky, 1 << (shift + 1)), bits, mode)


def fma_f32(a: NDArray[np.float32], b: NDArray[np.float32], c: NDArray[np.float32]) -> NDArray[np.float32]:
    """a * b + c with one rounding to nearest.

    The product of two f32 is exact in f64. The sum is taken in f64 and rounded *to odd* there (its last bit is set
    where anything was lost, which two-sum tells); 53 bits are enough for the second rounding, to 24, to be right.
    S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
    2008.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (lost != 0) & (bits & 1 == 0)
    toward = np.where((lost > 0) == (total > 0), 1, -1)  # one bit away from zero, or towards it
    return np.where(inexact, bits + toward, bits).view(np.float64).astype(np.float32)


def flush(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """`.ftz`: subnormal f32 become zero of the same sign."""
    tiny = np.abs(values) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), values), values).astype(np.float32)
