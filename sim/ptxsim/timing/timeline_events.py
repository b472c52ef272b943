"""What happens on the SMs, noted as it happens, for a timeline (ptxsim/observe/timeline.py).

The records (timeline_codes.py) stand in a buffer that Python empties: when it is half full the loop is told to stop
behind this cycle, as at the end of a slice of cycles. Nothing here runs unless `run.timeline` is set; what callers pay
otherwise is that test.

A warp's state is looked at whenever its SM has run, and noted where it is another one than before: the places that
change it know nothing of this. States are those at the end of a cycle. What a warp waits for and gets in one cycle is
not seen, such as a barrier by its last warp.
"""

from typing import Any

import numpy as np
from numba import types

from ptxsim.base.jit import bit, ctz, flat_i64, njit, record_type
from ptxsim.execute.boundary import boundary
from ptxsim.timing.long_waits import waits_long
from ptxsim.timing.sm_state import MAX_WARPS, RUN, SM
from ptxsim.timing.timeline_codes import (
    ABSENT,
    ATOMIC,
    BARRIER,
    COPIES,
    EXITED,
    FENCE,
    FETCHING,
    HALF,
    KINDS,
    LOCK,
    MEMORY,
    RUNNING,
    SIZE,
    STATES,
    WARP,
    WORDS,
)


@njit(
    types.void(
        record_type(RUN), record_type(SM), types.int64, types.int64, types.int64, types.int64, types.int64
    )
)
def _note(run, sm, kind, a, b, c, d):
    if run.timeline_sms & bit(sm.index) == 0:
        return
    records = flat_i64(run.timeline, SIZE)
    at = run.timeline_used
    records[at] = run.cycle
    records[at + 1] = sm.index * KINDS + kind
    records[at + 2] = a
    records[at + 3] = b
    records[at + 4] = c
    records[at + 5] = d
    run.timeline_used = at + WORDS
    if at >= HALF:
        run.stop_cycle = run.cycle + 1


@njit
def _state(run, sm, w):
    me = bit(w)
    if sm.resident & me == 0:
        return ABSENT
    if sm.finishing & me:
        return EXITED
    if sm.at_barrier & me:
        return BARRIER
    if sm.in_membar & me:
        return FENCE
    if sm.in_wait & me:
        return COPIES
    if sm.in_atomic & me:
        return ATOMIC
    if sm.lock_wait & me:
        return LOCK
    if sm.blocked & sm.has_head & me and waits_long(run, sm, w):
        return MEMORY
    return FETCHING if sm.imiss & me else RUNNING


@njit
def _waits_at(sm, w, state):
    """The instruction at which a warp waits; -1 if it does not."""
    top = sm.depth[w] - 1
    if state == MEMORY or state == LOCK:
        return np.int64(sm.ib_pc[w])
    if state == BARRIER:
        return np.int64(sm.waits_since[top, w])
    if state == FENCE or state == COPIES or state == ATOMIC:  # it has issued
        return np.int64(sm.stack_pc[top, w]) - 1
    return np.int64(sm.fetch_pc[w]) if state == FETCHING else np.int64(-1)


@njit(types.void(record_type(RUN), record_type(SM)))
def _observe(run, sm):
    if run.timeline_sms & bit(sm.index) == 0:
        return
    before = flat_i64(run.timeline_states, run.n_sms * MAX_WARPS)
    base = sm.index * MAX_WARPS
    left = sm.resident | sm.timeline_seen
    sm.timeline_seen = sm.resident
    while left:
        w = ctz(left)
        left &= left - 1
        state = _state(run, sm, w)
        at = _waits_at(sm, w, state)
        now = state + STATES * (at + 1)
        if before[base + w] != now:
            before[base + w] = now
            _note(run, sm, WARP, w, state, at, 0)


note: Any = boundary("timeline_note", _note)
"""`note(run, sm, kind, a, b, c, d)`: append a record, if this SM is to be seen."""

observe: Any = boundary("timeline_observe", _observe)
"""`observe(run, sm)`: note the warps of an SM, which has run in this cycle, that are in another state than before."""
