"""Warps that sleep at an instruction: until an mbarrier has completed a phase, or the copy engine has got on.

    mbarrier.try_wait             until the phase has ended, or the time limit is over
    cp.async.bulk.wait_group      until the groups of all lanes are complete, or their sources have been read
    a bulk copy                   until the engine has room for it

Such an instruction has issued once, and found that it has to wait. The warp issues nothing (`in_wait`) until the
instruction, executed again without a slot, finds no reason to wait; after the time limit its result stands as it is.
The SM looks when something has happened: in a cycle in which it runs and the mbarrier has another phase, or the engine
has moved. Whoever ends a phase of another SM's mbarrier wakes that one (`wake_sleepers`).

Without the records of engines, and where CTAs are switched, there is no sleep: a test fails at once, and the others
issue again and again.
Reference: PTX ISA, `mbarrier.try_wait`: potentially blocking, with a system-dependent or given limit in nanoseconds.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, flat_i64, njit, record_type, types
from ptxsim.base.program import CONTEXT, SUSPEND, engine_at, instruction_at, uop_at
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import BULK_WAIT, MBARRIER_TEST, PHASE_SHIFT
from ptxsim.execute.micro_operations import execute
from ptxsim.timing.sm_state import FOREVER, RUN, SM, signatures
from ptxsim.timing.warps.clusters import enter_cluster

STILL, AWAKE, FAULT = range(3)
_CONTEXT = record_type(CONTEXT)
_MUST_REPEAT = signatures(types.int64, RUN, SM, _CONTEXT, *[types.int64] * 3)
_WAKES = signatures(types.int64, RUN, SM, _CONTEXT, types.int64)
_ENGINE_NEXT = signatures(types.int64, RUN, SM)


@njit(_MUST_REPEAT[0])
def _must_repeat(run, sm, execution, i, w, mask):
    instruction = instruction_at(run.code, i)
    op = uop_at(execution.uops, instruction.uop_end - 1).op
    tests = op == MBARRIER_TEST
    if run.engines == 0 or run.switching or (instruction.kind != SUSPEND and op != BULK_WAIT):
        return np.int64(not tests)
    engine = engine_at(run.engines, sm.index)
    engine.lanes[w], engine.at[w] = mask, i
    engine.cell[w], engine.until[w] = 0, FOREVER
    if tests:
        limit = engine.wait_cycles
        if execution.awaited_ns:
            limit = execution.awaited_ns * engine.core_mhz // 1000
        engine.cell[w], engine.phase[w] = execution.awaited, execution.awaited_phase
        engine.until[w] = run.cycle + limit
    sm.in_wait |= warp_bit(sm, w)
    return np.int64(0)


@njit
def sleeps(run, sm, w):
    """Whether warp w, which is in `in_wait`, sleeps so."""
    return run.engines != 0 and engine_at(run.engines, sm.index).lanes[w] != 0


@njit
def awaits_mbarrier(run, sm, w):
    """Whether it does until an mbarrier completes a phase."""
    return sleeps(run, sm, w) and engine_at(run.engines, sm.index).cell[w] != 0


@njit(_WAKES[0])
def _wakes(run, sm, execution, w):
    engine = engine_at(run.engines, sm.index)
    cell, over = engine.cell[w], engine.until[w] <= run.cycle
    if cell:
        phase = (flat_i64(cell, 1)[0] >> PHASE_SHIFT) & 1
        if phase == engine.phase[w] and not over:
            return STILL
    elif engine.moved != run.cycle:
        return STILL
    execution.warp = sm.index * run.contexts + sm.context[w]
    slot = sm.cta_slot[w]
    execution.shared_memory = sm.shared_memory + sm.cta_context[slot] * sm.shared_bytes
    execution.cycle = run.cycle
    if run.clusters:
        enter_cluster(run, execution, sm.cta_id[slot])
    execute(execution, engine.at[w], engine.lanes[w])
    if execution.error:
        return FAULT
    if execution.repeats and not over:
        if cell:
            engine.cell[w], engine.phase[w] = execution.awaited, execution.awaited_phase
        return STILL
    engine.lanes[w] = 0
    return AWAKE


@njit(_ENGINE_NEXT[0])
def _engine_next(run, sm):
    engine = engine_at(run.engines, sm.index)
    following = np.int64(engine.next)
    waiting = sm.in_wait
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if engine.lanes[w]:
            following = min(following, engine.until[w])
    return following


must_repeat: Any = boundary("must_repeat", _must_repeat, _MUST_REPEAT[1])
"""`must_repeat(run, sm, execution, i, w, mask)`: instruction i, which warp w has executed in lanes `mask`, waits.

Whether it has to issue again. If not, the warp sleeps, or goes on with a test that has failed.
"""

wakes: Any = boundary("wakes", _wakes, _WAKES[1])
"""`wakes(run, sm, execution, w)`: whether sleeping warp w goes on: STILL (it does not), AWAKE, or FAULT, which the
context has."""

engine_next: Any = boundary("engine_next", _engine_next, _ENGINE_NEXT[1])
"""`engine_next(run, sm)`: the next cycle in which an SM has to run for its engine, or for a time limit of a warp."""
