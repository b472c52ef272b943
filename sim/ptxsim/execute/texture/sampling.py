"""Fetches from textures, and accesses of surfaces.

A micro-operation here is followed by OPERANDS with further rows, d a b c:

    FETCH        a handle (64-bit row), b handle of the sampler, d shape, c gathered component + 1, e results; after it
                 rows of layer x y z, of depth and offsets x y z, of the four results
    QUERY        row d = word e of the table's row of handle a; b 1: zero where there is none
    SURFACE      a handle, d shape | clamping << 4, b bytes of an element, c of all, e flags; after
                 it layer x y z. Leaves the lanes' addresses as an access to memory does
    STORE_TEXEL  a handle, e components; after it the rows of the components. Stores where SURFACE has found

A shape is the number of axes, with LAYERED, CUBE, FLOATING, SAMPLED (z is the sample's number), COMPARES: every channel
of a texel counts as 1 where the depth compares with it, otherwise as 0. A coordinate becomes a place with 8 bits of
fraction (of the middle of a texel where it is filtered, so that whole places are texels): the weights of linear
filtering are exact products of such fractions, the sum is one of f64 in the order of x, y, z. Texels of weight zero do
not count. A texel outside is found by the address mode: repeated ones are those of normalized coordinates only.

Not handled: mipmaps, other border colours than zero.
Reference: PTX ISA, sections on texture and surface instructions; CUDA C++ Programming Guide, texture fetching.
"""

import math
from typing import Any

import numpy as np

from ptxsim.base.jit import (
    array_of,
    flat_i64,
    flat_u8,
    flat_u16,
    flat_u32,
    njit,
    record_type,
    rows_f32,
    rows_u32,
    rows_u64,
    types,
)
from ptxsim.base.program import CONTEXT, GLOBAL, MISALIGNED, NO_TEXTURE, OUTSIDE, UOP
from ptxsim.execute.arithmetic import double_to_small, half_to_double
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import FETCH, FLOAT, QUERY, SIGNED
from ptxsim.execute.codes import SURFACE as SURFACE_ACCESS
from ptxsim.execute.texture.texture_table import (
    ADDRESS,
    BITS,
    BORDER,
    CHANNELS,
    CLAMP,
    COMPARE,
    DATA,
    EQUAL,
    FORCED,
    GREATER,
    GREATER_EQUAL,
    HANDLE_BASE,
    HANDLE_STEP,
    HEIGHT,
    KIND,
    LESS,
    LESS_EQUAL,
    LINEAR,
    MIRROR,
    MODE,
    NEVER,
    NORMALIZED,
    NOT_EQUAL,
    PITCH,
    PLANES,
    READS_FLOAT,
    ROW_WORDS,
    SAMPLER,
    SAMPLES,
    SCRATCH_BYTES,
    SORT,
    SURFACE,
    TEXTURE,
    WIDTH,
    WRAP,
)

LAYERED, CUBE, FLOATING, COMPARES, SAMPLED = 4, 8, 16, 32, 64
TRAP, CLAMPED, ZERO = range(3)
BY_TEXELS, WRITES = 1, 2  # flags of SURFACE: x counts texels, not bytes
# results of a fetch
WORDS, HALVES, PAIRS = range(3)

_CONTEXT = record_type(CONTEXT)
_UOPS = array_of(UOP)
_ROW = types.Array(types.int64, 1, "C")
_INT = types.int64
_REPEATS = 33554432.0  # from here on a float of 24 bits is an even number: the same place as 0
_FAR = 1073741824.0


@njit(types.int64(_CONTEXT, _INT, types.uint64, _INT))
def _number(context, lane, handle, kind):
    """The table's row of a handle, which is of a kind (0: any); -1 and an error if there is none."""
    offset = np.int64(handle) - HANDLE_BASE
    row = offset // HANDLE_STEP
    if row > 0 and row < context.n_textures and offset % HANDLE_STEP == 0:
        found = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * row), ROW_WORDS)[KIND]
        if kind == 0 or found == kind or (kind == SAMPLER and found == TEXTURE):
            return row
    context.error, context.error_lane, context.error_address = NO_TEXTURE, lane, handle
    return np.int64(-1)


