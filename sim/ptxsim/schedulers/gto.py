"""Greedy then oldest: the warp that issued last, otherwise the one launched first (timing-model section 2).

sm.policy[scheduler, 0]: the greedy warp, initially slot 0.
"""

from ptxsim.jit import bit, ctz


def pick(sm, scheduler, candidates):
    greedy = sm.policy[scheduler, 0]
    if candidates & bit(greedy):
        return greedy
    w = ctz(candidates)
    rest = candidates & (candidates - 1)
    while rest:
        other = ctz(rest)
        rest &= rest - 1
        if sm.dynamic_id[other] < sm.dynamic_id[w]:
            w = other
    sm.policy[scheduler, 0] = w
    return w
