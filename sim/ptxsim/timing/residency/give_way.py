"""A stalled CTA and its scheme: what is possible, what the scheme decides, and the switch that follows.

Possible are

    SWAP     if a ready CTA has its registers in the ACRF: only contexts are swapped
    LAUNCH   if CTAs are left, one more can be resident, and its registers have room
    FETCH    if a CTA whose registers are outside is ready, and they have room
    LOOK_UP  if room for a CTA takes the eviction of this one to the PCRF, and its live registers are not counted

Room is in the ACRF, or is made there by the eviction of the stalled CTA: always, where registers move to DRAM; if its
live registers fit into the PCRF's free entries, to which FETCH adds those of the CTA that comes. Of several ready CTAs
the one launched first is chosen. A CTA that has left because all its warps wait for sections of a pool, and none for
memory, is ready while a section is free. A stalled CTA whose registers fit nowhere stays in its slot: a depletion of
the PCRF.

Oh et al., FineReg, MICRO 2018, sections IV.A, V.B and V.E; timing-model section 6.1.
"""

from ptxsim.base.jit import bit, njit, popcount
from ptxsim.timing.residency.contexts import swap_out, warps_of
from ptxsim.timing.residency.decisions import FETCH, LAUNCH, LOOK_UP, STAY, SWAP
from ptxsim.timing.residency.dram_areas import begin_lines
from ptxsim.timing.residency.live_vectors import UNKNOWN, end_look_up, look_up
from ptxsim.timing.residency.register_file import (
    evict,
    has_room,
    hold_until_moved,
    moving_cycles,
    restore,
)
from ptxsim.timing.residency.stalls import becomes_ready, leaves_stalled
from ptxsim.timing.residency.switch_records import ACRF, NOWHERE, OUTSIDE, PIPELINE, SHARED_MEMORY
from ptxsim.timing.residency.trigger import waits_for_memory
from ptxsim.timing.sm_state import FOREVER

IMPOSSIBLE_DECISION = 110  # a kind of fault


@njit
def first_ready(run, sm, switch, registers, least):
    """The ready CTA that was launched first, of those with their registers in the ACRF, or outside with at least so
    many entries of the PCRF."""
    best = NOWHERE
    pool_is_empty = run.sections and sm.sections_taken == run.sections
    for c in range(switch.ctas):
        if switch.place[c] != SHARED_MEMORY or switch.loads[c]:
            continue
        if pool_is_empty and switch.awaits_section[c]:
            continue
        if switch.registers[c] != registers or switch.entries[c] < least:
            continue
        if best == NOWHERE or switch.cta[c] < switch.cta[best]:
            best = c
    return best


@njit
def give_way(run, sm, switch, execution, memory, decide, slot, more):
    """Let the scheme decide about a stalled CTA, and begin the switch, if there is one. `more`: a CTA can be launched
    besides those that are resident."""
    look(run, sm, switch, slot, more)
    view = switch.scheme_view
    swap, fetch_, new, count = view.can_swap, view.can_fetch, view.can_launch, view.can_look_up
    mine = warps_of(run, sm, slot)
    if not waits_for_memory(sm, mine):  # but for sections of a pool: as under Virtual Thread
        decision = SWAP if swap else LAUNCH if new else STAY
    else:
        decision = decide(view)
    if decision == LOOK_UP and count:
        if not look_up(run, sm, switch, execution, memory, slot):
            return
        look(run, sm, switch, slot, more)
        swap, fetch_, new, count = view.can_swap, view.can_fetch, view.can_launch, view.can_look_up
        decision = decide(view)
    if decision == STAY:
        if swap or fetch_ or new or count:
            switch.next = run.cycle + 1  # the scheme may wait for a time
        elif switch.live_count[slot] != UNKNOWN:
            switch.depleted = 1
    elif decision == SWAP and swap:
        _leave(run, sm, switch, execution, slot, first_ready(run, sm, switch, ACRF, 0), False)
    elif decision == FETCH and fetch_:
        c = first_ready(run, sm, switch, OUTSIDE, _lacking(switch, slot))
        _leave(run, sm, switch, execution, slot, c, not has_room(switch))
    elif decision == LAUNCH and new:
        _leave(run, sm, switch, execution, slot, NOWHERE, not has_room(switch))
    elif not run.fault_kind:
        run.fault_kind = IMPOSSIBLE_DECISION
        run.fault_sm = sm.index
        run.wrong_decision = decision
        look(run, sm, switch, slot, more)  # for the report: the scheme may have written to its view