@njit(types.int64(types.float64, _INT, _INT, _INT, _INT))
def _place(coordinate, extent, mode, normalized, linear):
    """A coordinate as a place with 8 bits of fraction."""
    c = coordinate
    if normalized:
        if mode <= MIRROR and not abs(c) < _REPEATS:
            c = 0.0
        c *= np.float64(extent)
    if c != c:
        c = 0.0
    c = min(max(c, -_FAR), _FAR)
    return np.int64(math.floor((c - 0.5) * 256.0 + 0.5)) if linear else np.int64(math.floor(c)) << 8


@njit(types.int64(_INT, _INT, _INT, _INT))
def _inside(i, extent, mode, normalized):
    """The texel that stands for number i; -1 the border."""
    if 0 <= i < extent:
        return i
    if mode == BORDER:
        return np.int64(-1)
    if normalized and mode == WRAP:
        return i % extent
    if normalized and mode == MIRROR:
        i %= 2 * extent
        return i if i < extent else 2 * extent - 1 - i
    return min(max(i, np.int64(0)), extent - 1)


@njit(types.int64(_ROW, types.uint64, _INT))
def _integer(t, texel, channel):
    """A channel's bits, extended by its sign."""
    at = texel + np.uint64(channel * (t[BITS] >> 3))
    if t[BITS] == 8:
        value = np.int64(flat_u8(at, 1)[0])
    elif t[BITS] == 16:
        value = np.int64(flat_u16(at, 1)[0])
    else:
        value = np.int64(flat_u32(at, 1)[0])
    sign = np.int64(1) << (t[BITS] - 1)
    return (value ^ sign) - sign if t[SORT] == SIGNED else value


@njit(types.float64(_ROW, types.uint64, _INT))
def _real(t, texel, channel):
    """A channel of a texel that is read as f32."""
    value = _integer(t, texel, channel)
    if t[SORT] != FLOAT:
        greatest = (1 << (t[BITS] - (1 if t[SORT] == SIGNED else 0))) - 1
        return np.float64(np.float32(max(np.float64(value) / np.float64(greatest), -1.0)))
    if t[BITS] == 16:
        return half_to_double(value)
    return np.float64(rows_f32(texel + np.uint64(4 * channel), 1)[0, 0])


@njit(types.int64(_CONTEXT, types.float64))
def _bits(context, value):
    """The bits of a value as f32."""
    scratch = context.textures + np.uint64(SCRATCH_BYTES)
    rows_f32(scratch, 1)[0, 0] = np.float32(value)
    return np.int64(rows_u32(scratch, 1)[0, 0])


@njit(types.uint64(_ROW, _INT, _INT, _INT))
def _texel(t, i, j, k):
    """Bytes from the first texel to that of a row, a column and a plane; all are inside."""
    return np.uint64((k * t[HEIGHT] + j) * t[PITCH] + i * t[CHANNELS] * (t[BITS] >> 3))


@njit(types.int64(_CONTEXT, _ROW, _INT, _INT, _INT, _INT, _INT))
def _one(context, t, i, j, k, channel, is_float):
    """The bits of a channel of one texel as a result; the border is zero, and what a texel does not have 0 0 0 1."""
    if i < 0 or j < 0 or k < 0:
        return np.int64(0)
    if channel >= t[CHANNELS]:
        one = np.int64(0x3F800000) if is_float else np.int64(1)
        return one if channel == 3 else np.int64(0)
    texel = np.uint64(t[DATA]) + _texel(t, i, j, k)
    if is_float and not (t[SORT] == FLOAT and t[BITS] == 32):
        return _bits(context, _real(t, texel, channel))
    return _integer(t, texel, channel) & 0xFFFFFFFF


