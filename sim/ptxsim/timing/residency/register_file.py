"""The divided register file: the ACRF with room for whole CTAs, the PCRF with entries for live registers, and the time
to move registers between them.

The ACRF holds the registers of `acrf_ctas` CTAs: active ones, and those whose context alone was swapped out. A PCRF
entry holds one 32-bit register of a warp. An evicted CTA takes an entry for every register that is live in one of its
warps; dead registers are lost, and the simulator overwrites them, so that a wrong live vector changes results. Virtual
Thread uses the whole file as ACRF and has no PCRF.

Moving: so many registers per cycle through the buffer of 128 bytes to the PCRF; from there the first takes longer,
because its tag locates the next one. Both directions overlap: timing-model section 6.1 (its choice). Warps move in
turn. Where moving overlaps with running, the registers of warp k of a CTA that comes are usable when those of the warps
up to k of the CTA that leaves have left, and those of the warps up to k of the CTA that comes are there: until then
they are pending in the scoreboard.

Handled simply: predicates and PTXPlus address registers move with the context. A load that returns while its CTA is in
the PCRF is written there in no time (section 6.1, its choice). Entries are counted, not chained.
Oh et al., FineReg, MICRO 2018, sections IV.B, V.C and V.D.
"""

import numpy as np

from ptxsim.base.jit import flat_i64, njit, rows_u32, rows_u64
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.residency.live_vectors import is_lost, live_registers
from ptxsim.timing.residency.switch_records import ACRF, NOWHERE, OUTSIDE, warp_at
from ptxsim.timing.sm_state import FOREVER
from ptxsim.timing.warps.scoreboard import set_wake

_LOST = 0xDEADBEEF


@njit
def has_room(switch):
    """Whether the registers of one more CTA fit into the ACRF."""
    return switch.in_acrf < switch.acrf_ctas


@njit
def evict(run, sm, switch, execution, slot):
    """Move the registers of the CTA in a slot outside: all to DRAM, or to the PCRF the live ones, whose number has been
    looked up. Returns how many."""
    c = sm.cta_context[slot]
    switch.registers[c] = OUTSIDE
    switch.in_acrf -= 1
    switch.evictions += 1
    switch.outside += 1
    switch.most_outside = max(switch.most_outside, switch.outside)
    if switch.lines:
        switch.registers_evicted += switch.lines
        return switch.lines
    switch.entries[c] = switch.live_count[slot]
    switch.free_entries -= switch.entries[c]
    switch.most_entries = max(switch.most_entries, switch.pcrf_entries - switch.free_entries)
    switch.registers_evicted += switch.entries[c]
    for k in range(run.warps_per_cta):
        w = slot * run.warps_per_cta + k
        warp = warp_at(switch.warps, c * run.warps_per_cta + k)
        warp.entries = 0
        if sm.resident & ~sm.finishing & warp_bit(sm, w):
            warp.entries = live_registers(run, sm, switch, w)
            execution.warp = sm.index * run.contexts + sm.context[w]
            _lose(run, switch, execution)
    return switch.entries[c]


@njit
def restore(switch, c):
    """Move the registers of a CTA back to the ACRF, which has room; returns how many."""
    n = switch.lines + switch.entries[c]  # one of the two is 0
    switch.registers_restored += n
    switch.free_entries += switch.entries[c]
    switch.entries[c] = 0
    switch.outside -= 1
    switch.registers[c] = ACRF
    switch.in_acrf += 1
    switch.restores += 1
    return n


@njit
def moving_cycles(switch, leaving, coming):
    """The cycles in which some registers move to the PCRF, while others come from there."""
    cycles = -(-leaving // switch.registers_per_cycle)
    if coming:
        cycles = max(cycles, switch.restore_first_cycles - (1 - coming) // switch.registers_per_cycle)
    return cycles


@njit
def hold_until_moved(run, sm, switch, slot, leaving, coming, start):
    """Hold the registers of a CTA that comes to a slot until they are there; moving begins in cycle `start`. `leaving`
    and `coming` are contexts; NOWHERE: no registers leave, or the CTA that comes is new (`hold_new`)."""
    n = run.warps_per_cta
    out, back = 0, 0
    for k in range(n):
        if leaving != NOWHERE:
            out += warp_at(switch.warps, leaving * n + k).entries
        if coming != NOWHERE:
            back += warp_at(switch.warps, coming * n + k).entries
            _set_ready(run, sm, coming * n + k, FOREVER)
        switch.arrival[slot * n + k] = start + moving_cycles(switch, out, back)


@njit
def hold_new(run, sm, switch, slot):
    """Hold the registers of a CTA that has been launched until those of the CTA before it have left."""
    for w in range(slot * run.warps_per_cta, (slot + 1) * run.warps_per_cta):
        if switch.arrival[w]:
            _set_ready(run, sm, np.int64(sm.context[w]), FOREVER)


@njit
def release_arrived(run, sm, switch, slot):
    """Release the registers of a switch's CTA that are there in this cycle; returns when the next ones are, FOREVER
    after the last."""
    following = FOREVER
    for k in range(run.warps_per_cta):
        w = slot * run.warps_per_cta + k
        if switch.arrival[w] > run.cycle:
            following = min(following, switch.arrival[w])
        elif switch.arrival[w]:
            switch.arrival[w] = 0
            if switch.due[slot] == FOREVER:  # the CTA is in its slot, or is yet to be launched
                if sm.resident & warp_bit(sm, w):
                    _set_ready(run, sm, np.int64(sm.context[w]), run.cycle)
                    if sm.blocked & warp_bit(sm, w):
                        set_wake(run, sm, w)
            elif switch.incoming[slot] != NOWHERE:
                _set_ready(run, sm, switch.incoming[slot] * run.warps_per_cta + k, run.cycle)
    return following


@njit
def _set_ready(run, sm, context, cycle):
    """All registers of a warp, none of which is about to be written, are ready in a cycle."""
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    for r in range(context * run.n_registers, (context + 1) * run.n_registers):
        ready_at[r] = cycle


@njit
def _lose(run, switch, execution):
    """Overwrite the rows of the warp whose registers were counted last that hold registers which are not live."""
    r32 = rows_u32(execution.r32, execution.total_rows32)
    base = execution.constant_rows32 + execution.warp * execution.rows32
    for row in range(execution.rows32):
        if is_lost(run, switch, row):
            for n in range(32):
                r32[base + row, n] = np.uint32(_LOST)
    r64 = rows_u64(execution.r64, execution.total_rows64)
    base = execution.constant_rows64 + execution.warp * execution.rows64
    for row in range(execution.rows64):
        if is_lost(run, switch, 64 * switch.words32 + row):
            for n in range(32):
                r64[base + row, n] = np.uint64(_LOST)
