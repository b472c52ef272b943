"""The status monitor: which CTA leaves the pipeline and which one enters it; the interface of the core stages.

`switch_ctas` is called in every cycle of an SM, the other functions where a CTA or a load begins or ends. One switch is
in progress at a time; until it ends its slot is empty, and the other CTAs run on. In a cycle:

1. A switch that ends puts its CTA into the slot, or leaves the slot to CTA dispatch.
2. A free slot goes to a ready CTA: it waits for no load, and its registers are in the ACRF or fit into it.
3. The first stalled CTA (in order of slots) that can be replaced leaves its slot:
   to a ready CTA with its registers in the ACRF, only contexts being swapped;
   to a ready CTA in the PCRF, if the stalled one's live registers fit into the PCRF's free entries then;
   to a new CTA, if its registers fit into the ACRF, or the stalled one's into the PCRF.
   A stalled CTA whose registers fit nowhere stays in its slot: a depletion of the PCRF.

Of several ready CTAs the one launched first is chosen. CTAs are launched when a slot or a stalled CTA makes room, not
before (a choice); the largest number of resident CTAs is the same.

Yoon et al., Virtual Thread, ISCA 2016; Oh et al., FineReg, MICRO 2018, section V.B; timing-model section 6.1.
"""

from ptxsim.base.jit import bit, ctz, njit
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.contexts import free_context, swap_in, swap_out, warps_of
from ptxsim.timing.residency.live_vectors import UNKNOWN, end_look_up, enter_vector, look_up
from ptxsim.timing.residency.register_file import evict, has_room, restore
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
    if switch.slot != NOWHERE and switch.due <= run.cycle:
        _finish(run, sm, switch)
    if switch.slot == NOWHERE and sm.free_slots and switch.n_ready:
        c = _ready(switch, False, 0)
        if c != NOWHERE:
            slot = ctz(sm.free_slots)
            sm.free_slots &= ~bit(slot)
            _begin(run, switch, slot, c, _fetch(switch, c))
    _look_at_stalled(run, sm, switch, execution, memory)
    if switch.slot != NOWHERE:
        switch.next = min(switch.next, switch.due)
    _open(run, sm, switch)


@njit
def switch_next(run, sm):
    """The next cycle in which `switch_ctas` has work; FOREVER if only a reply from memory can cause some."""
    return switch_at(run.switching, sm.index).next


@njit
def cta_launched(run, sm, slot):
    """A new CTA takes a slot; returns its context."""
    switch = switch_at(run.switching, sm.index)
    _account(run, switch)
    c = free_context(switch)
    switch.place[c], switch.registers[c], switch.entries[c] = PIPELINE, ACRF, 0
    switch.stalled_since[slot] = NOT_STALLED
    switch.live_count[slot] = UNKNOWN
    switch.resident += 1
    switch.active += 1
    switch.in_acrf += 1
    switch.most_resident = max(switch.most_resident, switch.resident)
    switch.most_active = max(switch.most_active, switch.active)
    _open(run, sm, switch)
    return c


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


@njit
def vector_arrived(run, sm):
    """The requested live-register vector has arrived."""
    enter_vector(switch_at(run.switching, sm.index))


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
    if sm.free_slots and switch.resident < switch.ctas and has_room(switch):
        set_open(run, sm.index, 1)
    else:
        set_open(run, sm.index, 0)


@njit
def _ready(switch, evicting, least):
    """The next ready CTA, preferably with its registers in the ACRF, else in the PCRF. The latter needs room in the
    ACRF; if the CTA that leaves is evicted (`evicting`), it has that CTA's room, and must free `least` entries."""
    best = NOWHERE
    for c in range(switch.ctas):
        if switch.place[c] != SHARED_MEMORY or switch.loads[c]:
            continue
        if switch.registers[c] == PCRF and not (switch.entries[c] >= least if evicting else has_room(switch)):
            continue
        if best == NOWHERE:
            best = c
        elif switch.registers[c] != switch.registers[best]:
            if switch.registers[c] == ACRF:
                best = c
        elif switch.cta[c] < switch.cta[best]:
            best = c
    return best


@njit
def _fetch(switch, c):
    """A ready CTA is on its way to a slot; returns the cycles until its registers are in the ACRF."""
    switch.n_ready -= 1
    switch.place[c] = PIPELINE
    return restore(switch, c) if switch.registers[c] == PCRF else 0


@njit
def _begin(run, switch, slot, c, cycles):
    """Begin a switch: when the registers have moved, CTA c takes the slot; c NOWHERE: the slot becomes free."""
    switch.slot, switch.incoming = slot, c
    switch.due = run.cycle + max(1, cycles + switch.swap_cycles)
    switch.depleted = 0  # another stalled CTA may have been refused before, in this cycle


@njit
def _finish(run, sm, switch):
    if switch.incoming == NOWHERE:
        sm.free_slots |= bit(switch.slot)
    else:
        swap_in(run, sm, switch, switch.slot, switch.incoming)
        switch.stalled_since[switch.slot] = NOT_STALLED
        switch.live_count[switch.slot] = UNKNOWN
    switch.slot = NOWHERE


@njit
def _look_at_stalled(run, sm, switch, execution, memory):
    """Note which CTAs are stalled, and let the first that can give way."""
    more = run.next_cta < run.n_ctas and switch.resident < switch.ctas
    able = switch.slot == NOWHERE and (more or switch.n_ready > 0)
    for slot in range(run.resident_ctas):
        if not sm.resident & warps_of(run, slot) or not (able or switch.stalled_since[slot] != NOT_STALLED):
            continue
        since = stalled_from(run, sm, slot)
        if since == NOT_STALLED:
            switch.stalled_since[slot] = NOT_STALLED
            switch.live_count[slot] = UNKNOWN
            if switch.vector_slot == slot:
                end_look_up(run, switch)
            continue
        if switch.stalled_since[slot] == NOT_STALLED:
            switch.stalled_since[slot] = max(since, run.cycle)
        patient_until = switch.stalled_since[slot] + switch.stalled_cycles
        if not able:
            continue
        if patient_until > run.cycle:
            switch.next = min(switch.next, patient_until)
        elif _give_way(run, sm, switch, execution, memory, slot, more):
            able = False


@njit
def _give_way(run, sm, switch, execution, memory, slot, more):
    """A stalled CTA leaves its slot if another CTA can take it and its registers have room. False if it stays."""
    c = _ready(switch, False, 0)
    keeps = c != NOWHERE or has_room(switch)  # its registers in the ACRF: only contexts are swapped
    if c == NOWHERE and not (more and keeps):
        if (
            switch.pcrf_entries == 0
            or not (switch.n_ready or more)
            or not look_up(run, sm, switch, memory, slot)
        ):
            return False
        lacking = switch.live_count[slot] - switch.free_entries
        c = _ready(switch, True, lacking)
        if c == NOWHERE and (lacking > 0 or not more):
            switch.depleted = 1
            return False
    going, coming = 0, 0
    if c != NOWHERE:
        coming = _fetch(switch, c)
    if not keeps:
        evict(run, sm, switch, execution, slot)
        going = switch.live_count[slot]
    cycles = max(going, coming)
    if not keeps:
        cycles += switch.look_up_cycles[slot]
    swap_out(run, sm, switch, slot)
    if switch.vector_slot == slot:
        end_look_up(run, switch)
    switch.switches += 1
    _begin(run, switch, slot, c, cycles)
    return True
