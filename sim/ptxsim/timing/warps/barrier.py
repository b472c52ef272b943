"""Barriers: a warp that arrives waits until as many threads have arrived as take part (timing-model section 1.8).

Threads are counted as in the run without time (functional/barriers.py): whole warps at an aligned barrier, lanes at
another one. Without a thread count all threads of the CTA that have not exited take part, so an exit tests the
barriers again.

What waits is an entry of the SIMT stack. Where only a part of a warp's lanes arrives, the other entries of the same
level go on; `inner_wait` has the warps with a waiting entry that is not on top.
"""

from ptxsim.base.jit import bit, njit, popcount
from ptxsim.base.program import ARRIVE, instruction_at
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute import simt_stack
from ptxsim.execute.warp import give_reduction
from ptxsim.timing.sm_state import BARRIERS


@njit
def arrive(run, sm, execution, i, w, mask):
    """Lanes `mask` of warp w execute barrier instruction i, which has left its operands in the context."""
    instruction = instruction_at(run.code, i)
    slot = sm.cta_slot[w]
    number = execution.barrier
    sm.barriers += 1
    live = simt_stack.live_lanes(sm, w, execution, sm.index * run.contexts + sm.context[w])
    lanes = live if instruction.barrier_aligned else mask
    sm.cta_arrived[slot, number] += popcount(lanes)
    sm.cta_counted[slot, number] += popcount(lanes)
    place = bit(sm.warp_in_cta[w])
    if not sm.cta_seen[slot, number] & place:
        sm.cta_counted[slot, number] += 32 - popcount(live)
    sm.cta_seen[slot, number] |= place
    sm.cta_expected[slot, number] = execution.barrier_threads
    sm.cta_holds[slot, number] += popcount(execution.barrier_votes)
    if instruction.barrier_kind == ARRIVE:
        simt_stack.advance(sm, w, i + 1)
    else:
        if simt_stack.wait(sm, w, number, i, mask, lanes != live):
            sm.inner_wait |= warp_bit(sm, w)
        note_wait(sm, w)
    _test(run, sm, execution, slot, number)


@njit
def note_wait(sm, w):
    """See whether the top of a warp's stack waits."""
    if sm.depth[w] and sm.stack_wait[sm.depth[w] - 1, w]:
        sm.at_barrier |= warp_bit(sm, w)
    else:
        sm.at_barrier &= ~warp_bit(sm, w)


@njit
def _test(run, sm, execution, slot, number):
    """Let everyone go on if a barrier is complete."""
    first = sm.cta_first[slot]
    end = first + sm.cta_size[slot]
    if sm.cta_expected[slot, number]:
        if sm.cta_counted[slot, number] < sm.cta_expected[slot, number]:
            return
    else:
        live = 0
        for w in range(first, end):
            live += popcount(simt_stack.live_lanes(sm, w, execution, sm.index * run.contexts + sm.context[w]))
        if sm.cta_arrived[slot, number] < live:
            return
    executing = execution.warp
    for w in range(first, end):
        for k in range(sm.depth[w]):
            if sm.stack_wait[k, w] == number + 1:
                instruction = instruction_at(run.code, sm.waits_since[k, w])
                execution.warp = sm.index * run.contexts + sm.context[w]
                give_reduction(
                    execution,
                    instruction,
                    sm.waiting_lanes[k, w],
                    sm.cta_holds[slot, number],
                    sm.cta_arrived[slot, number],
                )
                sm.stack_wait[k, w] = 0
        if sm.at_barrier & warp_bit(sm, w):
            simt_stack.settle(sm, w)
            note_wait(sm, w)
    execution.warp = executing
    sm.cta_arrived[slot, number] = 0
    sm.cta_counted[slot, number] = 0
    sm.cta_holds[slot, number] = 0
    sm.cta_seen[slot, number] = 0


@njit
def retest_barriers(run, sm, execution, slot):
    """Lanes of the CTA have exited: those that wait may be complete now."""
    for number in range(BARRIERS):
        if sm.cta_arrived[slot, number]:
            _test(run, sm, execution, slot, number)
