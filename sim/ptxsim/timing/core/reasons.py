"""Where the time goes: every scheduler slot that issued nothing has one reason, and an instruction to go with it.

Only in a run that asks for it (`run.hotspots` is the address of a HOTSPOTS record; otherwise 0). The kind of a slot is
GPGPU-Sim's: stall, scoreboard or idle, which is how far the warp that got furthest has come (timing-model section
4.1). The reason refines the kind by one warp: the oldest (smallest dynamic id) of those that got that far. It is
charged to the instruction that this warp cannot issue, or to the one that holds it back (barrier, fence, atomic,
branch, exit). `caused` charges the other side: the instruction whose result the warp waits for, or that occupies the
LDST unit.

The units of INT, DP and TENSOR count as SP units. A reason follows from the state of the SM alone, not from the cycle
number: skipped cycles have the reason that they would have had. Loads are distinguished up to L1 only: a miss is a
miss, wherever its line comes from.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import flat_i64, njit, popcount, records, types
from ptxsim.base.program import (
    CONST,
    FOR_REGISTERS,
    LOCAL,
    NO_ACCESS,
    PARAM,
    SHARED,
    TEXTURE,
    instruction_at,
)
from ptxsim.base.program import LDST as LDST_PORT
from ptxsim.base.program import SFU as SFU_PORT
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute.boundary import boundary
from ptxsim.timing.bulk.sleep import awaits_mbarrier
from ptxsim.timing.core import reason_codes as codes
from ptxsim.timing.core.collector_sets import is_closed
from ptxsim.timing.core.operands import last_queued
from ptxsim.timing.core.register_windows import note_registers
from ptxsim.timing.memory.memory_state import HIT
from ptxsim.timing.schedulers.warps import oldest, runnable
from ptxsim.timing.sharing.hold_back import is_held
from ptxsim.timing.sm_state import IDLE, MASK, PENDING, RUN, SCOREBOARD, SM, signatures

_hotspots = records(codes.HOTSPOTS)

_SPACE_SHIFT, _LOAD_SHIFT = 32, 40


@njit
def _idle_reason(run, sm, last, w):
    """Why an unfinished warp has no valid instruction, and the instruction this is charged to."""
    me = warp_bit(sm, w)
    top = sm.depth[w] - 1
    pc = np.int64(sm.stack_pc[top, w])
    issued = last[sm.index * run.contexts + sm.context[w]]
    if sm.at_barrier & me:
        waits_for = codes.REGISTERS if sm.stack_wait[top, w] == FOR_REGISTERS else codes.BARRIER
        return waits_for, np.int64(sm.waits_since[top, w])
    if sm.in_membar & me:
        return codes.FENCE, issued
    if sm.in_wait & me:
        return codes.MBARRIER if awaits_mbarrier(run, sm, w) else codes.COPIES, issued
    if sm.in_atomic & me:
        return codes.ATOMIC, issued
    if sm.imiss & me:
        return codes.INSTRUCTION_MISS, pc
    if sm.ib_pc[w] != pc:  # the buffer stands on the path that the last instruction did not take
        return codes.BRANCH, issued
    return codes.FETCH, pc


@njit
def _register_reason(run, sm, h, w):
    """The kind of register that a warp's next instruction waits for longest, and the instruction that writes it."""
    n = run.contexts * run.n_registers
    ready_at = flat_i64(sm.ready_at, n)
    writer = flat_i64(h.writer, run.n_sms * n)
    base = sm.first_register[w]
    instruction = instruction_at(run.code, sm.ib_pc[w])
    latest = instruction.register[0]
    for k in range(1, instruction.n_registers):
        register = instruction.register[k]
        if ready_at[base + register] > ready_at[base + latest]:
            latest = register
    code = writer[sm.index * n + base + latest]
    cause = code & ((1 << _SPACE_SHIFT) - 1)
    space = code >> _SPACE_SHIFT & 255
    load = (code >> _LOAD_SHIFT) - 1  # -1: the instruction is no load
    missed = flat_i64(h.missed, run.n_sms * PENDING)[sm.index * PENDING + load] if load >= 0 else 0
    if instruction_at(run.code, cause).access == NO_ACCESS:
        reason = codes.SFU if instruction_at(run.code, cause).unit == SFU_PORT else codes.ALU
    elif space == SHARED:
        reason = codes.SHARED
    elif space == CONST or space == PARAM:
        reason = codes.CONSTANT
    elif instruction_at(run.code, cause).space == TEXTURE:
        reason = codes.TEXTURE
    elif space == LOCAL:
        reason = codes.LOCAL_MISS if missed else codes.LOCAL_L1
    elif missed == codes.PASSES:
        reason = codes.PAST_L1
    else:
        reason = codes.L1_MISS if missed else codes.L1
    return reason, cause


