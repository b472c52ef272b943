"""Numbers of the reference interpreter: 32 lanes of raw bits, and exact rounding.

For `reference_ops.py`. A value is an array of 32 `uint64`, one per lane, whose bits above the type's width are
zero (*raw*); `signed` and `floats` give its meaning, `raw_integers` and `raw_floats` the way back. Whatever numpy does
not round as the instruction set says goes through `round_real`: an exact rational number (`Fraction`), rounded once.
A NaN result is the canonical one (0x7fffffff for f32: PTX ISA, "Floating Point Instructions").
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Raw = NDArray[np.uint64]
LANES = 32

Format = int | str
"""A floating-point format: 16, 32 or 64 for the IEEE format of so many bits, "bf16", or "tf32" in its upper 19 bits."""
# numpy has no bf16: such values are f32 there, whose upper halves they are
FLOATS: dict[Format, Any] = {16: np.float16, 32: np.float32, 64: np.float64, "bf16": np.float32}
_WORDS: dict[Format, Any] = {16: np.uint16, 32: np.uint32, 64: np.uint64}
_WIDTHS: dict[Format, int] = {16: 16, 32: 32, 64: 64, "bf16": 16, "tf32": 19}
CANONICAL_NAN: dict[Format, int] = {
    16: 0x7FFF,
    32: 0x7FFFFFFF,
    64: 0x7FF8000000000000,
    "bf16": 0x7FFF,
    "tf32": 0x3FFFF,
}
# format: (significand bits with the hidden one, largest exponent, smallest normal exponent)
_FORMATS: dict[Format, tuple[int, int, int]] = {
    16: (11, 15, -14),
    32: (24, 127, -126),
    64: (53, 1023, -1022),
    "bf16": (8, 127, -126),
    "tf32": (11, 127, -126),
}


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


def floats(raw: Raw, form: Format) -> NDArray[np.floating]:
    """Raw values as floating-point numbers of a format."""
    if form == "bf16":
        return (raw << np.uint64(16)).astype(np.uint32).view(np.float32)
    values: NDArray[np.floating] = raw.astype(_WORDS[form]).view(FLOATS[form])
    return values


def raw_floats(values: NDArray[np.floating], form: Format | None = None) -> Raw:
    """Floating-point numbers as raw values of a format, their own if none is given; NaNs become the canonical one."""
    bits = values.dtype.itemsize * 8
    raw = values.view(_WORDS[bits]).astype(np.uint64)
    if form == "bf16":
        raw >>= np.uint64(16)
    return np.where(np.isnan(values), np.uint64(CANONICAL_NAN[form or bits]), raw)


def by_lane(function: Callable[..., int], *operands: Raw) -> Raw:
    """Apply a function of Python integers to every lane; its result is taken modulo 2**64."""
    lanes = zip(*(o.tolist() for o in operands), strict=True)
    return np.array([function(*values) & 0xFFFFFFFFFFFFFFFF for values in lanes], np.uint64)


def to_signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _infinity(form: Format) -> int:
    precision = _FORMATS[form][0]
    return ((1 << (_WIDTHS[form] - precision)) - 1) << (precision - 1)


def is_nan(value: int, form: Format) -> bool:
    return (value & ((1 << (_WIDTHS[form] - 1)) - 1)) > _infinity(form)


def is_infinite(value: int, form: Format) -> bool:
    return (value & ((1 << (_WIDTHS[form] - 1)) - 1)) == _infinity(form)


def largest(form: Format) -> int:
    """The largest finite number."""
    return _infinity(form) - 1


def sign_of(form: Format) -> int:
    """The sign bit."""
    return 1 << (_WIDTHS[form] - 1)


def real(value: int, form: Format) -> Fraction:
    """The exact value of a finite floating-point number given by its bits."""
    precision, _, low = _FORMATS[form]
    width = _WIDTHS[form]
    exponent = value >> (precision - 1) & ((1 << (width - precision)) - 1)
    significand = value & ((1 << (precision - 1)) - 1)
    if exponent:
        significand |= 1 << (precision - 1)
    scale = max(exponent, 1) - 1 + low - (precision - 1)
    magnitude = Fraction(significand) * (Fraction(2) ** scale)
    return -magnitude if value >> (width - 1) else magnitude


def round_real(value: Fraction, form: Format, mode: str = "rn", negative_zero: bool = False) -> int:
    """Round an exact number once; `mode` is "rn", "rz", "rm", "rp" or "rna" (halves away from zero): the result's bits.

    `negative_zero` is the sign of an exact zero.
    """
    precision, highest, lowest = _FORMATS[form]
    sign = sign_of(form)
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
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    whole += up
    if whole >= 1 << precision:
        whole >>= 1
        scale += 1
    infinity = _infinity(form)
    if whole >= 1 << (precision - 1) and scale + precision - 1 > highest:
        away = mode in ("rn", "rna") or (mode == "rm" and negative) or (mode == "rp" and not negative)
        result = infinity if away else infinity - 1
    elif whole < 1 << (precision - 1):
        result = whole  # subnormal, or zero
    else:
        biased = scale + precision - 1 - lowest + 1
        result = biased << (precision - 1) | (whole & ((1 << (precision - 1)) - 1))
    return result | (sign if negative else 0)


def exact_sum(a: int, b: int, form: Format, mode: str) -> int:
    """a + b, rounded once."""
    return exact_fma(a, _FORMATS[form][1] << (_FORMATS[form][0] - 1), b, form, mode)  # a * 1 + b


def exact_fma(a: int, b: int, c: int, form: Format, mode: str) -> int:
    """a * b + c, rounded once."""
    if is_nan(a, form) or is_nan(b, form) or is_nan(c, form):
        return CANONICAL_NAN[form]
    sign = _WIDTHS[form] - 1
    magnitude = (1 << sign) - 1
    product_sign = (a ^ b) >> sign & 1
    if is_infinite(a, form) or is_infinite(b, form):
        other = b if is_infinite(a, form) else a
        if not other & magnitude or (is_infinite(c, form) and (c >> sign) != product_sign):
            return CANONICAL_NAN[form]
        return product_sign << sign | _infinity(form)
    if is_infinite(c, form):
        return c
    exact = real(a, form) * real(b, form) + real(c, form)
    if product_sign == c >> sign:
        negative_zero = bool(product_sign)
    else:
        negative_zero = mode == "rm"
    return round_real(exact, form, mode, negative_zero)


def exact_product(a: int, b: int, form: Format, mode: str) -> int:
    """a * b, rounded once."""
    sign = (a ^ b) & sign_of(form)
    return exact_fma(a, b, sign, form, mode)  # adding a zero of the product's own sign changes nothing


def exact_quotient(a: int, b: int, form: Format, mode: str) -> int:
    """a / b, rounded once."""
    sign = _WIDTHS[form] - 1
    magnitude = (1 << sign) - 1
    negative = (a ^ b) >> sign & 1
    infinity = _infinity(form)
    if is_nan(a, form) or is_nan(b, form):
        return CANONICAL_NAN[form]
    if is_infinite(a, form):
        return CANONICAL_NAN[form] if is_infinite(b, form) else negative << sign | infinity
    if is_infinite(b, form):
        return negative << sign
    if not b & magnitude:
        return negative << sign | infinity if a & magnitude else CANONICAL_NAN[form]
    return round_real(real(a, form) / real(b, form), form, mode, bool(negative))


def exact_root(a: int, form: Format, mode: str) -> int:
    """The square root, rounded once."""
    sign = _WIDTHS[form] - 1
    if is_nan(a, form) or not a & ((1 << sign) - 1):
        return CANONICAL_NAN[form] if is_nan(a, form) else a
    if a >> sign:
        return CANONICAL_NAN[form]
    if is_infinite(a, form):
        return a
    value = real(a, form)
    shift = 256 + value.denominator.bit_length()  # far more digits than any format has
    scaled = (value.numerator << (2 * shift)) // value.denominator
    root = math.isqrt(scaled)
    sticky = root * root != scaled or (value.numerator << (2 * shift)) % value.denominator != 0
    return round_real(Fraction(2 * root + sticky, 1 << (shift + 1)), form, mode)


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


def flush(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """`.ftz`: subnormal f32 and f16 become zero of the same sign (so do bf16, which are f32 here)."""
    tiny = np.abs(values) < np.finfo(values.dtype).tiny
    zero = np.copysign(values.dtype.type(0), values)
    return np.where(tiny, zero, values).astype(values.dtype)
