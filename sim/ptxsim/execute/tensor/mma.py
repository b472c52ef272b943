"""Matrix instructions on the registers of a warp: parts of matrices from and to memory, and products.

Fragments. Lane l is member t = l % 4 of group g = l / 4. A 32-bit register holds w elements (2 of 16 bits, 4 of 8 and
so on). Of an m by k matrix A, register r has in element j row g + 8 (r % (m/8)), column 4 w (r / (m/8)) + w t + j; of a
k by n matrix B row 4 w (r % (k/4w)) + w t + j, column g + 8 (r / (k/4w)); of the m by n result, accumulator i has row
g + 8 (i / 2 % (m/8)), column 8 (i / (m/4)) + 2 t + i % 2. `mma.m8n8k4` of `.f16` alone is four products, one for each
of the lanes l, l + 16 with the same l / 4 % 4.

MULTIPLY is followed by OPERANDS: three describe the product, in this order,

    d m, a n, b k, c format of A, e format of B
    d format of C, a format of D, b kind of product, c group | unit bits << 8 | result bits << 16, e flags
    d row of the metadata, a their arrangement (0: A is dense), b selector, c A's and e B's element: bits | shift << 8

and one per register gives its row in D, A, B, C. With scaled blocks (flag SCALED, always four of these) two more
follow, for A and B: d row of the scales, a row of the byte's number, b row of the thread's number, c format, e scales
of a row of A or column of B. Lane l has the scales of row g + 8 (t % 2) of A if t / 2 is the thread's number, of column
g of B if t is; they begin at the byte of that number.

A float's format is fraction bits | exponent bits << 8 | rule << 16, an integer's width | signed << 8. Elements are
decoded once: value = m * 2^(e - fraction bits), kept as e << 32 | m.

Reference: PTX ISA, sections on `mma`, `mma.sp`, `ldmatrix`, `stmatrix`, `movmatrix`; tensor_model.py for the sums.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import (
    array_of,
    flat_u8,
    njit,
    popcount,
    record_type,
    rows_f64,
    rows_u32,
    rows_u64,
    types,
)
from ptxsim.base.program import CONTEXT, UOP
from ptxsim.execute.arithmetic import fma64, fma_error, leading_zeros
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import MATRIX_LOAD, MATRIX_MOVE, MATRIX_STORE, MULTIPLY

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)
_UOPS = array_of(UOP)

# kinds of a product
FLOATS, INTEGERS, XOR_POPC, AND_POPC, DOUBLES = range(5)
# flags of a product; the rounding of DOUBLES stands above them
QUADS, A_BY_COLUMNS, B_BY_ROWS, SATURATES, SCALED = 1, 2, 4, 8, 16
ROUNDING_SHIFT = 5
# metadata of a row: in one lane of four, in two (a half word each, or a row each), or in all four
ONE_LANE, HALF_WORDS, ROW_EACH, ALL_LANES = 1, 2, 3, 4
INDEX_SHIFT = 4  # above the arrangement: what a 2-bit index of it says
PAIR_OF_FOUR, PAIRS_OF_EIGHT, ONE_OF_TWO = range(3)
# what of a float's format says which exponents are special
NO_SPECIALS, ONE_NAN, IEEE = range(3)

_INFINITE, _NAN = 1 << 20, 1 << 21  # exponents
_LOW32 = 0xFFFFFFFF
_GREATEST = np.finfo(np.float64).max


@njit(types.int64(types.int64, types.int64))
def decode(bits, code):
    """A float as exponent << 32 | significand."""
    fraction_bits, exponent_bits, rule = code & 0xFF, (code >> 8) & 0xFF, code >> 16
    top = (1 << exponent_bits) - 1
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = (bits >> fraction_bits) & top
    negative = (bits >> (fraction_bits + exponent_bits)) & 1
    bias = top >> 1
    if rule == IEEE and exponent == top:
        significand, scale = np.int64(1), np.int64(_NAN if fraction else _INFINITE)
    elif rule == ONE_NAN and exponent == top and fraction == (1 << fraction_bits) - 1:
        significand, scale = np.int64(1), np.int64(_NAN)
    elif exponent:
        significand, scale = fraction | 1 << fraction_bits, exponent - bias
    else:
        significand, scale = fraction, 1 - bias
    return scale << 32 | ((-significand if negative else significand) & _LOW32)


@njit(types.int64(types.int64))
def _significand(element):
    return ((element & _LOW32) ^ 0x80000000) - 0x80000000


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def encode(total, unit, code, result_bits):
    """The bits of total * 2^unit: cut to `result_bits` of fraction, or for 10 of them rounded to nearest even."""
    fraction_bits, exponent_bits = code & 0xFF, (code >> 8) & 0xFF
    if total == 0:
        return np.int64(0)
    size = abs(total)
    sign = np.int64(1 if total < 0 else 0) << (fraction_bits + exponent_bits)
    lowest = 2 - (1 << (exponent_bits - 1)) - fraction_bits  # exponent of the least subnormal
    length = 64 - leading_zeros(size)
    quantum = max(length - 1 + unit - result_bits, lowest)
    shift = quantum - unit
    if shift > 62:
        return sign
    kept = size >> shift if shift > 0 else size << -shift
    if shift > 0 and fraction_bits == 10:
        rest, half = size - (kept << shift), np.int64(1) << (shift - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
    lift = min(fraction_bits - result_bits, quantum - lowest)
    kept <<= lift
    bits = kept + ((quantum - lift - lowest) << fraction_bits)
    infinite = ((1 << exponent_bits) - 1) << fraction_bits
    return sign | min(bits, infinite)


@njit(
    types.int64(
        _CONTEXT, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.int64
    )
)
def _group(context, a, b, count, accumulator, formats, parameters, code):
    """The bits of a group's sum: `count` elements from `a` and `b` on, and the accumulator."""
    unit_bits, result_bits = (parameters >> 8) & 0xFF, parameters >> 16
    product_bits, accumulator_bits = formats & 0xFF, formats >> 8
    greatest = np.int64(-(1 << 30))
    plus, minus, invalid = False, False, False
    for k in range(count + 1):
        if k < count:
            p, q = _significand(context.matrix_a[a + k]), _significand(context.matrix_b[b + k])
            e, f = context.matrix_a[a + k] >> 32, context.matrix_b[b + k] >> 32
            p *= q
        else:
            p, q, e, f = _significand(accumulator), np.int64(1), accumulator >> 32, np.int64(0)
        if e >= _INFINITE or f >= _INFINITE:
            if e >= _NAN or f >= _NAN or p == 0:
                invalid = True
            plus |= p > 0
            minus |= p < 0
        elif p != 0:
            greatest = max(greatest, e + f)
    fraction_bits, exponent_bits = code & 0xFF, (code >> 8) & 0xFF
    infinite = ((np.int64(1) << exponent_bits) - 1) << fraction_bits
    if invalid or (plus and minus):
        return (np.int64(1) << (fraction_bits + exponent_bits)) - 1
    if plus or minus:
        return infinite | np.int64(1 if minus else 0) << (fraction_bits + exponent_bits)
    total = np.int64(0)
    for k in range(count + 1):
        if k < count:
            p = _significand(context.matrix_a[a + k]) * _significand(context.matrix_b[b + k])
            shift = (
                unit_bits
                - product_bits
                - greatest
                + (context.matrix_a[a + k] >> 32)
                + (context.matrix_b[b + k] >> 32)
            )
        else:
            p = _significand(accumulator)
            shift = unit_bits - accumulator_bits - greatest + (accumulator >> 32)
        if p == 0 or shift < -62:
            continue
        size = abs(p)
        size = size << shift if shift > 0 else size >> -shift
        total += size if p > 0 else -size
    return encode(total, greatest - unit_bits, code, result_bits)


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _word(context, row, lane):
    """A register of 32 bits."""
    r = row + context.constant_rows32 + context.warp * context.rows32 if row >= 0 else -1 - row
    return np.int64(rows_u32(context.r32, context.total_rows32)[r, lane])


