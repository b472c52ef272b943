"""Races on shared and global memory: every access against the last ones to the same bytes.

Memory is divided into granules, as small as the smallest access of the kernel to that space. Each has a row: its last
write, its last read, and the last read by another warp, each with CTA, thread, epoch and instruction. Two accesses, one
of them a write, race if nothing orders them (`order.py`), unless both are atomic or otherwise strong at a scope that
includes both threads. Writing the value that is there already is no race with the write before.

Reference: Flanagan, Freund, FastTrack: Efficient and Precise Dynamic Race Detection, PLDI 2009; PTX ISA, "Memory
Consistency Model" (morally strong operations).
"""

import numpy as np

from ptxsim.base.jit import (
    array_of,
    ctz,
    flat_i32,
    flat_i64,
    flat_u8,
    inline,
    njit,
    record_type,
    rows_u64,
    types,
)
from ptxsim.base.program import CONTEXT, GLOBAL, LOAD, SHARED, STORE
from ptxsim.execute.codes import HEAP_HEADER
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.asynchronous_state import FIRST_STAMP
from ptxsim.sanitizer.copies import NEVER, segment_stamp, written_since
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import is_complete
from ptxsim.sanitizer.order import known_epoch, synchronise

_C, _X = record_type(state.CHECKS), record_type(CONTEXT)
_REPORTS, _CHECKED = array_of(state.REPORT), array_of(state.CHECKED)
_INT = types.int64
_ORDERED, _UNORDERED, _UNDER_WAY = range(3)
_CLOCKS = state.MAX_WARPS * state.MAX_WARPS
# of the last word of an access: the instruction's number is shifted
_STRONG, _MANY, INSTRUCTION_SHIFT = 3, 4, 3


@inline
def _row_of(rows, granule):
    """The address of a granule's row."""
    return rows + np.uint64(4 * state.GRANULE * granule)


@njit(types.int64(_C, _X, types.uint64, *[_INT] * 3))
def _unordered(checks, context, row, access, lane, strong):
    """Whether an access of a row may be at the same time as the present one, by a lane of the executing warp.

    _UNDER_WAY: it is of a copy, or another asynchronous operation, that was not waited for.
    """
    g = flat_i32(row, state.GRANULE)
    if g[access + state.THREAD] == 0:
        return _ORDERED
    other, epoch = np.int64(g[access + state.THREAD]) - 1, np.int64(g[access + state.EPOCH])
    how, warp = g[access + state.AT], other >> 5
    if g[access + state.CTA] != checks.cta:
        if min(how & _STRONG, strong) == state.STRONG_IN_GRID:
            return _ORDERED
        known = known_epoch(checks, context.warp, np.int64(g[access + state.CTA]), warp, strong)
        return _UNORDERED if epoch > known else _ORDERED
    if how & _STRONG and strong:
        return _ORDERED
    if epoch <= FIRST_STAMP:
        return _ORDERED if is_complete(checks, epoch, context.warp) else _UNDER_WAY
    if epoch < 0:
        epoch = written_since(checks, other, epoch, context.warp)
        if epoch == NEVER:
            return _UNDER_WAY
    known = np.int64(flat_i32(checks.clocks, _CLOCKS)[context.warp * state.MAX_WARPS + warp])
    if warp == context.warp:
        if checks.lockstep or (other & 31 == lane and how & _MANY == 0):
            return _ORDERED
        return _UNORDERED if epoch == known else _ORDERED
    return _UNORDERED if epoch > known else _ORDERED


@njit(types.int32(types.uint64, _INT))
def _content(address, shift):
    """What a granule holds."""
    if shift == 2:
        return flat_i32(address, 1)[0]
    bytes_ = flat_u8(address, 2)
    return np.int32(bytes_[0]) | (np.int32(bytes_[1]) << 8 if shift else np.int32(0))


