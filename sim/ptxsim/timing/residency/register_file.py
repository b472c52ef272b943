"""The divided register file: room in the ACRF for whole CTAs, entries of the PCRF for live registers, and what it takes
to move these.

The ACRF holds the registers of `acrf_ctas` CTAs, active ones and those of which only the context was put aside. A PCRF
entry holds one 32-bit register of a warp. A CTA that is evicted leaves one for every register that is live in a warp
of it; what is not live is lost, and the simulator overwrites it, so that a kernel would show a wrong live vector.
Virtual Thread has the whole file as ACRF and no PCRF.

Moving: one register a cycle through the buffer of 128 bytes to the PCRF; from there the first takes longer, as its tag
says where the next one is. Both directions at a time, and the context besides: timing-model section 6.1 (its choice).

Handled simply: predicates and PTXPlus address registers go with the context. A load on its way that comes while its CTA
is in the PCRF is written there without time (section 6.1, its choice). Entries are counted, not chained.
Oh et al., FineReg, MICRO 2018, sections IV.B, V.C and V.D.
"""

import numpy as np

from ptxsim.base.jit import bit, flat_i64, flat_u8, njit, rows_u32, rows_u64
from ptxsim.timing.residency.switch_records import ACRF, PCRF

_LOST = 0xDEADBEEF


@njit
def has_room(u):
    """Whether the registers of one more CTA fit into the ACRF."""
    return u.in_acrf < u.acrf_ctas


@njit
def evict(run, sm, u, x, slot):
    """The live registers of the CTA in a slot, as many as have been looked up, go to the PCRF."""
    c = sm.cta_context[slot]
    u.entries[c] = u.live_count[slot]
    u.free_entries -= u.entries[c]
    u.most_entries = max(u.most_entries, u.pcrf_entries - u.free_entries)
    u.registers[c] = PCRF
    u.in_acrf -= 1
    u.evictions += 1
    for k in range(run.warps_per_cta):
        w = slot * run.warps_per_cta + k
        if sm.resident & ~sm.finishing & bit(w):
            x.warp = sm.index * run.contexts + sm.context[w]
            _lose(run, u, x, np.int64(sm.stack_pc[sm.depth[w] - 1, w]))


@njit
def restore(u, c):
    """The registers of a CTA come back to the ACRF; which has room. The cycles that it takes."""
    cycles = restore_cycles(u, u.entries[c])
    u.free_entries += u.entries[c]
    u.entries[c] = 0
    u.registers[c] = ACRF
    u.in_acrf += 1
    u.restores += 1
    return cycles


@njit
def restore_cycles(u, n):
    """Cycles in which n registers come from the PCRF."""
    return u.restore_first_cycles + n - 1 if n else 0


@njit
def _lose(run, u, x, i):
    """Overwrite the rows of a warp that hold registers which are not live before instruction i."""
    kept = flat_u8(u.kept, run.n_instructions * u.kept_bytes)
    first = i * u.kept_bytes
    r32 = rows_u32(x.r32, x.total_rows32)
    base = x.constant_rows32 + x.warp * x.rows32
    for row in range(x.rows32):
        if kept[first + (row >> 3)] >> (row & 7) & 1 == 0:
            for n in range(32):
                r32[base + row, n] = np.uint32(_LOST)
    r64 = rows_u64(x.r64, x.total_rows64)
    base = x.constant_rows64 + x.warp * x.rows64
    for row in range(x.rows64):
        at = x.rows32 + row
        if kept[first + (at >> 3)] >> (at & 7) & 1 == 0:
            for n in range(32):
                r64[base + row, n] = np.uint64(_LOST)


@njit
def live_registers(run, u, i):
    """32-bit registers of a warp that are live before instruction i."""
    return flat_i64(u.live, run.n_instructions)[i]
