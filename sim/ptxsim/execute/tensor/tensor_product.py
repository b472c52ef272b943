"""`tcgen05.mma`: the product of a matrix in shared or tensor memory with one in shared memory, in tensor memory.

TENSOR_MULTIPLY has row d address of D, a that of A (a descriptor in the 64-bit file, or an address in tensor memory),
b descriptor of B, c instruction descriptor, e predicate: D is added. Two OPERANDS follow:

    d kind | flags << 8, a and b addresses of the scales of A and B, c by how many powers of two D is divided, e row of
    the warp's number in the CTA
    d, a, b, c rows of the masks of lanes that are not written, for 32 lanes each; e number of scales of a line

Where row i and column j of D lie, for M rows and N columns (an address names the first lane and column):

    M = 128       lane i                              column j
    M = 64        lane 32 (i / 16) + i % 16           column j
    M = 64, .ws   lane i + 64 (j / (N/2))             column j % (N/2)
    M = 32, .ws   lane i + 32 (j / (N/4))             column j % (N/4)

A in tensor memory has row i in D's lane (for .ws in lane i), its elements packed into columns along k. The scales of
row i of A or column i of B are bytes of the word in lane i % 32, column i / 32, from the byte on that the instruction
descriptor names.

The product is made when the instruction is executed. Not handled: two CTAs, sparse A, k = 96, `.ashift`.

Reference: PTX ISA, "TensorCore 5th Generation Family Instructions": data path layouts, block scaling.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_f64, flat_u32, njit, record_type, records, types
from ptxsim.base.program import BAD_DESCRIPTOR, CONTEXT, OUTSIDE_COLUMNS, UOP
from ptxsim.execute.boundary import boundary
from ptxsim.execute.lanes import lane_mask, long_of, word_of
from ptxsim.execute.tensor.descriptors import load_matrix
from ptxsim.execute.tensor.mma import FLOATS, INTEGERS, ONE_NAN
from ptxsim.execute.tensor.tensor_layouts import (
    COLUMNS,
    DEPTHS,
    F16,
    FORMATS,
    I8,
    LANES,
    MXF4,
    MXF8F6F4,
    TF32,
    atom_of,
    line_bytes_of,
    memory_of,
    shared_packing,
    tensor_packing,
)
from ptxsim.execute.tensor.tensor_memory import fault, is_allocated
from ptxsim.execute.tensor.tiles import (
    A_POWERS,
    A_VALUES,
    B_POWERS,
    B_VALUES,
    DEPTH,
    HALF_BITS,
    RESULT,
    SCRATCH_WORDS,
    SUMS,
    UNITS,
    half_bits,
    multiply_floats,
    multiply_integers,
    negate_a,
    put_element,
    single_bits,
)
from ptxsim.execute.tensor.tiles import COLUMNS as RESULT_COLUMNS

_CONTEXT = record_type(CONTEXT)
_UOPS = array_of(UOP)
_uops = records(UOP)

IN_TENSOR_MEMORY, STATIONARY = 1, 2
"""Flags: A lies in tensor memory; `.ws`."""
_SINGLE = 23 | 8 << 8 | 2 << 16  # the format of .f32


@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64))
def cell_of(row, column, m, n, stationary):
    """lane << 16 | column of an element of D, from its first lane and column."""
    if m == 64 and not stationary:
        return (32 * (row // 16) + row % 16) << 16 | column
    if m == 128 or not stationary:
        return row << 16 | column
    part = n * m // 128
    return row + column // part * m << 16 | column % part


@njit(types.int64(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.int64))
def _read_a(context, memory, address, kind, code, shape):
    """Decode A from tensor memory; shape: m | k << 8 | `.ws` << 16. 0 after a fault."""
    m, k, stationary = shape & 0xFF, shape >> 8 & 0xFF, shape >> 16
    packing = tensor_packing(kind, code)
    per_column, bits, shift = packing & 0xFF, packing >> 8 & 0xFF, packing >> 16
    first = address & 0xFFFF
    if not is_allocated(context, memory, first, first + k // per_column):
        return fault(context, OUTSIDE_COLUMNS, 0, address)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    kind_of_numbers = INTEGERS if kind == I8 else FLOATS
    for row in range(m):
        lane = row
        if not stationary:
            lane = cell_of(row, 0, m, 8, 0) >> 16
        lane = (lane + (address >> 16)) & 127
        for j in range(k):
            word = np.int64(cells[lane * COLUMNS + first + j // per_column])
            value = (word >> j % per_column * bits & ((1 << bits) - 1)) >> shift
            place = row * DEPTH + j
            put_element(
                context.tile_scratch, A_VALUES + place, A_POWERS + place, value, kind_of_numbers, code
            )
    return 1


@njit(types.int64(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.int64))
def _scale(context, memory, address, is_b, shape, layout):
    """Multiply the rows of A, or the columns of B, by their scales; shape: lines | k << 9 | scales of a line << 17;
    layout: first byte | e8m0 << 2. 0 after a fault."""
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    lines, k, count = shape & 0x1FF, shape >> 9 & 0xFF, shape >> 17
    first = address & 0xFFFF
    if not is_allocated(context, memory, first, first + (lines + 31) // 32):
        return fault(context, OUTSIDE_COLUMNS, 0, address)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    for line in range(lines):
        word = np.int64(cells[line % 32 * COLUMNS + first + line // 32]) >> 8 * (layout & 3)
        for j in range(k):
            if j % (k // count) == 0:
                bits = word >> 8 * (j // (k // count)) & 0xFF
                if layout >> 2:  # a power of two
                    values[SUMS] = values[UNITS] = np.nan if bits == 255 else 2.0 ** (bits - 127.0)
                else:
                    put_element(
                        context.tile_scratch, SUMS, UNITS, bits & 0x7F, FLOATS, 3 | 4 << 8 | ONE_NAN << 16
                    )
            place = j * RESULT_COLUMNS + line if is_b else line * DEPTH + j
            v, p = (B_VALUES + place, B_POWERS + place) if is_b else (A_VALUES + place, A_POWERS + place)
            values[v] *= values[SUMS]
            values[p] = 0.0 if values[SUMS] != values[SUMS] else values[p] * values[UNITS]
    return 1


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64, types.int64))
def _multiply(context, uops, at, lane, adds):
    """The product that a lane asks for. 0 after a fault."""
    head, how = uops[at], uops[at + 1]
    kind, flags = np.int64(how.d & 0xFF), np.int64(how.d >> 8)
    what = word_of(context, np.int64(head.c), lane)
    number = word_of(context, np.int64(how.e), lane)
    memory = memory_of(context, number)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    n = (what >> 17 & 63) * 8
    m = (what >> 27 & 3) * 128 if kind >= MXF8F6F4 else (what >> 24 & 31) * 16
    of_a, of_b = FORMATS[kind, what >> 7 & 7], FORMATS[kind, what >> 10 & (3 if kind >= MXF4 else 7)]
    stationary = flags & STATIONARY
    k = DEPTHS[kind]
    if (
        of_a < 0
        or of_b < 0
        or n == 0
        or n > 256
        or not (m == 128 or m == 64 or (m == 32 and stationary))
        or what & 4  # sparse
        or (kind >= MXF4 and what >> 31 & 1)
    ):
        return fault(context, BAD_DESCRIPTOR, lane, what)
    numbers = INTEGERS if kind == I8 else FLOATS
    d_code = what >> 4 & 3 if kind < MXF8F6F4 else np.int64(1)
    is_half = d_code == 0 and kind != TF32
    address = word_of(context, np.int64(head.d), lane)
    first_lane, first = address >> 16, address & 0xFFFF
    width = n * m // 128 if stationary and m < 128 else n
    if not is_allocated(context, memory, first, first + width):
        return fault(context, OUTSIDE_COLUMNS, lane, address)
    if flags & IN_TENSOR_MEMORY:
        place = word_of(context, np.int64(head.a), lane)
        if not _read_a(context, memory, place, kind, of_a, m | k << 8 | (stationary != 0) << 16):
            return 0
    else:
        descriptor = long_of(context, np.int64(head.a), lane)
        if not load_matrix(
            context,
            descriptor,
            line_bytes_of(descriptor),
            what >> 15 & 1 != 0,
            0,
            m,
            k,
            shared_packing(kind, of_a),
            numbers,
            of_a,
            A_VALUES,
            A_POWERS,
            DEPTH,
            1,
            atom_of(descriptor),
        ):
            return 0
    descriptor = long_of(context, np.int64(head.b), lane)
    if not load_matrix(
        context,
        descriptor,
        line_bytes_of(descriptor),
        what >> 16 & 1 != 0,
        0,
        n,
        k,
        shared_packing(kind, of_b),
        numbers,
        of_b,
        B_VALUES,
        B_POWERS,
        1,
        RESULT_COLUMNS,
        atom_of(descriptor),
    ):
        return 0
    if kind >= MXF8F6F4:
        count, is_power = np.int64(uops[at + 2].e), what >> 23 & 1
        scales = word_of(context, np.int64(how.a), lane), word_of(context, np.int64(how.b), lane)
        if not _scale(
            context, memory, scales[0], 0, m | k << 9 | count << 17, what >> 29 & 3 | is_power << 2
        ) or not _scale(
            context, memory, scales[1], 1, n | k << 9 | count << 17, what >> 4 & 3 | is_power << 2
        ):
            return 0
    if what >> 13 & 1 != what >> 14 & 1:
        negate_a(context.tile_scratch, m, k)
    factor = 2.0 ** -np.float64(how.c)
    for row in range(m):
        for c in range(n):
            place = RESULT + row * RESULT_COLUMNS + c
            values[place] = 0.0
            if adds:
                cell = cell_of(row, c, m, n, stationary)
                index = ((cell >> 16) + first_lane & 127) * COLUMNS + first + (cell & 0xFFFF)
                bits = np.int64(cells[index])
                if numbers == INTEGERS:
                    put_element(context.tile_scratch, place, UNITS, bits, INTEGERS, 32 | 1 << 8)
                elif is_half:
                    put_element(context.tile_scratch, place, UNITS, bits & 0xFFFF, FLOATS, FORMATS[F16, 0])
                else:
                    put_element(context.tile_scratch, place, UNITS, bits, FLOATS, _SINGLE)
                values[place] *= factor
    if numbers == INTEGERS:
        multiply_integers(context.tile_scratch, m, n, k, what >> 3 & 1)
    else:
        group = 16 if kind == F16 else 8 if kind == TF32 else 32
        result_bits = HALF_BITS if is_half else 23
        multiply_floats(context.tile_scratch, m, n, k, group, 25, result_bits, np.int64(is_half))
    masks = uops[at + 2]
    for row in range(m):
        for c in range(n):
            cell = cell_of(row, c, m, n, stationary)
            target = (cell >> 16) + first_lane & 127
            part = target // 32
            mask_row = masks.d if part == 0 else masks.a if part == 1 else masks.b if part == 2 else masks.c
            if word_of(context, np.int64(mask_row), lane) >> target % 32 & 1:
                continue
            place = RESULT + row * RESULT_COLUMNS + c
            if numbers == INTEGERS:
                bits = np.int64(values[place])
            elif is_half:
                bits = half_bits(context.tile_scratch, place)
            else:
                bits = single_bits(context.tile_scratch, place)
            cells[target * COLUMNS + first + (cell & 0xFFFF)] = np.uint32(bits & 0xFFFFFFFF)
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _tensor_product(context, at, mask):
    """TENSOR_MULTIPLY: a product for every lane that asks for one. 0 after a fault."""
    uops = _uops(context.uops, context.n_uops)
    adds = np.int64(lane_mask(context, uops[at].e))
    while mask:
        lane = ctz(mask)
        mask &= mask - 1
        if _multiply(context, uops, at, lane, adds >> lane & 1) == 0:
            return 0
    return 1


tensor_product: Any = boundary("tensor_product", _tensor_product)
"""`tensor_product(context, k, mask)`: micro-operation k, TENSOR_MULTIPLY."""