@njit(types.void(_C, types.uint64, *[_INT] * 5))
def note_reader(checks, row, me, epoch, i, strong, many):
    """Keep a granule's new reader, and the last one of another warp."""
    g = flat_i32(row, state.GRANULE)
    reader = g[state.READ + state.THREAD]
    if reader != 0:
        if (reader - 1) >> 5 == (me - 1) >> 5 and g[state.READ + state.CTA] == checks.cta:
            others = reader != me or g[state.READ + state.AT] & _MANY != 0
            if g[state.READ + state.EPOCH] == epoch and others:
                many = 1
        else:
            for k in range(state.ACCESS):
                g[state.OTHER_READ + k] = g[state.READ + k]
    g[state.READ + state.CTA], g[state.READ + state.THREAD] = checks.cta, me
    g[state.READ + state.EPOCH], g[state.READ + state.AT] = (
        epoch,
        i << INSTRUCTION_SHIFT | many * _MANY | strong,
    )


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3, types.uint64, _INT, types.uint64))
def _found(checks, reports, context, kind, i, me, row, access, offset):
    """Report a race with an access of a row; `offset` is the present one's within its space."""
    g = flat_i32(row, state.GRANULE)
    space = SHARED
    if row - checks.granules >= np.uint64(4 * state.GRANULE * checks.n_granules):
        space, offset = GLOBAL, offset + context.global_base
    other, thread = (
        np.int64(g[access + state.AT] >> INSTRUCTION_SHIFT),
        np.int64(g[access + state.THREAD]) - 1,
    )
    new = report(checks, reports, kind, i, me - 1, offset, space, other, thread, 1)
    if new >= 0:
        reports[new].other_cta = g[access + state.CTA]


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 2, types.uint64, *[_INT] * 6, types.boolean))
def touch(checks, reports, context, space, i, offset, n_bytes, access, strong, n, many, stamp, copies):
    """An access of one lane against those before it."""
    rows, memory, shift = checks.granules, context.shared_memory, checks.granule_shift
    if space == GLOBAL:
        rows, memory, shift = checks.global_granules, context.global_memory, checks.global_shift
    me = context.warp * 32 + n + 1
    for granule in range(np.int64(offset) >> shift, ((np.int64(offset) + n_bytes - 1) >> shift) + 1):
        row = _row_of(rows, granule)
        g = flat_i32(row, state.GRANULE)
        writer = np.int64(g[state.WRITE + state.THREAD])
        # many lanes of one store: one wins
        same_store = g[state.WRITE + state.AT] >> INSTRUCTION_SHIFT == i and (writer - 1) >> 5 == context.warp
        same_store &= g[state.WRITE + state.CTA] == checks.cta
        if copies:
            same_store &= g[state.WRITE + state.EPOCH] == stamp
        if access != LOAD:
            value = _content(memory + np.uint64(granule << shift), shift)
            same_store |= access == STORE and g[state.VALUE] == value  # nor is the same value
            g[state.VALUE] = value
        if writer != 0 and not same_store:
            found = _unordered(checks, context, row, state.WRITE, n, strong)
            if found != _ORDERED:
                kind = state.READ_AFTER_WRITE if access == LOAD else state.WRITE_AFTER_WRITE
                if found == _UNDER_WAY:
                    kind = state.READ_BEFORE_COPY if access == LOAD else state.WRITE_BEFORE_COPY
                _found(checks, reports, context, kind, i, me, row, state.WRITE, offset)
        if access == LOAD:
            note_reader(checks, row, me, stamp, i, strong, many)
            continue
        for r in (state.READ, state.OTHER_READ):
            found = _unordered(checks, context, row, r, n, strong)
            if found != _ORDERED:
                kind = state.WRITE_BEFORE_READ if found == _UNDER_WAY else state.WRITE_AFTER_READ
                _found(checks, reports, context, kind, i, me, row, r, offset)
                break
        g[state.READ + state.THREAD] = g[state.OTHER_READ + state.THREAD] = 0
        g[state.WRITE + state.CTA], g[state.WRITE + state.THREAD] = checks.cta, me
        g[state.WRITE + state.EPOCH], g[state.WRITE + state.AT] = stamp, i << INSTRUCTION_SHIFT | strong


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def races(checks, reports, checked, context, i, k, lanes):
    """Access k of instruction i, in all or in piece k. Lanes at one address count as one, several lanes wide."""
    epoch = np.int64(flat_i32(checks.clocks, _CLOCKS)[context.warp * state.MAX_WARPS + context.warp])
    strong, access = np.int64(checked[k].strong), np.int64(checked[k].access)
    copies = checked[k].copies == state.COPIES
    n_bytes = np.int64(checked[k].bytes)
    shared_bytes, global_bytes = np.uint64(context.shared_bytes), np.uint64(context.global_bytes)
    shared, global_ = context.shared_memory, context.global_memory
    many, of_grid = 0, False
    every = lanes
    if context.uniform:
        first = ctz(lanes)
        if lanes & (lanes - 1):
            many = 1
            pointer = context.lane_pointer[first]
            rows, offset, shift = checks.granules, pointer - shared, checks.granule_shift
            if offset >= shared_bytes:
                rows, offset, shift = checks.global_granules, pointer - global_, checks.global_shift
            if rows == checks.granules or (rows != 0 and offset < global_bytes):
                g = flat_i32(_row_of(rows, np.int64(offset) >> shift), state.GRANULE)
                writer = g[state.WRITE + state.THREAD]
                if writer == context.warp * 32 + first + 1 and g[state.WRITE + state.CTA] == checks.cta:
                    first = ctz(lanes & (lanes - 1))  # its own value is no race: test another lane
        lanes = np.int64(1) << first
    for n in range(32):
        if (lanes >> n) & 1 == 0:
            continue
        stamp = segment_stamp(checks, context.warp * 32 + n) if copies else epoch
        space, offset = SHARED, context.lane_pointer[n] - shared
        if offset >= shared_bytes:
            space, offset = GLOBAL, context.lane_pointer[n] - global_
            if checks.global_granules == 0 or offset >= global_bytes:
                continue
            of_grid = True
        touch(checks, reports, context, space, i, offset, n_bytes, access, strong, n, many, stamp, copies)
    if copies and checked[k].copied_bytes and checks.global_granules:
        for n in range(32):
            offset = context.lane_address[n] - context.global_base
            if (every >> n) & 1 and offset < global_bytes:
                size = np.int64(checked[k].copied_bytes)
                touch(checks, reports, context, GLOBAL, i, offset, size, LOAD, 0, n, 0, epoch, False)
    if of_grid and strong == state.STRONG_IN_GRID:
        synchronise(checks, context, access, np.int64(checked[k].orders), every)


@njit(types.void(_C, _X, _INT, _INT))
def forget_blocks(checks, context, row, lanes):
    """`malloc` has returned blocks, their addresses in a 64-bit row: earlier accesses there were to other blocks."""
    rows = rows_u64(context.r64, context.total_rows64)
    for n in range(32):
        address = rows[context.constant_rows64 + context.warp * context.rows64 + row, n]
        offset = np.int64(address - context.global_base)
        if (lanes >> n) & 1 == 0 or address < context.heap_start:  # there was no room for it
            continue
        end = offset + flat_i64(context.global_memory + np.uint64(offset - HEAP_HEADER), 1)[0] - HEAP_HEADER
        for granule in range(offset >> checks.global_shift, end >> checks.global_shift):
            g = flat_i32(_row_of(checks.global_granules, granule), state.GRANULE)
            for access in (state.WRITE, state.READ, state.OTHER_READ):
                g[access + state.THREAD] = 0
