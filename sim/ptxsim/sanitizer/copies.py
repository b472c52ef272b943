"""Asynchronous copies, for the check of races: when the bytes that a copy writes may be accessed again.

The run performs a copy where it is issued; the hardware may perform it at any time until the issuing thread has waited
for it, or has seen the completion of an mbarrier that tracks it (`cp.async.mbarrier.arrive`). Until then every access
to the written bytes is a race, even one of the same thread. So the granules that a copy writes are stamped, in place of
the writer's epoch, with the segment of the thread's copies to which it belongs: a segment ends where the thread commits
a group, or lets an mbarrier track its copies. A table of the last segments of every thread has how each one ended, and
since which epoch of its warp it is complete. Older segments count as complete.

    segment_stamp(c, thread)           the writer's epoch of a granule that a copy writes
    written_since(c, thread, stamp, warp)    the epoch in which such a granule was written, as `warp` sees it
    end_segment(c, thread, how)        a group is committed, or an mbarrier tracks the copies
    await_groups(c, thread, left)      all copies but those of the last `left` groups are complete
"""

import numpy as np

from ptxsim.base.jit import flat_i32, njit, record_type, types
from ptxsim.sanitizer.shadow_state import (
    CHECKS,
    COMMITTED,
    MAX_WARPS,
    N_SEGMENTS,
    SEGMENT,
    SEGMENT_WORDS,
    TRACKED,
)

_C = record_type(CHECKS)
_INT = types.int64
NEVER = 1 << 30
"""An epoch that no warp knows of."""
# of a segment; epoch 0: not complete; tests -1: the thread has waited for it
_HOW, _EPOCH, _TESTS = range(SEGMENT_WORDS)


@njit(types.uint64(_C, _INT))
def _current(checks, thread):
    """The address of the number of a thread's current segment."""
    return checks.segments + np.uint64(4 * SEGMENT * thread)


@njit(types.uint64(_C, _INT, _INT))
def _segment(checks, thread, number):
    """The address of a thread's entry for a segment."""
    return _current(checks, thread) + np.uint64(4 * (1 + SEGMENT_WORDS * (number % N_SEGMENTS)))


@njit(types.int64(_C, _INT))
def _now(checks, thread):
    """The epoch of a thread's warp."""
    warp = thread >> 5
    return np.int64(flat_i32(checks.clocks, MAX_WARPS * MAX_WARPS)[warp * MAX_WARPS + warp])


@njit(types.void(_C))
def forget_copies(checks):
    """A CTA begins."""
    for thread in range(32 * checks.n_warps):
        flat_i32(_current(checks, thread), 1)[0] = 0
        entry = flat_i32(_segment(checks, thread, 0), SEGMENT_WORDS)
        entry[_HOW], entry[_EPOCH], entry[_TESTS] = 0, 0, 0
    tests = flat_i32(checks.tests, MAX_WARPS)
    for warp in range(MAX_WARPS):
        tests[warp] = 0


@njit(types.int64(_C, _INT))
def segment_stamp(checks, thread):
    """The writer's epoch of a granule while the thread's copy may be in progress: below 0."""
    return -1 - np.int64(flat_i32(_current(checks, thread), 1)[0])


@njit(types.int64(_C, _INT, _INT, _INT))
def written_since(checks, thread, stamp, warp):
    """The epoch of the writer's warp in which a copy was complete, as `warp` sees it; NEVER while it is in progress."""
    number = -1 - stamp
    if number + N_SEGMENTS <= flat_i32(_current(checks, thread), 1)[0]:
        return 0
    entry = flat_i32(_segment(checks, thread, number), SEGMENT_WORDS)
    own_tests = flat_i32(checks.tests, MAX_WARPS)[warp]
    if entry[_EPOCH] == 0 or (warp == thread >> 5 and entry[_TESTS] == own_tests):
        return NEVER
    return np.int64(entry[_EPOCH])


@njit(types.void(_C, _INT, _INT))
def end_segment(checks, thread, how):
    """COMMITTED: the thread's copies since the last time are a group. TRACKED: an mbarrier tracks all its copies."""
    current = flat_i32(_current(checks, thread), 1)
    number = np.int64(current[0])
    flat_i32(_segment(checks, thread, number), SEGMENT_WORDS)[_HOW] = how
    if how == TRACKED:
        for k in range(max(0, number - N_SEGMENTS + 1), number + 1):
            entry = flat_i32(_segment(checks, thread, k), SEGMENT_WORDS)
            if entry[_EPOCH] == 0:
                entry[_EPOCH] = _now(checks, thread)
                entry[_TESTS] = flat_i32(checks.tests, MAX_WARPS)[thread >> 5]
    current[0] = number + 1
    fresh = flat_i32(_segment(checks, thread, number + 1), SEGMENT_WORDS)
    fresh[_HOW], fresh[_EPOCH], fresh[_TESTS] = 0, 0, 0


@njit(types.void(_C, _INT, _INT))
def await_groups(checks, thread, left):
    """The thread waits for all groups but its last `left`; below 0: for all copies."""
    if left < 0:
        end_segment(checks, thread, COMMITTED)
        left = 0
    number = np.int64(flat_i32(_current(checks, thread), 1)[0])
    groups = 0
    for k in range(number - 1, max(-1, number - N_SEGMENTS), -1):
        entry = flat_i32(_segment(checks, thread, k), SEGMENT_WORDS)
        groups += entry[_HOW] == COMMITTED
        if groups > left and (entry[_EPOCH] == 0 or entry[_TESTS] >= 0):
            entry[_EPOCH], entry[_TESTS] = _now(checks, thread), -1
