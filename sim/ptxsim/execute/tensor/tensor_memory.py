"""Tensor memory: 128 lanes of 512 columns of 32 bits for each CTA; allocation, loads, stores, copies.

An address is lane << 16 | column. Columns are allocated in units of 32, the first that are free; a warp accesses the
32 lanes of its number modulo 4. Every CTA has a tensor memory of its own (on hardware the CTAs of an SM share one, and
an allocation waits for the others). Its words follow one word that has the allocated units.

With `.cta_group::2` an operation is one of both CTAs of a pair, whose ranks in the cluster differ in the last bit: a
copy is from the shared memory of each to its tensor memory. Each of them allocates and frees for itself, in the same
order and so the same columns; what is checked is what the executing one has allocated.

Operations happen when they are executed. A word of a load or store of shape 32x32b, 16x64b, 16x128b, 16x256b or
16x32bx2, register r of thread t, lies in lane and column

    t, r                                    (32x32b)
    t/4 + 8 (t/2 % 2),  2 r + t % 2         (16x64b)
    t/4 + 8 (r % 2),    4 (r/2) + t % 4     (16x128b)
    t/4 + 8 (r/2 % 2),  8 (r/4) + 2 (t % 4) + r % 2    (16x256b)
    t % 16,  r + (t/16) split               (16x32bx2)

With 16-bit packing a register has the lower halves of two columns, those of twice its column on.

Reference: PTX ISA, "TensorCore 5th Generation Family Instructions".
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_i64, flat_u32, njit, record_type, records, rows_u32, types
from ptxsim.base.program import (
    CONTEXT,
    FOREIGN_LANES,
    NO_COLUMNS,
    NO_PEER,
    NOT_TO_FREE,
    OUT_OF_BOUNDS,
    OUTSIDE_COLUMNS,
    SHARED,
    UOP,
    cluster_at,
)
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import (
    TENSOR_ALLOCATE,
    TENSOR_COPY,
    TENSOR_FREE,
    TENSOR_LOAD,
)
from ptxsim.execute.lanes import fault_in, long_of, row32, word_of
from ptxsim.execute.tensor.descriptors import chunk_offset, swizzled
from ptxsim.execute.tensor.tensor_layouts import (
    COLUMNS,
    LANES,
    UNIT,
    atom_of,
    line_bytes_of,
    memory_of,
)

_CONTEXT = record_type(CONTEXT)
_UOPS = array_of(UOP)
_uops = records(UOP)

# shapes of loads and stores
BY_LANES, PAIRS, QUARTERS, EIGHTHS, HALVES = range(5)
PACKED = 1 << 16  # beside a shape
PAIR = 1 << 16  # beside what an operation does: it is one of two CTAs
# of a copy: rows of 16 bytes << 8 | chunks of a row, and where the rows go
ONCE, TO_ALL, PAIRS_02_13, PAIRS_01_23, TO_EACH = range(5)


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64))
def fault(context, kind, lane, address):
    """Note a fault; 0."""
    context.error, context.error_lane, context.error_address = kind, lane, np.uint64(address)
    return 0


@njit(types.int64(_CONTEXT, types.uint64, types.int64, types.int64))
def is_allocated(context, memory, first, end):
    """Whether columns `first` to `end` - 1 are allocated."""
    units = flat_i64(memory, 1)[0]
    for unit in range(first // UNIT, (end + UNIT - 1) // UNIT):
        if unit >= COLUMNS // UNIT or units >> unit & 1 == 0:
            return 0
    return 1


@njit(types.int64(_CONTEXT, types.uint64, types.int64))
def rank_in_pair(context, memory, lane):
    """The rank in its cluster of the CTA with this tensor memory; -1 after a fault: it has no peer."""
    if context.cluster:
        cluster = cluster_at(context.cluster, 0)
        for rank in range(cluster.n_ctas):
            if cluster.tensor[rank] == memory and rank | 1 < cluster.n_ctas:
                return rank
    fault(context, NO_PEER, lane, 0)
    return -1


@njit(types.int64(_CONTEXT, types.uint64, types.int64))
def first_of_pair(context, memory, lane):
    """The rank of the first CTA of the pair, of which both are there; -1 after a fault."""
    rank = rank_in_pair(context, memory, lane)
    if rank >= 0 and cluster_at(context.cluster, 0).shared[rank ^ 1] == np.uint64(0):
        fault(context, NO_PEER, lane, 0)
        return -1
    return rank & ~1


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64))
def _allocate(context, uops, at, lane):
    """TENSOR_ALLOCATE: row d = address of row a columns; b PAIR, row e the warp's number in the CTA."""
    uop = uops[at]
    memory = memory_of(context, word_of(context, np.int64(uop.e), lane))
    if uop.b & PAIR and rank_in_pair(context, memory, lane) < 0:
        return 0
    units = flat_i64(memory, 1)
    n = (word_of(context, np.int64(uop.a), lane) + UNIT - 1) // UNIT
    mask = (np.int64(1) << n) - 1
    for first in range(COLUMNS // UNIT - n + 1):
        if units[0] >> first & mask == 0:
            units[0] |= mask << first
            words = rows_u32(context.r32, context.total_rows32)
            for k in range(32):
                words[row32(context, np.int64(uop.d)), k] = np.uint32(first * UNIT)
            return 1
    return fault(context, NO_COLUMNS, lane, n * UNIT)


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64))
def _free(context, uops, at, lane):
    """TENSOR_FREE: row a an address, row b columns; row e the warp's number in the CTA."""
    uop = uops[at]
    memory = memory_of(context, word_of(context, np.int64(uop.e), lane))
    first, n = word_of(context, np.int64(uop.a), lane), word_of(context, np.int64(uop.b), lane)
    if first % UNIT or not is_allocated(context, memory, first, first + n):
        return fault(context, NOT_TO_FREE, lane, first)
    flat_i64(memory, 1)[0] &= ~(((np.int64(1) << (n + UNIT - 1) // UNIT) - 1) << first // UNIT)
    return 1


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64))
def _transfer(context, uops, at, lane):
    """TENSOR_LOAD and TENSOR_STORE: d registers, row a the address, b the shape, c the split, row e the warp's number;
    OPERANDS follow with a register each."""
    uop = uops[at]
    number, address = word_of(context, np.int64(uop.e), lane), word_of(context, np.int64(uop.a), lane)
    shape, is_packed, split = uop.b & 0xFFFF, uop.b & PACKED != 0, np.int64(uop.c)
    memory = memory_of(context, number)
    first_lane, first = address >> 16, address & 0xFFFF
    tall = shape == BY_LANES
    if first_lane >> 5 != number & 3 or first_lane & (31 if tall else 15):
        return fault(context, FOREIGN_LANES, lane, address)
    words = rows_u32(context.r32, context.total_rows32)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    for r in range(uop.d):
        row = row32(context, np.int64(uops[at + 1 + r].d))
        for t in range(32):
            line, column, moved = t, r, np.int64(0)
            if shape == PAIRS:
                line, column = t // 4 + 8 * (t // 2 % 2), 2 * r + t % 2
            elif shape == QUARTERS:
                line, column = t // 4 + 8 * (r % 2), 4 * (r // 2) + t % 4
            elif shape == EIGHTHS:
                line, column = t // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (t % 4) + r % 2
            elif shape == HALVES:
                line, moved = t % 16, t // 16 * split
            column = first + moved + (2 * column if is_packed else column)
            if column >= COLUMNS or not is_allocated(
                context, memory, column, column + (2 if is_packed else 1)
            ):
                return fault(context, OUTSIDE_COLUMNS, t, first_lane << 16 | column)
            cell = (first_lane + line) * COLUMNS + column
            if uop.op == TENSOR_LOAD:
                bits = cells[cell]
                if is_packed:
                    bits = (bits & np.uint32(0xFFFF)) | cells[cell + 1] << np.uint32(16)
                words[row, t] = bits
            elif is_packed:
                cells[cell] = words[row, t] & np.uint32(0xFFFF)
                cells[cell + 1] = words[row, t] >> np.uint32(16)
            else:
                cells[cell] = words[row, t]
    return 1


@njit(types.int64(_CONTEXT, types.uint64, types.int64))
def _unpacked(context, pointer, place):
    """A word of four bytes of which each is an element of 4 bits, or 6: bits of an element << 8 | the first element."""
    bits, first = place >> 8, place & 0xFF
    source = flat_u32(pointer, 4)
    word = np.int64(0)
    for j in range(4):
        position = (first + j) * bits
        value = np.int64(source[position >> 5]) >> (position & 31)
        if (position & 31) + bits > 32:
            value |= np.int64(source[(position >> 5) + 1]) << (32 - (position & 31))
        element = value & ((1 << bits) - 1)
        word |= (element << 2 if bits == 4 else element) << 8 * j
    return word


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64, types.uint64, types.uint64))
def _copy(context, uops, at, lane, shared, memory):
    """TENSOR_COPY: row a the address, 64-bit row b the descriptor, c rows << 8 | chunks, d where to | << 8 the bits of
    an element that become 8 | PAIR, row e the warp's number. From this shared memory to this tensor memory."""
    uop = uops[at]
    address, descriptor = word_of(context, np.int64(uop.a), lane), long_of(context, np.int64(uop.b), lane)
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    start, base = (descriptor & 0x3FFF) << 4, descriptor >> 49 & 7
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    width, atom = line_bytes_of(descriptor), atom_of(descriptor)
    lines, chunks, bits, way = uop.c >> 8, uop.c & 0xFF, np.int64(uop.d >> 8 & 0xFF), uop.d & 0xFF
    first_lane, first = address >> 16, address & 0xFFFF
    for line in range(lines):
        for chunk in range(chunks):
            offset = chunk_offset(line, chunk, width, leading, stride, False, atom)
            place = swizzled(start + offset, width, base, atom)
            if place < 0 or place + 16 > context.shared_bytes:
                return fault_in(context, OUT_OF_BOUNDS, SHARED, lane, np.uint64(place))
            pointer = shared + np.uint64(place)
            for j in range(4):
                word = np.int64(flat_u32(pointer, 4)[j])
                if bits:
                    word = _unpacked(context, pointer, bits << 8 | 4 * j)
                for part in range(4):
                    target = first_lane + line
                    if way == TO_ALL:
                        target = 32 * part + line
                    elif way == PAIRS_02_13:  # the first half for warps 0 and 2
                        target = 32 * (line // 32) + 64 * (part & 1) + line % 32
                    elif way == PAIRS_01_23:
                        target = 64 * (line // 32) + 32 * (part & 1) + line % 32
                    elif way == TO_EACH:  # a line for each warp
                        target = first_lane + 32 * line
                    if target < LANES:
                        cells[target * COLUMNS + first + 4 * chunk + j] = np.uint32(word)
    return 1


@njit(types.void(_CONTEXT, types.uint64, types.int64))
def _shift(context, memory, address):
    """TENSOR_SHIFT: of the lanes from row a's on, 32 bytes move to the lane before; c PAIR, row e the warp's number."""
    cells = flat_u32(memory + np.uint64(8), LANES * COLUMNS)
    first_lane, first = address >> 16, address & 0xFFFF
    for line in range(first_lane, LANES - 1):
        for column in range(first, first + 8):
            cells[line * COLUMNS + column] = cells[(line + 1) * COLUMNS + column]


@njit(types.int64(_CONTEXT, _UOPS, types.int64, types.int64))
def _move(context, uops, at, lane):
    """TENSOR_COPY and TENSOR_SHIFT of one lane, in the executing CTA or in both of its pair. 0 after a fault."""
    uop = uops[at]
    is_copy = uop.op == TENSOR_COPY
    own = memory_of(context, word_of(context, np.int64(uop.e), lane))
    address = word_of(context, np.int64(uop.a), lane)
    first, width = address & 0xFFFF, 4 * (uop.c & 0xFF) if is_copy else 8
    if (not is_copy and address >> 16 & 31) or not is_allocated(context, own, first, first + width):
        return fault(context, OUTSIDE_COLUMNS, lane, address)
    n_ctas, rank = 1, np.int64(0)
    if (uop.d if is_copy else uop.c) & PAIR:
        n_ctas, rank = 2, first_of_pair(context, own, lane)
        if rank < 0:
            return 0
    for k in range(n_ctas):
        shared, memory = context.shared_memory, own
        if n_ctas == 2:
            cluster = cluster_at(context.cluster, 0)
            shared, memory = cluster.shared[rank + k], cluster.tensor[rank + k]
        if not is_copy:
            _shift(context, memory, address)
        elif _copy(context, uops, at, lane, shared, memory) == 0:
            return 0
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _tensor_memory(context, at, mask):
    """One of these micro-operations. 0 after a fault."""
    if mask == 0:
        return 1
    uops = _uops(context.uops, context.n_uops)
    op, lane = uops[at].op, ctz(mask)
    if op == TENSOR_ALLOCATE:
        return _allocate(context, uops, at, lane)
    if op == TENSOR_FREE:
        return _free(context, uops, at, lane)
    if op >= TENSOR_COPY:
        while mask:  # every thread asks for one
            lane = ctz(mask)
            mask &= mask - 1
            if _move(context, uops, at, lane) == 0:
                return 0
        return 1
    return _transfer(context, uops, at, lane)


tensor_memory: Any = boundary("tensor_memory", _tensor_memory, part="tensor")
"""`tensor_memory(context, k, mask)`: micro-operation k, one of the TENSOR ones but TENSOR_MULTIPLY."""
