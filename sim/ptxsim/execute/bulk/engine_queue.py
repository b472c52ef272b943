"""What the copy engine of an SM takes from an instruction in a timed run. It holds ENGINE_COPIES copies.

own_engine     the engine of the executing warp
free_places    how many more copies it can take
accept         it takes one
"""

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, njit, record_type, types
from ptxsim.base.program import BULK, CONTEXT, ENGINE, ENGINE_COPIES, TRANSFER, bulk_at, engine_at
from ptxsim.execute.bulk.engine_records import REDUCES, TENSOR, TO_GLOBAL
from ptxsim.execute.bulk.transfers import begin_rows, check_rows

_CONTEXT, _TRANSFER, _ENGINE = record_type(CONTEXT), record_type(TRANSFER), record_type(ENGINE)
_BULK = record_type(BULK)
_INT = types.int64
_BYTES, _WORDS = TRANSFER.itemsize, TRANSFER.itemsize // 8
_TRACKER, _LANE, _INDEX, _CTAS, _ROWS = (
    TRANSFER.fields[name][1] // 8  # type: ignore[index]
    for name in ("tracker", "lane", "index", "ctas", "rows")
)


@njit(_ENGINE(_CONTEXT))
def own_engine(context):
    """The engine of the executing warp's SM."""
    bulk = bulk_at(context.bulk, 0)
    return engine_at(bulk.engines, context.warp // bulk.warps)


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
    theirs in all lanes of a warp. What the check of its rows leaves in a copy does not count."""
    if engine.queue_count == 0:
        return False
    last = (engine.queue_head + engine.queue_count - 1) & (ENGINE_COPIES - 1)
    first = 1 + sm * ENGINE_COPIES + np.int64(engine.queue[last])
    new = flat_i64(bulk.transfers, _WORDS)
    old = flat_i64(bulk.transfers + np.uint64(first * _BYTES), _WORDS)
    for word in range(_WORDS):
        is_asked = word < _INDEX or (word >= _CTAS and word != _ROWS)
        if new[word] != old[word] and is_asked and word != _TRACKER and word != _LANE:
            return False
    return True


@njit(types.void(_CONTEXT, _TRANSFER))
def accept(context, t):
    """The engine takes a copy, for which it has room; a fault if it accesses what is not there."""
    bulk = bulk_at(context.bulk, 0)
    engine = own_engine(context)
    sm = context.warp // bulk.warps
    t.context = context.warp - sm * bulk.warps
    t.due = context.cycle + engine.issue_cycles
    t.row = t.left = t.sent = 0
    if t.what & (TO_GLOBAL | REDUCES) == TO_GLOBAL and _is_made(bulk, engine, sm, t):
        return
    t.rows = 1
    if t.what & TENSOR:
        t.rows = check_rows(context, t)
        if context.error:
            return
        begin_rows(t)
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
