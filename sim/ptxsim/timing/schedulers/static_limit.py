"""Static warp limiting: greedy then oldest among the N oldest warps (timing-model section 2, SWL).

Warps that have exited or wait (at a barrier, a fence, a lock, for an atomic) are not among the N; the greedy warp may
issue even when N others are older.
Rogers, O'Connor, Aamodt, Cache-conscious wavefront scheduling, MICRO 2012, section 4.

sm.policy_number: N. sm.policy[scheduler, 0]: the greedy warp.
"""

from ptxsim.base.jit import bit
from ptxsim.timing.schedulers.gto import pick  # noqa: F401
from ptxsim.timing.schedulers.warps import oldest, runnable


def window(sm, scheduler):
    left = runnable(sm) & sm.supervised[scheduler]
    chosen = left & bit(sm.policy[scheduler, 0])
    for _ in range(sm.policy_number):
        if left:
            w = oldest(sm, left)
            left &= ~bit(w)
            chosen |= bit(w)
    return chosen
