"""The status monitor: which CTA leaves the pipeline, which one comes, and what the core has to tell and ask.

The one place that core stages call (`switch_ctas` in every cycle of an SM, the others where a CTA or a load begins or
ends). One switch goes on at a time; until it is over the slot is empty, and other CTAs run on. In a cycle:

1. A switch that is over puts its CTA into the slot, or leaves the slot to CTA dispatch.
2. A free slot is for a CTA that is ready: it waits for no load, and its registers are in the ACRF or find room there.
3. Of the stalled CTAs the first (in order of slots) that can gives way:
   to a ready CTA with its registers in the ACRF, only contexts being swapped;
   to a ready CTA in the PCRF, if the stalled one's live registers fit into what is free then;
   to a new CTA, whose registers find room in the ACRF, or where the stalled one's do in the PCRF.
   One that finds no room stays where it is. That is a depletion of the PCRF.

Of several ready CTAs the one launched first comes. That CTAs are launched when a slot or a stalled CTA makes room, and
not before, is a choice; the most that are resident at a time are the same.

Yoon et al., Virtual Thread, ISCA 2016; Oh et al., FineReg, MICRO 2018, section V.B; timing-model section 6.1.
"""

from ptxsim.base.jit import bit, ctz, njit
from ptxsim.timing.residency.contexts import bring_back, free_context, put_aside, warps_of
from ptxsim.timing.residency.live_vectors import UNKNOWN, end_look_up, look_up, vector_came
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
def switch_ctas(run, sm, x, memory):
    """A cycle of an SM's CTA switching, behind its other stages."""
    u = switch_at(run.switching, sm.index)
    _account(run, u)
    u.next = FOREVER
    u.depleted = 0
    if u.slot != NOWHERE and u.due <= run.cycle:
        _finish(run, sm, u)
    if u.slot == NOWHERE and sm.free_slots and u.n_ready:
        c = _ready(u, False, 0)
        if c != NOWHERE:
            slot = ctz(sm.free_slots)
            sm.free_slots &= ~bit(slot)
            _begin(run, u, slot, c, _fetch(u, c))
    _look_at_stalled(run, sm, u, x, memory)
    if u.slot != NOWHERE:
        u.next = min(u.next, u.due)
    _open(run, sm, u)


@njit
def switch_next(run, sm):
    """When `switch_ctas` has something to do by itself; FOREVER if only what returns can change that."""
    return switch_at(run.switching, sm.index).next


@njit
def cta_launched(run, sm, slot):
    """A new CTA takes a slot. Its context."""
    u = switch_at(run.switching, sm.index)
    _account(run, u)
    c = free_context(u)
    u.place[c], u.registers[c], u.entries[c] = PIPELINE, ACRF, 0
    u.stalled_since[slot] = NOT_STALLED
    u.live_count[slot] = UNKNOWN
    u.resident += 1
    u.active += 1
    u.in_acrf += 1
    u.most_resident = max(u.most_resident, u.resident)
    u.most_active = max(u.most_active, u.active)
    _open(run, sm, u)
    return c


@njit
def cta_left(run, sm, slot):
    """The CTA in a slot has ended."""
    u = switch_at(run.switching, sm.index)
    _account(run, u)
    u.place[sm.cta_context[slot]] = ABSENT
    u.resident -= 1
    u.active -= 1
    u.in_acrf -= 1


@njit
def load_came(run, sm, i, context, cycle):
    """A load or atomic, instruction i, of a warp that has been switched out has all its data."""
    u = switch_at(run.switching, sm.index)
    written(run, sm, i, context * run.n_registers, cycle)
    c = context // run.warps_per_cta
    u.loads[c] -= 1
    if u.loads[c] == 0:
        u.n_ready += 1


@njit
def vector_arrived(run, sm):
    """The live-register vector that was asked for is there."""
    vector_came(switch_at(run.switching, sm.index))


@njit
def _account(run, u):
    """Bring the sums over cycles up to this one."""
    cycles = run.cycle - u.counted_cycle
    u.counted_cycle = run.cycle
    u.resident_sum += u.resident * cycles
    u.active_sum += u.active * cycles
    if u.depleted:
        u.depletion_cycles += cycles


