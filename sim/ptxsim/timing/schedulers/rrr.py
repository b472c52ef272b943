"""Strict round robin: a warp has its turn until it issues, however long it takes (GPGPU-Sim 4.2's `rrr`).

The turn is that of the first warp behind the last issuer that has not exited and does not wait (at a barrier, a fence,
a lock, for an atomic); the others neither issue nor count. GPGPU-Sim gives all its schedulers warp 0 as their first
turn; here each begins with the first warp of its own.

Reference: timing-model-42 section 2.

sm.policy[scheduler, 0]: the slot behind the last issuer.
"""

from ptxsim.base.jit import bit, ctz, from_bit
from ptxsim.timing.schedulers.warps import runnable


def window(sm, scheduler):
    turns = runnable(sm) & sm.supervised[scheduler]
    behind = turns & from_bit(sm.policy[scheduler, 0])
    if behind:
        return bit(ctz(behind))
    return turns & -turns


def pick(sm, scheduler, candidates):
    w = ctz(candidates)
    sm.policy[scheduler, 0] = w + 1
    return w
