"""The status monitor: which CTA leaves the pipeline and which one enters it; the interface of the core stages.

`switch_ctas` is called in every cycle of an SM, the other functions where a CTA or a load begins or ends. A slot whose
CTA changes is empty meanwhile; the other CTAs run on, and no more than `concurrent_switches` are under way. In a cycle:

1. A switch that ends puts its CTA into the slot, or leaves the slot to CTA dispatch.
2. A free slot goes to a ready CTA: it waits for no load, and its registers are in the ACRF or fit into it. A slot that
   a CTA has left for a new one is for that one.
3. The scheme decides about each stalled CTA, in the order of slots (`give_way.py`).
4. Registers that move to DRAM and back enter the miss queue of the L1.

CTAs are launched when a slot or a stalled CTA makes room, not before (a choice); the largest number of resident CTAs is
the same.

Yoon et al., Virtual Thread, ISCA 2016; Oh et al., FineReg, MICRO 2018, sections IV.A, V.B and V.E; timing-model
section 6.1.
"""

from ptxsim.base.jit import bit, ctz, njit, popcount
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.contexts import free_context, swap_in, warps_of
from ptxsim.timing.residency.dram_areas import is_moving, line_came, send_lines
from ptxsim.timing.residency.give_way import begin, fetch, first_ready, give_way
from ptxsim.timing.residency.live_vectors import UNKNOWN, end_look_up, enter_vector
from ptxsim.timing.residency.register_file import has_room, hold_new, release_arrived
from ptxsim.timing.residency.stalls import becomes_ready, note_stall, starts_running
from ptxsim.timing.residency.switch_records import ABSENT, ACRF, NOWHERE, OUTSIDE, PIPELINE, switch_at
from ptxsim.timing.residency.trigger import NOT_STALLED, stalled_from
from ptxsim.timing.sm_state import FOREVER
from ptxsim.timing.warps.scoreboard import written


@njit
def switch_ctas(run, sm, execution, l1, memory, decide):
    """A cycle of an SM's CTA switching, after its other stages."""
    switch = switch_at(run.switching, sm.index)
    _account(run, switch)
    switch.next = FOREVER
    switch.depleted = 0
    _go_on(run, sm, switch)
    _fill_free_slots(run, sm, switch)
    _look_at_stalled(run, sm, switch, execution, memory, decide)
    if switch.lines:
        switch.next = min(switch.next, send_lines(run, sm, switch, l1))
    left = switch.under_way
    while left:
        slot = ctz(left)
        left &= left - 1
        switch.next = min(switch.next, switch.due[slot], switch.moved[slot])
        if switch.overlap:
            switch.next = min(switch.next, release_arrived(run, sm, switch, slot))
    _open(run, sm, switch)


@njit
def switch_next(run, sm):
    """The next cycle in which `switch_ctas` has work; FOREVER if only a reply from memory can cause some."""
    return switch_at(run.switching, sm.index).next


@njit
def slot_for_new(run, sm):
    """The free slot that a new CTA takes: one that a CTA has left for it, if there is one."""
    mine = sm.free_slots & switch_at(run.switching, sm.index).for_new
    return ctz(mine if mine else sm.free_slots)


@njit
def cta_launched(run, sm, slot):
    """A new CTA takes a slot; returns its context."""
    switch = switch_at(run.switching, sm.index)
    _account(run, switch)
    c = free_context(switch)
    switch.place[c], switch.registers[c], switch.entries[c] = PIPELINE, ACRF, 0
    starts_running(run, switch, slot, 1)
    switch.live_count[slot] = UNKNOWN
    switch.resident += 1
    switch.active += 1
    if switch.for_new & bit(slot):
        switch.for_new &= ~bit(slot)
    else:
        switch.in_acrf += 1
    switch.most_resident = max(switch.most_resident, switch.resident)
    switch.most_active = max(switch.most_active, switch.active)
    _open(run, sm, switch)
    return c


@njit
def warps_launched(run, sm, slot):
    """The warps of a new CTA are in their slots: registers that are not vacated yet are not ready."""
    hold_new(run, sm, switch_at(run.switching, sm.index), slot)


@njit
def cta_left(run, sm, slot):
    """The CTA in a slot has ended."""
    switch = switch_at(run.switching, sm.index)
    _account(run, switch)
    switch.place[sm.cta_context[slot]] = ABSENT
    switch.resident -= 1
    switch.active -= 1
    switch.in_acrf -= 1


