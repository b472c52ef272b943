"""What the pipeline asks of resource sharing: may this warp issue its head now, and what does that change?

The one place that core stages call, whatever is shared. A head that may touch what is shared, goes to memory under
dynamic warp execution, or has a release mark, is looked at before it may issue: marks are passed as soon as nothing but
hazards and locks holds the warp, locks are asked for when the scoreboard is clear, before the port (timing-model
section 5.2). A warp that waits for a lock holds nothing of the pipeline.
"""

import numpy as np

from ptxsim.base.jit import bit, ctz, flat_i64, njit
from ptxsim.base.program import (
    FALLEN_REGISTERS,
    FALLEN_SCRATCHPAD,
    GIVES_REGISTERS,
    GIVES_SCRATCHPAD,
    LEADS_TO_MARK,
    instruction_at,
)
from ptxsim.timing.sharing import registers, scratchpad
from ptxsim.timing.sharing.hold_back import admits, draws_again, end_hold, forget_draw, hold, is_far, is_held
from ptxsim.timing.sharing.pairs import NON_OWNER, refuse

TOUCHED_REGISTER, TOUCHED_SCRATCHPAD = (
    102,
    103,
)  # as in ptxsim/memory_image/faults.py: use of what a release mark gave back
_REGISTERS = GIVES_REGISTERS | FALLEN_REGISTERS
_SCRATCHPAD = GIVES_SCRATCHPAD | FALLEN_SCRATCHPAD


def active_marks(shares_scratchpad: bool) -> int:
    """The marks that matter where registers or scratchpad are shared."""
    return (_SCRATCHPAD if shares_scratchpad else _REGISTERS) | LEADS_TO_MARK


@njit
def _may_touch(run, instruction):
    """Whether an instruction touches shared registers, or may access shared scratchpad."""
    if run.shares_scratchpad:
        return instruction.reach_end != 0
    return registers.touches(run, instruction)


@njit
def see_head(run, sm, instruction, w):
    """Warp w has a new head instruction, in a run that shares."""
    me = bit(w)
    sm.needs_lock &= ~me
    sm.marked &= ~me
    sm.within &= ~me
    if sm.pair[sm.cta_slot[w]] < 0:
        return
    marks = instruction.marks & run.active_marks
    if marks & ~LEADS_TO_MARK:
        sm.marked |= me
    if marks or _may_touch(run, instruction) or (run.dynamic != 0 and is_far(instruction)):
        sm.needs_lock |= me


@njit
def pass_marks(run, sm, marked):
    """Warps that stand at release marks pass them."""
    while marked:
        w = ctz(marked)
        marked &= marked - 1
        sm.marked &= ~bit(w)
        marks = instruction_at(run.code, sm.ib_pc[w]).marks & run.active_marks
        fell = sm.fell_to[w] == sm.ib_pc[w]
        if marks & (GIVES_REGISTERS | GIVES_SCRATCHPAD) or (fell and marks & ~LEADS_TO_MARK):
            sm.gave_back |= bit(w)
            _give_back(run, sm, w, True)


@njit
def ask(run, sm, x, instruction, w):
    """Warp w is about to issue its head: let it wait if a lock or dynamic warp execution says so. A fault, or 0."""
    if run.shares_scratchpad:
        if instruction.reach_end and not sm.within & bit(w):
            gave_back = sm.gave_back & bit(w)
            if gave_back or not scratchpad.holds(sm, w):
                offset = scratchpad.shared_byte(run, sm, x, w)
                if offset < 0:
                    sm.within |= bit(w)
                elif gave_back:
                    x.error_address = np.uint64(offset)
                    return TOUCHED_SCRATCHPAD
                elif not scratchpad.may_touch(run, sm, w):
                    refuse(run, sm, w, offset)
                    return 0
    elif registers.touches(run, instruction):
        if sm.gave_back & bit(w):
            return TOUCHED_REGISTER
        if not registers.may_touch(run, sm, w):
            refuse(run, sm, w, -1)
            return 0
    if run.dynamic != 0 and sm.warp_class[w] == NON_OWNER and is_far(instruction) and not admits(run, sm, w):
        hold(run, sm, w)
    return 0


@njit
def take(run, sm, instruction, w, i):
    """Warp w has issued instruction i, which it asked for: it holds the lock of what it touches from now on."""
    if run.dynamic != 0:
        forget_draw(run, sm, w)
    if instruction.marks & run.active_marks & LEADS_TO_MARK:
        falls = sm.depth[w] > 0 and sm.stack_pc[sm.depth[w] - 1, w] == i + 1
        sm.fell_to[w] = i + 1 if falls else -1
    if not _may_touch(run, instruction):
        return
    if not run.shares_scratchpad:
        registers.take(run, sm, w)
    elif not sm.within & bit(w) and not scratchpad.holds(sm, w):
        scratchpad.take(run, sm, w)


@njit
def _give_back(run, sm, w, early):
    if run.shares_scratchpad:
        scratchpad.give_back(run, sm, w, early)
    else:
        registers.give_back(run, sm, w, early)


@njit
def warp_exited(run, sm, w):
    """All lanes of a warp of a shared CTA have exited."""
    _give_back(run, sm, w, False)


@njit
def settle_wait(run, sm, w):
    """Warp w waits no longer: charge the cycles to the instruction it waited at, its head."""
    waited = run.cycle - sm.lock_since[w]
    sm.lock_wait &= ~bit(w)
    if run.dynamic != 0 and is_held(run, sm, w):
        end_hold(run, sm, w, waited)
        return
    flat_i64(run.stall_cycles, run.n_instructions)[sm.ib_pc[w]] += waited
    sm.lock_wait_cycles += waited


@njit
def retest(run, sm):
    """Something was given back: let the waiting warps that may go on now be ready again."""
    waiting = sm.lock_wait
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if run.dynamic != 0 and is_held(run, sm, w):
            if draws_again(run, sm) or sm.warp_class[w] != NON_OWNER:
                settle_wait(run, sm, w)
        elif scratchpad.may_touch(run, sm, w) if run.shares_scratchpad else registers.may_touch(run, sm, w):
            settle_wait(run, sm, w)
