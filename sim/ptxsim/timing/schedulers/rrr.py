"""Strict round robin: a warp has its turn until it issues, however long it takes (GPGPU-Sim 4.2's `rrr`).

The turn is that of the first warp after the last issuer that has not exited and does not wait (at a barrier, a fence,
a lock, for an atomic); the others neither issue nor count. In GPGPU-Sim warp 0 has the first turn in all schedulers;
here each begins with the first warp of its own.

Reference: timing-model-42 section 2.

sm.policy[scheduler, 0]: the slot after the last issuer's.
"""

from ptxsim.base.jit import ctz, from_bit
from ptxsim.timing.schedulers.warps import runnable


def window(sm, scheduler):
    turns = runnable(sm) & sm.supervised[scheduler]
    later = turns & from_bit(sm.policy[scheduler, 0])
    return later & -later if later else turns & -turns


def pick(sm, scheduler, candidates):
    w = ctz(candidates)
    sm.policy[scheduler, 0] = w + 1
    return w
