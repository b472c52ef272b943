"""What every lane operation must give, in Python integers and exact fractions; and a bench to run them on.

`python -m helpers.lane_expectations`, in `tests`, checks all of them and prints the differences (for a run with
NUMBA_DISABLE_JIT=1).
"""

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from reference.formats import FORMATS, SmallFormat

from ptxsim.base.program import CONTEXT, UOP
from ptxsim.execute.generate import groups
from ptxsim.execute.micro_operations import _lanes
from ptxtool.isa.lanes import LaneOperation, operations

assert groups()

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
RN, RZ, RM, RP, RNA = range(5)

# ---- exact rounding


def f32(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits & M32))[0]


def f64(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits & M64))[0]


def bits32(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits64(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def round_bits(
    exact: Fraction, mantissa: int, exponent_bits: int, mode: int, negative_zero: bool = False
) -> int:
    """The bits of a rational number in a binary format, by the definition of the five rounding modes."""
    bias = (1 << (exponent_bits - 1)) - 1
    sign = exact < 0 or (exact == 0 and negative_zero)
    size = abs(exact)
    top = ((1 << exponent_bits) - 1) << mantissa
    sign_bit = int(sign) << (mantissa + exponent_bits)
    if size == 0:
        return sign_bit
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = min(max(exponent, 1 - bias), bias + 2)
    unit = Fraction(2) ** (exponent - mantissa)
    whole, rest = divmod(size / unit, 1)
    up = {
        RN: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        RZ: False,
        RM: rest > 0 and sign,
        RP: rest > 0 and not sign,
        RNA: rest >= Fraction(1, 2),
    }[mode]
    bits = ((exponent + bias - 1) << mantissa) + int(whole) + int(up)
    if bits >= top:
        to_infinity = mode in (RN, RNA) or (mode == RM and sign) or (mode == RP and not sign)
        bits = top if to_infinity else top - 1
    return sign_bit | bits


def float_result(kind: str, exact: Fraction | float, mode: int = RN, negative_zero: bool = False) -> int:
    """Bits of an exact result: a fraction, or an infinity or NaN."""
    mantissa, exponent_bits = {"f32": (23, 8), "f64": (52, 11)}[kind]
    if isinstance(exact, float):
        return bits32(exact) if kind == "f32" else bits64(exact)
    return round_bits(exact, mantissa, exponent_bits, mode, negative_zero)


def carryless_product(a: int, b: int) -> int:
    """The product of two polynomials whose coefficients, bits, are added modulo 2."""
    product = 0
    for k in range(b.bit_length()):
        product ^= a << k if b >> k & 1 else 0
    return product


def arithmetic(kind: str, name: str, *values: float) -> int | None:
    """Bits of add, sub, mul, div, fma of floats, rounded once; None for a NaN."""
    a, b, *rest = values
    c = rest[0] if rest else 0.0
    if any(math.isnan(v) for v in values):
        return None
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if name == "sub":
        b, name = -b, "add"
    if name == "div":
        if (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
            return None
        if math.isinf(a) or b == 0:
            return float_result(kind, -math.inf if negative else math.inf)
        if math.isinf(b) or a == 0:
            return float_result(kind, Fraction(0), RN, negative)
        return float_result(kind, Fraction(a) / Fraction(b))
    if name in ("mul", "fma"):
        if (math.isinf(a) and b == 0) or (math.isinf(b) and a == 0):
            return None
        infinite = math.isinf(a) or math.isinf(b)
        if name == "mul":
            if infinite:
                return float_result(kind, -math.inf if negative else math.inf)
            return float_result(kind, Fraction(a) * Fraction(b), RN, negative)
        if infinite or math.isinf(c):
            product = (-math.inf if negative else math.inf) if infinite else 0.0
            total = product + c
            return None if math.isnan(total) else float_result(kind, total)
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        both = negative and math.copysign(1, c) < 0
        return float_result(kind, exact, RN, both)
    total = a + b
    if math.isnan(total):
        return None
    if math.isinf(a) or math.isinf(b):
        return float_result(kind, total)
    both = math.copysign(1, a) < 0 and math.copysign(1, b) < 0
    return float_result(kind, Fraction(a) + Fraction(b), RN, both)


def sqrt_bits(kind: str, value: float) -> int | None:
    if math.isnan(value) or value < 0:
        return None
    if value == 0 or math.isinf(value):
        return float_result(kind, value)
    # the root of value * 2^2400 and a sticky bit
    scaled = Fraction(value) * Fraction(2) ** 2400
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    return float_result(kind, (Fraction(root) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** 1200)


# ---- integers


def s32(v: int) -> int:
    return (v & M32) - (1 << 32) if v >> 31 & 1 else v & M32


def s64(v: int) -> int:
    return (v & M64) - (1 << 64) if v >> 63 & 1 else v & M64


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def bfe(a: int, position: int, length: int, width: int, signed: bool) -> int:
    position, length = position & 255, length & 255
    msb = width - 1
    sign = 0
    if signed and length:
        sign = a >> min(position + length - 1, msb) & 1
    value = 0
    for i in range(width):
        bit = a >> (position + i) & 1 if i < length and position + i <= msb else sign
        value |= bit << i
    return value


def bfi(a: int, b: int, position: int, length: int, width: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < width:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def prmt(a: int, b: int, c: int, mode: int) -> int:
    source = [(a | b << 32) >> 8 * k & 255 for k in range(8)]
    n = c & 3
    tables = {
        1: [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        2: [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        3: [[0] * 4, [1] * 4, [2] * 4, [3] * 4],
        4: [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        5: [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        6: [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
    }
    selectors = tables[mode][n] if mode else [c >> 4 * k & 15 for k in range(4)]
    value = 0
    for k, selector in enumerate(selectors):
        byte = source[selector & 7]
        if selector & 8:
            byte = 255 if byte & 128 else 0
        value |= byte << 8 * k
    return value


def fns(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else M32
    step = 1 if offset > 0 else -1
    found = [i for i in range(base, 32 if step > 0 else -1, step) if 0 <= i < 32 and mask >> i & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else M32


def dot(a: int, b: int, c: int, a_signed: bool, b_signed: bool) -> int:
    def byte(v: int, k: int, signed: bool) -> int:
        v = v >> 8 * k & 255
        return v - 256 if signed and v > 127 else v

    return c + sum(byte(a, k, a_signed) * byte(b, k, b_signed) for k in range(4))


def dot2(a: int, b: int, c: int, mode: int) -> int:
    total = c
    for k in range(2):
        x = a >> 16 * k & 0xFFFF
        y = b >> (8 * k + (16 if mode & 4 else 0)) & 0xFF
        x = x - 65536 if mode & 2 and x > 32767 else x
        y = y - 256 if mode & 1 and y > 127 else y
        total += x * y
    return total


def half_value(bits: int) -> float:
    return struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0]


def small(a: float, mantissa: int, exponent_bits: int, mode: int) -> int:
    """A double in a small format; NaN is all ones without a sign."""
    if math.isnan(a):
        return (1 << (mantissa + exponent_bits)) - 1
    sign = int(math.copysign(1, a) < 0) << (mantissa + exponent_bits)
    if math.isinf(a):
        return sign | ((1 << exponent_bits) - 1) << mantissa
    return round_bits(Fraction(a), mantissa, exponent_bits, mode, bool(sign))


def saturated(a: float, low: int, high: int) -> int:
    if math.isnan(a):
        return 0
    return low if a < low else high if a > high else int(a)


def minimum(a: float, b: float, bits_a: int, bits_b: int, pick: Callable[..., float]) -> int:
    """IEEE minNum and maxNum with -0 below +0."""
    if math.isnan(a):
        return bits_b
    if math.isnan(b):
        return bits_a
    if a == b == 0:
        negative = [x for x in (bits_a, bits_b) if x != 0]
        if pick is min:
            return negative[0] if negative else 0
        return 0 if 0 in (bits_a, bits_b) else bits_a
    return bits_a if pick(a, b) == a else bits_b


def approximate(function: Callable[[float], float]) -> Callable[[float], float]:
    """A float32 result allowed to be off by one unit; infinities and NaN by hand."""

    def value(a: float) -> float:
        try:
            return function(a)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return value


def exp2(a: float) -> float:
    return math.inf if a > 1000 else 0.0 if a < -1100 else math.nan if math.isnan(a) else 2.0**a


def log2(a: float) -> float:
    return -math.inf if a == 0 else a if math.isinf(a) and a > 0 else math.log2(a)


def rsqrt(a: float) -> float:
    return math.copysign(math.inf, a) if a == 0 else 0.0 if a == math.inf else 1 / math.sqrt(a)


def trig(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: math.nan if math.isinf(a) else function(a)


APPROXIMATE: dict[str, Callable[[float], float]] = {
    "rsqrt_f32": approximate(rsqrt),
    "rsqrt_f64": approximate(rsqrt),
    "ex2_f32": approximate(exp2),
    "lg2_f32": approximate(log2),
    "sin_f32": approximate(trig(math.sin)),
    "cos_f32": approximate(trig(math.cos)),
    "tanh_f32": approximate(math.tanh),
}


def error_sign(exact: Fraction, rounded: float) -> int:
    difference = exact - Fraction(rounded)
    return (difference > 0) - (difference < 0)


def _narrow(a: float, mode: int) -> int:
    if math.isnan(a) or math.isinf(a):
        return bits32(a)
    return round_bits(Fraction(a), 23, 8, mode, math.copysign(1, a) < 0)


def _integral(function: Callable[[float], int]) -> Callable[[float], int]:
    def value(a: float) -> int:
        if math.isnan(a) or math.isinf(a):
            return bits64(a)
        return bits64(math.copysign(float(function(a)), a))

    return value


# operands: u32/i32/u64/i64 as ints, f32/f64 as floats, p as bool; e the immediate. None: any NaN.
EXPECTED: dict[str, Callable[..., Any]] = {
    "mov_u32": lambda a, e: a,
    "add_u32": lambda a, b, e: a + b,
    "sub_u32": lambda a, b, e: a - b,
    "mul_u32": lambda a, b, e: a * b,
    "mad_u32": lambda a, b, c, e: a * b + c,
    "mulhi_u32": lambda a, b, e: a * b >> 32,
    "mulhi_s32": lambda a, b, e: a * b >> 32,
    "neg_u32": lambda a, e: -a,
    "abs_s32": lambda a, e: abs(a),
    "min_u32": lambda a, b, e: min(a, b),
    "min_s32": lambda a, b, e: min(a, b),
    "max_u32": lambda a, b, e: max(a, b),
    "max_s32": lambda a, b, e: max(a, b),
    "and_u32": lambda a, b, e: a & b,
    "or_u32": lambda a, b, e: a | b,
    "xor_u32": lambda a, b, e: a ^ b,
    "not_u32": lambda a, e: ~a,
    "andn_u32": lambda a, b, e: a & ~b,
    "cnot_u32": lambda a, e: int(a == 0),
    "lop3_u32": lambda a, b, c, e: sum(
        (e >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32)
    ),
    "shl_u32": lambda a, b, e: a << b if b < 32 else 0,
    "shr_u32": lambda a, b, e: a >> b if b < 32 else 0,
    "shr_s32": lambda a, b, e: a >> min(b, 31),
    "shf_l_u32": lambda a, b, c, e: ((b << 32 | a) << c) >> 32,
    "shf_r_u32": lambda a, b, c, e: (b << 32 | a) >> c,
    "zext8_u32": lambda a, e: a & 255,
    "zext16_u32": lambda a, e: a & 65535,
    "sext8_u32": lambda a, e: (a & 255) - 256 * (a >> 7 & 1),
    "sext16_u32": lambda a, e: (a & 65535) - 65536 * (a >> 15 & 1),
    "high16_u32": lambda a, e: a >> 16,
    "merge_low_u32": lambda a, b, e: a >> 16 << 16 | b & 65535,
    "merge_high_u32": lambda a, b, e: a & 65535 | (b & 65535) << 16,
    "zext24_u32": lambda a, e: a & 0xFFFFFF,
    "sext24_u32": lambda a, e: (a & 0xFFFFFF) - (1 << 24) * (a >> 23 & 1),
    "mul24hi_u32": lambda a, b, e: a * b >> 16,
    "absdiff_u32": lambda a, b, e: abs(a - b),
    "absdiff_s32": lambda a, b, e: abs(a - b),
    "addsat_u32": lambda a, b, e: min(M32, a + b),
    "clmul_low_u64": lambda a, b, e: carryless_product(a, b) & M64,
    "clmul_high_u64": lambda a, b, e: carryless_product(a, b) >> 64,
    "addsat_s32": lambda a, b, e: max(-(1 << 31), min((1 << 31) - 1, a + b)),
    "subsat_s32": lambda a, b, e: max(-(1 << 31), min((1 << 31) - 1, a - b)),
    "sel_u32": lambda a, b, c, e: a if c else b,
    "eq_u32": lambda a, b, e: a == b,
    "lt_u32": lambda a, b, e: a < b,
    "le_u32": lambda a, b, e: a <= b,
    "lt_s32": lambda a, b, e: a < b,
    "le_s32": lambda a, b, e: a <= b,
    "eq_f32": lambda a, b, e: a == b,
    "lt_f32": lambda a, b, e: a < b,
    "le_f32": lambda a, b, e: a <= b,
    "num_f32": lambda a, b, e: not (math.isnan(a) or math.isnan(b)),
    "ebit_u32": lambda a, e: bool(a >> (e >> 1) & 1),
    "carry_u32": lambda a, b, e: a + b > M32,
    "carry3_u32": lambda a, b, c, e: a + b + c > M32,
    "overflow_s32": lambda a, b, c, e: not -(1 << 31) <= a + b + c < 1 << 31,
    "div_u32": lambda a, b, e: a // b if b else M32,
    "div_s32": lambda a, b, e: truncated(a, b) if b else M32,
    "rem_u32": lambda a, b, e: a % b if b else a,
    "rem_s32": lambda a, b, e: a - truncated(a, b) * b if b else a,
    "popc_u32": lambda a, e: bin(a).count("1"),
    "clz_u32": lambda a, e: 32 - a.bit_length(),
    "brev_u32": lambda a, e: int(f"{a:032b}"[::-1], 2),
    "bfind_u32": lambda a, e: a.bit_length() - 1,
    "bfind_s32": lambda a, e: (a if a >= 0 else ~a).bit_length() - 1,
    "bfindshift_u32": lambda a, e: 32 - a.bit_length() if a else M32,
    "bfindshift_s32": lambda a, e: 32 - (a if a >= 0 else ~a).bit_length() if a not in (0, -1) else M32,
    "bfe_u32": lambda a, b, c, e: bfe(a, b, c, 32, False),
    "bfe_s32": lambda a, b, c, e: bfe(a & M32, b, c, 32, True),
    "bfi_u32": lambda a, b, c, d, e: bfi(a, b, c, d, 32),
    "prmt_u32": lambda a, b, c, e: prmt(a, b, c, e),
    "dp4a_uu": lambda a, b, c, e: dot(a, b, c, False, False),
    "dp4a_us": lambda a, b, c, e: dot(a, b, c, False, True),
    "dp4a_su": lambda a, b, c, e: dot(a, b, c, True, False),
    "dp4a_ss": lambda a, b, c, e: dot(a, b, c, True, True),
    "dp2a_u32": lambda a, b, c, e: dot2(a, b, c, e),
    "bmsk_u32": lambda a, b, e: ((1 << b) - 1) << a if a < 32 else 0,
    "fns_u32": lambda a, b, c, e: fns(a, b, c),
    "add_f32": lambda a, b, e: arithmetic("f32", "add", a, b),
    "sub_f32": lambda a, b, e: arithmetic("f32", "sub", a, b),
    "mul_f32": lambda a, b, e: arithmetic("f32", "mul", a, b),
    "fma_f32": lambda a, b, c, e: arithmetic("f32", "fma", a, b, c),
    "div_f32": lambda a, b, e: arithmetic("f32", "div", a, b),
    "sqrt_f32": lambda a, e: sqrt_bits("f32", a),
    "neg_f32": lambda a, e: a ^ 1 << 31,
    "abs_f32": lambda a, e: a & ~(1 << 31),
    "copysign_f32": lambda a, b, e: b & ~(1 << 31) | a & 1 << 31,
    "min_f32": lambda a, b, c, d, e: minimum(a, b, c, d, min),
    "max_f32": lambda a, b, c, d, e: minimum(a, b, c, d, max),
    "canonical_f32": lambda a, e: 0x7FFFFFFF if math.isnan(f32(a)) else a,
    "flush_f32": lambda a, e: a & 1 << 31 if abs(f32(a)) < 2.0**-126 else a,
    "sat_f32": lambda a, e: bits32(min(1.0, a)) if a > 0 else 0,
    "f2d": lambda a, e: None if math.isnan(a) else bits64(a),
    "d2f": lambda a, e: None if math.isnan(a) else _narrow(a, RN),
    "u2f": lambda a, e: round_bits(Fraction(a), 23, 8, RN),
    "s2f": lambda a, e: round_bits(Fraction(a), 23, 8, RN),
    "u2d": lambda a, e: bits64(float(a)),
    "s2d": lambda a, e: bits64(float(a)),
    "d2f_rz": lambda a, e: None if math.isnan(a) else _narrow(a, RZ),
    "d2f_rm": lambda a, e: None if math.isnan(a) else _narrow(a, RM),
    "d2f_rp": lambda a, e: None if math.isnan(a) else _narrow(a, RP),
    "h2f": lambda a, e: None if math.isnan(half_value(a)) else bits32(half_value(a)),
    "h2d": lambda a, e: None if math.isnan(half_value(a)) else bits64(half_value(a)),
    "d2h": lambda a, e: small(a, 10, 5, e),
    "d2b": lambda a, e: small(a, 7, 8, e),
    "d2x": lambda a, b, e: _small_format(e).encode(a, _MODES[e >> 8 & 7], bool(e >> 13 & 1), b, e >> 14 & 31),
    "x2d": lambda a, e: (
        None if math.isnan(v := _small_format(e).decode(a % (2 * _small_format(e).sign))) else bits64(v)
    ),
    "flush_f16": lambda a, e: sum(
        (h & 0x8000 if abs(half_value(h)) < 2.0**-14 else h) << k for k in (0, 16) for h in [a >> k & 0xFFFF]
    ),
    "rint_f64": lambda a, e: _integral(round)(a),
    "trunc_f64": lambda a, e: _integral(math.trunc)(a),
    "floor_f64": lambda a, e: _integral(math.floor)(a),
    "ceil_f64": lambda a, e: _integral(math.ceil)(a),
    "d2s32": lambda a, e: saturated(a, -(1 << 31), (1 << 31) - 1),
    "d2u32": lambda a, e: saturated(a, 0, M32),
    "d2s64": lambda a, e: saturated(a, -(1 << 63), (1 << 63) - 1),
    "d2u64": lambda a, e: saturated(a, 0, M64),
    "sat_f64": lambda a, e: bits64(min(1.0, a)) if a > 0 else 0,
    "down_zero": lambda a, b, c, e: 1 << 63 if a == 0 and min(b, c) < 0 else a,
    "keep20_f64": lambda a, e: a >> 32 << 32,
    "mov_u64": lambda a, e: a,
    "add_u64": lambda a, b, e: a + b,
    "sub_u64": lambda a, b, e: a - b,
    "mul_u64": lambda a, b, e: a * b,
    "neg_u64": lambda a, e: -a,
    "abs_s64": lambda a, e: abs(a),
    "min_u64": lambda a, b, e: min(a, b),
    "min_s64": lambda a, b, e: min(a, b),
    "max_u64": lambda a, b, e: max(a, b),
    "max_s64": lambda a, b, e: max(a, b),
    "and_u64": lambda a, b, e: a & b,
    "or_u64": lambda a, b, e: a | b,
    "xor_u64": lambda a, b, e: a ^ b,
    "not_u64": lambda a, e: ~a,
    "andn_u64": lambda a, b, e: a & ~b,
    "cnot_u64": lambda a, e: int(a == 0),
    "shl_u64": lambda a, b, e: a << b if b < 64 else 0,
    "shr_u64": lambda a, b, e: a >> b if b < 64 else 0,
    "shr_s64": lambda a, b, e: a >> min(b, 63),
    "mulwide_u32": lambda a, b, e: a * b,
    "mulwide_s32": lambda a, b, e: a * b,
    "madwide_u32": lambda a, b, c, e: a * b + c,
    "madwide_s32": lambda a, b, c, e: a * b + c,
    "zext_u64": lambda a, e: a,
    "sext_u64": lambda a, e: a,
    "trunc_u64": lambda a, e: a,
    "high_u64": lambda a, e: a >> 32,
    "pack_u64": lambda a, b, e: a | b << 32,
    "sel_u64": lambda a, b, c, e: a if c else b,
    "eq_u64": lambda a, b, e: a == b,
    "lt_u64": lambda a, b, e: a < b,
    "le_u64": lambda a, b, e: a <= b,
    "lt_s64": lambda a, b, e: a < b,
    "le_s64": lambda a, b, e: a <= b,
    "mulhi_u64": lambda a, b, e: a * b >> 64,
    "mulhi_s64": lambda a, b, e: a * b >> 64,
    "div_u64": lambda a, b, e: a // b if b else M64,
    "div_s64": lambda a, b, e: truncated(a, b) if b else M64,
    "rem_u64": lambda a, b, e: a % b if b else a,
    "rem_s64": lambda a, b, e: a - truncated(a, b) * b if b else a,
    "popc_u64": lambda a, e: bin(a & M64).count("1"),
    "clz_u64": lambda a, e: 64 - (a & M64).bit_length(),
    "brev_u64": lambda a, e: int(f"{a & M64:064b}"[::-1], 2),
    "bfind_u64": lambda a, e: (a & M64).bit_length() - 1,
    "bfind_s64": lambda a, e: (a if a >= 0 else ~a).bit_length() - 1,
    "bfindshift_u64": lambda a, e: 64 - (a & M64).bit_length() if a else M32,
    "bfindshift_s64": lambda a, e: 64 - (a if a >= 0 else ~a).bit_length() if a not in (0, -1) else M32,
    "bfe_u64": lambda a, b, c, e: bfe(a & M64, b, c, 64, False),
    "bfe_s64": lambda a, b, c, e: bfe(a & M64, b, c, 64, True),
    "bfi_u64": lambda a, b, c, d, e: bfi(a & M64, b & M64, c, d, 64),
    "absdiff_u64": lambda a, b, e: abs(a - b),
    "absdiff_s64": lambda a, b, e: abs(a - b),
    "carry_u64": lambda a, b, e: a + b > M64,
    "lowpart_f64": lambda a, e: bits64(float(a & M32)),
    "highpart_u64": lambda a, e: bits64(float((a & M64) >> 32 << 32)),
    "highpart_s64": lambda a, e: bits64(float(a >> 32 << 32)),
    "add_f64": lambda a, b, e: arithmetic("f64", "add", a, b),
    "sub_f64": lambda a, b, e: arithmetic("f64", "sub", a, b),
    "mul_f64": lambda a, b, e: arithmetic("f64", "mul", a, b),
    "fma_f64": lambda a, b, c, e: arithmetic("f64", "fma", a, b, c),
    "div_f64": lambda a, b, e: arithmetic("f64", "div", a, b),
    "sqrt_f64": lambda a, e: sqrt_bits("f64", a),
    "neg_f64": lambda a, e: a ^ 1 << 63,
    "abs_f64": lambda a, e: a & ~(1 << 63),
    "copysign_f64": lambda a, b, e: b & ~(1 << 63) & M64 | a & 1 << 63,
    "min_f64": lambda a, b, c, d, e: minimum(a, b, c & M64, d & M64, min),
    "max_f64": lambda a, b, c, d, e: minimum(a, b, c & M64, d & M64, max),
    "eq_f64": lambda a, b, e: a == b,
    "lt_f64": lambda a, b, e: a < b,
    "le_f64": lambda a, b, e: a <= b,
    "num_f64": lambda a, b, e: not (math.isnan(a) or math.isnan(b)),
}
DIRECTED = {"add_error", "mul_error", "div_error", "sqrt_error", "fma_error", "adjust"}
"""Checked together, through the instructions that round in other directions (test_interpreter.py)."""

_MODES = {0: "rn", 1: "rz", 4: "rna", 5: "rs"}
_ROUNDINGS = ((0, 0), (1, 0), (4, 0), (5, 8), (5, 13))
# how compiled code writes the formats of the reference: mantissa bits, exponent bits, kind of the highest codes
_CODES = {
    f.mantissa_bits | f.exponent_bits << 4 | (0 if f.has_infinity else 2 if f.nan is None else 1) << 11: f
    for f in FORMATS.values()
}


def _small_format(e: int) -> SmallFormat:
    return _CODES[e & 0x18FF]


IMMEDIATES = {
    "lop3_u32": (0x00, 0xFF, 0x80, 0x96, 0xE8, 0x3C, 0xCA),
    "prmt_u32": tuple(range(7)),
    "dp2a_u32": tuple(range(8)),
    "ebit_u32": (0, 2, 31 << 1, 30),
    "d2h": tuple(range(5)),
    "d2b": tuple(range(5)),
    "d2x": tuple(f | m << 8 | s << 13 | n << 14 for f in _CODES for m, n in _ROUNDINGS for s in (0, 1)),
    "x2d": tuple(_CODES),
}
# operations whose operands lowering has brought into a range
LIMITS: dict[str, dict[int, int]] = {"shf_l_u32": {2: 33}, "shf_r_u32": {2: 33}, "bmsk_u32": {0: 33, 1: 33}}
LIMITS["fns_u32"] = {1: 32}
LIMITS["overflow_s32"] = {2: 2}
LIMITS["carry3_u32"] = {2: 2}
LIMITS["d2x"] = {1: 256}
INTEGRAL = {"d2s32", "d2u32", "d2s64", "d2u64"}

INTS = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    256,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFF,
    0x800000,
]
INTS += [0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x55555555]
LONGS = [*INTS, 1 << 32, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, M64, M64 - 1, 0x123456789ABCDEF0, 1 << 62]
FLOATS32 = [0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x80000001, 0x007FFFFF]
FLOATS32 += [0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F000000, 0x40490FDB, 0x4B800000, 0x3F800001, 0x33800000]
FLOATS64 = [0, 1 << 63, bits64(1.0), bits64(-1.5), 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 1, 1 << 63 | 1]
FLOATS64 += [
    1 << 52,
    (0x7FF << 52) - 1,
    bits64(0.5),
    bits64(2.5),
    bits64(65504.0),
    bits64(65520.0),
    bits64(2.0**-24),
]
FLOATS64 += [
    bits64(2.0**-25),
    bits64(1e300),
    bits64(1 + 2.0**-11),
    bits64(1 + 3 * 2.0**-11),
    bits64(3.4028236e38),
]
FLOATS64 += [
    bits64(2.0**31),
    bits64(-(2.0**31) - 1),
    bits64(2.0**63),
    bits64(2.0**64),
    bits64(-0.5),
    bits64(1.0 + 2**-24),
]


def random_bits(rng: random.Random, kind: str) -> int:
    """An operand: an edge value as often as not."""
    if kind == "f32":
        if rng.random() < 0.5:
            return rng.choice(FLOATS32)
        return bits32(
            rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.choice((-130, -20, -1, 0, 1, 10, 30, 120))
        )
    if kind == "f64":
        if rng.random() < 0.5:
            return rng.choice(FLOATS64)
        return bits64(
            rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.choice((-130, -20, -1, 0, 1, 10, 30, 62, 120))
        )
    wide = kind[1:] == "64"
    if rng.random() < 0.6:
        return rng.choice(LONGS if wide else INTS)
    return rng.getrandbits(64 if wide else rng.choice((5, 8, 16, 32)))


class Bench:
    """A context of one warp with a few rows of each file."""

    def __init__(self) -> None:
        self.xs = np.zeros(1, CONTEXT)
        self.uops = np.zeros(1, UOP)
        self.r32 = np.zeros((8, 32), np.uint32)
        self.r64 = np.zeros((8, 32), np.uint64)
        self.predicates = np.zeros(8, np.uint32)
        x = self.xs[0]
        x["r32"], x["r64"] = self.r32.ctypes.data, self.r64.ctypes.data
        x["predicates"] = self.predicates.ctypes.data
        x["rows32"] = x["rows64"] = x["rows_p"] = 8
        x["total_rows32"] = x["total_rows64"] = x["total_rows_p"] = 8
        x["own32"], x["own64"] = x["r32"], x["r64"]
        x["scratch32"], x["scratch64"] = self.r32[7:].ctypes.data, self.r64[7:].ctypes.data

    def run(self, operation: LaneOperation, values: list[list[int]], e: int, mask: int) -> list[int]:
        """Bits of the result per lane; row 0 is the destination, 1 to 4 the operands."""
        uop = self.uops[0]
        uop["op"], uop["d"], uop["e"] = operation.number, 0, e
        for field, row, (kind, lanes) in zip(
            "abce", range(1, 5), zip(operation.operands, values, strict=True), strict=False
        ):
            uop[field] = row
            if kind == "p":
                self.predicates[row] = sum(bit << n for n, bit in enumerate(lanes))
            elif kind[1:] == "64":
                self.r64[row] = lanes
            else:
                self.r32[row] = lanes
        with np.errstate(all="ignore"):
            _run(self.xs, self.uops, mask)
        if operation.is_predicate:
            return [int(self.predicates[0]) >> n & 1 for n in range(32)]
        return [int(v) for v in (self.r64 if operation.result_bits == 64 else self.r32)[0]]


def _make_run() -> Any:
    from ptxsim.base.jit import array_of, entry, types

    @entry(types.void(array_of(CONTEXT), array_of(UOP), types.int64))
    def run(xs: Any, uops: Any, mask: Any) -> None:
        _lanes(xs[0], uops[0], mask)

    return run


_run = _make_run()


def decode(kind: str, bits: int) -> Any:
    return {
        "u32": lambda: bits,
        "i32": lambda: s32(bits),
        "u64": lambda: bits,
        "i64": lambda: s64(bits),
        "f32": lambda: f32(bits),
        "f64": lambda: f64(bits),
        "p": lambda: bool(bits),
    }[kind]()


def is_nan(bits: int, width: int) -> bool:
    return math.isnan(f32(bits)) if width == 32 else math.isnan(f64(bits))


def mismatches(operation: LaneOperation, rounds: int, seed: int = 1) -> list[str]:
    """Run an operation on edge values and compare; what differs, in words."""
    rng = random.Random(f"{operation.name}{seed}")
    bench = Bench()
    wrong: list[str] = []
    width = operation.result_bits
    for number in range(rounds):
        e = rng.choice(IMMEDIATES.get(operation.name, (0,)))
        mask = M32 if number % 3 else rng.getrandbits(32)
        values: list[list[int]] = []
        for k, kind in enumerate(operation.operands):
            limit = LIMITS.get(operation.name, {}).get(k)
            lanes = [random_bits(rng, kind if kind != "p" else "u32") for _ in range(32)]
            if kind == "p":
                lanes = [v & 1 for v in lanes]
            elif limit:
                lanes = [v % limit for v in lanes]
            elif operation.name in INTEGRAL:
                lanes = [bits64(float(np.rint(f64(v)))) for v in lanes]
            values.append(lanes)
        if operation.name[:5] in ("min_f", "max_f"):
            values[2:] = values[:2]
        old = 0 if operation.is_predicate else 0xA5A5A5A5A5A5A5A5 & ((1 << width) - 1)
        bench.r32[0], bench.r64[0], bench.predicates[0] = old & M32, old, 0
        found = bench.run(operation, values, e, mask)
        for n in range(32):
            operands = [
                decode(kind, lanes[n]) for kind, lanes in zip(operation.operands, values, strict=True)
            ]
            if not mask >> n & 1:
                if found[n] != old:
                    wrong.append(f"{operation.name}: lane {n} outside the mask was written")
                continue
            problem = _compare(operation, operands, e, found[n], width)
            if problem:
                wrong.append(f"{operation.name}{tuple(operands)} e={e}: {problem}")
    return wrong


def _compare(operation: LaneOperation, operands: list[Any], e: int, found: int, width: int) -> str | None:
    if operation.name in APPROXIMATE:
        exact = APPROXIMATE[operation.name](operands[0])
        value = f32(found) if width == 32 else f64(found)
        if math.isnan(exact) or math.isnan(value):
            return None if math.isnan(exact) and math.isnan(value) else f"{value} instead of {exact}"
        with np.errstate(all="ignore"):
            wanted = float(np.float32(exact)) if width == 32 else exact
        close = value == wanted or abs(value - wanted) <= 2.0 ** (-22 if width == 32 else -50) * abs(wanted)
        return None if close else f"{value} instead of {wanted}"
    wanted = EXPECTED[operation.name](*operands, e)
    if wanted is None:
        return None if is_nan(found, width) else f"{found:#x} is no NaN"
    wanted = int(wanted) & ((1 << width) - 1)
    if operation.is_predicate and e & 1:
        wanted ^= 1
    return None if found == wanted else f"{found:#x} instead of {wanted:#x}"


if __name__ == "__main__":
    import sys

    count = 0
    for operation in operations().values():
        if operation.name not in DIRECTED:
            for line in mismatches(operation, rounds=int(sys.argv[1]) if len(sys.argv) > 1 else 3)[:3]:
                print(line)
            count += 1
    print(f"{count} operations checked")
