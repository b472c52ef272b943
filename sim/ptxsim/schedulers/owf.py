"""Owner warps first: owners, then unshared warps, then non-owners; within a class the one launched first.

Jatala et al., register sharing, section 5.1; timing-model section 2. Not greedy.
"""

from ptxsim.jit import ctz


def pick(sm, scheduler, candidates):
    w = ctz(candidates)
    rest = candidates & (candidates - 1)
    while rest:
        other = ctz(rest)
        rest &= rest - 1
        if sm.warp_class[other] < sm.warp_class[w] or (
            sm.warp_class[other] == sm.warp_class[w] and sm.dynamic_id[other] < sm.dynamic_id[w]
        ):
            w = other
    return w
