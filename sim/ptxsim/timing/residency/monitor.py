"""The status monitor: which CTA leaves the pipeline and which one enters it; the interface of the core stages.

`switch_ctas` is called in every cycle of an SM, the other functions where a CTA or a load begins or ends. A slot whose
CTA changes is empty meanwhile; the other CTAs run on, and no more than `concurrent_switches` are under way. In a cycle:

1. A switch that ends puts its CTA into the slot, or leaves the slot to CTA dispatch.
2. A free slot goes to a ready CTA: it waits for no load, and its registers are in the ACRF or fit into it. A slot that
   a CTA has left for a new one is for that one.
3. A stalled CTA (in order of slots) leaves its slot, by the first case that applies:

   a  to a ready CTA with its registers in the ACRF, only contexts being swapped;
   b  to a new CTA, if its registers fit into the ACRF, or the stalled one's live registers into the PCRF;
   c  to a ready CTA in the PCRF, if the ACRF has room, or the stalled one's live registers fit into the PCRF's free
      entries then.

   A stalled CTA whose registers fit nowhere stays in its slot: a depletion of the PCRF. Where ready CTAs come first
   (`ready_first`), c is before b.

Of several ready CTAs the one launched first is chosen. CTAs are launched when a slot or a stalled CTA makes room, not
before (a choice); the largest number of resident CTAs is the same.

Yoon et al., Virtual Thread, ISCA 2016; Oh et al., FineReg, MICRO 2018, sections IV.A, V.B and V.E; timing-model
section 6.1.
"""

from ptxsim.base.jit import bit, ctz, njit, popcount
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.contexts import free_context, swap_in, swap_out, warps_of
from ptxsim.timing.residency.live_vectors import UNKNOWN, end_look_up, enter_vector, look_up
from ptxsim.timing.residency.register_file import (
    evict,
    has_room,
    hold_new,
    hold_until_moved,
    moving_cycles,
    release_arrived,
    restore,
)
from ptxsim.timing.residency.stalls import becomes_ready, leaves_stalled, note_stall, starts_running
from ptxsim.timing.residency.switch_records import (
    ABSENT,
    ACRF,
    NOWHERE,
    PCRF,
    PIPELINE,
    SHARED_MEMORY,
    switch_at,
)
from ptxsim.timing.residency.trigger import NOT_STALLED, stalled_from
from ptxsim.timing.sm_state import FOREVER
from ptxsim.timing.warps.scoreboard import written


@njit
def switch_ctas(run, sm, execution, memory):
    """A cycle of an SM's CTA switching, after its other stages."""
    switch = switch_at(run.switching, sm.index)
    _account(run, switch)
    switch.next = FOREVER
    switch.depleted = 0
    _go_on(run, sm, switch)
    _fill_free_slots(run, sm, switch)
    _look_at_stalled(run, sm, switch, execution, memory)
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
        becomes_ready(run, switch, c)


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
def _ready(switch, registers, least):
    """The ready CTA that was launched first, of those with their registers in the ACRF, or in the PCRF with at least
    so many entries."""
    best = NOWHERE
    for c in range(switch.ctas):
        if switch.place[c] != SHARED_MEMORY or switch.loads[c]:
            continue
        if switch.registers[c] != registers or switch.entries[c] < least:
            continue
        if best == NOWHERE or switch.cta[c] < switch.cta[best]:
            best = c
    return best


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
                if switch.ready_first and switch.for_new & bit(slot):
                    _give_back(switch, slot)
            else:
                swap_in(run, sm, switch, slot, c)
                starts_running(run, switch, slot, 0)
                switch.live_count[slot] = UNKNOWN
        if switch.overlap:
            release_arrived(run, sm, switch, slot)
        if switch.moved[slot] <= run.cycle:
            switch.moved[slot] = FOREVER
        if switch.due[slot] == FOREVER and switch.moved[slot] == FOREVER:
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
        c = _ready(switch, ACRF, 0)
        if c == NOWHERE and has_room(switch):
            c = _ready(switch, PCRF, 0)
        if c == NOWHERE:
            return
        slot = ctz(left)
        left &= left - 1
        sm.free_slots &= ~bit(slot)
        coming = _fetch(switch, c)
        _begin(run, sm, switch, slot, NOWHERE, c, 0, coming, 0)


@njit
def _look_at_stalled(run, sm, switch, execution, memory):
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
            _give_way(run, sm, switch, execution, memory, slot, more)


@njit
def _give_way(run, sm, switch, execution, memory, slot, more):
    """A stalled CTA leaves its slot if another CTA can take it and its registers have room."""
    launch_first = more and not switch.ready_first
    room = has_room(switch)
    c = _ready(switch, ACRF, 0)
    if c == NOWHERE and room and not launch_first:
        c = _ready(switch, PCRF, 0)
    leaving, coming, hits = 0, 0, 0
    evicts = c == NOWHERE and not (room and more)
    if evicts:
        if switch.pcrf_entries == 0 or not look_up(run, sm, switch, execution, memory, slot):
            return
        lacking = switch.live_count[slot] - switch.free_entries
        launches = more and lacking <= 0
        if not (launches and launch_first):
            c = _ready(switch, PCRF, lacking)
        if c == NOWHERE and not launches:
            switch.depleted = 1
            return
        hits = switch.look_up_cycles[slot]
    if c != NOWHERE:
        coming = _fetch(switch, c)
    if evicts:
        leaving = evict(run, sm, switch, execution, slot)
    if switch.vector_slot == slot:
        end_look_up(run, switch)
    context = sm.cta_context[slot]
    leaves_stalled(switch, slot, context)
    swap_out(run, sm, switch, slot)
    switch.switches += 1
    if c == NOWHERE:
        switch.for_new |= bit(slot)
        switch.in_acrf += 1
    _begin(run, sm, switch, slot, context if evicts else NOWHERE, c, leaving, coming, hits)


@njit
def _fetch(switch, c):
    """A ready CTA is on its way to a slot; returns how many registers it has in the PCRF."""
    switch.n_ready -= 1
    switch.place[c] = PIPELINE
    return restore(switch, c) if switch.registers[c] == PCRF else 0


@njit
def _begin(run, sm, switch, slot, evicted, c, leaving, coming, hits):
    """Begin a switch: CTA c, or a new one, will take the slot. So many registers leave for the PCRF and come from
    there, after so many cycles of hits in the vector cache. `evicted` and c are contexts, or NOWHERE."""
    cycles = moving_cycles(switch, leaving, coming)
    if switch.overlap:
        switch.due[slot] = run.cycle + max(1, hits + switch.swap_cycles)
        switch.moved[slot] = max(switch.due[slot], run.cycle + hits + cycles)
        if leaving or coming:
            hold_until_moved(run, sm, switch, slot, evicted, c, run.cycle + hits)
    else:
        switch.due[slot] = run.cycle + max(1, cycles + hits + switch.swap_cycles)
        switch.moved[slot] = switch.due[slot]
    switch.incoming[slot] = c
    switch.under_way |= bit(slot)
    switch.switch_cycles += switch.due[slot] - run.cycle
    switch.depleted = 0  # another stalled CTA may have been refused before, in this cycle
    if popcount(switch.under_way) < switch.concurrent_switches:
        switch.next = run.cycle + 1  # that one can be tried again
