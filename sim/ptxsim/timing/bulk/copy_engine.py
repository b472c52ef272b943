"""The copy engine of an SM: requests of bulk copies to the network, and completion by the last reply.

A copy may begin `issue_cycles` after its instruction. Copies are sent one after the other, in the order of their
instructions: each row of bytes in requests of the sectors of one line, `requests` a cycle, which bypass the L1 and go
through network, L2 and DRAM as all others do. A copy completes `latency` cycles after its last reply, or
acknowledgement. The read of a multicast is sent once, and completes in all CTAs at the same time.

A copy to the shared memory of another CTA sends no requests: it holds the engine for its bytes (`cluster_bytes` a
cycle), and completes `cluster_cycles` after the last.

A warp does not retire, so its CTA keeps its shared memory, before its copies have completed: each counts as a store.

Requests have tags below -1. Reads are UNCACHED, stores WRITE, reductions ATOMIC.
Handled simply: reads and writes of shared memory take no time of its banks; a multicast holds no port but that of the
SM that has asked; rows of a box are requested one by one, even where they are adjacent.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, njit, record_type, types
from ptxsim.base.program import CONTEXT, ENGINE_COPIES, bulk_at, engine_at
from ptxsim.base.warp_masks import no_warps, warp_bit
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.engine_records import REDUCES, TO_GLOBAL, WITHIN_CLUSTER, copy_at
from ptxsim.execute.bulk.engines import deliver, find_piece, make
from ptxsim.timing.memory.memory_state import ATOMIC, FOREVER, MEMORY, UNCACHED, WRITE
from ptxsim.timing.memory.system import inject_words
from ptxsim.timing.sm_state import RUN, SM, signatures, sm_of

_FIRST_TAG = -2
_LINE = 128
_CYCLE = signatures(types.void, RUN, SM, record_type(CONTEXT), record_type(MEMORY))


@njit
def wake_sleepers(run):
    """A phase of an mbarrier has ended, perhaps of another SM's: SMs with warps that wait have to look."""
    for index in range(run.n_sms):
        sm = sm_of(run, index)
        if sm.in_wait != no_warps(sm):
            run.sm_next[index] = min(run.sm_next[index], run.cycle)


@njit
def reply_arrived(run, sm, execution, tag):
    """A reply to one of the engine's requests has arrived, or an acknowledgement."""
    engine, k = engine_at(run.engines, sm.index), _FIRST_TAG - tag
    t = copy_at(bulk_at(execution.bulk, 0).transfers, sm.index, k)
    t.left -= 1
    if t.left == 0 and t.sent:
        _landed(engine, t, k, run.cycle + engine.latency)


@njit
def is_last_reply(run, sm, execution, tag):
    """Whether a copy will have all its replies with the one that has this tag."""
    t = copy_at(bulk_at(execution.bulk, 0).transfers, sm.index, _FIRST_TAG - tag)
    return t.left == 1 and t.sent != 0


@njit
def _landed(engine, t, k, due):
    """Nothing of a copy is missing any more: it completes in cycle `due`."""
    t.due = due
    engine.landed |= np.int64(1) << k
    engine.next = min(engine.next, due)


@njit
def _hold(sm, transfers, engine):
    """The warps of new copies have a store more on its way."""
    fresh = engine.fresh
    engine.fresh = 0
    while fresh:
        context = copy_at(transfers, sm.index, ctz(fresh)).context
        fresh &= fresh - 1
        sm.stores[context] += 1
        if sm.slot_of[context] >= 0:
            sm.storing |= warp_bit(sm, sm.slot_of[context])


@njit
def _complete(run, sm, execution, transfers, engine):
    """Complete the copies that are due."""
    left = engine.landed
    while left:
        k = ctz(left)
        left &= left - 1
        t = copy_at(transfers, sm.index, k)
        if t.due > run.cycle:
            continue
        if t.what & TO_GLOBAL == 0:
            deliver(execution, t)
        place = np.int64(1) << k
        engine.landed &= ~place
        engine.used &= ~place
        engine.completed += 1
        engine.moved = run.cycle
        context = t.context
        sm.stores[context] -= 1
        if sm.stores[context] == 0 and sm.slot_of[context] >= 0:
            sm.storing &= ~warp_bit(sm, sm.slot_of[context])