@njit
def _port_reason(run, sm, w):
    """What keeps the port of a warp's next instruction closed, and the instruction in the way (-1: none by itself)."""
    instruction = instruction_at(run.code, sm.ib_pc[w])
    port = np.int64(instruction.unit)
    nothing = np.int64(-1)
    if run.collector_sets and port != LDST_PORT:
        units = is_closed(run, sm, port, w)
        if port == SFU_PORT:
            return (codes.SFU_UNITS if units else codes.SFU_OPERANDS), nothing
        return (codes.SP_UNITS if units else codes.SP_OPERANDS), nothing
    if port == SFU_PORT:
        return (codes.SFU_UNITS if sm.oc_ex_n[1] >= run.oc_ex_width[1] else codes.SFU_OPERANDS), nothing
    if port != LDST_PORT:
        return (codes.SP_UNITS if sm.oc_ex_n[0] >= run.oc_ex_width[0] else codes.SP_OPERANDS), nothing
    if sm.head < 0:
        return codes.LDST, nothing
    cause = np.int64(sm.front_ins[sm.head])
    slot = sm.front_memory[sm.head]
    constant = sm.memory_space[slot] == CONST or sm.memory_space[slot] == PARAM
    if sm.head_stuck:
        return (codes.L1C_REFUSES if constant else codes.L1_REFUSES), cause
    if sm.memory_count[slot] > 1:
        return (codes.BANK_CONFLICT if sm.memory_space[slot] == SHARED else codes.ACCESSES), cause
    return codes.LDST, cause


_CHARGE = signatures(types.void, RUN, SM, types.int64, types.int64, MASK, MASK, types.int64)
_NOTE_ISSUE = signatures(types.void, RUN, SM, *[types.int64] * 4)
_NOTE_LOOK_UP = signatures(types.void, RUN, SM, *[types.int64] * 2)


@njit(_CHARGE[0])
def _charge(run, sm, scheduler, kind, own, valid, cycles):
    h = _hotspots(run.hotspots, 1)[0]
    last = flat_i64(h.last_issued, run.n_sms * run.contexts)
    none = run.n_instructions
    unfinished = sm.resident & ~sm.finishing
    ready = valid & sm.ready & ~sm.lock_wait
    outside = sm.supervised[scheduler] & ~own & unfinished
    reason, at, cause = codes.NO_WARP, none, -1
    if kind == IDLE:
        able = outside & sm.has_head & sm.ready & runnable(sm)
        if able:
            reason, at = codes.WINDOW, sm.ib_pc[oldest(sm, able)]
        elif own & unfinished:
            reason, at = _idle_reason(run, sm, last, oldest(sm, own & unfinished))
        elif outside:
            w = oldest(sm, outside)
            reason, at = codes.WINDOW, sm.stack_pc[sm.depth[w] - 1, w]
        elif sm.supervised[scheduler] & sm.finishing:
            w = oldest(sm, sm.supervised[scheduler] & sm.finishing)
            reason, at = codes.EXITED, last[sm.index * run.contexts + sm.context[w]]
    elif kind == SCOREBOARD or ready == 0:
        # a slot without a ready warp counts as stall where locks do: then they are the reason
        w = oldest(sm, valid if kind == SCOREBOARD else valid & sm.lock_wait)
        at = sm.ib_pc[w]
        if sm.lock_wait & warp_bit(sm, w):
            reason = codes.HELD if run.dynamic != 0 and is_held(run, sm, w) else codes.LOCK
        else:
            reason, cause = _register_reason(run, sm, h, w)
    else:
        w = oldest(sm, ready)
        at = sm.ib_pc[w]
        reason, cause = _port_reason(run, sm, w)
    flat_i64(h.slots, run.n_sms * codes.N_REASONS)[sm.index * codes.N_REASONS + reason] += cycles
    flat_i64(h.reasons, (none + 1) * codes.N_REASONS)[at * codes.N_REASONS + reason] += cycles
    if cause >= 0:
        flat_i64(h.caused, none)[cause] += cycles


