"""The moving of bytes: what a bulk copy does when it happens.

A `TRANSFER` (base/program.py) says all about a copy. A plain one copies, or combines, bytes `first` to `end` of its
source. A tensor copy walks the rows of a box, a row being what is adjacent in the innermost dimension: rows follow each
other in shared memory, in chunks of 16 bytes that a swizzle permutes. Elements outside of the tensor are filled with
zeros or NaNs in shared memory, and are not written to global memory. Where elements have 4 or 6 bits, an element here
is a unit of them (`tensor_maps.py`).

    tiled    a row for every index of the box's other dimensions, `STEPS` apart
    gather   four rows, whose indices are given
    im2col   a row (some channels of a pixel) for every pixel from a first one on, in a bounding box between two
             corners: W runs first, then H and D, then N; `offset` moves all of them within the tensor
    along W  the same for one H and D: at the end of W comes the next N. `offset` is how many pixels more follow the
             last one (a halo), or every 32nd of 128, and how far the first pixel and both corners are moved along W.
             guess: a halo has the next pixels, whether in this N or the next; the manual shows two of the same N

Reference: PTX ISA, "Tensors", `cp.async.bulk`, `cp.reduce.async.bulk`, `cp.async.bulk.tensor`.
"""

import numpy as np

from ptxsim.base.jit import (
    flat_f32,
    flat_f64,
    flat_i64,
    flat_u8,
    flat_u16,
    flat_u32,
    flat_u64,
    njit,
    record_type,
    types,
)
from ptxsim.base.program import BAD_TENSOR_MAP, CONTEXT, GLOBAL, OUT_OF_BOUNDS, TRANSFER
from ptxsim.execute.bulk.engine_records import (
    ALONG_W,
    BY_32,
    GATHER,
    IM2COL,
    KEEPS_SUBNORMALS,
    KIND_SHIFT,
    OPERATION_SHIFT,
    REDUCES,
    SIZE_SHIFT,
    TENSOR,
    TO_GLOBAL,
)
from ptxsim.execute.bulk.mbarriers import next_state
from ptxsim.execute.bulk.tensor_maps import (
    ADDRESS,
    ATOMICITY_SHIFT,
    BOX,
    CORNERS,
    ELEMENT_BYTES,
    FIELD,
    FILL_SHIFT,
    GLOBAL_BYTES,
    IM2COL_SHIFT,
    INTERLEAVE_SHIFT,
    NANS,
    PROPERTIES,
    RANK_SHIFT,
    SIZES,
    STEPS,
    STRIDES,
    SWIZZLE_SHIFT,
    TYPE_SHIFT,
    swizzled,
)
from ptxsim.execute.codes import ADD, COMPLETE_BYTES, FLOAT, MAX, MIN, PHASE_SHIFT, SIGNED
from ptxsim.execute.lanes import fault_in
from ptxsim.execute.memory.accesses import find_allocation
from ptxsim.execute.memory.atomics import combine, combine_float
from ptxsim.execute.memory.small_atomics import combined_small

_CONTEXT, _TRANSFER = record_type(CONTEXT), record_type(TRANSFER)
_SIGN64 = np.uint64(1 << 63)
_SMALLEST = 2.0**-126


@njit(types.void(types.uint64, types.uint64, types.int64))
def _combine(to, of, what):
    """Combine an element with what lies at its destination."""
    operation, kind = what >> OPERATION_SHIFT & 0xFF, what >> KIND_SHIFT & 0xFF
    size = what >> SIZE_SHIFT & 0xFF
    if size == 2:
        cell = flat_u16(to, 1)
        cell[0] = np.uint16(combined_small(operation, kind, np.int64(cell[0]), np.int64(flat_u16(of, 1)[0])))
    elif kind == FLOAT and size == 4:
        cell32 = flat_f32(to, 1)
        before, operand = np.float64(cell32[0]), np.float64(flat_f32(of, 1)[0])
        if operation == ADD and what & KEEPS_SUBNORMALS == 0:
            operand = np.copysign(0.0, operand) if abs(operand) < _SMALLEST else operand
            before = np.copysign(0.0, before) if abs(before) < _SMALLEST else before
            new = np.float32(before + operand)
            cell32[0] = np.float32(np.copysign(0.0, new)) if abs(new) < _SMALLEST else new
        else:
            cell32[0] = np.float32(combine_float(operation, before, operand))
    elif kind == FLOAT:
        cell64 = flat_f64(to, 1)
        cell64[0] = combine_float(operation, cell64[0], flat_f64(of, 1)[0])
    elif size == 4:
        word = flat_u32(to, 1)
        bias = np.uint64(0x80000000) if kind == SIGNED and operation in (MIN, MAX) else np.uint64(0)
        a = np.uint64(flat_u32(of, 1)[0])
        new64 = combine(operation, np.uint64(word[0]) ^ bias, a ^ bias, np.uint64(0)) ^ bias
        word[0] = np.uint32(new64 & np.uint64(0xFFFFFFFF))
    else:
        long = flat_u64(to, 1)
        bias = _SIGN64 if kind == SIGNED and operation in (MIN, MAX) else np.uint64(0)
        long[0] = combine(operation, long[0] ^ bias, flat_u64(of, 1)[0] ^ bias, np.uint64(0)) ^ bias