@njit(types.float64(_ROW, _INT, _INT, _INT, _INT))
def _weighed(t, i, j, k, channel):
    """A channel of one texel as a number."""
    if i < 0 or j < 0 or k < 0:
        return 0.0
    if channel >= t[CHANNELS]:
        return 1.0 if channel == 3 else 0.0
    return _real(t, np.uint64(t[DATA]) + _texel(t, i, j, k), channel)


@njit(types.float64(_ROW, _INT, _INT, _INT, _INT, types.float64, _INT))
def _compared(t, i, j, k, channel, depth, how):
    """1 where a depth compares with a channel of a texel, otherwise 0."""
    if channel >= t[CHANNELS]:
        return 1.0 if channel == 3 and min(i, j, k) >= 0 else 0.0
    value = 0.0
    if i >= 0 and j >= 0 and k >= 0:
        texel = np.uint64(t[DATA]) + _texel(t, i, j, k)
        if t[SORT] == FLOAT or t[READS_FLOAT]:
            value = _real(t, texel, channel)
        else:
            value = np.float64(_integer(t, texel, channel))
    if how == LESS or how == NEVER:
        holds = depth < value and how == LESS
    elif how == LESS_EQUAL:
        holds = depth <= value
    elif how == EQUAL:
        holds = depth == value
    elif how == GREATER:
        holds = depth > value
    elif how == GREATER_EQUAL:
        holds = depth >= value
    else:
        holds = depth != value or how != NOT_EQUAL
    return 1.0 if holds else 0.0


@njit(types.float64(_CONTEXT, _UOPS, _INT, _INT, _INT))
def _face(context, uops, k, n, axis):
    """A direction's coordinate on the face of a cube that it meets (axis 0, 1), or the number of the face (2)."""
    base = context.constant_rows32 + context.warp * context.rows32
    f = rows_f32(context.r32, context.total_rows32)
    uop = uops[k + 1]
    a = np.float64(f[uop.a + base if uop.a >= 0 else -1 - uop.a, n])
    b = np.float64(f[uop.b + base if uop.b >= 0 else -1 - uop.b, n])
    c = np.float64(f[uop.c + base if uop.c >= 0 else -1 - uop.c, n])
    if abs(a) >= abs(b) and abs(a) >= abs(c):
        face, m, s, t = (0.0, a, -c, -b) if a >= 0.0 else (1.0, -a, c, -b)
    elif abs(b) >= abs(c):
        face, m, s, t = (2.0, b, a, c) if b >= 0.0 else (3.0, -b, a, -c)
    else:
        face, m, s, t = (4.0, c, a, -b) if c >= 0.0 else (5.0, -c, -a, -b)
    if axis == 2:
        return face
    return ((s if axis == 0 else t) / m + 1.0) * 0.5


@njit(types.int64(_CONTEXT, _UOPS, _INT, _INT, _ROW, _ROW))
def _find(context, uops, k, n, t, s):
    """The places of lane n on three axes, into `matrix_a`; offsets of texels counted in."""
    uop, places, offsets = uops[k], uops[k + 1], uops[k + 2]
    shape = np.int64(uop.d)
    base = context.constant_rows32 + context.warp * context.rows32
    words, reals = rows_u32(context.r32, context.total_rows32), rows_f32(context.r32, context.total_rows32)
    normalized = np.int64(shape & FLOATING != 0 and t[NORMALIZED] != 0 and s[FORCED] == 0)
    is_float = t[SORT] == FLOAT or t[READS_FLOAT] != 0
    linear = np.int64(uop.c > 0 or (s[LINEAR] != 0 and is_float and shape & FLOATING != 0))
    plane = np.int64(0)
    if shape & CUBE:
        plane = np.int64(_face(context, uops, k, n, 2))
    if shape & LAYERED:
        row = places.d + base if places.d >= 0 else -1 - places.d
        layers = t[PLANES] // (6 if shape & CUBE else t[SAMPLES])
        layer = min(np.int64(words[row, n]), max(layers - 1, np.int64(0)))
        plane += (6 if shape & CUBE else t[SAMPLES]) * layer
    if shape & SAMPLED:
        sample = np.int64(words[places.c + base if places.c >= 0 else -1 - places.c, n])
        plane += min(max((sample ^ 0x80000000) - 0x80000000, np.int64(0)), t[SAMPLES] - 1)
    context.matrix_a[2] = min(plane, t[PLANES] - 1) << 8
    context.matrix_a[1] = 0
    for axis in range(shape & 3):
        of = places.a if axis == 0 else places.b if axis == 1 else places.c
        by = offsets.a if axis == 0 else offsets.b if axis == 1 else offsets.c
        row = of + base if of >= 0 else -1 - of
        extent = t[WIDTH + axis]
        if shape & CUBE:
            place = _place(_face(context, uops, k, n, axis), extent, np.int64(CLAMP), np.int64(1), linear)
        elif shape & FLOATING:
            place = _place(np.float64(reals[row, n]), extent, s[MODE + axis], normalized, linear)
        else:
            place = ((np.int64(words[row, n]) ^ 0x80000000) - 0x80000000) << 8
        shift = np.int64(words[by + base if by >= 0 else -1 - by, n])
        context.matrix_a[axis] = place + (((shift ^ 0x80000000) - 0x80000000) << 8)
    return normalized


