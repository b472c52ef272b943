"""Greedy then oldest: the warp that issued last, otherwise the one launched first (timing-model section 2).

sm.policy[scheduler, 0]: the greedy warp, initially slot 0.
"""

from ptxsim.base.jit import bit
from ptxsim.timing.schedulers.warps import oldest


def pick(sm, scheduler, candidates):
    if not candidates & bit(sm.policy[scheduler, 0]):
        sm.policy[scheduler, 0] = oldest(sm, candidates)
    return sm.policy[scheduler, 0]
