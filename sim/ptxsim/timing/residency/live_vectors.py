"""The register management unit: the number of live registers of a CTA that is to be evicted.

The live-register vector of every static instruction lies in global memory. The vectors of the instructions at which a
CTA's warps stand, each looked up once, come from a direct-mapped cache, indexed by a hash of the PC; a miss is read
from memory with a request like those of the SM's other caches, 32 bytes. One vector is on its way at a time. If the CTA
resumes meanwhile, the vector stays in the cache and the look-up is abandoned.

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
def _place(switch, i):
    """The entry of the cache for the vector of instruction i."""
    return (i ^ i >> 5 ^ i >> 10) % switch.vector_entries


@njit
def enter_vector(switch):
    """The vector that was on its way is in the cache."""
    switch.vector_tag[_place(switch, switch.vector_wanted)] = switch.vector_wanted
    switch.vector_came = switch.vector_wanted
    switch.vector_wanted = NOWHERE


@njit
def end_look_up(run, switch):
    """The unit is free for another CTA, even one that it has refused in this cycle."""
    switch.vector_slot = NOWHERE
    switch.vector_came = NOWHERE
    switch.next = run.cycle + 1


@njit
def look_up(run, sm, switch, memory, slot):
    """Look up how many registers are live in the CTA in a slot. False while a vector is missing, or the unit busy."""
    if switch.live_count[slot] != UNKNOWN:
        return True
    if switch.vector_slot != slot:
        if switch.vector_slot != NOWHERE or switch.vector_wanted != NOWHERE:
            return False
        switch.vector_slot = slot
        switch.vector_warp = 0
        switch.vector_came = NOWHERE
        switch.look_up_cycles[slot] = 0
    if switch.vector_wanted != NOWHERE:
        return False
    first = slot * run.warps_per_cta
    while switch.vector_warp < run.warps_per_cta:
        w = first + switch.vector_warp
        if sm.resident & ~sm.finishing & bit(w) and not _stands_with_another(sm, first, w):
            i = np.int64(sm.stack_pc[sm.depth[w] - 1, w])
            if switch.vector_tag[_place(switch, i)] != i:
                address = (VECTORS_BASE + _ENTRY_BYTES * i) & -32
                if inject(memory, sm.index, run.cycle, address, _REQUEST_BYTES, VECTOR, -1):
                    switch.vector_wanted = i
                    switch.vector_misses += 1
                else:
                    switch.next = run.cycle + 1
                return False
            if switch.vector_came == NOWHERE:
                switch.vector_hits += 1
                switch.look_up_cycles[slot] += switch.vector_hit_cycles
            switch.vector_came = NOWHERE
        switch.vector_warp += 1
    end_look_up(run, switch)
    live = 0
    for w in range(first, first + run.warps_per_cta):
        if sm.resident & ~sm.finishing & bit(w):
            live += live_registers(run, switch, sm.stack_pc[sm.depth[w] - 1, w])
    switch.live_count[slot] = live
    return True


@njit
def _stands_with_another(sm, first, w):
    """Whether an earlier warp of the CTA stands at the same instruction."""
    i = sm.stack_pc[sm.depth[w] - 1, w]
    for other in range(first, w):
        if sm.resident & ~sm.finishing & bit(other) and sm.stack_pc[sm.depth[other] - 1, other] == i:
            return True
    return False