@njit(types.int64(_CONTEXT, _UOPS, _INT, _INT))
def _fetch(context, uops, k, n):
    """One lane. 0 after a fault."""
    uop, results = uops[k], uops[k + 3]
    base, base64 = (
        context.constant_rows32 + context.warp * context.rows32,
        context.constant_rows64 + context.warp * context.rows64,
    )
    words, longs = rows_u32(context.r32, context.total_rows32), rows_u64(context.r64, context.total_rows64)
    texture = _number(context, n, longs[uop.a + base64 if uop.a >= 0 else -1 - uop.a, n], np.int64(TEXTURE))
    sampler = _number(context, n, longs[uop.b + base64 if uop.b >= 0 else -1 - uop.b, n], np.int64(SAMPLER))
    if texture < 0 or sampler < 0:
        return np.int64(0)
    t = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * texture), ROW_WORDS)
    s = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * sampler), ROW_WORDS)
    shape = np.int64(uop.d)
    normalized = _find(context, uops, k, n, t, s)
    is_float = np.int64(t[SORT] == FLOAT or t[READS_FLOAT] != 0)
    n_axes = shape & 3
    # the texels on each axis: number 2 a + b in `matrix_b` is the b-th on axis a; weights beside them
    for axis in range(3):
        mode = np.int64(CLAMP) if shape & CUBE or axis >= n_axes else s[MODE + axis]
        for b in range(2):
            i = (context.matrix_a[axis] >> 8) + b
            context.matrix_b[2 * axis + b] = _inside(i, t[WIDTH + axis], mode, normalized)
            weight = context.matrix_a[axis] & 255
            context.matrix_b[8 + 2 * axis + b] = weight if b else 256 - weight
    first = np.int64(0)
    compares = shape & COMPARES
    given = uops[k + 2].d
    reals = rows_f32(context.r32, context.total_rows32)
    depth = np.float64(reals[given + base if given >= 0 else -1 - given, n])
    context.lane_address[n] = np.uint64(t[ADDRESS])
    for channel in range(4):
        sum_ = 0.0
        bits = np.int64(0)
        used = np.int64(0)
        if uop.c > 0:  # the four around, against the clock from below on the left
            i, j = (
                context.matrix_b[1 if channel == 1 or channel == 2 else 0],
                context.matrix_b[3 if channel < 2 else 2],
            )
            bits = _one(context, t, i, j, context.matrix_b[4], np.int64(uop.c - 1), is_float)
            if compares:
                bits = _bits(
                    context, _compared(t, i, j, context.matrix_b[4], np.int64(uop.c - 1), depth, s[COMPARE])
                )
            used = 1
        else:
            for corner in range(1 << n_axes):
                a, b, c = corner & 1, 2 + (corner >> 1 & 1), 4 + (corner >> 2)
                weight = context.matrix_b[8 + a] * context.matrix_b[8 + b] * context.matrix_b[8 + c]
                if weight == 0:
                    continue
                i, j, p = context.matrix_b[a], context.matrix_b[b], context.matrix_b[c]
                passes = _compared(t, i, j, p, np.int64(channel), depth, s[COMPARE]) if compares else 0.0
                if used == 0:
                    bits = (
                        _bits(context, passes)
                        if compares
                        else _one(context, t, i, j, p, np.int64(channel), is_float)
                    )
                    if i >= 0 and j >= 0 and p >= 0:
                        first = np.int64(_texel(t, i, j, p))
                used += 1
                if is_float:
                    value = passes if compares else _weighed(t, i, j, p, np.int64(channel))
                    sum_ += value * (np.float64(weight) / 16777216.0)
        if used > 1:
            bits = _bits(context, sum_)
        if uop.e != WORDS and (is_float or compares):
            scratch = context.textures + np.uint64(SCRATCH_BYTES)
            rows_u32(scratch, 1)[0, 0] = np.uint32(bits)
            bits = double_to_small(np.float64(rows_f32(scratch, 1)[0, 0]), 10, -14, 0)
        elif uop.e != WORDS:
            bits &= 0xFFFF
        context.matrix_b[16 + channel] = bits
    if uop.e == PAIRS:
        context.matrix_b[16] |= context.matrix_b[17] << 16
        context.matrix_b[17] = context.matrix_b[18] | context.matrix_b[19] << 16
    context.lane_address[n] = np.uint64(t[ADDRESS] + first)
    for channel in range(2 if uop.e == PAIRS else 4):
        d = (
            results.d
            if channel == 0
            else results.a
            if channel == 1
            else results.b
            if channel == 2
            else results.c
        )
        words[d + base, n] = np.uint32(context.matrix_b[16 + channel])
    return np.int64(1)


