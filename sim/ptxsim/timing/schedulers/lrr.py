"""Loose round robin: the first candidate after the warp that issued last (timing-model section 2).

sm.policy[scheduler, 0]: the slot after the last issuer's.
"""

from ptxsim.base.jit import ctz, from_bit


def pick(sm, scheduler, candidates):
    later = candidates & from_bit(sm.policy[scheduler, 0])
    w = ctz(later) if later else ctz(candidates)
    sm.policy[scheduler, 0] = w + 1
    return w