@njit
def _all_sent(run, execution, engine, t, k):
    """All requests of the first copy have been sent: it is the next one's turn."""
    engine.queue_head = (engine.queue_head + 1) & (ENGINE_COPIES - 1)
    engine.queue_count -= 1
    engine.piece = engine.piece_end = 0
    t.sent = 1
    if t.what & WITHIN_CLUSTER:
        engine.free = run.cycle + (t.bytes + engine.cluster_bytes - 1) // engine.cluster_bytes
        _landed(engine, t, k, engine.free + engine.cluster_cycles)
        return
    if t.what & TO_GLOBAL:
        make(execution, t)
        engine.moved = run.cycle
    if t.left == 0:
        _landed(engine, t, k, run.cycle + engine.latency)


@njit
def _request(run, sm, memory, engine, t, k):
    """Send the next request of a copy; False if the network has no room for it."""
    at, line_bytes = np.int64(engine.piece), min(np.int64(_LINE), memory.slice[0].cache.line_bytes)
    end = min(np.int64(engine.piece_end), (at & -line_bytes) + line_bytes)
    first, last = at & -32, (end + 31) & -32
    words = np.int64(0)
    for word in range((at & (_LINE - 1)) >> 2, ((end - 1) & (_LINE - 1)) // 4 + 1):
        words |= np.int64(1) << word
    kind = UNCACHED
    if t.what & TO_GLOBAL:
        kind = ATOMIC if t.what & REDUCES else WRITE
    if not inject_words(memory, sm.index, run.cycle, first, last - first, kind, _FIRST_TAG - k, words):
        return False
    t.left += (last - first) >> 5 if memory.sector_bytes else 1
    engine.piece = np.uint64(end)
    return True


@njit
def _send(run, sm, execution, memory, transfers, engine):
    """Send the requests of a cycle."""
    left = engine.requests
    while engine.queue_count and engine.free <= run.cycle:
        k = np.int64(engine.queue[engine.queue_head])
        t = copy_at(transfers, sm.index, k)
        if t.due > run.cycle:
            return
        if engine.piece == engine.piece_end and find_piece(execution, t, engine) == 0:
            _all_sent(run, execution, engine, t, k)
            continue
        if left == 0 or not _request(run, sm, memory, engine, t, k):
            return
        left -= 1


@njit
def _next(run, transfers, sm, engine):
    """The next cycle in which the engine has something to do, replies not considered."""
    following = FOREVER
    if engine.queue_count:
        t = copy_at(transfers, sm.index, np.int64(engine.queue[engine.queue_head]))
        following = max(run.cycle + 1, t.due, engine.free)
    left = engine.landed
    while left:
        following = min(following, copy_at(transfers, sm.index, ctz(left)).due)
        left &= left - 1
    return following


@njit(_CYCLE[0])
def _engine_cycle(run, sm, execution, memory):
    engine = engine_at(run.engines, sm.index)
    if engine.next > run.cycle:
        return
    transfers = bulk_at(execution.bulk, 0).transfers
    execution.phase_ended = 0
    _hold(sm, transfers, engine)
    _complete(run, sm, execution, transfers, engine)
    _send(run, sm, execution, memory, transfers, engine)
    engine.next = _next(run, transfers, sm, engine)
    if execution.phase_ended and run.cluster_ctas > 1:
        wake_sleepers(run)
        engine.next = min(engine.next, run.cycle + 1)  # so that the run does not skip the next cycle


engine_cycle: Any = boundary("engine_cycle", _engine_cycle, _CYCLE[1])
"""`engine_cycle(run, sm, execution, memory)`: one cycle of an SM's copy engine, after its replies."""