@njit
def _lacking(switch, slot):
    """The entries of the PCRF that the registers of a stalled CTA lack, if they have to go there."""
    if has_room(switch) or switch.pcrf_entries == 0:
        return 0
    return switch.live_count[slot] - switch.free_entries


@njit
def look(run, sm, switch, slot, more):
    """Fill the view with the state of the SM and of the stalled CTA in a slot."""
    view = switch.scheme_view
    room = has_room(switch)
    view.slot, view.cta = slot, sm.cta_id[slot]
    view.stalled = run.cycle - switch.stalled_since[slot]
    view.live = switch.live_count[slot]
    view.index, view.cycle = sm.index, run.cycle
    view.resident, view.active, view.outside = switch.resident, switch.active, switch.outside
    view.ready, view.left = switch.n_ready, run.n_ctas - run.next_cta
    view.has_room, view.free = room, switch.free_entries
    view.can_swap = first_ready(run, sm, switch, ACRF, 0) != NOWHERE
    view.can_launch = view.can_fetch = view.can_look_up = 0
    if room or switch.lines:
        view.can_launch = more
        view.can_fetch = first_ready(run, sm, switch, OUTSIDE, 0) != NOWHERE
    elif switch.pcrf_entries and view.live == UNKNOWN:
        view.can_look_up = more or switch.n_ready > 0
    elif switch.pcrf_entries:
        lacking = _lacking(switch, slot)
        view.can_launch = more and lacking <= 0
        view.can_fetch = first_ready(run, sm, switch, OUTSIDE, lacking) != NOWHERE


@njit
def _leave(run, sm, switch, execution, slot, c, evicts):
    """The stalled CTA in a slot leaves it to CTA c, or a new one (NOWHERE); `evicts`: its registers leave the ACRF."""
    hits = switch.look_up_cycles[slot] if evicts else 0
    leaving, coming = 0, 0
    if c != NOWHERE:
        coming = fetch(run, switch, c)
    if evicts:
        leaving = evict(run, sm, switch, execution, slot)
    if switch.vector_slot == slot:
        end_look_up(run, switch)
    context = sm.cta_context[slot]
    leaves_stalled(switch, slot, context)
    switch.awaits_section[context] = not waits_for_memory(sm, warps_of(run, sm, slot))
    swap_out(run, sm, switch, slot)
    switch.switches += 1
    if c == NOWHERE:
        switch.for_new |= bit(slot)
        switch.in_acrf += 1
    begin(run, sm, switch, slot, context if evicts else NOWHERE, c, leaving, coming, hits)


@njit
def fetch(run, switch, c):
    """A ready CTA is on its way to a slot; returns how many registers of it are outside."""
    switch.n_ready -= 1
    switch.place[c] = PIPELINE
    if switch.awaits_section[c]:
        becomes_ready(run, switch, c)
    return restore(switch, c) if switch.registers[c] == OUTSIDE else 0


@njit
def begin(run, sm, switch, slot, evicted, c, leaving, coming, hits):
    """Begin a switch: CTA c, or a new one, will take the slot. So many registers leave the ACRF and come from outside,
    after so many cycles of hits in the vector cache. `evicted` and c are contexts, or NOWHERE."""
    cycles = moving_cycles(switch, leaving, coming)
    switch.incoming[slot] = c
    switch.under_way |= bit(slot)
    if switch.lines and (leaving or coming):
        begin_lines(run, switch, slot, evicted, c if coming else NOWHERE)
    elif switch.overlap:
        switch.due[slot] = run.cycle + max(1, hits + switch.swap_cycles)
        switch.moved[slot] = max(switch.due[slot], run.cycle + hits + cycles)
        if leaving or coming:
            hold_until_moved(run, sm, switch, slot, evicted, c, run.cycle + hits)
    else:
        switch.due[slot] = run.cycle + max(1, cycles + hits + switch.swap_cycles)
        switch.moved[slot] = switch.due[slot]
    if switch.due[slot] < FOREVER:
        switch.switch_cycles += switch.due[slot] - run.cycle
    switch.depleted = 0  # another stalled CTA may have been refused before, in this cycle
    if popcount(switch.under_way) < switch.concurrent_switches:
        switch.next = run.cycle + 1  # that one can be tried again
