"""`tcgen05.mma`: the product of a matrix in shared or tensor memory with one in shared memory, in tensor memory.

TENSOR_MULTIPLY has row d address of D, a that of A (a descriptor in the 64-bit file, or an address in tensor memory),
b descriptor of B, c instruction descriptor, e predicate: D is added. Four OPERANDS follow:

    d kind | flags << 8, a and b addresses of the scales of A and B, c by how many powers of two D is divided, e row of
    the warp's number in the CTA
    d, a, b, c rows of the masks of lanes that are not written, for 32 lanes each; e number of scales of a line
    d, a, b, c the same for the second CTA of a pair; e the zero-column mask descriptor, in the 64-bit file
    d address of the metadata of a sparse A, which has half of the elements of a row

Where row i and column j of D lie, for M rows and N columns (an address names the first lane and column):

    M = 128            lane i                              column j
    M = 64             lane 32 (i / 16) + i % 16           column j
    M = 64, folded     lane i + 64 (j / (N/2))             column j % (N/2)
    M = 32, folded     lane i + 32 (j / (N/4))             column j % (N/4)

Two CTAs of a pair have half of the rows of A and D each, the first one the upper half, and half of the columns of B.
Blocks of columns lie below one another (folded) with .ws, and with two CTAs that have 64 rows each and a dense A.

A in tensor memory has row i in D's lane (folded: in lane i), its elements packed into columns along k. The scales of
row i of A or column i of B are bytes of the word in lane i % 32, column i / 32, from the byte on that the instruction
descriptor names; where two CTAs have 64 rows each, the second half of B's columns has them in the lanes from 64 on.
Each CTA reads the scales of its own tensor memory.

The product is made when the instruction is executed. Not handled: k = 96, `.ashift`, scaled blocks of two CTAs with
sparse A and 64 rows each.

Reference: PTX ISA, "TensorCore 5th Generation Family Instructions": data path layouts, block scaling, sparse matrices;
the layouts of scales and metadata also: NVIDIA, CUTLASS 4 (`cute/atom/mma_traits_sm100_frag.hpp`).
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_f64, flat_u32, njit, record_type, records, types
from ptxsim.base.program import BAD_DESCRIPTOR, CONTEXT, OUTSIDE_COLUMNS, UOP, cluster_at
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
    is_mask,
    line_bytes_of,
    memory_of,
    metadata_place,
    place_in_row,
    shared_packing,
    source_column,
    tensor_packing,
)
from ptxsim.execute.tensor.tensor_memory import fault, first_of_pair, is_allocated
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
    set_aside,
    single_bits,
)
from ptxsim.execute.tensor.tiles import COLUMNS as RESULT_COLUMNS

_CONTEXT, _UOP = record_type(CONTEXT), record_type(UOP)
_UOPS = array_of(UOP)
_uops = records(UOP)

IN_TENSOR_MEMORY, STATIONARY, PAIR, MASKED, SPARSE, SHIFTED = 1, 2, 4, 8, 16, 32
"""Flags: A lies in tensor memory; `.ws`; of two CTAs; with a mask of zero columns; sparse A; `.ashift`."""
_SINGLE, _SIGNED_WORD = 23 | 8 << 8 | 2 << 16, 32 | 1 << 8  # the formats of .f32 and .s32


@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64))
def cell_of(row, column, m, n, folded):
    """lane << 16 | column of an element of D, from its first lane and column."""
    if m == 64 and not folded:
        return (32 * (row // 16) + row % 16) << 16 | column
    if m == 128 or not folded:
        return row << 16 | column
    part = n * m // 128
    return row + column // part * m << 16 | column % part


@njit(types.void(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.int64))
def _read_a(context, memory, address, kind, code, shape):
    """Decode A from tensor memory; shape: m | k << 8 | whether column blocks of D lie below one another << 16 | whether
    each row but the last is the one of the next lane << 17. The memory stays as it is."""
    m, k, folded, is_shifted = shape & 0xFF, shape >> 8 & 0xFF, shape >> 16 & 1, shape >> 17
    packing = tensor_packing(kind, code)
    per_column, bits, shift = packing & 0xFF, packing >> 8 & 0xFF, packing >> 16
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    kind_of_numbers = INTEGERS if kind == I8 else FLOATS
    for row in range(m):
        lane = (cell_of(row, 0, m, m, folded) >> 16) + (address >> 16) & 127
        lane = min(lane + is_shifted, LANES - 1)
        for j in range(k):
            word = np.int64(cells[lane * COLUMNS + (address & 0xFFFF) + j // per_column])
            value = (word >> j % per_column * bits & ((1 << bits) - 1)) >> shift
            place = row * DEPTH + j
            put_element(
                context.tile_scratch, A_VALUES + place, A_POWERS + place, value, kind_of_numbers, code
            )


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64, types.int64, types.int64))
def _load_a(context, descriptor, what, kind, code, shape):
    """Decode A from shared memory; shape: m | k << 8. 0 after a fault."""
    return load_matrix(
        context,
        descriptor,
        line_bytes_of(descriptor),
        what >> 15 & 1 != 0,
        0,
        shape & 0xFF,
        shape >> 8,
        shared_packing(kind, code),
        INTEGERS if kind == I8 else FLOATS,
        code,
        A_VALUES,
        A_POWERS,
        DEPTH,
        1,
        atom_of(descriptor),
    )


@njit(types.void(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.int64))
def _expand(context, memory, address, kind, base, shape):
    """Spread the elements of a compressed A over the whole rows, by the metadata at an address (its column); D begins
    in lane `base`; shape: m | k << 8 | folded << 16."""
    m, k, folded = shape & 0xFF, shape >> 8 & 0xFF, shape >> 16
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    chunk = 1 if kind == TF32 else 4 if kind >= MXF4 else 2  # elements that share 4 bits
    for row in range(m):
        lane = (cell_of(row, 0, m, m, folded) >> 16) + base & 127
        v, p = A_VALUES + row * DEPTH, A_POWERS + row * DEPTH
        set_aside(context.tile_scratch, row, k)
        for j in range(k // 2):
            place = metadata_place(kind, lane, j // chunk)
            word = np.int64(cells[(place >> 16) * COLUMNS + address + (place >> 8 & 0xFF)])
            column = place_in_row(kind, word >> (place & 0xFF) & 15, j)
            values[v + column], values[p + column] = values[SUMS + j], values[UNITS + j]


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64, types.int64, types.int64))
def _load_b(context, descriptor, what, kind, code, shape):
    """Decode B from shared memory; shape: n | k << 9 | 1 + the first CTA's rank << 17 | the first column << 24: each
    CTA of a pair has half of the columns. 0 after a fault."""
    rank, own = (shape >> 17 & 0x7F) - 1, context.shared_memory
    n_ctas = 1 if rank < 0 else 2
    n = (shape & 0x1FF) // n_ctas
    done = np.int64(1)
    for part in range(n_ctas):
        if n_ctas == 2:
            context.shared_memory = cluster_at(context.cluster, 0).shared[rank + part]
        if done:
            done = load_matrix(
                context,
                descriptor,
                line_bytes_of(descriptor),
                what >> 16 & 1 != 0,
                shape >> 24,
                n,
                shape >> 9 & 0xFF,
                shared_packing(kind, code),
                INTEGERS if kind == I8 else FLOATS,
                code,
                B_VALUES + part * n,
                B_POWERS + part * n,
                1,
                RESULT_COLUMNS,
                atom_of(descriptor),
            )
    context.shared_memory = own
    return done


@njit(types.void(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.int64))
def _scale(context, memory, address, is_b, shape, layout):
    """Multiply the rows of A, or the columns of B, by their scales; shape: lines | k << 9 | scales of a line << 17;
    layout: first byte | e8m0 << 2 | halves of the lines in halves of the lanes << 3."""
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    lines, k, count = shape & 0x1FF, shape >> 9 & 0xFF, shape >> 17
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    block = lines // 2 if layout >> 3 else lines
    for line in range(lines):
        lane, column = 64 * (line // block) + line % block % 32, (address & 0xFFFF) + line % block // 32
        word = np.int64(cells[lane * COLUMNS + column]) >> 8 * (layout & 3)
        for j in range(k):
            if j % (k // count) == 0:
                bits = word >> 8 * (j // (k // count)) & 0xFF
                if layout >> 2 & 1:  # a power of two
                    values[SUMS] = values[UNITS] = np.nan if bits == 255 else 2.0 ** (bits - 127.0)
                else:
                    put_element(
                        context.tile_scratch, SUMS, UNITS, bits & 0x7F, FLOATS, 3 | 4 << 8 | ONE_NAN << 16
                    )
            place = j * RESULT_COLUMNS + line if is_b else line * DEPTH + j
            v, p = (B_VALUES + place, B_POWERS + place) if is_b else (A_VALUES + place, A_POWERS + place)
            values[v] *= values[SUMS]
            values[p] = 0.0 if values[SUMS] != values[SUMS] else values[p] * values[UNITS]


@njit(types.void(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, types.float64))
def _read_d(context, memory, address, shape, d_format, factor):
    """Decode D, times a factor; shape: m | n << 8 | folded << 17."""
    m, n, folded = shape & 0xFF, shape >> 8 & 0x1FF, shape >> 17
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    numbers = INTEGERS if d_format == _SIGNED_WORD else FLOATS
    kept = 0xFFFF if d_format == FORMATS[F16, 0] else 0xFFFFFFFF
    for row in range(m):
        for c in range(n):
            cell = cell_of(row, c, m, n, folded)
            index = ((cell >> 16) + (address >> 16) & 127) * COLUMNS + (address & 0xFFFF) + (cell & 0xFFFF)
            place = RESULT + row * RESULT_COLUMNS + c
            put_element(context.tile_scratch, place, UNITS, np.int64(cells[index]) & kept, numbers, d_format)
            values[place] *= factor


@njit(types.void(_CONTEXT, types.uint64, types.int64, types.int64, types.int64, _UOP, types.int64))
def _write_d(context, memory, address, shape, d_format, masks, lane):
    """The reverse, but for the lanes that the masks in rows d, a, b and c leave out."""
    m, n, folded = shape & 0xFF, shape >> 8 & 0x1FF, shape >> 17
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    for row in range(m):
        for c in range(n):
            cell = cell_of(row, c, m, n, folded)
            target = (cell >> 16) + (address >> 16) & 127
            part = target // 32
            mask_row = masks.d if part == 0 else masks.a if part == 1 else masks.b if part == 2 else masks.c
            if word_of(context, np.int64(mask_row), lane) >> target % 32 & 1:
                continue
            place = RESULT + row * RESULT_COLUMNS + c
            if d_format == _SIGNED_WORD:
                bits = np.int64(values[place])
            elif d_format == FORMATS[F16, 0]:
                bits = half_bits(context.tile_scratch, place)
            else:
                bits = single_bits(context.tile_scratch, place)
            cells[target * COLUMNS + (address & 0xFFFF) + (cell & 0xFFFF)] = np.uint32(bits & 0xFFFFFFFF)


@njit(types.void(_CONTEXT, *[types.int64] * 4))
def _mask_columns(context, mask, m, n, k):
    """B has zeros in the columns of a mask."""
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    for c in range(n):
        if source_column(mask, m, n, c) < 0:
            for j in range(k):
                place = j * RESULT_COLUMNS + c
                values[B_VALUES + place] = values[B_POWERS + place] = 0.0


@njit(types.void(_CONTEXT, types.int64, types.int64))
def _clear(context, m, n):
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    for row in range(m):
        for c in range(n):
            values[RESULT + row * RESULT_COLUMNS + c] = 0.0


@njit(types.int64(_CONTEXT, types.uint64, types.int64, types.int64, types.int64))
def _lacks(context, memory, lane, address, columns):
    """Whether columns from an address on are not allocated, which is a fault."""
    if is_allocated(context, memory, address & 0xFFFF, (address & 0xFFFF) + columns):
        return 0
    fault(context, OUTSIDE_COLUMNS, lane, address)
    return 1


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64, types.int64))
def _multiply(context, uops, at, lane, adds):
    """The product that a lane asks for. 0 after a fault."""
    head, how = uops[at], uops[at + 1]
    kind, flags = np.int64(how.d & 0xFF), np.int64(how.d >> 8)
    what = word_of(context, np.int64(head.c), lane)
    own, shared = memory_of(context, word_of(context, np.int64(how.e), lane)), context.shared_memory
    n_ctas = 2 if flags & PAIR else 1
    n = (what >> 17 & 63) * 8
    m = ((what >> 27 & 3) * 128 if kind >= MXF8F6F4 else (what >> 24 & 31) * 16) // n_ctas  # of a CTA
    of_a, of_b = FORMATS[kind, what >> 7 & 7], FORMATS[kind, what >> 10 & (3 if kind >= MXF4 else 7)]
    depth, is_sparse = DEPTHS[kind], np.int64(flags & SPARSE != 0)  # elements of a row of A that are stored
    k = depth << is_sparse
    selector = what & 3 if kind < MXF8F6F4 else np.int64(0)
    if (
        of_a < 0
        or of_b < 0
        or n == 0
        or n > 256
        or (n_ctas == 2 and n % 16)
        or not (m == 128 or m == 64 or (m == 32 and flags & STATIONARY))
        or what >> 2 & 1 != is_sparse
        or (is_sparse and selector > (kind == F16 or kind == TF32))
        or (is_sparse and kind >= MXF8F6F4 and n_ctas == 2 and m == 64)
        or (kind >= MXF4 and what >> 31 & 1)
        or (flags & SHIFTED and m != 128)
    ):
        return fault(context, BAD_DESCRIPTOR, lane, what)
    zeros = long_of(context, np.int64(uops[at + 3].e), lane) if flags & MASKED else np.int64(0)
    if not is_mask(zeros, m):
        return fault(context, BAD_DESCRIPTOR, lane, what)
    folded = np.int64(flags & STATIONARY != 0 or (n_ctas == 2 and m == 64 and not is_sparse))
    d_format = np.int64(_SINGLE)
    if kind == I8:
        d_format = np.int64(_SIGNED_WORD)
    elif kind < MXF8F6F4 and kind != TF32 and what >> 4 & 3 == 0:
        d_format = FORMATS[F16, 0]
    address = word_of(context, np.int64(head.d), lane)
    scales = word_of(context, np.int64(how.a), lane), word_of(context, np.int64(how.b), lane)
    place = np.int64(0)
    if _lacks(context, own, lane, address, n * m // 128 if folded and m < 128 else n):
        return 0
    if flags & IN_TENSOR_MEMORY:
        place = word_of(context, np.int64(head.a), lane)
        if _lacks(context, own, lane, place, depth // (tensor_packing(kind, of_a) & 0xFF)):
            return 0
    if kind >= MXF8F6F4 and (
        _lacks(context, own, lane, scales[0], (m + 31) // 32)
        or _lacks(context, own, lane, scales[1], (n // (1 + folded) + 31) // 32)
    ):
        return 0
    metadata = np.int64(0)
    if is_sparse:
        metadata = word_of(context, np.int64(uops[at + 4].d), lane) + selector
        if _lacks(context, own, lane, metadata, 1 if kind == F16 or kind == TF32 else 2):
            return 0
    rank = np.int64(-1)
    if n_ctas == 2:
        rank = first_of_pair(context, own, lane)
        if rank < 0:
            return 0
    for part in range(n_ctas):
        if part == 0 or kind >= MXF8F6F4:
            descriptor = long_of(context, np.int64(head.b), lane)
            extent = n | k << 9 | rank + 1 << 17 | (zeros >> 56 & 63) << 24
            if not _load_b(context, descriptor, what, kind, of_b, extent):
                return 0
            if flags & MASKED:
                _mask_columns(context, zeros, m, n, k)
        memory = own
        if n_ctas == 2:
            cluster = cluster_at(context.cluster, 0)
            memory, context.shared_memory = cluster.tensor[rank + part], cluster.shared[rank + part]
        done = np.int64(1)
        if flags & IN_TENSOR_MEMORY:
            shape = m | depth << 8 | folded << 16 | np.int64(flags & SHIFTED != 0) << 17
            _read_a(context, memory, place, kind, of_a, shape)
        else:
            descriptor = long_of(context, np.int64(head.a), lane)
            done = _load_a(context, descriptor, what, kind, of_a, m | depth << 8)
        context.shared_memory = shared
        if not done:
            return 0
        if is_sparse:
            shape = m | k << 8 | folded << 16
            _expand(context, memory, metadata & 0xFFFF, kind, address >> 16, shape)
        if kind >= MXF8F6F4:
            count, is_power = np.int64(uops[at + 2].e), what >> 23 & 1
            shape = k << 9 | count << 17
            _scale(context, memory, scales[0], 0, m | shape, what >> 29 & 3 | is_power << 2)
            _scale(context, memory, scales[1], 1, n | shape, what >> 4 & 3 | is_power << 2 | folded << 3)
        if what >> 13 & 1 != what >> 14 & 1:
            negate_a(context.tile_scratch, m, k)
        shape = m | n << 8 | folded << 17
        if adds:
            _read_d(context, memory, address, shape, d_format, 2.0 ** -np.float64(how.c))
        else:
            _clear(context, m, n)
        if kind == I8:
            multiply_integers(context.tile_scratch, m, n, k, what >> 3 & 1)
        else:
            group = 16 if kind == F16 else 8 if kind == TF32 else 32
            is_half = np.int64(d_format == FORMATS[F16, 0])
            multiply_floats(context.tile_scratch, m, n, k, group, 25, HALF_BITS if is_half else 23, is_half)
        _write_d(context, memory, address, shape, d_format, uops[at + 2 + part], lane)
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


tensor_product: Any = boundary("tensor_product", _tensor_product, part="tensor")
"""`tensor_product(context, k, mask)`: micro-operation k, TENSOR_MULTIPLY."""