@njit(types.int64(types.int64, types.int64, types.int64))
def _element(bits, kind, code):
    """An element of a register, as matrices hold them."""
    if kind == FLOATS:
        return decode(bits, code)
    if kind == INTEGERS:
        sign = np.int64(1) << ((code & 0xFF) - 1) if code >> 8 else np.int64(0)
        return (bits ^ sign) - sign
    return bits


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64, types.int64, types.int64))
def compressed_column(context, uops, first, row, column, n_columns):
    """Where the element of a compressed row of A stands in the whole one."""
    uop = uops[first + 2]
    arrangement, indices, selector = uop.a & 15, uop.a >> INDEX_SHIFT, uop.b
    q = column  # number of the 2-bit index within the row
    if indices == PAIRS_OF_EIGHT:
        q = column // 2
    elif indices == ONE_OF_TWO:
        q = 2 * column
    group, lower = row % 8, row // 8
    if arrangement == ONE_LANE:
        lane, bit = 4 * group + selector, 16 * lower + 2 * q
    elif arrangement == HALF_WORDS:
        lane, bit = 4 * group + 2 * selector + q // 8, 16 * lower + 2 * (q % 8)
    elif arrangement == ROW_EACH:
        lane, bit = 4 * group + 2 * selector + lower, 2 * q
    else:
        lane, bit = 4 * group + 2 * (q // 16) + lower, 2 * (q % 16)
    index = (_word(context, np.int64(uop.d), lane) >> bit) & 3
    if indices == PAIRS_OF_EIGHT:
        return 8 * (column // 4) + 2 * index + column % 2
    if indices == ONE_OF_TWO:
        return 2 * column + (index >> 1)
    return 4 * (column // 2) + index


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64))
def _scale(context, uops, first, is_b):
    """Multiply the blocks of A's rows or B's columns by their scales."""
    shape, uop = uops[first], uops[first + 7 + is_b]
    k, n_scales, exponent_only = np.int64(shape.b), np.int64(uop.e), uop.c & 0xFF == 0
    byte, thread = _word(context, np.int64(uop.a), 0) & 3, _word(context, np.int64(uop.b), 0)
    block = k // n_scales
    for across in range(shape.a if is_b else shape.d):
        lane = 4 * (across % 8) + (thread & 3 if is_b else 2 * (thread & 1) + across // 8)
        bits = _word(context, np.int64(uop.d), lane) >> 8 * byte
        for i in range(k):
            scale = bits >> 8 * (i // block) & 0xFF
            if exponent_only:
                factor, shift = np.int64(1), scale - 127 if scale != 255 else np.int64(_NAN)
            else:
                decoded = decode(scale & 0x7F, np.int64(uop.c))
                factor, shift = _significand(decoded), decoded >> 32
            place = across * k + i
            element = context.matrix_b[place] if is_b else context.matrix_a[place]
            exponent = element >> 32
            if shift == _NAN:
                exponent = shift
            elif exponent < _INFINITE:
                exponent += shift
            element = exponent << 32 | (_significand(element) * factor & _LOW32)
            if is_b:
                context.matrix_b[place] = element
            else:
                context.matrix_a[place] = element


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64, types.int64))
def _read_factor(context, uops, first, n_entries, is_b):
    """Decode A by rows, or B by columns, into the scratch."""
    shape, what, layout = uops[first], uops[first + 1], uops[first + 2]
    m, n, k = np.int64(shape.d), np.int64(shape.a), np.int64(shape.b)
    kind = np.int64(what.b)
    code = np.int64(shape.e if is_b else shape.c)
    width = np.int64(layout.e if is_b else layout.c)
    element_bits, element_shift = width & 0xFF, width >> 8
    per_register = 32 // element_bits
    sparse = layout.a != 0 and not is_b
    if sparse:
        for j in range(m * k):
            context.matrix_a[j] = 0
    columns = k // 2 if sparse else k
    blocks = max(columns // (4 * per_register), 1)
    for r in range(n_entries):
        operands = uops[first + 3 + r]
        row = np.int64(operands.b if is_b else operands.a)
        for lane in range(32):
            bits = _word(context, row, lane)
            g, t = lane // 4, lane % 4
            for j in range(per_register):
                value = bits >> (j * element_bits + element_shift)
                value &= (np.int64(1) << (element_bits - element_shift)) - 1
                if what.e & QUADS:
                    i = per_register * r + j
                    half = 4 * (lane // 16)
                    along, across = i, lane % 4 + half  # along k
                    if what.e & (B_BY_ROWS if is_b else A_BY_COLUMNS):
                        along, across = lane % 4, i + half
                    place = 32 * (g % 4) + 4 * across + along
                elif is_b:
                    along = (r % blocks) * 4 * per_register + per_register * t + j
                    across = g + 8 * (r // blocks)
                    if across >= n:
                        continue
                    place = across * k + along
                else:
                    along = (r // (m // 8)) * 4 * per_register + per_register * t + j
                    across = g + 8 * (r % (m // 8))
                    if along >= columns:
                        continue
                    if sparse:
                        along = compressed_column(context, uops, first, across, along, columns)
                    place = across * k + along
                element = _element(value, kind, code)
                if is_b:
                    context.matrix_b[place] = element
                else:
                    context.matrix_a[place] = element


@njit(types.int64(types.int64, types.int64))
def _finite(bits, code):
    """A result with `.satfinite`: the largest number for an infinity, zero for a NaN."""
    fraction_bits, exponent_bits = code & 0xFF, (code >> 8) & 0xFF
    infinite = ((np.int64(1) << exponent_bits) - 1) << fraction_bits
    sign = bits & np.int64(1) << (fraction_bits + exponent_bits)
    if bits - sign > infinite:
        return np.int64(0)
    return sign | min(bits - sign, infinite - 1)


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64, types.int64, types.int64))
def _accumulate(context, uops, first, a, b, start):
    """The bits of one element of the result: row `a` of A by column `b` of B, and the bits of C's element."""
    shape, what = uops[first], uops[first + 1]
    k, kind, parameters = np.int64(shape.b), np.int64(what.b), np.int64(what.c)
    if kind == FLOATS:
        product_bits = np.int64((shape.c & 0xFF) + (shape.e & 0xFF))
        if what.e & SCALED:
            product_bits += np.int64((uops[first + 7].c & 0xFF) + (uops[first + 8].c & 0xFF))
        code, step = np.int64(what.d), min(parameters & 0xFF, k)
        bits = start
        for j in range(0, k, step):
            formats = product_bits | (code & 0xFF) << 8
            bits = _group(
                context, a + j, b + j, step, decode(bits, code), formats, parameters, np.int64(what.a)
            )
            code = np.int64(what.a)
        if what.e & SATURATES:
            return _finite(bits, code)
        return bits
    total = (start ^ 0x80000000) - 0x80000000
    for j in range(k):
        p, q = context.matrix_a[a + j], context.matrix_b[b + j]
        if kind == INTEGERS:
            total += p * q
        else:
            total += popcount(p ^ q if kind == XOR_POPC else p & q)
    if what.e & SATURATES:
        total = min(max(total, -0x80000000), 0x7FFFFFFF)
    return total & _LOW32


@njit(types.void(_CONTEXT, _UOPS, types.int64))
def _multiply(context, uops, at):
    """MULTIPLY of 16, 8, 4 and 1 bits, and of tf32."""
    uop, first = uops[at], at + 1
    shape, what = uops[first], uops[first + 1]
    m, k = np.int64(shape.d), np.int64(shape.b)
    _read_factor(context, uops, first, np.int64(uop.a), 0)
    _read_factor(context, uops, first, np.int64(uop.b), 1)
    if what.e & SCALED:
        _scale(context, uops, first, 0)
        _scale(context, uops, first, 1)
    halves_of_c = what.d & 0xFF == 10
    halves_of_d = what.a & 0xFF == 10
    accumulators = np.int64(uop.d)
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for i in range(accumulators):
            if what.e & QUADS:
                if halves_of_d:
                    row, column = lane % 4 + 4 * (lane // 16), i
                else:
                    row = (lane & 1) + (i & 2) + 4 * (lane // 16)
                    column = (i & 4) + (lane & 2) + (i & 1)
                if halves_of_c != halves_of_d:  # C's own arrangement: its element of this row and column
                    holder, number = 16 * (row // 4) + 4 * (g % 4) + row % 4, column
                else:
                    holder, number = lane, i
                a, b = 32 * (g % 4) + 4 * row, 32 * (g % 4) + 4 * column
            else:
                row = g + 8 * (i // 2 % (m // 8))
                column = 8 * (i // (m // 4)) + 2 * t + i % 2
                holder, number = lane, i
                a, b = row * k, column * k
            if halves_of_c:
                start = (
                    _word(context, np.int64(uops[first + 3 + number // 2].c), holder) >> (16 * (number % 2))
                    & 0xFFFF
                )
            else:
                start = _word(context, np.int64(uops[first + 3 + number].c), holder)
            context.matrix_d[accumulators * lane + i] = _accumulate(context, uops, first, a, b, start)
    words = rows_u32(context.r32, context.total_rows32)
    for lane in range(32):
        for i in range(accumulators):
            bits = context.matrix_d[accumulators * lane + i]
            number = i // 2 if halves_of_d else i
            row = uops[first + 3 + number].d + context.constant_rows32 + context.warp * context.rows32
            if halves_of_d and i % 2:
                bits = np.int64(words[row, lane]) & 0xFFFF | bits << 16
            words[row, lane] = np.uint32(bits)


@njit(types.float64(types.float64, types.float64, types.float64, types.int64))
def _rounded_fma(a, b, c, mode):
    """A fused multiply-add; rounded toward zero, down or up where the mode is 1, 2 or 3."""
    value = fma64(a, b, c)
    if mode == 0 or value != value:
        return value
    if np.isinf(value):
        exact = np.isinf(a) or np.isinf(b) or np.isinf(c)
        if exact or mode == (3 if value > 0.0 else 2):
            return value
        return _GREATEST if value > 0.0 else -_GREATEST
    error = np.float64(0.0)
    if np.isinf(a * b):  # c brings it back: at a sixteenth of everything the product is finite
        if abs(a) > abs(b):
            error = fma_error(a * 0.0625, b, c * 0.0625, value * 0.0625)
        else:
            error = fma_error(a, b * 0.0625, c * 0.0625, value * 0.0625)
    else:
        error = fma_error(a, b, c, value)
    if error == 0.0:
        if value == 0.0 and mode == 2 and (np.signbit(a) != np.signbit(b) or np.signbit(c)):
            return -0.0  # an exact zero rounded down, unless both terms are positive
        return value
    away = error > 0.0 if mode == 3 else error < 0.0
    if mode == 1:
        away = (error < 0.0) == (value > 0.0)
        return np.nextafter(value, 0.0) if away else value
    if away:
        return np.nextafter(value, np.inf if mode == 3 else -np.inf)
    return value


@njit(types.void(_CONTEXT, _UOPS, types.int64))
def _multiply_doubles(context, uops, at):
    """MULTIPLY of `.f64`: a chain of fused multiply-adds along k."""
    uop, first = uops[at], at + 1
    shape = uops[first]
    m, k = np.int64(shape.d), np.int64(shape.b)
    mode = np.int64(uops[first + 1].e >> ROUNDING_SHIFT)
    longs, doubles = rows_u64(context.r64, context.total_rows64), rows_f64(context.r64, context.total_rows64)
    base = context.constant_rows64 + context.warp * context.rows64
    scratch = context.total_rows64 - 1
    for i in range(uop.d):  # one register of the result: rows and columns by lane
        for lane in range(32):
            row = lane // 4 + 8 * (i // 2 % (m // 8))
            column = 8 * (i // (m // 4)) + 2 * (lane % 4) + i % 2
            c = uops[first + 3 + i].c
            total = doubles[c + base if c >= 0 else -1 - c, lane]
            for j in range(k):
                a = uops[first + 3 + (j // 4) * (m // 8) + row // 8].a
                b = uops[first + 3 + j // 4].b
                p = doubles[a + base if a >= 0 else -1 - a, 4 * (row % 8) + j % 4]
                q = doubles[b + base if b >= 0 else -1 - b, 4 * column + j % 4]
                total = _rounded_fma(p, q, total, mode)
            doubles[scratch, lane] = total
            context.matrix_d[32 * i + lane] = np.int64(longs[scratch, lane])
    for i in range(uop.d):
        for lane in range(32):
            longs[uops[first + 3 + i].d + base, lane] = np.uint64(context.matrix_d[32 * i + lane])


@njit(types.void(_CONTEXT, _UOP))
def _move(context, uop):
    """MATRIX_LOAD and MATRIX_STORE: c the lane of the first row's address, e = bits | transposed << 8 | half << 9."""
    words = rows_u32(context.r32, context.total_rows32)
    base = context.constant_rows32 + context.warp * context.rows32
    width, transposed, half = np.int64(uop.e & 0xFF), uop.e >> 8 & 1, np.int64(uop.e >> 9)
    n = 2 if width == 16 else 4
    for lane in range(32):
        g, t = lane // 4, lane % 4
        bits = _word(context, np.int64(uop.a), lane) if uop.op == MATRIX_STORE else np.int64(0)
        for j in range(n):
            row, column = g, n * t + j
            if transposed and n == 2:
                row, column = 2 * t + j, g
            elif transposed and uop.op == MATRIX_STORE:
                row, column = 2 * t + (j & 1), g + 8 * (j >> 1)
            elif transposed:
                row, column = 4 * t + j, g + 8 * half
            if (np.int64(context.access_mask) >> (uop.c + row)) & 1 == 0:  # no lane gives this row
                continue
            pointer = context.lane_pointer[uop.c + row] + np.uint64(column * width // 8)
            place = flat_u8(pointer, 2)
            if uop.op == MATRIX_STORE:
                for byte in range(width // 8):
                    place[byte] = np.uint8(bits >> (32 // n * j + 8 * byte) & 0xFF)
                continue
            shift = (column * width) % 8
            value = np.int64(place[0])
            if shift + width > 8:
                value |= np.int64(place[1]) << 8
            bits |= (value >> shift & ((1 << width) - 1)) << (32 // n * j)
        if uop.op == MATRIX_LOAD:
            words[uop.d + base, lane] = np.uint32(bits)


@njit(types.void(_CONTEXT, _UOP))
def _transpose(context, uop):
    """MATRIX_MOVE."""
    words = rows_u32(context.r32, context.total_rows32)
    for lane in range(32):
        g, t = lane // 4, lane % 4
        low = _word(context, np.int64(uop.a), 8 * t + g // 2) >> (16 * (g % 2)) & 0xFFFF
        high = _word(context, np.int64(uop.a), 8 * t + 4 + g // 2) >> (16 * (g % 2)) & 0xFFFF
        context.matrix_d[lane] = low | high << 16
    for lane in range(32):
        words[uop.d + context.constant_rows32 + context.warp * context.rows32, lane] = np.uint32(
            context.matrix_d[lane]
        )


@njit(types.void(_CONTEXT, _UOPS, types.int64))
def _matrix(context, uops, at):
    """One of these micro-operations; OPERANDS are read by the MULTIPLY before them."""
    op = uops[at].op
    if op == MULTIPLY:
        if uops[at + 2].b == DOUBLES:
            _multiply_doubles(context, uops, at)
        else:
            _multiply(context, uops, at)
    elif op == MATRIX_MOVE:
        _transpose(context, uops[at])
    elif op == MATRIX_LOAD or op == MATRIX_STORE:
        _move(context, uops[at])


matrix: Any = boundary("matrix", _matrix, part="matrix")
