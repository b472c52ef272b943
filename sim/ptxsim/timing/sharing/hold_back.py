"""Dynamic warp execution: the chance that a warp of a non-owner CTA may issue a memory instruction now.

More CTAs on an SM can cause more cache misses. So every SM has a chance, 1 at first, with which a non-owner's loads,
stores and atomics of global, local and texture memory issue; on SM 0, the reference, it is 0. At the end of every
period an SM with more Stall slots than SM 0 lowers its chance by a step, one with fewer raises it
(`dynamic_period.py`). A draw counts for one cycle, or for the rest of the period. An instruction that is held back
waits like one for a lock.

A draw is a hash of seed, SM, warp and cycle, independent of all other draws.

Jatala et al., register sharing, section 5.3; timing-model section 5.4.
"""

import numpy as np

from ptxsim.base.jit import njit, record, records
from ptxsim.base.program import GENERIC, GLOBAL, LOCAL, NO_ACCESS, TEXTURE
from ptxsim.base.warp_masks import MOST_WARPS, warp_bit

CERTAIN = 1_000_000  # a chance of 1

DYNAMIC = record(
    [  # of each SM
        ("seed", "u8"),
        ("sticky", "i8"),  # a draw counts until the period ends; 0: for its cycle
        ("cumulative", "i8"),  # Stall slots since the start are compared; 0: those of the period
        ("step", "i8"),  # in parts of CERTAIN, as the chances
        ("chance", "i8"),
        ("stalls", "i8"),  # Stall slots up to this period
        ("lowest", "i8"),
        ("raised", "i8"),
        ("lowered", "i8"),
        ("stops", "i8"),  # instructions that were held back
        ("held_cycles", "i8"),
        # of each warp
        ("held", "i1", (MOST_WARPS,)),  # it waits for the next draw
        ("passed", "i1", (MOST_WARPS,)),  # it may issue until the period ends
        ("stopped", "i1", (MOST_WARPS,)),  # its head has been held back
    ]
)
_units = records(DYNAMIC)


@njit
def is_far(instruction):
    """Whether an instruction may access memory beyond the SM, judged by its text."""
    space = instruction.space
    return instruction.access != NO_ACCESS and (
        space == GLOBAL or space == LOCAL or space == TEXTURE or space == GENERIC
    )


@njit
def _mixed(number):
    """A permutation of 64-bit numbers whose bits look random (S. Vigna, SplitMix64)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@njit
def _draw(seed, index, w, cycle):
    """A number below CERTAIN."""
    warp = 64 * index + (w & 63) + (w >> 6 << 32)  # that of a warp below 64 is the same in wide records
    place = _mixed(seed + np.uint64(warp + 1) * np.uint64(0x9E3779B97F4A7C15))
    return np.int64(_mixed(place + np.uint64(cycle)) % np.uint64(CERTAIN))


@njit
def admits(run, sm, w):
    """True if warp w of a non-owner CTA may issue its memory instruction in this cycle."""
    d = _units(run.dynamic, run.n_sms)[sm.index]
    if d.passed[w]:
        return True
    if d.chance < CERTAIN and _draw(d.seed, sm.index, w, run.cycle) >= d.chance:
        return False
    if d.sticky:
        d.passed[w] = 1
    return True


@njit
def hold(run, sm, w):
    """Warp w has to wait for another draw: in the next cycle, or when a period ends."""
    d = _units(run.dynamic, run.n_sms)[sm.index]
    d.held[w] = 1
    if not d.stopped[w]:
        d.stopped[w] = 1
        d.stops += 1
    sm.lock_wait |= warp_bit(sm, w)
    sm.lock_since[w] = run.cycle
    if draws_again(run, sm):
        sm.release_cycle = run.cycle + 1


@njit
def draws_again(run, sm):
    """Whether held-back warps draw again before the period ends."""
    d = _units(run.dynamic, run.n_sms)[sm.index]
    return d.chance > 0 and not d.sticky


@njit
def is_held(run, sm, w):
    """Whether warp w waits for a draw, not for a lock."""
    return _units(run.dynamic, run.n_sms)[sm.index].held[w] != 0


@njit
def end_hold(run, sm, w, cycles):
    """Warp w is held back no longer."""
    d = _units(run.dynamic, run.n_sms)[sm.index]
    d.held[w] = 0
    d.held_cycles += cycles


@njit
def forget_draw(run, sm, w):
    """Warp w issues."""
    d = _units(run.dynamic, run.n_sms)[sm.index]
    d.passed[w] = 0
    d.stopped[w] = 0
