"""Exit: lanes leave, warps retire, CTAs end (timing-model section 1.8).

A warp whose lanes have all exited is retired when the fetch scan passes it, its pipes are empty and its stores are
acknowledged. A CTA ends with its last warp; its slot is free for the next CTA in the same cycle.
"""

from ptxsim.base.jit import bit, ctz, inline
from ptxsim.base.warp_masks import warp_bit, warp_slots
from ptxsim.timing.kernels.launches import cta_done
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.monitor import cta_left
from ptxsim.timing.sharing import renaming
from ptxsim.timing.sharing.locks import warp_exited
from ptxsim.timing.sharing.pairs import cta_ended
from ptxsim.timing.sharing.sections import exited_holding
from ptxsim.timing.sm_state import FOREVER
from ptxsim.timing.warps.barrier import retest_barriers


@inline
def finish_warp(run, sm, execution, w):
    """The last lane of warp w has exited: the warp issues no more and counts for no barrier."""
    me = warp_bit(sm, w)
    slot = sm.cta_slot[w]
    sm.finishing |= me
    sm.has_head &= ~me
    sm.stale &= ~me
    sm.ready &= ~me
    sm.blocked &= ~me
    sm.ib_n[w] = 0
    if sm.pair[slot] >= 0:
        warp_exited(run, sm, w)
    if run.sections:
        exited_holding(run, sm, w)
    if run.renaming_words:
        renaming.warp_exited(run, sm)
    retest_barriers(run, sm, execution, slot)


@inline
def may_retire(run, sm, w):
    """True if no instruction of a finished warp is in flight, stores excepted."""
    return sm.front_count[w] == 0 and sm.loads[sm.context[w]] == 0 and sm.done_at[w] <= run.cycle


@inline
def retire_passed(run, sm, first, chosen):
    """Retire the finished warps that a fetch scan passes from `first` to `chosen` (-1: all)."""
    limit = warp_slots(sm)
    if chosen >= 0:
        limit = (chosen - first) & (warp_slots(sm) - 1)
    waiting = sm.finishing & ~sm.storing
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if (w - first) & (warp_slots(sm) - 1) < limit and may_retire(run, sm, w):
            _retire(run, sm, w)


@inline
def _retire(run, sm, w):
    me = warp_bit(sm, w)
    slot = sm.cta_slot[w]
    sm.finishing &= ~me
    sm.resident &= ~me
    sm.cta_warps[slot] -= 1
    if sm.cta_warps[slot] == 0:
        sm.free_slots |= bit(slot)
        set_open(run, sm.index, 1)
        sm.cta_id[slot] = -1
        sm.cta_cycles += run.cycle
        cta_done(run, sm, slot)
        if sm.pair[slot] >= 0:
            cta_ended(run, sm, slot)
        if run.switching:
            cta_left(run, sm, slot)


@inline
def next_retirement(sm):
    """The earliest cycle in which a finished warp may retire as far as is known; FOREVER if none may."""
    best = FOREVER
    waiting = sm.finishing & ~sm.storing
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if sm.front_count[w] == 0 and sm.loads[sm.context[w]] == 0:
            best = min(best, sm.done_at[w])
    return best
