"""The register management unit: the number of live registers of a CTA that is to be evicted.

The live-register vector of every static instruction lies in global memory: 4 bytes of PC and 8 for each 64 registers
of a thread. The vectors of the instructions at which a CTA's warps stand, and of those to which their calls return,
each looked up once, in the order of the program, come from a direct-mapped cache, indexed by a hash of the PC; a miss
is read from memory, 32 bytes, or as many sectors of 32 bytes as a long vector has. One vector is on its way at a time.
If the CTA resumes meanwhile, the vector stays in the cache and the look-up is abandoned.

A warp may stand at several instructions: lanes wait at reconvergence points, at barriers, or for a function to return.
What is live at one of them is live. A warp whose calls are so deep that a part of its SIMT stack is in memory
(`execute/calls.py`) is not looked up: its CTA is not evicted.

Oh et al., FineReg, MICRO 2018, section V.C (32 entries, five hashed bits; 12 bytes of PC and vector); timing-model
section 6.1 (its choices: a hit is a cycle).
"""

import numpy as np

from ptxsim.base.jit import bit, flat_i64, flat_u8, njit, popcount
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute.calls import lanes_aside
from ptxsim.timing.memory.memory_state import VECTOR
from ptxsim.timing.memory.system import inject
from ptxsim.timing.residency.switch_records import NOWHERE
from ptxsim.timing.sm_state import VECTORS_BASE

_SECTOR_BYTES = 32
_LINE_BYTES = 128
UNKNOWN = -1


@njit
def _place(switch, i):
    """The entry of the cache for the vector of instruction i."""
    return (i ^ i >> 5 ^ i >> 10) % switch.vector_entries


@njit
def location(switch, i):
    """Where in memory the vector of instruction i is read, and how many bytes: as many vectors as fit into a sector, or
    sectors of their own for a longer one, a line of 128 bytes at most."""
    size = min(switch.vector_bytes, _LINE_BYTES)
    if size <= _SECTOR_BYTES:
        return i // (_SECTOR_BYTES // size) * _SECTOR_BYTES, _SECTOR_BYTES
    size = -(-size // _SECTOR_BYTES) * _SECTOR_BYTES
    per_line = _LINE_BYTES // size
    return i // per_line * _LINE_BYTES + i % per_line * size, size


@njit
def enter_vector(switch, n_bytes):
    """So many bytes of the vector that was on its way have arrived: with the last it is in the cache."""
    switch.vector_left -= n_bytes
    if switch.vector_left <= 0:
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
def look_up(run, sm, switch, execution, memory, slot):
    """Look up how many registers are live in the CTA in a slot. False while a vector is missing, or the unit busy."""
    if switch.live_count[slot] != UNKNOWN:
        return True
    if switch.vector_slot != slot:
        if switch.vector_slot != NOWHERE or switch.vector_wanted != NOWHERE:
            return False
        if _is_deep(run, sm, execution, slot):
            return False
        switch.vector_slot = slot
        switch.vector_next = 0
        switch.vector_came = NOWHERE
        switch.look_up_cycles[slot] = 0
        _want(run, sm, switch, slot)
    if switch.vector_wanted != NOWHERE:
        return False
    wanted = flat_u8(switch.wanted, run.n_instructions)
    while switch.vector_next < run.n_instructions:
        i = switch.vector_next
        if wanted[i]:
            if switch.vector_tag[_place(switch, i)] != i:
                offset, size = location(switch, i)
                if inject(memory, sm.index, run.cycle, VECTORS_BASE + offset, size, VECTOR, -1):
                    switch.vector_wanted = i
                    switch.vector_left = size
                    switch.vector_misses += 1
                else:
                    switch.next = run.cycle + 1
                return False
            if switch.vector_came == NOWHERE:
                switch.vector_hits += 1
                switch.look_up_cycles[slot] += switch.vector_hit_cycles
            switch.vector_came = NOWHERE
        switch.vector_next += 1
    end_look_up(run, switch)
    live = 0
    for w in range(slot * run.warps_per_cta, (slot + 1) * run.warps_per_cta):
        if sm.resident & ~sm.finishing & warp_bit(sm, w):
            live += live_registers(run, sm, switch, w)
    switch.live_count[slot] = live
    return True


@njit
def _is_deep(run, sm, execution, slot):
    """Whether a part of the SIMT stack of one of the CTA's warps is in memory."""
    if execution.call_words == 0:
        return False
    for w in range(slot * run.warps_per_cta, (slot + 1) * run.warps_per_cta):
        unfinished = sm.resident & ~sm.finishing & warp_bit(sm, w)
        if unfinished and lanes_aside(execution, sm.index * run.contexts + sm.context[w]):
            return True
    return False


@njit
def _want(run, sm, switch, slot):
    """Mark the instructions whose vectors are needed: of each warp the one at which it stands, and those after the
    calls that have led there."""
    wanted = flat_u8(switch.wanted, run.n_instructions)
    for i in range(run.n_instructions):
        wanted[i] = 0
    for w in range(slot * run.warps_per_cta, (slot + 1) * run.warps_per_cta):
        if sm.resident & ~sm.finishing & warp_bit(sm, w):
            call = -1
            for k in range(sm.depth[w] - 1, -1, -1):
                if sm.stack_call[k, w] != call:
                    call = sm.stack_call[k, w]
                    wanted[sm.stack_pc[k, w]] = 1


@njit
def live_registers(run, sm, switch, w):
    """The 32-bit registers that are live in a warp; the bits of their rows go to the vector after the last two."""
    words = switch.words32 + switch.words64
    vectors = flat_i64(switch.vectors, (run.n_instructions + 2) * words)
    union = (run.n_instructions + 1) * words
    for j in range(words):
        vectors[union + j] = 0
    for k in range(sm.depth[w]):
        at = np.int64(sm.stack_pc[k, w]) * words
        for j in range(words):
            vectors[union + j] |= vectors[at + j]
    live = 0
    for j in range(words):
        live += popcount(vectors[union + j]) * (1 if j < switch.words32 else 2)
    return live


@njit
def is_lost(run, switch, j):
    """Whether row j of the warp whose registers were counted last is a register's that is not live: rows of 32 bits
    come first, those of 64 begin at bit 64 * words32."""
    words = switch.words32 + switch.words64
    vectors = flat_i64(switch.vectors, (run.n_instructions + 2) * words)
    others, union = run.n_instructions * words, (run.n_instructions + 1) * words
    kept = vectors[others + (j >> 6)] | vectors[union + (j >> 6)]
    return kept & bit(j & 63) == 0
