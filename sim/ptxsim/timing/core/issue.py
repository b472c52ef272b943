"""Issue: each scheduler sends at most one ready warp instruction to a port per cycle (timing-model section 1.3).

A warp is valid if its next instruction is decoded and on the right path, and the warp waits at no barrier, fence or
atomic, nor for registers of its CTA; ready if it has no scoreboard hazard and no lock refuses it; issuable if the port
of its class is free. The policy picks an issuable warp. The instruction executes functionally here and the SIMT stack
moves; the rest of the pipeline only times it.
Every scheduler slot of every cycle is charged to exactly one kind (section 4.1).
"""

import numpy as np

from ptxsim.base.jit import bit, ctz, flat_i64, inline, njit, popcount
from ptxsim.base.kernel_records import context_at
from ptxsim.base.program import (
    ATOMIC,
    BARRIER,
    BRANCH,
    CALL,
    COMMIT,
    EITHER,
    EXIT,
    INDIRECT,
    INVOKE,
    LOCAL,
    MEMBAR,
    REPEAT,
    RETURN,
    SET_REGISTERS,
    SP,
    WAIT,
    instruction_at,
)
from ptxsim.base.program import LDST as LDST_PORT
from ptxsim.base.warp_masks import no_warps, warp_bit, warp_slots
from ptxsim.execute import simt_stack
from ptxsim.execute.calls import note_exit
from ptxsim.execute.micro_operations import execute, guard_mask
from ptxsim.timing.bulk.copy_engine import wake_sleepers
from ptxsim.timing.bulk.sleep import must_repeat
from ptxsim.timing.core.collector_sets import open_sets
from ptxsim.timing.core.fetch import flush
from ptxsim.timing.core.ldst import prepare_access
from ptxsim.timing.core.operands import queued
from ptxsim.timing.core.reasons import charge, note_issue
from ptxsim.timing.core.retire import finish_warp
from ptxsim.timing.kernels.launches import count_issue, shift_targets
from ptxsim.timing.memory.side.waits import wait_for_turn
from ptxsim.timing.sharing import renaming, sections
from ptxsim.timing.sharing.locks import acquire, ask, pass_marks
from ptxsim.timing.sm_state import IDLE, SCOREBOARD, STALL
from ptxsim.timing.warps.barrier import arrive, note_wait, retest_barriers
from ptxsim.timing.warps.clusters import enter_cluster, threads_exited, threads_left
from ptxsim.timing.warps.register_pool import set_registers
from ptxsim.timing.warps.scoreboard import new_head, reserve

STACK_OVERFLOW = 100  # as in ptxsim/memory_image/faults.py
WRONG_WARP = 101
NO_TURN = -1  # the run has ended elsewhere, before this cycle


@inline
def valid_warps(sm):
    """Warps whose next instruction is decoded and on the right path, and that wait for hazards and locks at most."""
    return sm.has_head & ~(sm.at_barrier | sm.in_membar | sm.in_wait | sm.in_atomic)


@inline
def issue(run, sm, execution, pick, window):
    """One cycle of all schedulers, scheduler 0 first, or each in turn. True if anything issued."""
    issued = sm.warp_instructions
    s = _first_scheduler(sm.active_cycles - 1, run.n_schedulers) if run.rotate_schedulers else 0
    for _ in range(run.n_schedulers):
        _schedule(run, sm, execution, pick, window, s)
        if run.fault_kind:
            break
        s += 1
        if s == run.n_schedulers:
            s = 0
    return sm.warp_instructions != issued


@inline
def _first_scheduler(cycles, n):
    """Which of n schedulers is first after this number of cycles; n is mostly 2."""
    return cycles & (n - 1) if n & (n - 1) == 0 else cycles % n


