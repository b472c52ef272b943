"""What a barrier instruction leaves in the context, asynchronous copies, and mbarriers.

An asynchronous copy is made when it is issued, which is one of the orders that PTX allows: a program that waits as it
should cannot tell. Lanes act on an mbarrier (execute/bulk/mbarriers.py) one after the other, the lowest first; bulk
copies whose completion is due are counted before.

Reference: PTX ISA, sections on `cp.async` and `mbarrier`.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, flat_u8, njit, record_type, rows_i64, rows_u32, rows_u64, types
from ptxsim.base.program import BAD_BARRIER, CONTEXT, MISALIGNED, OUT_OF_BOUNDS, SHARED, UOP
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.copies import settle
from ptxsim.execute.bulk.mbarriers import next_state
from ptxsim.execute.cluster.clusters import shared_at
from ptxsim.execute.codes import (
    BARRIER,
    CLUSTER_SHIFT,
    COMPLETE_BYTES,
    COPY,
    EXPECT_BYTES,
    KEEP,
    MBARRIER,
    MBARRIER_TEST,
    MBARRIERS,
    PHASE_SHIFT,
)
from ptxsim.execute.lanes import fault_in, lane_mask, word_of
from ptxsim.execute.warp import set_predicate

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)
_BARRIERS = 16


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _fault(context, kind, lane):
    context.error = kind
    context.error_lane = lane
    return 0


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _operate_in_others(context, uop, lane):
    """MBARRIERS for one lane. 0 after a fault."""
    ctas, what = word_of(context, np.int64(uop.b), lane), np.int64(uop.e)
    count, n_bytes = word_of(context, np.int64(uop.d), lane), np.int64(0)
    if what & (EXPECT_BYTES | COMPLETE_BYTES):
        count, n_bytes = np.int64(1), count
    offset = word_of(context, np.int64(uop.a), lane) & (1 << CLUSTER_SHIFT) - 1
    for rank in range(32):
        if ctas >> rank & 1 == 0 or rank == word_of(context, np.int64(uop.c), lane):
            continue
        address = np.uint64(rank + 1 << CLUSTER_SHIFT | offset)
        memory = shared_at(context, address)
        if memory == np.uint64(0) or offset + 8 > context.shared_bytes:
            return fault_in(context, OUT_OF_BOUNDS, SHARED, lane, address)
        if offset & 7:
            return fault_in(context, MISALIGNED, SHARED, lane, address)
        if context.bulk:
            settle(context, memory + np.uint64(offset), 0)
        cell = flat_i64(memory + np.uint64(offset), 1)
        old = cell[0]
        cell[0] = next_state(old, what, count, n_bytes)
        if (cell[0] ^ old) >> PHASE_SHIFT & 1:
            context.phase_ended = 1
    return 1


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _synchronise(context, uop, mask):
    """One of these micro-operations. 0 after a fault."""
    op = uop.op
    base = context.constant_rows32 + context.warp * context.rows32
    base64 = context.constant_rows64 + context.warp * context.rows64
    words = rows_u32(context.r32, context.total_rows32)
    longs = rows_u64(context.r64, context.total_rows64)
    signed = rows_i64(context.r64, context.total_rows64)
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base if uop.b >= 0 else -1 - uop.b
    ra64 = uop.a + base64 if uop.a >= 0 else -1 - uop.a
    rd64 = uop.d + base64
    if op == BARRIER:
        if mask == 0:
            return 1
        first = ctz(mask)
        context.barrier = np.int64(words[ra, first])
        context.barrier_threads = np.int64(words[rb, first])
        context.barrier_votes = np.int64(lane_mask(context, uop.c)) & mask
        if context.barrier >= _BARRIERS or context.barrier_threads & 31:
            return _fault(context, BAD_BARRIER, first)
        return 1
    if op == MBARRIERS:
        for n in range(32):
            if (mask >> n) & 1 and _operate_in_others(context, uop, n) == 0:
                return 0
        return 1
    if op == COPY:
        context.uniform = 0
    done = np.int64(0)
    if op == MBARRIER_TEST:
        context.repeats = 0
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        if op == KEEP:
            longs[rd64, n] = context.lane_pointer[n]
        elif op == COPY:
            size = min(np.int64(words[rb, n]), np.int64(uop.e))
            if size and context.lane_address[n] & np.uint64(uop.e - 1):
                context.error_address = context.lane_address[n]
                return _fault(context, MISALIGNED, n)
            to = flat_u8(longs[ra64, n], uop.e)
            of = flat_u8(context.lane_pointer[n], uop.e)
            for k in range(uop.e):
                to[k] = of[k] if k < size else np.uint8(0)
            context.lane_pointer[n] = longs[ra64, n]  # for the checks: what was written
        elif op == MBARRIER:
            if context.bulk:
                settle(context, context.lane_pointer[n], 0)
            cell = flat_i64(context.lane_pointer[n], 1)
            old = cell[0]
            cell[0] = next_state(old, np.int64(uop.e), np.int64(words[ra, n]), np.int64(words[rb, n]))
            signed[rd64, n] = old
            if (cell[0] ^ old) >> PHASE_SHIFT & 1:
                context.phase_ended = 1
        else:
            if context.bulk:
                settle(context, context.lane_pointer[n], 1)
                if context.error:
                    return 0
            phase = (flat_i64(context.lane_pointer[n], 1)[0] >> PHASE_SHIFT) & 1
            of_phase = np.int64(words[ra, n]) & 1 if uop.e else (signed[ra64, n] >> PHASE_SHIFT) & 1
            if phase != of_phase:
                done |= np.int64(1) << n
            else:
                if context.repeats == 0:
                    context.awaited, context.awaited_phase = context.lane_pointer[n], phase
                    context.awaited_ns = np.int64(words[rb, n])
                context.yields = context.repeats = 1
    if op == MBARRIER_TEST:
        set_predicate(context, uop.d, done, mask)
    return 1


synchronise: Any = boundary("synchronise", _synchronise)
