"""Events on the SMs, recorded as they happen, for a timeline (ptxsim/observe/timeline.py).

The records (timeline_codes.py) go to a buffer that Python empties: when it is half full, the loop stops after this
cycle, as at the end of a slice of cycles. Nothing here runs unless `run.timeline` is set; otherwise callers pay for
that test only.

The state of a warp is derived whenever its SM has run, and recorded if it has changed, so the stages that change it
need no code for the timeline. States are those at the end of a cycle: a wait that ends in the same cycle is not seen,
such as that of the last warp at a barrier.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import bit, ctz, flat_i64, njit, types
from ptxsim.base.program import FOR_REGISTERS
from ptxsim.base.warp_masks import warp_bit, warp_slots
from ptxsim.execute.boundary import boundary
from ptxsim.timing import timeline_codes as codes
from ptxsim.timing.long_waits import waits_long
from ptxsim.timing.sm_state import RUN, SM, signatures

_NOTE = signatures(types.void, RUN, SM, *[types.int64] * 5)
_OBSERVE = signatures(types.void, RUN, SM)


@njit(_NOTE[0])
def _note(run, sm, kind, a, b, c, d):
    if run.timeline_sms & bit(sm.index) == 0:
        return
    records = flat_i64(run.timeline, codes.SIZE)
    at = run.timeline_used
    records[at] = run.cycle
    records[at + 1] = sm.index * codes.KINDS + kind
    records[at + 2] = a
    records[at + 3] = b
    records[at + 4] = c
    records[at + 5] = d
    run.timeline_used = at + codes.WORDS
    if at >= codes.HALF:
        run.stop_cycle = run.cycle + 1


note: Any = boundary("timeline_note", _note, _NOTE[1])
"""`note(run, sm, kind, a, b, c, d)`: append a record, if this SM is in the timeline."""


@njit
def _state(run, sm, w):
    me = warp_bit(sm, w)
    if sm.resident & me == 0:
        return codes.ABSENT
    if sm.finishing & me:
        return codes.EXITED
    if sm.at_barrier & me:
        waits_for = sm.stack_wait[sm.depth[w] - 1, w]
        return codes.REGISTERS if waits_for == FOR_REGISTERS else codes.BARRIER
    if sm.in_membar & me:
        return codes.FENCE
    if sm.in_wait & me:
        return codes.COPIES
    if sm.in_atomic & me:
        return codes.ATOMIC
    if sm.lock_wait & me:
        return codes.LOCK
    if sm.blocked & sm.has_head & me and waits_long(run, sm, w):
        return codes.MEMORY
    return codes.FETCHING if sm.imiss & me else codes.RUNNING


@njit
def _waits_at(sm, w, state):
    """The instruction at which a warp waits; -1 if it does not."""
    top = sm.depth[w] - 1
    if state == codes.MEMORY or state == codes.LOCK:
        return np.int64(sm.ib_pc[w])
    if state == codes.BARRIER or state == codes.REGISTERS:
        return np.int64(sm.waits_since[top, w])
    if state == codes.FENCE or state == codes.COPIES or state == codes.ATOMIC:  # it has issued
        return np.int64(sm.stack_pc[top, w]) - 1
    return np.int64(sm.fetch_pc[w]) if state == codes.FETCHING else np.int64(-1)


@njit(_OBSERVE[0])
def _observe(run, sm):
    if run.timeline_sms & bit(sm.index) == 0:
        return
    before = flat_i64(run.timeline_states, run.n_sms * warp_slots(sm))
    base = sm.index * warp_slots(sm)
    left = sm.resident | sm.timeline_seen
    sm.timeline_seen = sm.resident
    while left:
        w = ctz(left)
        left &= left - 1
        state = _state(run, sm, w)
        at = _waits_at(sm, w, state)
        now = state + codes.STATES * (at + 1)
        if before[base + w] != now:
            before[base + w] = now
            note(run, sm, codes.WARP, w, state, at, 0)


observe: Any = boundary("timeline_observe", _observe, _OBSERVE[1])
"""`observe(run, sm)`: record the warps of an SM that has run in this cycle whose state has changed."""
