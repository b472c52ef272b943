"""What the lane expressions of `ptxtool/isa/lanes.toml` call: arithmetic that Python and LLVM lack or do otherwise.

Every function gives the same answer compiled and uncompiled. Integers are int64 (uint64 where the name says
unsigned); the two are never mixed, because numba makes a float of that. int64 never overflows here: numba marks
signed arithmetic "no signed wrap", and LLVM may then do anything; what wraps is computed in uint64.

Errors of rounded operations (for directed rounding) are exact values minus rounded values.
Reference: S. Boldo and J.-M. Muller, "Exact and approximated error of the FMA", IEEE Trans. Computers 2011;
S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 2008 (round to odd).
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ptxsim.base.jit import JIT_DISABLED, intrinsic, njit, types

SIGN64 = np.int64(-(2**63))
_INF32 = np.float32(np.inf)

# rounding modes, as immediates of micro-operations
TO_ODD = NEAREST = 0
ZERO, DOWN, UP, NEAREST_AWAY = 1, 2, 3, 4


def _emit(name: str, numba_type: Any, arity: int, flags: tuple[int, ...] = ()) -> Any:
    """The code generator of a call of one LLVM intrinsic; `flags` are constant i1 operands after the others."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        from llvmlite import ir

        machine_type = context.get_value_type(numba_type)
        bit = ir.IntType(1)
        function_type = ir.FunctionType(machine_type, [machine_type] * arity + [bit] * len(flags))
        function = builder.module.declare_intrinsic(name, [machine_type], function_type)
        return builder.call(function, [*values, *(ir.Constant(bit, flag) for flag in flags)])

    return generate


def _unary(name: str, numba_type: Any, flags: tuple[int, ...] = ()) -> Any:
    @intrinsic
    def call(typing_context: Any, a: Any) -> Any:
        return numba_type(numba_type), _emit(name, numba_type, 1, flags)

    return call