@njit(types.int64(_CONTEXT, _UOPS, _INT, _INT))
def _surface(context, uops, k, n):
    """The address of one lane's elements. 0 after a fault."""
    uop, places = uops[k], uops[k + 1]
    base, base64 = (
        context.constant_rows32 + context.warp * context.rows32,
        context.constant_rows64 + context.warp * context.rows64,
    )
    words, longs = rows_u32(context.r32, context.total_rows32), rows_u64(context.r64, context.total_rows64)
    number = _number(context, n, longs[uop.a + base64 if uop.a >= 0 else -1 - uop.a, n], np.int64(SURFACE))
    if number < 0:
        return np.int64(0)
    t = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * number), ROW_WORDS)
    texel_bytes = t[CHANNELS] * (t[BITS] >> 3)
    shape, clamping = np.int64(uop.d & 15), uop.d >> 4
    size = texel_bytes if uop.e & BY_TEXELS else np.int64(uop.c)
    offset = np.int64(0)
    outside = False
    stride = np.int64(1)
    for axis in range(3):
        of = places.a if axis == 0 else places.b if axis == 1 else places.c
        if axis == 2 and shape & LAYERED:
            of = places.d
        elif axis >= shape & 3:
            stride *= t[WIDTH + axis]
            continue
        at = np.int64(words[of + base if of >= 0 else -1 - of, n])
        at = (at ^ 0x80000000) - 0x80000000
        greatest = t[WIDTH + axis] - 1
        if axis == 0:
            at *= texel_bytes if uop.e & BY_TEXELS else 1
            greatest = t[WIDTH] * texel_bytes - size
            if uop.e & BY_TEXELS == 0 and at % uop.b:
                context.error, context.error_lane = MISALIGNED, n
                context.error_address = np.uint64(t[ADDRESS] + at)
                context.access_space = GLOBAL
                return np.int64(0)
        if at < 0 or at > greatest:
            outside = True
            at = np.int64(0) if at < 0 else max(greatest, np.int64(0))
        offset += at * stride
        stride = t[PITCH] if axis == 0 else stride * t[WIDTH + axis]
    if size > t[WIDTH] * texel_bytes or (outside and clamping == TRAP):
        context.error, context.error_lane, context.error_address = (
            OUTSIDE,
            n,
            longs[uop.a + base64 if uop.a >= 0 else -1 - uop.a, n],
        )
        return np.int64(0)
    context.lane_address[n] = np.uint64(t[ADDRESS] + offset)
    context.lane_pointer[n] = np.uint64(t[DATA] + offset)
    if outside and clamping == ZERO:  # what is read is zero, what is written is lost
        context.lane_pointer[n] = context.textures + np.uint64(SCRATCH_BYTES if uop.e & WRITES else 0)
    return np.int64(1)


