"""The copy engine of an SM in a timed run: what it takes from an instruction, and what happens when a copy completes.

An engine holds ENGINE_COPIES copies. `timing/bulk/copy_engine.py` sends the requests of each and says when it
completes. A load is made then: it writes shared memory, and its mbarrier has its bytes. A store is made when all of its
requests have been sent, and its source may be changed from then on.

    find_piece    the next row of a copy whose bytes of global memory are requested one after the other
    deliver       make a load, in every CTA of a multicast, and tell the mbarriers
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, njit, record_type, types
from ptxsim.base.program import (
    BULK,
    CONTEXT,
    ENGINE,
    ENGINE_COPIES,
    MAX_CLUSTER,
    TRANSFER,
    bulk_at,
    cluster_at,
    engine_at,
    transfer_at,
)
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.mbarriers import next_state
from ptxsim.execute.bulk.tensor_maps import FIELD, GLOBAL_BYTES, PROPERTIES, TYPE_SHIFT
from ptxsim.execute.bulk.transfers import (
    REDUCES,
    TENSOR,
    TO_GLOBAL,
    WITHIN_CLUSTER,
    begin_rows,
    check_rows,
    find_row,
    next_row,
    perform,
)
from ptxsim.execute.codes import COMPLETE_BYTES, PHASE_SHIFT

_CONTEXT, _TRANSFER, _ENGINE = record_type(CONTEXT), record_type(TRANSFER), record_type(ENGINE)
_BULK = record_type(BULK)
_INT = types.int64
_BYTES, _WORDS = TRANSFER.itemsize, TRANSFER.itemsize // 8
_TRACKER, _LANE = (TRANSFER.fields[name][1] // 8 for name in ("tracker", "lane"))  # type: ignore[index]


@njit(_ENGINE(_CONTEXT))
def own_engine(context):
    """The engine of the executing warp's SM."""
    bulk = bulk_at(context.bulk, 0)
    return engine_at(bulk.engines, context.warp // bulk.warps)


@njit(_TRANSFER(types.uint64, _INT, _INT))
def copy_at(transfers, sm, k):
    """Copy k of an SM's engine."""
    return transfer_at(transfers, 1 + sm * ENGINE_COPIES + k)


@njit(_INT(_ENGINE))
def free_places(engine):
    """How many more copies an engine can take."""
    left, n = engine.used, ENGINE_COPIES
    while left:
        left &= left - 1
        n -= 1
    return n


@njit(types.boolean(_BULK, _ENGINE, _INT, _TRANSFER))
def _is_made(bulk, engine, sm, t):
    """Whether a store is that of the lane before it: lanes with the same operands make one. CUTLASS's epilogues issue
    theirs in all lanes of a warp."""
    if engine.queue_count == 0:
        return False
    last = (engine.queue_head + engine.queue_count - 1) & (ENGINE_COPIES - 1)
    first = 1 + sm * ENGINE_COPIES + np.int64(engine.queue[last])
    new = flat_i64(bulk.transfers, _WORDS)
    old = flat_i64(bulk.transfers + np.uint64(first * _BYTES), _WORDS)
    for word in range(_WORDS):
        if new[word] != old[word] and word != _TRACKER and word != _LANE:
            return False
    return True


@njit(types.void(_CONTEXT, _TRANSFER))
def accept(context, t):
    """The engine takes a copy, for which it has room; a fault if it accesses what is not there."""
    bulk = bulk_at(context.bulk, 0)
    engine = own_engine(context)
    sm = context.warp // bulk.warps
    t.rows = 1
    if t.what & TENSOR:
        t.rows = check_rows(context, t)
        if context.error:
            return
        begin_rows(t)
    t.context = context.warp - sm * bulk.warps
    t.due = context.cycle + engine.issue_cycles
    t.row = t.left = t.sent = 0
    if t.what & (TO_GLOBAL | REDUCES) == TO_GLOBAL and _is_made(bulk, engine, sm, t):
        return
    k = ctz(~engine.used)
    of = flat_i64(bulk.transfers, _WORDS)
    to = flat_i64(bulk.transfers + np.uint64((1 + sm * ENGINE_COPIES + k) * _BYTES), _WORDS)
    for word in range(_WORDS):
        to[word] = of[word]
    place = np.int64(1) << k
    engine.used |= place
    engine.fresh |= place
    engine.queue[(engine.queue_head + engine.queue_count) & (ENGINE_COPIES - 1)] = k
    engine.queue_count += 1
    engine.next = min(engine.next, context.cycle + 1)


@njit(_INT(_CONTEXT, _TRANSFER, _ENGINE))
def _find_piece(context, t, engine):
    while t.row < t.rows:
        t.row += 1
        if t.what & TENSOR:
            find_row(context, t, t.row - 1)
            size = GLOBAL_BYTES[np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD]
            first, end = np.int64(t.low) * size, np.int64(t.high) * size
            address = np.uint64(t.address)
            next_row(t)
        else:
            first, end = np.int64(t.first), np.int64(t.end)
            pointer = t.to if t.what & TO_GLOBAL else t.of
            address = np.uint64(pointer) - context.global_memory + context.global_base
        if end > first and t.what & WITHIN_CLUSTER == 0:
            engine.piece, engine.piece_end = address + np.uint64(first), address + np.uint64(end)
            return 1
    return 0


@njit(types.void(_CONTEXT, _TRANSFER))
def tell(context, t):
    """A copy has completed: its mbarrier, if it has one, has its bytes."""
    if t.what & TO_GLOBAL == 0:
        cell = flat_i64(t.tracker, 1)
        old = cell[0]
        cell[0] = next_state(old, COMPLETE_BYTES, 0, t.bytes)
        if (cell[0] ^ old) >> PHASE_SHIFT & 1:
            context.phase_ended = 1


@njit(types.void(_CONTEXT, _TRANSFER))
def _deliver(context, t):
    if t.ctas == 0:
        perform(context, t)
        tell(context, t)
        return
    to, tracker = np.uint64(t.to), np.uint64(t.tracker)
    for rank in range(MAX_CLUSTER):
        if t.ctas >> rank & 1:
            memory = np.uint64(t.home)
            if t.cluster:
                memory = np.uint64(cluster_at(t.cluster, 0).shared[rank])
            if memory == np.uint64(0):  # the CTA has ended
                continue
            t.to, t.tracker = memory + to, memory + tracker
            perform(context, t)
            if t.pairs:
                memory = np.uint64(cluster_at(t.cluster, 0).shared[rank & ~1 | t.pairs - 1])
                if memory == np.uint64(0):
                    continue
                t.tracker = memory + tracker
            tell(context, t)


find_piece: Any = boundary("find_piece", _find_piece)
"""`find_piece(context, t, engine)`: the next bytes of global memory that a copy reads or writes, as the engine's
`piece`. 0 if there are no more."""

deliver: Any = boundary("deliver_bulk", _deliver)
"""`deliver(context, t)`: a load completes."""

make: Any = boundary("make_bulk", perform)
"""`make(context, t)`: all requests of a store have been sent."""
