"""Barriers: a warp that arrives waits until as many warps have arrived as take part (timing-model section 1.8).

Without a thread count all warps of the CTA that still have lanes take part, so an exit tests the barriers again.
"""

from ptxsim.jit import bit, njit
from ptxsim.state import BARRIERS


@njit
def arrive(run, sm, instruction, w):
    """Warp w executes a barrier instruction."""
    slot = sm.cta_slot[w]
    number = instruction.barrier
    sm.barriers += 1
    sm.cta_arrived[slot, number] += 1
    sm.cta_expected[slot, number] = (instruction.barrier_threads + 31) // 32
    if not instruction.barrier_arrive:
        sm.cta_waiting[slot, number] |= bit(w)
        sm.at_barrier |= bit(w)
    _test(sm, slot, number)


@njit
def _test(sm, slot, number):
    expected = sm.cta_expected[slot, number]
    if expected == 0:
        expected = sm.cta_live[slot]
    if sm.cta_arrived[slot, number] >= expected:
        sm.at_barrier &= ~sm.cta_waiting[slot, number]
        sm.cta_waiting[slot, number] = 0
        sm.cta_arrived[slot, number] = 0


@njit
def retest_barriers(run, sm, slot):
    """A warp of the CTA has exited: those that wait may be complete now."""
    for number in range(BARRIERS):
        if sm.cta_arrived[slot, number]:
            _test(sm, slot, number)