@njit(types.void(_CONTEXT, types.uint64, types.int64))
def mark_written(context, pointer, n_bytes):
    """For the checks: bytes that a copy has written."""
    shadow, at = context.written_shared, pointer - context.shared_memory
    if at >= np.uint64(context.shared_bytes):
        shadow, at = context.written_global, pointer - context.global_memory
        if at >= np.uint64(context.global_bytes):
            return
    if shadow:
        known = flat_u8(shadow + at, n_bytes)
        for k in range(n_bytes):
            known[k] = 1


@njit(types.void(_CONTEXT, _TRANSFER))
def _plain(context, t):
    """Copy or combine bytes."""
    what = np.int64(t.what)
    if what & REDUCES:
        size = what >> SIZE_SHIFT & 0xFF
        for k in range(0, t.end, size):
            _combine(t.to + np.uint64(k), t.of + np.uint64(k), what)
    else:
        to, of = flat_u8(t.to, t.end), flat_u8(t.of, t.end)
        if t.mask == 0xFFFF:
            for k in range(t.first, t.end):
                to[k] = of[k]
        else:
            for k in range(t.first, t.end):
                if t.mask >> (k & 15) & 1:
                    to[k] = of[k]
    mark_written(context, t.to, np.int64(t.end))


@njit(types.void(types.uint64, types.uint64, types.int64, types.boolean))
def _copy_unit(in_global, in_shared, n_bytes, to_global):
    """Copy 16 elements of 4 or 6 bits: as they are to shared memory, the lower 6 bits of every byte from there."""
    packed, spread = flat_u8(in_global, n_bytes), flat_u8(in_shared, 16)
    if not to_global:
        for k in range(n_bytes):
            spread[k] = packed[k]
        return
    for k in range(4):
        bits = 0
        for j in range(4):
            bits |= np.int64(spread[4 * k + j] & 63) << 6 * j
        for j in range(3):
            packed[3 * k + j] = np.uint8(bits >> 8 * j & 0xFF)


@njit(types.uint64(_TRANSFER, types.int64))
def _stride(t, dimension):
    """Bytes from one index to the next in a dimension from 1 on."""
    at = STRIDES + 2 * (dimension - 1)
    return np.uint64(t.map[at]) | np.uint64(t.map[at + 1]) << np.uint64(32)


@njit(types.int64(_TRANSFER, types.int64))
def _extent(t, dimension):
    """The indices of a box in a dimension from 1 on: every `STEPS`-th."""
    step = max(np.int64(1), np.int64(t.map[STEPS + dimension]))
    return (np.int64(t.map[BOX + dimension]) + step - 1) // step


@njit(types.UniTuple(types.int64, 2)(_TRANSFER))
def _width(t):
    """Where the pixels' bounding box along W begins and ends, before it is moved."""
    corner = np.int64(t.map[CORNERS])
    low, high = ((corner & 0xFFFF) ^ 0x8000) - 0x8000, ((corner >> 16) ^ 0x8000) - 0x8000
    return low, np.int64(t.map[SIZES + 1]) + high


@njit(types.int64(_TRANSFER))
def _rows_along_w(t):
    """The pixels of a copy along W with its halos; 0 where they are more than PTX allows, or the box is empty."""
    halo, moved = np.int64(t.offset[0]), np.int64(t.offset[1])
    low, high = _width(t)
    if low >= high or moved >= 32 or halo >= (32 if t.what & BY_32 else 512):
        return 0
    return 128 + 4 * halo if t.what & BY_32 else np.int64(t.map[BOX + 1]) + halo