@njit
def _schedule(run, sm, execution, pick, window, s):
    """One cycle of a scheduler. Not inlined: in the loop over the schedulers LLVM would keep all addresses live."""
    own = sm.supervised[s]
    if run.has_window:
        own &= window(sm, s)
    stale = sm.stale & own
    valid = valid_warps(sm) & own
    ready = valid & sm.ready
    refused = False
    marks = no_warps(sm)
    if valid & sm.needs_lock:
        ready = _locked_out(run, sm, execution, valid)
        if run.fault_kind:
            return
        refused = (valid & sm.lock_wait) != 0
        if run.sections:
            marks = ready & sm.needs_lock
    kind = STALL
    if valid == 0:
        kind = IDLE
        sm.instruction_miss_slots += sm.imiss & own != 0
    elif ready == 0:
        kind = STALL if refused and run.lock_as_stall else SCOREBOARD
    else:
        candidates = ready & open_ports(run, sm) | marks
        if candidates:
            w = _chosen(run, sm, pick, s, candidates, stale)
            if run.fault_kind:
                return
            stale = no_warps(sm)
            kind = STALL + popcount(sm.stack_mask[sm.depth[w] - 1, w])
            if marks & warp_bit(sm, w):
                sections.pass_mark(run, sm, w)
                new_head(run, sm, w)
            else:
                first = instruction_at(run.code, sm.ib_pc[w])
                _issue_warp(run, sm, execution, w)
                if run.issue_width > 1 and run.fault_kind == 0:
                    _issue_more(run, sm, execution, w, first.unit)
    if run.hotspots and kind <= STALL:
        charge(run, sm, s, kind, own, valid, 1)
    if stale:  # nothing issued: the scan has seen all warps
        flush(sm, stale)
    sm.slots[s, kind] += 1


@njit
def _issue_more(run, sm, execution, w, last):
    """The next instructions of a warp that has just issued one of class `last`: up to the first that cannot issue, and
    none that needs a lock. A buffer of the wrong path is flushed at once, as the warp is looked at again."""
    me = warp_bit(sm, w)
    for _ in range(1, run.issue_width):
        if sm.stale & me:
            flush(sm, me)
            return
        if not valid_warps(sm) & sm.ready & ~sm.needs_lock & open_ports(run, sm) & me:
            return
        following = instruction_at(run.code, sm.ib_pc[w]).unit
        if run.pair_differs and following == last:
            return
        _issue_warp(run, sm, execution, w)
        if run.fault_kind:
            return
        last = following


@inline
def _chosen(run, sm, pick, s, candidates, stale):
    """The warp that a policy chooses; buffers of a wrong path that its scan meets first are flushed."""
    while True:
        w = pick(sm, s, candidates | stale)
        if w < 0 or w >= warp_slots(sm) or not (candidates | stale) & warp_bit(sm, w):
            run.fault_kind = WRONG_WARP
            run.fault_sm = sm.index
            run.wrong_warp = w
            sm.wrong_candidates = candidates | stale
            return w
        if candidates & warp_bit(sm, w):
            return w
        flush(sm, warp_bit(sm, w))
        stale &= ~warp_bit(sm, w)


@inline
def _locked_out(run, sm, execution, valid):
    """The ready warps whose lock, section or registers are free and whose memory accesses are not held back."""
    if run.sections:
        return sections.without_refused(run, sm, valid & sm.ready)
    if run.renaming_words:
        return renaming.without_refused(run, sm, valid & sm.ready)
    if valid & sm.marked:
        pass_marks(run, sm, valid & sm.marked)
    testing = valid & sm.ready & sm.needs_lock & ~sm.lock_wait
    while testing:
        w = ctz(testing)
        testing &= testing - 1
        fault = ask(run, sm, execution, instruction_at(run.code, sm.ib_pc[w]), w)
        if fault:
            note_fault(run, sm, w, sm.ib_pc[w], fault, 0)
            break
    return valid & sm.ready & ~sm.lock_wait


@inline
def open_ports(run, sm):
    """Warps whose head's port has a free ID_OC entry."""
    if run.collector_sets:
        return open_sets(run, sm)
    sp_free = sm.id_oc_n[0] < run.port_width[0]
    sfu_free = sm.id_oc_n[1] < run.port_width[1]
    mask = no_warps(sm)
    if sp_free:
        mask |= sm.head_class[0]
    if sfu_free:
        mask |= sm.head_class[1]
    if sm.id_oc_n[2] < run.port_width[2] and sm.pending_free_n:
        mask |= sm.head_class[2]
    if sp_free or sfu_free:
        mask |= sm.head_class[3]
    return mask


