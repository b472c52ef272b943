"""The divided register file: the ACRF with room for whole CTAs, the PCRF with entries for live registers, and the time
to move registers between them.

The ACRF holds the registers of `acrf_ctas` CTAs: active ones, and those whose context alone was swapped out. A PCRF
entry holds one 32-bit register of a warp. An evicted CTA takes an entry for every register that is live in one of its
warps; dead registers are lost, and the simulator overwrites them, so that a wrong live vector changes results. Virtual
Thread uses the whole file as ACRF and has no PCRF.

Moving: one register per cycle through the buffer of 128 bytes to the PCRF; from there the first takes longer, because
its tag locates the next one. Both directions overlap, and the context moves at the same time: timing-model section 6.1
(its choice).

Handled simply: predicates and PTXPlus address registers move with the context. A load that returns while its CTA is in
the PCRF is written there in no time (section 6.1, its choice). Entries are counted, not chained.
Oh et al., FineReg, MICRO 2018, sections IV.B, V.C and V.D.
"""

import numpy as np

from ptxsim.base.jit import bit, flat_i64, flat_u8, njit, rows_u32, rows_u64
from ptxsim.timing.residency.switch_records import ACRF, PCRF

_LOST = 0xDEADBEEF


@njit
def has_room(switch):
    """Whether the registers of one more CTA fit into the ACRF."""
    return switch.in_acrf < switch.acrf_ctas


@njit
def evict(run, sm, switch, execution, slot):
    """Move the live registers of the CTA in a slot, whose number has been looked up, to the PCRF."""
    c = sm.cta_context[slot]
    switch.entries[c] = switch.live_count[slot]
    switch.free_entries -= switch.entries[c]
    switch.most_entries = max(switch.most_entries, switch.pcrf_entries - switch.free_entries)
    switch.registers[c] = PCRF
    switch.in_acrf -= 1
    switch.evictions += 1
    switch.registers_evicted += switch.entries[c]
    for k in range(run.warps_per_cta):
        w = slot * run.warps_per_cta + k
        if sm.resident & ~sm.finishing & bit(w):
            execution.warp = sm.index * run.contexts + sm.context[w]
            _lose(run, switch, execution, np.int64(sm.stack_pc[sm.depth[w] - 1, w]))


@njit
def restore(switch, c):
    """Move the registers of a CTA back to the ACRF, which has room; returns the cycles that this takes."""
    cycles = restore_cycles(switch, switch.entries[c])
    switch.registers_restored += switch.entries[c]
    switch.free_entries += switch.entries[c]
    switch.entries[c] = 0
    switch.registers[c] = ACRF
    switch.in_acrf += 1
    switch.restores += 1
    return cycles


@njit
def restore_cycles(switch, n):
    """The cycles for moving n registers from the PCRF."""
    return switch.restore_first_cycles + n - 1 if n else 0


@njit
def _lose(run, switch, execution, i):
    """Overwrite the rows of a warp that hold registers which are not live before instruction i."""
    kept = flat_u8(switch.kept, run.n_instructions * switch.kept_bytes)
    first = i * switch.kept_bytes
    r32 = rows_u32(execution.r32, execution.total_rows32)
    base = execution.constant_rows32 + execution.warp * execution.rows32
    for row in range(execution.rows32):
        if kept[first + (row >> 3)] >> (row & 7) & 1 == 0:
            for n in range(32):
                r32[base + row, n] = np.uint32(_LOST)
    r64 = rows_u64(execution.r64, execution.total_rows64)
    base = execution.constant_rows64 + execution.warp * execution.rows64
    for row in range(execution.rows64):
        at = execution.rows32 + row
        if kept[first + (at >> 3)] >> (at & 7) & 1 == 0:
            for n in range(32):
                r64[base + row, n] = np.uint64(_LOST)


@njit
def live_registers(run, switch, i):
    """32-bit registers of a warp that are live before instruction i."""
    return flat_i64(switch.live, run.n_instructions)[i]