@njit(types.void(_TRANSFER, types.int64, types.int64))
def _go_along_w(t, number, rank):
    """Go to row `number` of a copy along W."""
    if t.what & BY_32:
        per = 32 + np.int64(t.offset[0])
        number = number // per * 32 + number % per
    step = max(np.int64(1), np.int64(t.map[STEPS + 1]))
    first, low, high = np.int64(t.place[1] + t.offset[1]), np.int64(t.lower[1]), np.int64(t.upper[1])
    in_first = max(np.int64(0), (high - first + step - 1) // step)
    if number < in_first:
        t.index[1], t.index[rank - 1] = first + number * step, t.place[rank - 1]
        return
    in_each = (high - low + step - 1) // step
    number -= in_first
    t.index[1], t.index[rank - 1] = low + number % in_each * step, t.place[rank - 1] + 1 + number // in_each


@njit(types.int64(_CONTEXT, _TRANSFER, types.int64))
def box_rows(context, t, dimensions):
    """The rows of a box; its map's fields are checked, the rank if `dimensions` says one: 0 after a fault."""
    properties = np.int64(t.map[PROPERTIES])
    rank, type_ = (properties >> RANK_SHIFT & FIELD) + 1, properties >> TYPE_SHIFT & FIELD
    mode = 1 if t.what & IM2COL else 3 if t.what & BY_32 else 2 if t.what & ALONG_W else 0
    if rank > 5 or (dimensions and rank != dimensions):
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    if properties >> INTERLEAVE_SHIFT & FIELD:
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    atomicity = properties >> ATOMICITY_SHIFT & FIELD
    if (
        properties >> SWIZZLE_SHIFT & FIELD > 3
        or atomicity == 2
        or properties >> IM2COL_SHIFT & FIELD != mode
    ):
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    if atomicity and properties >> SWIZZLE_SHIFT & FIELD != 3:
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    width = np.int64(t.map[BOX])
    rows = np.int64(4) if t.what & GATHER else np.int64(1)
    if mode:
        rows = np.int64(t.map[BOX + 1])
        if t.what & ALONG_W:
            rows = _rows_along_w(t)
    elif t.what & GATHER == 0:
        for d in range(1, rank):
            rows *= _extent(t, d)
    if width == 0 or rows == 0 or width * ELEMENT_BYTES[type_] % 16 or (t.what & GATHER and rank != 2):
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    return rows


@njit(types.void(_TRANSFER))
def begin_rows(t):
    """The next row is the first of a box, whose map has been checked."""
    rank = (np.int64(t.map[PROPERTIES]) >> RANK_SHIFT & FIELD) + 1
    for d in range(1, rank):
        t.index[d] = t.place[d]
    if t.what & IM2COL:
        for d in range(1, rank - 1):
            corner = np.int64(t.map[CORNERS + d - 1])
            t.lower[d] = ((corner & 0xFFFF) ^ 0x8000) - 0x8000
            t.upper[d] = np.int64(t.map[SIZES + d]) + ((corner >> 16) ^ 0x8000) - 0x8000
    if t.what & ALONG_W:
        low, high = _width(t)
        t.lower[1], t.upper[1] = low + t.offset[1], high + t.offset[1]


@njit(types.int64(_CONTEXT, _TRANSFER, types.int64))
def find_row(context, t, number):
    """Where the next row lies, the one of this number: `address`, and the elements `low` to `high` - 1 of it that are
    in the tensor. 0 after a fault."""
    rank = (np.int64(t.map[PROPERTIES]) >> RANK_SHIFT & FIELD) + 1
    size = GLOBAL_BYTES[np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD]
    if t.what & GATHER:
        t.index[1] = t.place[1 + number]
    if t.what & ALONG_W:
        _go_along_w(t, number, rank)
    inside = True
    start = np.uint64(t.map[ADDRESS]) | np.uint64(t.map[ADDRESS + 1]) << np.uint64(32)
    for d in range(1, rank):
        i = t.index[d] + t.offset[d - 1] if t.what & IM2COL and d < rank - 1 else t.index[d]
        inside &= 0 <= i < np.int64(t.map[SIZES + d])
        start += np.uint64(i) * _stride(t, d)
    place, extent = np.int64(t.place[0]), np.int64(t.map[SIZES])
    low, high = max(np.int64(0), -place), min(np.int64(t.map[BOX]), extent - place)
    if not inside or high <= low:
        low, high = np.int64(0), np.int64(0)
    address = start + np.uint64(place * size)
    t.address, t.low, t.high = address, low, high
    if high > low:
        first = address + np.uint64(low * size)
        found = find_allocation(context, first)
        bounds = flat_u64(context.allocations, 2 * context.n_allocations)
        if found < 0 or address + np.uint64(high * size) > bounds[2 * found + 1]:
            return fault_in(
                context, OUT_OF_BOUNDS, GLOBAL, t.lane, first if found < 0 else bounds[2 * found + 1]
            )
    return 1


@njit(types.void(_TRANSFER))
def next_row(t):
    """Go on to the next row of a box."""
    if t.what & ALONG_W:
        return
    rank = (np.int64(t.map[PROPERTIES]) >> RANK_SHIFT & FIELD) + 1
    for d in range(1, rank):
        step = max(np.int64(1), np.int64(t.map[STEPS + d]))
        t.index[d] += step
        if t.what & IM2COL:
            if d == rank - 1 or t.index[d] < t.upper[d]:
                return
            t.index[d] = t.lower[d]
        else:
            if t.index[d] < t.place[d] + step * _extent(t, d):
                return
            t.index[d] = t.place[d]


@njit(types.int64(_CONTEXT, _TRANSFER, types.int64))
def _row(context, t, number):
    """Copy row `number` of a box. 0 after a fault."""
    if find_row(context, t, number) == 0:
        return 0
    properties = np.int64(t.map[PROPERTIES])
    type_ = properties >> TYPE_SHIFT & FIELD
    size, in_memory, count = ELEMENT_BYTES[type_], GLOBAL_BYTES[type_], np.int64(t.map[BOX])
    mode, atomicity = properties >> SWIZZLE_SHIFT & FIELD, properties >> ATOMICITY_SHIFT & FIELD
    fill = np.uint64(NANS[type_]) if properties >> FILL_SHIFT & FIELD else np.uint64(0)
    to_global = t.what & TO_GLOBAL != 0
    low, high = np.int64(t.low), np.int64(t.high)
    address = np.uint64(t.address)
    memory = address + context.global_memory - context.global_base
    per_chunk = 16 // size
    row_at = t.at + number * count * size
    shared = t.to - np.uint64(t.at)
    for chunk in range(0, count, per_chunk):
        at = swizzled(row_at + chunk * size, mode, atomicity)
        for k in range(chunk, min(chunk + per_chunk, count)):
            in_shared = shared + np.uint64(at + (k - chunk) * size)
            in_global = memory + np.uint64(k * in_memory)
            if k < low or k >= high:
                if not to_global:
                    of_fill = flat_u8(in_shared, size)
                    for b in range(size):
                        of_fill[b] = np.uint8(fill >> np.uint64(8 * b) & np.uint64(0xFF))
            elif t.what & REDUCES:
                _combine(in_global, in_shared, np.int64(t.what))
            elif size == 16:
                _copy_unit(in_global, in_shared, in_memory, to_global)
            else:
                to, of = (in_global, in_shared) if to_global else (in_shared, in_global)
                if size == 2:
                    flat_u16(to, 1)[0] = flat_u16(of, 1)[0]
                elif size == 4:
                    flat_u32(to, 1)[0] = flat_u32(of, 1)[0]
                elif size == 8:
                    flat_u64(to, 1)[0] = flat_u64(of, 1)[0]
                else:
                    flat_u8(to, 1)[0] = flat_u8(of, 1)[0]
    if to_global and high > low:
        mark_written(context, memory + np.uint64(low * in_memory), (high - low) * in_memory)
    return 1


@njit(types.void(_CONTEXT, _TRANSFER))
def _tensor(context, t):
    """Copy the rows of a box."""
    rows = box_rows(context, t, 0)
    if rows == 0:
        return
    begin_rows(t)
    for row in range(rows):
        if _row(context, t, row) == 0:
            return
        next_row(t)
    if t.what & TO_GLOBAL == 0:
        size = ELEMENT_BYTES[np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD]
        mark_written(context, t.to, rows * np.int64(t.map[BOX]) * size)


@njit(types.int64(_CONTEXT, _TRANSFER))
def check_rows(context, t):
    """Whether all rows of a box may be accessed: how many there are, 0 after a fault."""
    rows = box_rows(context, t, 0)
    begin_rows(t)
    for row in range(rows):
        if find_row(context, t, row) == 0:
            return 0
        next_row(t)
    return rows


@njit(types.void(_CONTEXT, _TRANSFER))
def perform(context, t):
    """Do what a transfer says; a fault is left in the context."""
    if t.what & TENSOR:
        _tensor(context, t)
    else:
        _plain(context, t)


@njit(types.void(_CONTEXT, _TRANSFER))
def tell(context, t):
    """A copy has completed: its mbarrier, if it has one, has its bytes."""
    if t.what & TO_GLOBAL == 0:
        cell = flat_i64(t.tracker, 1)
        old = cell[0]
        cell[0] = next_state(old, COMPLETE_BYTES, 0, t.bytes)
        if (cell[0] ^ old) >> PHASE_SHIFT & 1:
            context.phase_ended = 1