@njit(types.void(_CONTEXT, _UOPS, _INT, _INT))
def _store_texel(context, uops, k, n):
    """One lane's components, as the surface's channels have them."""
    uop, sources = uops[k], uops[k + 1]
    base, base64 = (
        context.constant_rows32 + context.warp * context.rows32,
        context.constant_rows64 + context.warp * context.rows64,
    )
    words, reals = rows_u32(context.r32, context.total_rows32), rows_f32(context.r32, context.total_rows32)
    handle = rows_u64(context.r64, context.total_rows64)[uop.a + base64 if uop.a >= 0 else -1 - uop.a, n]
    number = _number(context, n, handle, np.int64(SURFACE))
    t = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * number), ROW_WORDS)
    for channel in range(min(np.int64(uop.e), t[CHANNELS])):
        of = (
            sources.d
            if channel == 0
            else sources.a
            if channel == 1
            else sources.b
            if channel == 2
            else sources.c
        )
        row = of + base if of >= 0 else -1 - of
        value = np.int64(words[row, n])
        if t[SORT] == FLOAT and t[BITS] == 16:
            value = double_to_small(np.float64(reals[row, n]), 10, -14, 0)
        elif t[SORT] == SIGNED:
            half = np.int64(1) << (t[BITS] - 1)
            value = min(max((value ^ 0x80000000) - 0x80000000, -half), half - 1)
        elif t[BITS] < 32:
            value = min(value, (np.int64(1) << t[BITS]) - 1)
        at = context.lane_pointer[n] + np.uint64(channel * (t[BITS] >> 3))
        for byte in range(t[BITS] >> 3):
            flat_u8(at, 4)[byte] = np.uint8(value >> (8 * byte) & 0xFF)


@njit(types.int64(_CONTEXT, _UOPS, _INT, _INT))
def _textures(context, uops, k, mask):
    """One of these micro-operations. 0 after a fault."""
    uop = uops[k]
    if uop.op == FETCH or uop.op == SURFACE_ACCESS:
        context.access_mask, context.access_space, context.uniform, context.stride = (
            np.uint64(mask),
            GLOBAL,
            0,
            -1,
        )
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        if uop.op == FETCH:
            context.lane_pointer[n] = np.uint64(0)
            if _fetch(context, uops, k, n) == 0:
                return np.int64(0)
        elif uop.op == SURFACE_ACCESS:
            if _surface(context, uops, k, n) == 0:
                return np.int64(0)
        elif uop.op == QUERY:
            at = uop.a + context.constant_rows64 + context.warp * context.rows64 if uop.a >= 0 else -1 - uop.a
            row = _number(context, n, rows_u64(context.r64, context.total_rows64)[at, n], np.int64(0))
            if row < 0:
                if uop.b != 1:
                    return np.int64(0)
                context.error, row = 0, np.int64(0)
            word = flat_i64(context.textures + np.uint64(8 * ROW_WORDS * row), ROW_WORDS)[uop.e]
            to = uop.d + context.constant_rows32 + context.warp * context.rows32
            rows_u32(context.r32, context.total_rows32)[to, n] = np.uint32(word)
        else:
            _store_texel(context, uops, k, n)
    return np.int64(1)


textures: Any = boundary("textures", _textures, part="textures")