def _ternary(name: str, numba_type: Any) -> Any:
    @intrinsic
    def call(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return numba_type(numba_type, numba_type, numba_type), _emit(name, numba_type, 3)

    return call


def _sign_bit(numba_type: Any) -> Any:
    """Whether a float is negative, -0 and negative NaNs included."""

    @intrinsic
    def call(typing_context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            from llvmlite import ir

            word = ir.IntType(numba_type.bitwidth)
            return builder.icmp_signed("<", builder.bitcast(values[0], word), ir.Constant(word, 0))

        return types.boolean(numba_type), generate

    return call


def _select() -> Any:
    """`select(condition, a, b)`, both computed: a choice without a branch, quick for numba and LLVM alike."""
    if JIT_DISABLED:
        return lambda condition, a, b: a if condition else b

    @intrinsic
    def call(typing_context: Any, condition: Any, a: Any, b: Any) -> Any:
        result = typing_context.unify_types(types.unliteral(a), types.unliteral(b))

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            test = context.cast(builder, values[0], signature.args[0], types.boolean)
            return builder.select(test, values[1], values[2])

        return result(condition, result, result), generate

    return call


select = _select()


def _exact_fma(a: Any, b: Any, c: Any, kind: Any) -> Any:
    """a * b + c, rounded once, in Python."""
    x, y, z = float(a), float(b), float(c)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return kind(kind(x) * kind(y) + kind(z))
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return kind(kind(x) * kind(y) + kind(z))  # the sign of zero
    return round_fraction(exact, kind)


def round_fraction(exact: Fraction, kind: Any) -> Any:
    """The nearest float32 or float64 (ties to even) of a rational number."""
    mantissa, minimum, maximum = (23, -126, 127) if kind is np.float32 else (52, -1022, 1023)
    size, sign = abs(exact), -1.0 if exact < 0 else 1.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, minimum)
    unit = Fraction(2) ** (exponent - mantissa)
    value = round(size / unit) * unit
    if value >= Fraction(2) ** (maximum + 1):
        return kind(math.copysign(math.inf, sign))
    return kind(math.copysign(float(value), sign))


if JIT_DISABLED:

    def fma32(a: Any, b: Any, c: Any) -> Any:
        return _exact_fma(a, b, c, np.float32)

    def fma64(a: Any, b: Any, c: Any) -> Any:
        return _exact_fma(a, b, c, np.float64)

    def count_ones(a: Any) -> Any:
        return np.int64((int(a) & 0xFFFFFFFFFFFFFFFF).bit_count())

    def leading_zeros(a: Any) -> Any:
        return np.int64(64 - (int(a) & 0xFFFFFFFFFFFFFFFF).bit_length())

    def reverse_bits(a: Any) -> Any:
        value = int(f"{int(a) & 0xFFFFFFFFFFFFFFFF:064b}"[::-1], 2)
        return np.int64(value - 2**64 if value >> 63 else value)

    def sign_bit(a: Any) -> bool:
        return bool(np.signbit(a))

else:
    fma32 = _ternary("llvm.fma", types.float32)
    fma64 = _ternary("llvm.fma", types.float64)
    count_ones = _unary("llvm.ctpop", types.int64)
    leading_zeros = _unary("llvm.ctlz", types.int64, (0,))
    reverse_bits = _unary("llvm.bitreverse", types.int64)
    sign_bit = _sign_bit(types.float64)


# ---- integers


@njit("int64(int64, int64)")
def divide(a: Any, b: Any) -> Any:
    """a / b truncated towards zero; 0 for b = 0, and it wraps for the smallest number by -1."""
    if b == 0:
        return np.int64(0)
    if b == -1:
        return np.int64(np.uint64(0) - np.uint64(a))
    quotient = a // b
    return quotient + 1 if quotient < 0 and quotient * b != a else quotient


@njit("int64(int64, int64)")
def remainder(a: Any, b: Any) -> Any:
    """What `divide` leaves, with the sign of a; 0 for b = 0."""
    return np.int64(0) if b == 0 or b == -1 else a - divide(a, b) * b


@njit("uint64(uint64, uint64)")
def divide_unsigned(a: Any, b: Any) -> Any:
    """a / b; all ones for b = 0."""
    if b == np.uint64(0):
        return np.uint64(0xFFFFFFFFFFFFFFFF)
    return a // b


@njit("uint64(uint64, uint64)")
def remainder_unsigned(a: Any, b: Any) -> Any:
    """a mod b; a for b = 0."""
    if b == np.uint64(0):
        return a
    return a % b


@njit("uint64(uint64, int64)")
def shift_right(a: Any, n: Any) -> Any:
    """a >> n for unsigned a; 0 from n = 64 on."""
    return np.uint64(0) if n > 63 else a >> np.uint64(n & 63)


@njit("uint64(uint64, uint64)")
def multiply_high(a: Any, b: Any) -> Any:
    """The upper 64 bits of the unsigned product."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


@njit("int64(int64, int64)")
def multiply_high_signed(a: Any, b: Any) -> Any:
    """The upper 64 bits of the signed product."""
    high = multiply_high(np.uint64(a), np.uint64(b))
    if a < 0:
        high -= np.uint64(b)
    if b < 0:
        high -= np.uint64(a)
    return np.int64(high)


@njit("uint64(uint64, uint64)")
def carryless_low(a: Any, b: Any) -> Any:
    """The lower 64 bits of the product of two polynomials over GF(2), whose coefficients are bits (`clmad`)."""
    total = np.uint64(0)
    for k in range(64):
        place = np.uint64(k)
        if (a >> place) & np.uint64(1):
            total ^= b << place
    return total


@njit("uint64(uint64, uint64)")
def carryless_high(a: Any, b: Any) -> Any:
    """The upper 64 bits of the product of two polynomials over GF(2)."""
    total = np.uint64(0)
    for k in range(1, 64):
        if (a >> np.uint64(k)) & np.uint64(1):
            total ^= b >> np.uint64(64 - k)
    return total


@njit("int64(int64, int64, int64, int64)")
def lop3(a: Any, b: Any, c: Any, table: Any) -> Any:
    """The three-input bit function whose truth table is the byte `table` (bit 7 is that of 1, 1, 1)."""
    value = np.int64(0)
    for row in range(8):
        if (table >> row) & 1:
            x = a if row & 4 else ~a
            y = b if row & 2 else ~b
            z = c if row & 1 else ~c
            value |= x & y & z
    return value


@njit("int64(int64, int64, int64)")
def bit_field(a: Any, position: Any, length: Any) -> Any:
    """`length` bits of a from bit `position` on, zero-extended (PTX bfe, unsigned; positions up to 255)."""
    if position > 63 or length == 0:
        return np.int64(0)
    # a zero-extending shift of an int64: by one with the sign cleared, then by the rest
    shifted = a if position == 0 else ((a >> 1) & 0x7FFFFFFFFFFFFFFF) >> (position - 1)
    return shifted if length > 63 else shifted & ~(np.int64(-1) << length)


@njit("int64(int64, int64, int64, int64)")
def bit_field_signed(a: Any, position: Any, length: Any, msb: Any) -> Any:
    """The same, sign-extended from the last bit of the field or from bit `msb` of a, which is sign-extended itself."""
    if length == 0:
        return np.int64(0)
    if position > msb:
        return a >> 63
    shifted = a >> position
    last = length - 1
    if last >= 63 or position + last >= msb:
        return shifted
    return (shifted << (63 - last)) >> (63 - last)


@njit("int64(int64, int64, int64, int64, int64)")
def bit_insert(a: Any, b: Any, position: Any, length: Any, width: Any) -> Any:
    """b with `length` bits from bit `position` on replaced by those of a (PTX bfi)."""
    if position >= width or length == 0:
        return b
    mask = np.int64(-1) if length > 63 else ~(np.int64(-1) << length)
    mask = mask << position
    return (b & ~mask) | ((a << position) & mask)


@njit("int64(int64, int64, int64, int64)")
def permute(a: Any, b: Any, control: Any, mode: Any) -> Any:
    """PTX prmt: mode 0 generic, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16."""
    source = a | (b << 32)
    value = np.int64(0)
    n = control & 3
    for k in range(4):
        selector = (control >> (4 * k)) & 15
        if mode == 1:
            selector = n + k
        elif mode == 2:
            selector = (n - k) & 7
        elif mode == 3:
            selector = n
        elif mode == 4:
            selector = max(n, k)
        elif mode == 5:
            selector = min(n, k)
        elif mode == 6:
            selector = (n & 1) * 2 + (k & 1)
        byte = (source >> (8 * (selector & 7))) & 0xFF
        if selector & 8:
            byte = 0xFF if byte & 0x80 else 0
        value |= byte << (8 * k)
    return value


@njit("int64(int64, int64, int64, int64)")
def dot4(a: Any, b: Any, c: Any, signs: Any) -> Any:
    """PTX dp4a: c plus the products of four bytes; bit 1 of `signs`: a signed, bit 0: b signed."""
    value = c
    for k in range(4):
        x = (a >> (8 * k)) & 0xFF
        y = (b >> (8 * k)) & 0xFF
        if signs & 2:
            x = (x ^ 0x80) - 0x80
        if signs & 1:
            y = (y ^ 0x80) - 0x80
        value += x * y
    return value


@njit("int64(int64, int64, int64, int64)")
def dot2(a: Any, b: Any, c: Any, mode: Any) -> Any:
    """PTX dp2a: c plus the products of two halves of a and two bytes of b; bit 2 of `mode`: the upper bytes."""
    value = c
    for k in range(2):
        x = (a >> (16 * k)) & 0xFFFF
        y = (b >> (8 * k + (16 if mode & 4 else 0))) & 0xFF
        if mode & 2:
            x = (x ^ 0x8000) - 0x8000
        if mode & 1:
            y = (y ^ 0x80) - 0x80
        value += x * y
    return value


@njit("int64(int64, int64, int64)")
def find_nth_set(mask: Any, base: Any, offset: Any) -> Any:
    """PTX fns: the |offset|-th set bit of `mask` from bit `base` on, up or down; all ones if there is none."""
    position = base
    if offset == 0:
        return base if base < 32 and (mask >> base) & 1 else np.int64(0xFFFFFFFF)
    step = 1 if offset > 0 else -1
    left = offset * step
    while 0 <= position < 32:
        if (mask >> position) & 1:
            left -= 1
            if left == 0:
                return position
        position += step
    return np.int64(0xFFFFFFFF)


# ---- conversions


@njit("float64(int64)")
def half_to_double(bits: Any) -> Any:
    """The value of an f16."""
    exponent = (bits >> 10) & 31
    mantissa = bits & 1023
    if exponent == 31:
        value = np.float64(np.nan) if mantissa else np.float64(np.inf)
    elif exponent == 0:
        value = np.float64(mantissa) * 5.9604644775390625e-08
    else:
        value = np.float64((mantissa | 1024) << exponent) * 2.9802322387695312e-08
    return -value if bits & 0x8000 else value


@njit("int64(float64, int64, int64, int64)")
def double_to_small(a: Any, mantissa_bits: Any, minimum: Any, mode: Any) -> Any:
    """The bits of a 16-bit float (or 19-bit tf32): `minimum` is the smallest normal exponent, `mode` 0 to 4."""
    top = (3 - 2 * minimum) << mantissa_bits  # infinity: exponent field all ones
    size = abs(a)
    if a != a:
        return top | ((np.int64(1) << mantissa_bits) - 1)
    sign = (top + (np.int64(1) << mantissa_bits)) if sign_bit(a) else np.int64(0)
    if size == np.inf:
        return sign | top
    if size == 0.0:
        return sign
    exponent = max(np.int64(math.frexp(size)[1] - 1), minimum)
    scaled = math.ldexp(size, int(mantissa_bits - exponent))
    whole = np.floor(scaled)
    rest = scaled - whole
    if mode == 0:
        whole = np.rint(scaled)
    elif mode == 4:
        whole = whole + 1.0 if rest >= 0.5 else whole
    elif rest > 0.0 and ((mode == 2 and sign != 0) or (mode == 3 and sign == 0)):
        whole = whole + 1.0
    bits = ((exponent - minimum) << mantissa_bits) + np.int64(whole)
    if bits >= top:
        towards_zero = mode == 1 or (mode == 2 and sign == 0) or (mode == 3 and sign != 0)
        bits = top - 1 if towards_zero else top
    return sign | bits


@njit("float32(float64, int64)")
def narrow(a: Any, mode: Any) -> Any:
    """float64 to float32 with directed rounding."""
    value = np.float32(a)
    back = np.float64(value)
    if back > a and (mode == 2 or (mode == 1 and a > 0.0)):
        return np.nextafter(value, -_INF32)
    if back < a and (mode == 3 or (mode == 1 and a < 0.0)):
        return np.nextafter(value, _INF32)
    return value


@njit("int64(float64, float64, float64)")
def to_integer(a: Any, low: Any, high: Any) -> Any:
    """An integral float as an integer between two bounds; NaN gives 0."""
    if a != a:
        return np.int64(0)
    return np.int64(low if a < low else high if a > high else a)


@njit("int64(float64)")
def to_signed(a: Any) -> Any:
    """An integral float as a signed 64-bit integer, saturating; NaN gives 0."""
    if a != a:
        return np.int64(0)
    if a >= 9223372036854775808.0:
        return np.int64(0x7FFFFFFFFFFFFFFF)
    return SIGN64 if a <= -9223372036854775808.0 else np.int64(a)


@njit("uint64(float64)")
def to_unsigned(a: Any) -> Any:
    """An integral float as an unsigned 64-bit integer, saturating; NaN gives 0."""
    if not a > 0.0:
        return np.uint64(0)
    if a >= 18446744073709551616.0:
        return np.uint64(0xFFFFFFFFFFFFFFFF)
    if a < 9223372036854775808.0:
        return np.uint64(np.int64(a))
    return np.uint64(np.int64(a - 9223372036854775808.0)) | np.uint64(0x8000000000000000)


# ---- what rounding lost


@njit("float64(float64, float64)")
def _overflow(exact_is_finite: Any, rounded: Any) -> Any:
    """The error of a result that overflowed: the exact value is nearer to zero."""
    if exact_is_finite == 0.0 or rounded != rounded:
        return np.float64(0.0)
    return np.float64(-1.0) if rounded > 0.0 else np.float64(1.0)


@njit("float64(float64, float64, float64)")
def add_error(a: Any, b: Any, rounded: Any) -> Any:
    if not np.isfinite(rounded):
        return _overflow(1.0 if np.isfinite(a) and np.isfinite(b) else 0.0, rounded)
    part = rounded - a
    return (a - (rounded - part)) + (b - part)


@njit("int64(float64)")
def _lift(a: Any) -> Any:
    """The power of two that takes a very small number away from underflow."""
    return np.int64(600) if abs(a) < 3.9e-121 else np.int64(0)  # 2^-400


@njit("float64(float64, float64, float64)")
def mul_error(a: Any, b: Any, rounded: Any) -> Any:
    if not np.isfinite(rounded):
        return _overflow(1.0 if np.isfinite(a) and np.isfinite(b) else 0.0, rounded)
    up_a, up_b = _lift(a), _lift(b)
    scaled = math.ldexp(math.ldexp(rounded, int(up_a)), int(up_b))
    return fma64(math.ldexp(a, int(up_a)), math.ldexp(b, int(up_b)), -scaled)


@njit("float64(float64, float64, float64)")
def div_error(a: Any, b: Any, rounded: Any) -> Any:
    if not np.isfinite(rounded):
        return _overflow(1.0 if np.isfinite(a) and np.isfinite(b) and b != 0.0 else 0.0, rounded)
    if not np.isfinite(b):
        return np.float64(0.0)
    up = int(_lift(a))
    if abs(b) < 1e90:
        rest = fma64(-rounded, math.ldexp(b, up), math.ldexp(a, up))
    else:
        rest = fma64(-math.ldexp(rounded, up), b, math.ldexp(a, up))
    return -rest if sign_bit(b) else rest


@njit("float64(float64, float64)")
def sqrt_error(a: Any, rounded: Any) -> Any:
    if not np.isfinite(rounded):
        return np.float64(0.0)
    up = int(_lift(a))
    root = math.ldexp(rounded, up >> 1)
    return fma64(-root, root, math.ldexp(a, up))


@njit("float64(float64, float64, float64, float64)")
def fma_error(a: Any, b: Any, c: Any, rounded: Any) -> Any:
    if not np.isfinite(rounded):
        finite = np.isfinite(a) and np.isfinite(b) and np.isfinite(c)
        return _overflow(1.0 if finite else 0.0, rounded)
    product = a * b
    if not np.isfinite(product):
        return np.float64(0.0)
    if abs(product) < 1e-270:  # about 2^-900: below it the error itself could underflow
        if a == 0.0 or b == 0.0:
            return np.float64(0.0)
        if abs(c) > 1e-240:  # the product only says on which side of c the exact value lies
            return np.float64(-1.0) if sign_bit(a) != sign_bit(b) else np.float64(1.0)
        a, b = math.ldexp(a, 600), math.ldexp(b, 600)
        c = math.ldexp(c, 1200)
        rounded = math.ldexp(rounded, 1200)
        product = a * b
    low = fma64(a, b, -product)
    inner = c + low
    inner_low = add_error(c, low, inner)
    outer = product + inner
    outer_low = add_error(product, inner, outer)
    return (outer - rounded) + outer_low + inner_low


@njit("int64(int64, float64, int64)")
def adjust(bits: Any, error: Any, mode: Any) -> Any:
    """The bits of a rounded float64 and its error -> those of the exact value rounded to odd (0), zero, down or up."""
    if error == 0.0 or error != error:
        return bits
    if bits == 0 or bits == SIGN64:  # the exact value is smaller than any number
        down = mode == 2 and error < 0.0
        up = mode == 3 and error > 0.0
        return SIGN64 | np.int64(1) if down else np.int64(1) if up else bits
    negative = bits < 0
    outwards = (error < 0.0) == negative  # the exact value is larger in size
    if mode == 0:
        if bits & 1:
            return bits
        return bits + 1 if outwards else bits - 1
    if mode == 1:
        return bits if outwards else bits - 1
    if (mode == 2) == (error < 0.0):  # the exact value lies on the side we round to
        return bits + 1 if outwards else bits - 1
    return bits