@njit
def load_returned(run, sm, i, context, cycle):
    """A load or atomic, instruction i, of a warp that has been switched out has all its data."""
    switch = switch_at(run.switching, sm.index)
    written(run, sm, i, context * run.n_registers, cycle)
    c = context // run.warps_per_cta
    switch.loads[c] -= 1
    if switch.loads[c] == 0:
        switch.n_ready += 1
        if not switch.awaits_section[c]:
            becomes_ready(run, switch, c)


@njit
def register_arrived(run, sm, slot):
    """A register of the CTA that comes to a slot has arrived from DRAM."""
    line_came(run, switch_at(run.switching, sm.index), slot)


@njit
def vector_arrived(run, sm, n_bytes):
    """So many bytes of the requested live-register vector have arrived."""
    enter_vector(switch_at(run.switching, sm.index), n_bytes)


@njit
def _account(run, switch):
    """Bring the sums over cycles up to this one."""
    cycles = run.cycle - switch.counted_cycle
    switch.counted_cycle = run.cycle
    switch.resident_sum += switch.resident * cycles
    switch.active_sum += switch.active * cycles
    if switch.depleted:
        switch.depletion_cycles += cycles


@njit
def _open(run, sm, switch):
    """Let CTA dispatch see whether there is room for a new CTA."""
    others = sm.free_slots & ~switch.for_new
    if sm.free_slots & switch.for_new or (others and _can_grow(switch) and has_room(switch)):
        set_open(run, sm.index, 1)
    else:
        set_open(run, sm.index, 0)


@njit
def _can_grow(switch):
    """Whether one more CTA can be resident, besides those that slots are kept for."""
    return switch.resident + popcount(switch.for_new) < switch.ctas


@njit
def _go_on(run, sm, switch):
    """Let CTAs take their slots whose contexts are there, release registers that are there, and end the switches whose
    registers have moved."""
    left = switch.under_way
    while left:
        slot = ctz(left)
        left &= left - 1
        if switch.due[slot] <= run.cycle:
            switch.due[slot] = FOREVER
            c = switch.incoming[slot]
            if c == NOWHERE:
                sm.free_slots |= bit(slot)
                if not switch.keeps_places and switch.for_new & bit(slot):
                    _give_back(switch, slot)
            else:
                swap_in(run, sm, switch, slot, c)
                starts_running(run, switch, slot, 0)
                switch.live_count[slot] = UNKNOWN
        if switch.overlap:
            release_arrived(run, sm, switch, slot)
        if switch.moved[slot] <= run.cycle:
            switch.moved[slot] = FOREVER
        is_over = switch.due[slot] == FOREVER and switch.moved[slot] == FOREVER
        if is_over and not is_moving(switch, slot):
            switch.under_way &= ~bit(slot)
    left = switch.for_new if run.next_cta >= run.n_ctas else bit(0) & 0
    while left:  # no CTA is left for them
        _give_back(switch, ctz(left))
        left &= left - 1


@njit
def _give_back(switch, slot):
    """A slot is not kept for a new CTA any more."""
    switch.for_new &= ~bit(slot)
    switch.in_acrf -= 1


@njit
def _fill_free_slots(run, sm, switch):
    """Let ready CTAs take slots in which CTAs have ended."""
    left = sm.free_slots & ~(switch.for_new | switch.under_way)
    while left and switch.n_ready and popcount(switch.under_way) < switch.concurrent_switches:
        c = first_ready(run, sm, switch, ACRF, 0)
        if c == NOWHERE and has_room(switch):
            c = first_ready(run, sm, switch, OUTSIDE, 0)
        if c == NOWHERE:
            return
        slot = ctz(left)
        left &= left - 1
        sm.free_slots &= ~bit(slot)
        coming = fetch(run, switch, c)
        begin(run, sm, switch, slot, NOWHERE, c, 0, coming, 0)


@njit
def _look_at_stalled(run, sm, switch, execution, memory, decide):
    """Note which CTAs are stalled, and let those leave that can."""
    for slot in range(run.resident_ctas):
        if not sm.resident & warps_of(run, sm, slot):
            continue
        since = stalled_from(run, sm, switch, slot)
        note_stall(run, switch, slot, since)
        if since == NOT_STALLED:
            switch.live_count[slot] = UNKNOWN
            if switch.vector_slot == slot:
                end_look_up(run, switch)
            continue
        more = run.next_cta < run.n_ctas and _can_grow(switch)
        is_busy = popcount(switch.under_way) >= switch.concurrent_switches or switch.under_way & bit(slot)
        if is_busy or not (more or switch.n_ready):
            continue
        patient_until = switch.stalled_since[slot] + switch.stalled_cycles
        if patient_until > run.cycle:
            switch.next = min(switch.next, patient_until)
        else:
            give_way(run, sm, switch, execution, memory, decide, slot, more)
