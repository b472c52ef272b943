"""Two levels: a scheduler looks at a few active warps; those that wait for memory go to the end of the pending ones.

In every cycle active warps that wait (exited, at a barrier, a fence, a lock, for an atomic), or whose next instruction
reads a register that a load from global, local, parameter or texture memory will write, go to the end of the pending
queue; its head refills the active list, without a test. Active warps issue in order; after an issue the list is rotated
so that the issuer becomes the last. Slots without a warp have places in both lists, as in GPGPU-Sim.
Timing-model section 2 (`two_level_active`); Narasiman et al., Improving GPU performance via large warps and two-level
warp scheduling, MICRO 2011; Gebhart et al., Energy-efficient mechanisms for managing thread context, ISCA 2011.

sm.policy_number: active warps of a scheduler. sm.policy[scheduler, 0]: warps in all, 0 before the first cycle; from
LIST on: the warps, active ones first, then the pending queue; after these, those on their way to the end.
"""

from ptxsim.base.jit import bit, ctz, njit
from ptxsim.timing.schedulers.warps import runnable

LIST = 8


@njit
def _fill(sm, scheduler):
    """All warps of a scheduler, in the order of their slots."""
    warps = sm.supervised[scheduler]
    n = 0
    while warps:
        sm.policy[scheduler, LIST + n] = ctz(warps)
        warps &= warps - 1
        n += 1
    sm.policy[scheduler, 0] = n


def window(sm, scheduler):
    if sm.policy[scheduler, 0] == 0:
        _fill(sm, scheduler)
    n = sm.policy[scheduler, 0]
    active = min(sm.policy_number, n)
    stay = runnable(sm) & ~(sm.long_wait & sm.has_head)
    end = LIST + n
    kept = 0
    leaving = 0
    for k in range(LIST, LIST + active):
        w = sm.policy[scheduler, k]
        if stay & bit(w):
            sm.policy[scheduler, LIST + kept] = w
            kept += 1
        else:
            sm.policy[scheduler, end + leaving] = w
            leaving += 1
    if leaving:
        for k in range(LIST + active, end):
            sm.policy[scheduler, k - leaving] = sm.policy[scheduler, k]
        for k in range(leaving):
            sm.policy[scheduler, end - leaving + k] = sm.policy[scheduler, end + k]
    chosen = bit(0) & 0
    for k in range(LIST, LIST + active):
        chosen |= bit(sm.policy[scheduler, k])
    return chosen


def pick(sm, scheduler, candidates):
    n = sm.policy[scheduler, 0]
    active = min(sm.policy_number, n)
    first = LIST
    while not candidates & bit(sm.policy[scheduler, first]):
        first += 1
    w = sm.policy[scheduler, first]
    ahead = first - LIST + 1  # warps up to the issuer, which go to the end in their order
    for k in range(ahead):
        sm.policy[scheduler, LIST + n + k] = sm.policy[scheduler, LIST + k]
    for k in range(active - ahead):
        sm.policy[scheduler, LIST + k] = sm.policy[scheduler, LIST + ahead + k]
    for k in range(ahead):
        sm.policy[scheduler, LIST + active - ahead + k] = sm.policy[scheduler, LIST + n + k]
    return w