@njit
def _open(run, sm, u):
    """Let CTA dispatch see whether there is room for a new CTA."""
    if sm.free_slots and u.resident < u.ctas and has_room(u):
        run.open_sms |= bit(sm.index)
    else:
        run.open_sms &= ~bit(sm.index)


@njit
def _ready(u, evicting, least):
    """The ready CTA that comes next, its registers in the ACRF or else in the PCRF. These need room in the ACRF, or
    that of the CTA that goes, which is `evicting`: then at least so many entries have to become free."""
    best = NOWHERE
    for c in range(u.ctas):
        if u.place[c] != SHARED_MEMORY or u.loads[c]:
            continue
        if u.registers[c] == PCRF and not (u.entries[c] >= least if evicting else has_room(u)):
            continue
        if best == NOWHERE:
            best = c
        elif u.registers[c] != u.registers[best]:
            if u.registers[c] == ACRF:
                best = c
        elif u.cta[c] < u.cta[best]:
            best = c
    return best


@njit
def _fetch(u, c):
    """A ready CTA is on its way to a slot. The cycles until its registers are in the ACRF."""
    u.n_ready -= 1
    u.place[c] = PIPELINE
    return restore(u, c) if u.registers[c] == PCRF else 0


@njit
def _begin(run, u, slot, c, cycles):
    """Begin a switch: when the registers have moved, CTA c takes the slot, or nobody does."""
    u.slot, u.incoming = slot, c
    u.due = run.cycle + max(1, cycles + u.swap_cycles)
    u.depleted = 0  # another stalled CTA may have been refused before, in this cycle


@njit
def _finish(run, sm, u):
    if u.incoming == NOWHERE:
        sm.free_slots |= bit(u.slot)
    else:
        bring_back(run, sm, u, u.slot, u.incoming)
        u.stalled_since[u.slot] = NOT_STALLED
        u.live_count[u.slot] = UNKNOWN
    u.slot = NOWHERE


@njit
def _look_at_stalled(run, sm, u, x, memory):
    """Note which CTAs are stalled, and let the first that can give way."""
    more = run.next_cta < run.n_ctas and u.resident < u.ctas
    able = u.slot == NOWHERE and (more or u.n_ready > 0)
    for slot in range(run.resident_ctas):
        if not sm.resident & warps_of(run, slot) or not (able or u.stalled_since[slot] != NOT_STALLED):
            continue
        since = stalled_from(run, sm, slot)
        if since == NOT_STALLED:
            u.stalled_since[slot] = NOT_STALLED
            u.live_count[slot] = UNKNOWN
            if u.vector_slot == slot:
                end_look_up(run, u)
            continue
        if u.stalled_since[slot] == NOT_STALLED:
            u.stalled_since[slot] = max(since, run.cycle)
        patient_until = u.stalled_since[slot] + u.stalled_cycles
        if not able:
            continue
        if patient_until > run.cycle:
            u.next = min(u.next, patient_until)
        elif _give_way(run, sm, u, x, memory, slot, more):
            able = False


@njit
def _give_way(run, sm, u, x, memory, slot, more):
    """A stalled CTA leaves its slot to another, if there is one and room. False if it stays."""
    c = _ready(u, False, 0)
    keeps = c != NOWHERE or has_room(u)  # its registers in the ACRF: only contexts are swapped
    if c == NOWHERE and not (more and keeps):
        if u.pcrf_entries == 0 or not (u.n_ready or more) or not look_up(run, sm, u, memory, slot):
            return False
        lacking = u.live_count[slot] - u.free_entries
        c = _ready(u, True, lacking)
        if c == NOWHERE and (lacking > 0 or not more):
            u.depleted = 1
            return False
    going, coming = 0, 0
    if c != NOWHERE:
        coming = _fetch(u, c)
    if not keeps:
        evict(run, sm, u, x, slot)
        going = u.live_count[slot]
    cycles = max(going, coming)
    if not keeps:
        cycles += u.look_up_cycles[slot]
    put_aside(run, sm, u, slot)
    if u.vector_slot == slot:
        end_look_up(run, u)
    u.switches += 1
    _begin(run, u, slot, c, cycles)
    return True
