"""Scoreboard: when a warp's next instruction is free of register hazards (timing-model section 1.4).

A pending write is the cycle at which it is released, kept per warp and register; while that is not known yet it is
FOREVER, or LONG for a load from global, local, parameter or texture memory (what the two-level scheduler looks at;
section 2). In GPGPU-Sim a register stays long, whatever has been loaded, until an ALU instruction writes it
(section 1.4): `long_set` has these registers where the machine says so.
The wake-up of a warp's head is computed once, when the head changes or a register it waits for gets its cycle:
ready now, ready at a known cycle (on the wheel), or blocked.
"""

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, flat_u8, inline, njit
from ptxsim.base.program import CONST, GENERIC, NO_ACCESS, SHARED, instruction_at
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.sharing.locks import see_head
from ptxsim.timing.sm_state import FOREVER, LONG


@inline
def reserve(run, sm, instruction, w, space):
    """Mark the destinations of an issued instruction, which has accessed `space` if its address is generic, as
    pending."""
    pending = FOREVER + np.int64(instruction.loads_long)
    if instruction.space == GENERIC and (space == SHARED or space == CONST):
        pending = FOREVER
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    base = sm.first_register[w]
    if instruction.n_destinations:  # mostly one
        ready_at[base + instruction.register[0]] = pending
        for k in range(1, instruction.n_destinations):
            ready_at[base + instruction.register[k]] = pending
    if run.long_lasting and pending == LONG:
        _set_long(run, sm, instruction, w, 1)


@njit
def _set_long(run, sm, instruction, w, value):
    """Note whether the destinations of an instruction are long from now on."""
    long_set = flat_u8(sm.long_set, run.contexts * run.n_registers)
    for k in range(instruction.n_destinations):
        long_set[sm.first_register[w] + instruction.register[k]] = value


@inline
def _reads_long(run, sm, instruction, w):
    """True if an instruction reads a register that is long."""
    long_set = flat_u8(sm.long_set, run.contexts * run.n_registers)
    for k in range(instruction.n_destinations, instruction.n_registers):
        if long_set[sm.first_register[w] + instruction.register[k]]:
            return True
    return False


@inline
def written(run, sm, i, first, cycle):
    """The destinations of instruction i are written at `cycle`, for a warp whose registers begin at `first`."""
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    instruction = instruction_at(run.code, i)
    if instruction.n_destinations:  # mostly one
        ready_at[first + instruction.register[0]] = cycle
        for k in range(1, instruction.n_destinations):
            ready_at[first + instruction.register[k]] = cycle


@inline
def release(run, sm, i, w, cycle):
    """The destinations of instruction i of warp w are written at `cycle`."""
    written(run, sm, i, sm.first_register[w], cycle)
    instruction = instruction_at(run.code, i)
    if run.long_lasting and instruction.access == NO_ACCESS:
        _set_long(run, sm, instruction, w, 0)
    if instruction.n_destinations and sm.blocked & warp_bit(sm, w):
        set_wake(run, sm, w)


@njit
def writes_done(run, sm, w):
    """When the last pending register write of warp w is released; FOREVER or more while that is not known."""
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    last = 0
    base = sm.first_register[w]
    for k in range(base, base + run.n_registers):
        last = max(last, ready_at[k])
    return last


@inline
def set_wake(run, sm, w):
    """Work out when the head of warp w is free of hazards, and note it."""
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    instruction = instruction_at(run.code, sm.ib_pc[w])
    base = sm.first_register[w]
    wake = 0
    me = warp_bit(sm, w)
    sm.long_wait &= ~me
    if run.long_lasting and _reads_long(run, sm, instruction, w):
        sm.long_wait |= me
    for k in range(instruction.n_registers):
        cycle = ready_at[base + instruction.register[k]]
        if cycle >= FOREVER:
            for j in range(max(k, instruction.n_destinations), instruction.n_registers):
                if ready_at[base + instruction.register[j]] == LONG:
                    sm.long_wait |= me
            sm.blocked |= me
            sm.ready &= ~me
            return
        wake = max(wake, cycle)
    sm.blocked &= ~me
    if wake <= run.cycle:
        sm.ready |= me
    else:
        sm.ready &= ~me
        sm.wake[w] = wake
        sm.wakes[wake & run.wheel] |= me


@inline
def new_head(run, sm, w):
    """Warp w has a new head instruction: classify it and find its wake-up, unless it has to issue a mark before."""
    me = warp_bit(sm, w)
    instruction = instruction_at(run.code, sm.ib_pc[w])
    if run.sees_heads and see_head(run, sm, instruction, w):
        return
    sm.head_class[instruction.unit] |= me
    if instruction.outside:
        sm.outside |= me
    else:
        sm.outside &= ~me
    sm.has_head |= me
    set_wake(run, sm, w)


@inline
def next_wake(sm):
    """The earliest cycle on the wheel, FOREVER if none."""
    best = FOREVER
    waiting = sm.has_head & ~sm.ready & ~sm.blocked
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        best = min(best, sm.wake[w])
    return best
