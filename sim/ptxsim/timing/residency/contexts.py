"""The state that moves at a switch of CTAs: the pipeline's context of every warp, and the counts of the CTA's barriers.

SIMT stacks, ages and barrier counts go to shared memory and return, in FineReg as in Virtual Thread. I-buffers are
flushed: a warp that returns fetches from the PC of its stack. Registers, scoreboard and scratchpad are indexed by
context and do not move in the simulator; `register_file.py` models the time of moving them.

Yoon et al., Virtual Thread, ISCA 2016; Oh et al., FineReg, MICRO 2018, section V.B; timing-model section 6.1.
"""

import numpy as np

from ptxsim.base.jit import ctz, njit
from ptxsim.base.warp_masks import from_warp, warp_bit
from ptxsim.execute import simt_stack
from ptxsim.timing.residency.switch_records import EXITED, LIVE, NOWHERE, RETIRED, SHARED_MEMORY, warp_at
from ptxsim.timing.sharing.locks import end_lock_wait
from ptxsim.timing.sharing.pairs import cta_started
from ptxsim.timing.sm_state import ALL_CLASSES, BARRIERS
from ptxsim.timing.timeline_codes import ABSENT, CTA, WARP
from ptxsim.timing.timeline_events import note
from ptxsim.timing.warps.barrier import note_wait


@njit
def warps_of(run, sm, slot):
    """Mask of the warp slots of a CTA slot."""
    first = slot * run.warps_per_cta
    return from_warp(sm, first) & ~from_warp(sm, first + run.warps_per_cta)


@njit
def free_context(switch):
    """A context that no CTA has; there is one."""
    c = 0
    while switch.place[c] != 0:
        c += 1
    return c


@njit
def swap_out(run, sm, switch, slot):
    """The CTA in a slot leaves the pipeline: its context goes to shared memory. The slot stays taken."""
    c = sm.cta_context[slot]
    first = slot * run.warps_per_cta
    mine = warps_of(run, sm, slot)
    locked = sm.lock_wait & mine
    while locked:  # for a section of the pool
        end_lock_wait(run, sm, ctz(locked))
        locked &= locked - 1
    waiting = 0
    for k in range(run.warps_per_cta):
        w = first + k
        context = c * run.warps_per_cta + k
        warp = warp_at(switch.warps, context)
        warp.state = RETIRED
        if sm.resident & warp_bit(sm, w):
            warp.state = EXITED if sm.finishing & warp_bit(sm, w) else LIVE
            _save(sm, warp, w)
            waiting += sm.loads[context]
        sm.slot_of[context] = NOWHERE
    _forget(sm, ~mine)
    switch.cta[c] = sm.cta_id[slot]
    switch.warps_left[c] = sm.cta_warps[slot]
    for number in range(BARRIERS):
        switch.arrived[c, number] = sm.cta_arrived[slot, number]
        switch.counted[c, number] = sm.cta_counted[slot, number]
        switch.expected[c, number] = sm.cta_expected[slot, number]
        switch.holds[c, number] = sm.cta_holds[slot, number]
        switch.seen[c, number] = sm.cta_seen[slot, number]
    sm.cta_id[slot] = -1
    sm.swapped_out += 1
    switch.place[c] = SHARED_MEMORY
    switch.active -= 1
    switch.loads[c] = waiting
    if waiting == 0:
        switch.n_ready += 1


@njit
def swap_in(run, sm, switch, slot, c):
    """A ready CTA takes a slot of the pipeline."""
    sm.cta_context[slot] = c
    sm.cta_id[slot] = switch.cta[c]
    sm.cta_warps[slot] = switch.warps_left[c]
    first = slot * run.warps_per_cta
    if run.timeline:
        note(run, sm, CTA, slot, sm.cta_id[slot], 0, 0)
    for number in range(BARRIERS):
        sm.cta_arrived[slot, number] = switch.arrived[c, number]
        sm.cta_counted[slot, number] = switch.counted[c, number]
        sm.cta_expected[slot, number] = switch.expected[c, number]
        sm.cta_holds[slot, number] = switch.holds[c, number]
        sm.cta_seen[slot, number] = switch.seen[c, number]
    for k in range(run.warps_per_cta):
        context = c * run.warps_per_cta + k
        warp = warp_at(switch.warps, context)
        sm.cta_slot[first + k] = slot
        sm.warp_in_cta[first + k] = k
        if warp.state != RETIRED:
            _restore(run, sm, warp, first + k, context)
        elif run.timeline:
            note(run, sm, WARP, first + k, ABSENT, -1, 0)
    cta_started(run, sm, slot)
    sm.swapped_out -= 1
    switch.active += 1
    switch.most_active = max(switch.most_active, switch.active)


@njit
def _save(sm, warp, w):
    simt_stack.copy(sm, w, warp, 0)
    warp.inner_wait = (sm.inner_wait & warp_bit(sm, w)) != 0
    warp.dynamic_id = sm.dynamic_id[w]


@njit
def _restore(run, sm, warp, w, context):
    me = warp_bit(sm, w)
    simt_stack.start(sm, w, np.int64(0))
    simt_stack.copy(warp, 0, sm, w)
    sm.context[w] = context
    sm.first_register[w] = context * run.n_registers
    sm.slot_of[context] = w
    sm.dynamic_id[w] = warp.dynamic_id
    sm.done_at[w] = 0
    sm.ib_n[w] = 0
    sm.ib_pc[w] = 0
    sm.resident |= me
    if warp.inner_wait:
        sm.inner_wait |= me
    if sm.stores[context]:
        sm.storing |= me
    if warp.state == EXITED:
        sm.finishing |= me
        return
    sm.fetch_pc[w] = sm.stack_pc[sm.depth[w] - 1, w]
    note_wait(sm, w)


@njit
def _forget(sm, others):
    """Clear the state of all warp slots but `others`. (No warp of a CTA that is switched out waits for a copy, a fence
    or an instruction.)"""
    sm.resident &= others
    sm.finishing &= others
    sm.storing &= others
    sm.has_head &= others
    sm.stale &= others
    sm.ready &= others
    sm.long_wait &= others
    sm.blocked &= others
    sm.at_barrier &= others
    sm.in_atomic &= others
    sm.outside &= others
    sm.inner_wait &= others
    sm.fetch_stuck &= others
    sm.needs_lock &= others
    for k in range(ALL_CLASSES):
        sm.head_class[k] &= others
