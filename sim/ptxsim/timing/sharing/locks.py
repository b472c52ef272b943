"""Resource sharing at issue: may this warp issue its head now, and which locks and marks change (timing-model section
5.2)?

The interface of the core stages to both kinds of sharing. Before issue the head is tested if it may touch the shared
resource, accesses memory under dynamic warp execution, or has a release mark: a mark is passed as soon as the warp
waits for hazards and locks at most; a lock is requested when the scoreboard is clear, before the port. A warp that
waits for a lock occupies nothing of the pipeline.
"""

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, njit
from ptxsim.base.program import (
    FALLEN_REGISTERS,
    FALLEN_SCRATCHPAD,
    GIVES_REGISTERS,
    GIVES_SCRATCHPAD,
    LEADS_TO_MARK,
    instruction_at,
)
from ptxsim.base.warp_masks import warp_bit
from ptxsim.timing.sharing import registers, renaming, scratchpad, sections
from ptxsim.timing.sharing.hold_back import admits, draws_again, end_hold, forget_draw, hold, is_far, is_held
from ptxsim.timing.sharing.pairs import NON_OWNER, refuse

# as in ptxsim/memory_image/faults.py: use of a resource that a release mark has released
TOUCHED_REGISTER, TOUCHED_SCRATCHPAD = 102, 103
_REGISTERS = GIVES_REGISTERS | FALLEN_REGISTERS
_SCRATCHPAD = GIVES_SCRATCHPAD | FALLEN_SCRATCHPAD


def active_marks(shares_scratchpad: bool) -> int:
    """The marks that apply where registers or scratchpad are shared."""
    return (_SCRATCHPAD if shares_scratchpad else _REGISTERS) | LEADS_TO_MARK


@njit
def _may_touch(run, instruction):
    """Whether an instruction touches shared registers, or may access shared scratchpad."""
    if run.shares_scratchpad:
        return instruction.reach_end != 0
    return registers.touches(run, instruction)


@njit
def see_head(run, sm, instruction, w):
    """Warp w has a new head instruction, in a run that shares; whether it has to issue a mark before."""
    if run.sections:
        return sections.head_is_mark(run, sm, instruction, w)
    if run.renaming_words:
        renaming.see_head(run, sm, w)
        return False
    me = warp_bit(sm, w)
    sm.needs_lock &= ~me
    sm.marked &= ~me
    sm.within &= ~me
    if sm.pair[sm.cta_slot[w]] < 0:
        return False
    marks = instruction.marks & run.active_marks
    if marks & ~LEADS_TO_MARK:
        sm.marked |= me
    if marks or _may_touch(run, instruction) or (run.dynamic != 0 and is_far(instruction)):
        sm.needs_lock |= me
    return False


@njit
def pass_marks(run, sm, marked):
    """Let warps whose head has a release mark pass it."""
    while marked:
        w = ctz(marked)
        marked &= marked - 1
        sm.marked &= ~warp_bit(sm, w)
        marks = instruction_at(run.code, sm.ib_pc[w]).marks & run.active_marks
        fell = sm.fell_to[w] == sm.ib_pc[w]
        if marks & (GIVES_REGISTERS | GIVES_SCRATCHPAD) or (fell and marks & ~LEADS_TO_MARK):
            sm.has_released |= warp_bit(sm, w)
            _release(run, sm, w, True)


@njit
def ask(run, sm, execution, instruction, w):
    """Warp w is about to issue its head: let it wait if a lock or dynamic warp execution refuses it. A fault, or 0."""
    if run.shares_scratchpad:
        if instruction.reach_end and not sm.within & warp_bit(sm, w):
            has_released = sm.has_released & warp_bit(sm, w)
            if has_released or not scratchpad.holds(sm, w):
                offset = scratchpad.shared_byte(run, sm, execution, w)
                if offset < 0:
                    sm.within |= warp_bit(sm, w)
                elif has_released:
                    execution.error_address = np.uint64(offset)
                    return TOUCHED_SCRATCHPAD
                elif not scratchpad.may_touch(run, sm, w):
                    refuse(run, sm, w, offset)
                    return 0
    elif registers.touches(run, instruction):
        if sm.has_released & warp_bit(sm, w):
            return TOUCHED_REGISTER
        if not registers.may_touch(run, sm, w):
            refuse(run, sm, w, -1)
            return 0
    if run.dynamic != 0 and sm.warp_class[w] == NON_OWNER and is_far(instruction) and not admits(run, sm, w):
        hold(run, sm, w)
    return 0


@njit
def acquire(run, sm, instruction, w, i):
    """Warp w has issued instruction i, for which it asked: it holds the lock of the shared resource from now on."""
    if run.dynamic != 0:
        forget_draw(run, sm, w)
    if instruction.marks & run.active_marks & LEADS_TO_MARK:
        falls = sm.depth[w] > 0 and sm.stack_pc[sm.depth[w] - 1, w] == i + 1
        sm.fell_to[w] = i + 1 if falls else -1
    if not _may_touch(run, instruction):
        return
    if not run.shares_scratchpad:
        registers.acquire(run, sm, w)
    elif not sm.within & warp_bit(sm, w) and not scratchpad.holds(sm, w):
        scratchpad.acquire(run, sm, w)


@njit
def _release(run, sm, w, early):
    if run.shares_scratchpad:
        scratchpad.release(run, sm, w, early)
    else:
        registers.release(run, sm, w, early)


@njit
def warp_exited(run, sm, w):
    """All lanes of a warp of a shared CTA have exited."""
    _release(run, sm, w, False)


@njit
def end_lock_wait(run, sm, w):
    """Warp w waits no longer: charge the cycles to the instruction it waited at, its head."""
    waited = run.cycle - sm.lock_since[w]
    sm.lock_wait &= ~warp_bit(sm, w)
    if run.dynamic != 0 and is_held(run, sm, w):
        end_hold(run, sm, w, waited)
        return
    flat_i64(run.stall_cycles, run.n_instructions)[sm.ib_pc[w]] += waited
    sm.lock_wait_cycles += waited


@njit
def retest(run, sm):
    """A lock was released: waiting warps that may go on now are ready again."""
    waiting = sm.lock_wait
    if run.sections and not sections.may_retry(run, sm):
        return
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if run.renaming_words:
            if renaming.may_map(run, sm, w):
                end_lock_wait(run, sm, w)
        elif run.sections:
            end_lock_wait(run, sm, w)
        elif run.dynamic != 0 and is_held(run, sm, w):
            if draws_again(run, sm) or sm.warp_class[w] != NON_OWNER:
                end_lock_wait(run, sm, w)
        elif scratchpad.may_touch(run, sm, w) if run.shares_scratchpad else registers.may_touch(run, sm, w):
            end_lock_wait(run, sm, w)
