"""`setmaxnreg`: warps of a CTA release registers to a pool of the CTA and take registers from it.

A CTA is launched with `entry_registers` per thread for each of its warps, and never has more. `.dec` releases what a
warp has beyond its operand in the cycle in which it issues. `.inc` takes what a warp lacks, or waits until the pool has
it, as a stack entry that waits at a barrier does. When registers come back, the waiting warps that the pool can serve
go on, those of lower numbers first. A warp that has as many already, or for `.dec` as few, changes nothing.

The pool has what is missing from its warps, which is not stored apart. An exit releases nothing: PTX names no other
source than `.dec`.

Timing-model section 1.8; PTX ISA, `setmaxnreg`. A run without time has the same rules (functional/register_pool.py).
"""

from ptxsim.base.jit import ctz, njit
from ptxsim.base.program import FOR_REGISTERS, instruction_at
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute import simt_stack
from ptxsim.timing.warps.barrier import note_wait


@njit
def set_registers(run, sm, i, w, mask):
    """Warp w executes `setmaxnreg` instruction i in lanes `mask`, and its stack moves past it or waits."""
    goal = instruction_at(run.code, i).register_goal
    context, slot = sm.context[w], sm.cta_slot[w]
    held = sm.warp_registers[context]
    if goal - held > _free(run, sm, slot):
        simt_stack.wait(sm, w, FOR_REGISTERS - 1, i, mask, False)
        note_wait(sm, w)
        sm.register_waits += 1
        sm.register_wait_since[context] = run.cycle
        return
    simt_stack.advance(sm, w, i + 1)
    if goal > held:
        sm.warp_registers[context] = goal
    elif 0 < -goal < held:
        sm.warp_registers[context] = -goal
        _serve(run, sm, slot)


@njit
def _free(run, sm, slot):
    """The registers per thread of a warp that the pool of a CTA has."""
    first = sm.cta_context[slot] * run.warps_per_cta
    free = run.warps_per_cta * run.entry_registers
    for context in range(first, first + run.warps_per_cta):
        free -= sm.warp_registers[context]
    return free


@njit
def _serve(run, sm, slot):
    """Let the waiting warps of a CTA go on that the pool has registers for."""
    free = _free(run, sm, slot)
    for w in range(slot * run.warps_per_cta, (slot + 1) * run.warps_per_cta):
        top = sm.depth[w] - 1
        if not sm.at_barrier & warp_bit(sm, w) or sm.stack_wait[top, w] != FOR_REGISTERS:
            continue
        context, goal = sm.context[w], instruction_at(run.code, sm.waits_since[top, w]).register_goal
        missing = goal - sm.warp_registers[context]
        if missing <= free:
            free -= missing
            sm.warp_registers[context] = goal
            sm.register_wait_cycles += run.cycle - sm.register_wait_since[context]
            sm.stack_wait[top, w] = 0
            simt_stack.settle(sm, w)
            note_wait(sm, w)


@njit
def count_open_waits(run, sm):
    """The run ends: count the cycles of waits that have not."""
    waiting = sm.at_barrier
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if sm.stack_wait[sm.depth[w] - 1, w] == FOR_REGISTERS:
            sm.register_wait_cycles += run.cycle - sm.register_wait_since[sm.context[w]]