@njit(_NOTE_ISSUE[0])
def _note_issue(run, sm, i, w, mask, active):
    h = _hotspots(run.hotspots, 1)[0]
    instruction = instruction_at(run.code, i)
    counts = flat_i64(h.counts, run.n_instructions * codes.N_COUNTS)
    first = i * codes.N_COUNTS
    counts[first + codes.LANES] += popcount(mask)
    counts[first + codes.ACTIVE] += popcount(active)
    seen = flat_i64(h.divergent_seen, run.n_sms)
    counts[first + codes.DIVERGENT] += sm.divergent_branches - seen[sm.index]
    seen[sm.index] = sm.divergent_branches
    flat_i64(h.last_issued, run.n_sms * run.contexts)[sm.index * run.contexts + sm.context[w]] = i
    code = np.int64(i)
    if instruction.access != NO_ACCESS:
        slot = sm.front_memory[last_queued(sm.id_oc[2], sm.id_oc_n[2])]  # it has just taken its place
        if sm.memory_count[slot]:
            counts[first + codes.MEMORY] += 1
            counts[first + codes.TRANSACTIONS] += sm.memory_count[slot]
        load = np.int64(sm.memory_pending[slot])
        if load >= 0:
            flat_i64(h.missed, run.n_sms * PENDING)[sm.index * PENDING + load] = 0
        code |= np.int64(sm.memory_space[slot]) << _SPACE_SHIFT | (load + 1) << _LOAD_SHIFT
    n = run.contexts * run.n_registers
    writer = flat_i64(h.writer, run.n_sms * n)
    base = sm.index * n + sm.first_register[w]
    for k in range(instruction.n_destinations):
        writer[base + instruction.register[k]] = code
    if h.access_words:
        note_registers(run, sm, h, i, w)


@njit(_NOTE_LOOK_UP[0])
def _note_look_up(run, sm, load, outcome):
    h = _hotspots(run.hotspots, 1)[0]
    i = np.int64(sm.pending_ins[load])
    if outcome != codes.PASSES:
        flat_i64(h.counts, run.n_instructions * codes.N_COUNTS)[
            i * codes.N_COUNTS + codes.HITS + outcome
        ] += 1
    if outcome != HIT:
        flat_i64(h.missed, run.n_sms * PENDING)[sm.index * PENDING + load] = outcome


charge: Any = boundary("charge", _charge, _CHARGE[1])
"""`charge(run, sm, scheduler, kind, own, valid, cycles)`: charge `cycles` slots of a scheduler to a reason.

The slots issued nothing and count as `kind`. `own` are the warps that the scheduler looks at, `valid` those of them
with a valid instruction.
"""

note_issue: Any = boundary("note_issue", _note_issue, _NOTE_ISSUE[1])
"""`note_issue(run, sm, i, w, mask, active)`: warp w has just issued instruction i, for lanes `mask` of
`active`, and its SIMT stack has moved."""

note_look_up: Any = boundary("note_look_up", _note_look_up, _NOTE_LOOK_UP[1])
"""`note_look_up(run, sm, load, outcome)`: the outcome of an access of a pending load at L1 or L1C.

HIT, MISS or PENDING, as `timing/memory/memory_state.py` and `timing/memory/readonly.py` number them, or PASSES: the
access bypasses L1.
"""
