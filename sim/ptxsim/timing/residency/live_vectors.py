"""The register management unit: how many registers are live in a CTA that is to be evicted.

The live-register vector of every static instruction lies in global memory. Those of the instructions at which a CTA's
warps stand, each once, come from a direct-mapped cache, indexed by a hash of the PC; one that is not there is read from
memory: a request like those of the SM's other caches, 32 bytes. One vector is on its way at a time. If the CTA goes on
meanwhile, the vector stays in the cache and the look-up is forgotten.

Oh et al., FineReg, MICRO 2018, section V.C (32 entries, five hashed bits; 12 bytes of PC and vector); timing-model
section 6.1 (its choices: a hit is a cycle).
"""

import numpy as np

from ptxsim.base.jit import bit, njit
from ptxsim.timing.memory.memory_state import VECTOR
from ptxsim.timing.memory.system import inject
from ptxsim.timing.residency.register_file import live_registers
from ptxsim.timing.residency.switch_records import NOWHERE
from ptxsim.timing.sm_state import VECTORS_BASE

_ENTRY_BYTES = 12
_REQUEST_BYTES = 32
UNKNOWN = -1


@njit
def _place(u, i):
    """Where the vector of instruction i lies in the cache."""
    return (i ^ i >> 5 ^ i >> 10) % u.vector_entries


@njit
def vector_came(u):
    """The vector that was on its way is in the cache."""
    u.vector_tag[_place(u, u.vector_wanted)] = u.vector_wanted
    u.vector_came = u.vector_wanted
    u.vector_wanted = NOWHERE


@njit
def end_look_up(run, u):
    """The unit is free for another CTA, which may have been refused in this cycle already."""
    u.vector_slot = NOWHERE
    u.vector_came = NOWHERE
    u.next = run.cycle + 1


@njit
def look_up(run, sm, u, memory, slot):
    """Look up how many registers are live in the CTA in a slot. False while a vector is missing, or the unit busy."""
    if u.live_count[slot] != UNKNOWN:
        return True
    if u.vector_slot != slot:
        if u.vector_slot != NOWHERE or u.vector_wanted != NOWHERE:
            return False
        u.vector_slot = slot
        u.vector_warp = 0
        u.vector_came = NOWHERE
        u.look_up_cycles[slot] = 0
    if u.vector_wanted != NOWHERE:
        return False
    first = slot * run.warps_per_cta
    while u.vector_warp < run.warps_per_cta:
        w = first + u.vector_warp
        if sm.resident & ~sm.finishing & bit(w) and not _stands_with_another(sm, first, w):
            i = np.int64(sm.stack_pc[sm.depth[w] - 1, w])
            if u.vector_tag[_place(u, i)] != i:
                if inject(
                    memory,
                    sm.index,
                    run.cycle,
                    (VECTORS_BASE + _ENTRY_BYTES * i) & -32,
                    _REQUEST_BYTES,
                    VECTOR,
                    -1,
                ):
                    u.vector_wanted = i
                    u.vector_misses += 1
                else:
                    u.next = run.cycle + 1
                return False
            if u.vector_came == NOWHERE:
                u.vector_hits += 1
                u.look_up_cycles[slot] += u.vector_hit_cycles
            u.vector_came = NOWHERE
        u.vector_warp += 1
    end_look_up(run, u)
    live = 0
    for w in range(first, first + run.warps_per_cta):
        if sm.resident & ~sm.finishing & bit(w):
            live += live_registers(run, u, sm.stack_pc[sm.depth[w] - 1, w])
    u.live_count[slot] = live
    return True


@njit
def _stands_with_another(sm, first, w):
    """Whether an earlier warp of the CTA stands at the same instruction."""
    i = sm.stack_pc[sm.depth[w] - 1, w]
    for other in range(first, w):
        if sm.resident & ~sm.finishing & bit(other) and sm.stack_pc[sm.depth[other] - 1, other] == i:
            return True
    return False