@inline
def _issue_warp(run, sm, execution, w):
    i = sm.ib_pc[w]
    instruction = instruction_at(run.code, i)
    active = sm.stack_mask[sm.depth[w] - 1, w]
    slot = sm.cta_slot[w]
    if run.concurrent:
        execution = context_at(run.contexts_of, sm.cta_kernel[slot])
    execution.warp = sm.index * run.contexts + sm.context[w]
    execution.shared_memory = sm.shared_memory + sm.cta_context[slot] * sm.shared_bytes
    execution.cycle = run.cycle
    if run.clusters:
        enter_cluster(run, execution, sm.cta_id[slot])
    if run.has_team and sm.outside & warp_bit(sm, w) and not _has_turn(run, sm, instruction):
        run.fault_kind = NO_TURN
        return
    mask = active
    if instruction.guard_row >= 0:
        mask = guard_mask(execution, i, active)
    if instruction.uop_end > instruction.uop_start:
        execute(execution, i, mask)
        if execution.error:
            note_fault(run, sm, w, i, execution.error, execution.error_lane)
            return
    sm.warp_instructions += 1
    sm.thread_instructions += popcount(mask)
    flat_i64(run.issues, run.n_instructions)[i] += 1
    if run.concurrent:
        count_issue(run, sm, slot, mask)
    _enter_pipe(run, sm, execution, i, w, mask)
    if not _move(run, sm, execution, i, w, mask, active):
        note_fault(run, sm, w, i, execution.error if execution.error else STACK_OVERFLOW, 0)
        return
    if run.renaming_words:
        renaming.issued(run, sm, w, i)
    elif sm.needs_lock & warp_bit(sm, w):  # of pairs: a warp passes marks of sections before
        acquire(run, sm, instruction, w, i)
    if run.hotspots:
        note_issue(run, sm, i, w, mask, active)
    if sm.inner_wait & warp_bit(sm, w):
        retest_barriers(run, sm, execution, slot)
        note_wait(sm, w)
    _next_head(run, sm, execution, w)


@inline
def _has_turn(run, sm, instruction):
    """Wait until all SMs before this one have done what others see; False if the run ends before."""
    return instruction.space == LOCAL or wait_for_turn(run.team, run.worker, run.cycle << 8 | sm.index)


@inline
def _enter_pipe(run, sm, execution, i, w, mask):
    """Take an ID_OC entry of the instruction's port, and reserve its destinations."""
    instruction = instruction_at(run.code, i)
    port = np.int64(instruction.unit)
    if port == EITHER:
        port = SP if sm.id_oc_n[0] < run.port_width[0] else 1
    entry = ctz(sm.front_free)
    sm.front_free &= ~bit(entry)
    sm.front_ins[entry] = i
    sm.front_warp[entry] = w
    sm.front_reads[entry] = 0
    sm.id_oc[port] |= queued(entry, sm.id_oc_n[port])
    sm.id_oc_n[port] += 1
    if run.collector_sets:
        sm.id_oc_taken[port] |= bit(w & run.last_sub_core)
        sm.front_class[entry] = port
        sm.front_issue[entry] = sm.warp_instructions
    sm.front_count[w] += 1
    reserve(run, sm, instruction, w, execution.access_space)
    if port == LDST_PORT:
        prepare_access(run, sm, execution, i, w, mask, entry)
        if instruction.access == ATOMIC and mask:
            sm.in_atomic |= warp_bit(sm, w)


@inline
def _move(run, sm, execution, i, w, mask, active):
    """Move the SIMT stack past instruction i, executed by lanes `mask` of `active`. False on overflow."""
    instruction = instruction_at(run.code, i)
    following = i + 1
    kind = instruction.kind
    if kind == BRANCH:
        taken_first = run.taken_first
        outcome = simt_stack.branch(
            sm, w, instruction.target, following, instruction.reconverge, mask, active, taken_first
        )
        if run.take_turns and instruction.target <= i and mask:
            simt_stack.yield_lanes(sm, w, run.cycle)
        return _counted(sm, outcome)
    if kind == INDIRECT:
        shift_targets(sm, execution, w)
        return _counted(
            sm, simt_stack.jump(sm, w, execution.lane_target, following, instruction.reconverge, mask, active)
        )
    if kind == CALL:
        return simt_stack.call(sm, w, instruction.target, following, mask)
    if kind == INVOKE:
        if instruction.target < 0:
            shift_targets(sm, execution, w)
        return simt_stack.invoke(execution, sm, w, i, instruction.target, mask)
    if kind == EXIT or kind == RETURN or instruction.exit_after:
        depth = 0
        threads = threads_left(run, sm, execution, w) if run.clusters else 0
        if kind != RETURN and execution.call_words:
            note_exit(execution, mask)
        if kind == RETURN:
            depth = sm.stack_call[sm.depth[w] - 1, w]
        if mask:
            simt_stack.leave(sm, w, mask, depth)
        if mask == active:
            simt_stack.settle(sm, w)
        else:
            simt_stack.advance(sm, w, following)
        if execution.call_words:
            while simt_stack.end_call(execution, sm, w):
                pass
        if run.clusters:
            threads_exited(run, sm, execution, w, threads)
        return True
    if kind == BARRIER and mask:
        arrive(run, sm, execution, i, w, mask)
        return True
    if kind == MEMBAR:
        sm.in_membar |= warp_bit(sm, w)
    elif kind == COMMIT:
        sm.copy_group[w] += 1
    elif kind == WAIT:
        sm.groups_left[w] = instruction.copies
        sm.in_wait |= warp_bit(sm, w)
    elif kind == SET_REGISTERS and mask and run.entry_registers:
        set_registers(run, sm, i, w, mask)
        return True
    elif kind >= REPEAT and mask and execution.repeats and must_repeat(run, sm, execution, i, w, mask):
        return True
    simt_stack.advance(sm, w, following)
    return True


@inline
def _counted(sm, outcome):
    """Count a divergent branch. False if the stack is full."""
    if outcome == simt_stack.DIVERGENT:
        sm.divergent_branches += 1
    return outcome != simt_stack.FULL


@inline
def _next_head(run, sm, execution, w):
    """Advance the I-buffer, and note whether the next instruction is on the right path."""
    me = warp_bit(sm, w)
    sm.has_head &= ~me
    sm.head_class[instruction_at(run.code, sm.ib_pc[w]).unit] &= ~me
    # lanes that run off the end of the text exit
    threads = threads_left(run, sm, execution, w) if run.clusters else 0
    while sm.depth[w] and sm.stack_pc[sm.depth[w] - 1, w] >= sm.code_end[w]:
        simt_stack.leave(sm, w, sm.stack_mask[sm.depth[w] - 1, w], 0)
        simt_stack.settle(sm, w)
    if run.clusters:
        threads_exited(run, sm, execution, w, threads)
        if execution.phase_ended:
            execution.phase_ended = 0
            wake_sleepers(run)
    if sm.depth[w] == 0:
        finish_warp(run, sm, execution, w)
        return
    pc = sm.stack_pc[sm.depth[w] - 1, w]
    sm.ib_n[w] -= 1
    sm.ib_pc[w] += 1
    if sm.ib_n[w] > 0:
        if sm.ib_pc[w] == pc:
            new_head(run, sm, w)
        else:
            sm.stale |= me


@njit
def note_fault(run, sm, w, i, kind, lane):
    run.fault_kind = kind
    run.fault_sm = sm.index
    run.fault_kernel = sm.cta_kernel[sm.cta_slot[w]]
    run.fault_cta = sm.cta_id[sm.cta_slot[w]]
    run.fault_instruction = i
    run.fault_thread = sm.warp_in_cta[w] * 32 + lane
