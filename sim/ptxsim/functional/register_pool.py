"""`setmaxnreg` in a run without time: warps of a CTA release registers to its pool, take them from it, or wait.

The rules are those of the timed run, which explains them (timing/warps/register_pool.py).

Reference: PTX ISA, section 9.7.19.5.
"""

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.base.program import FOR_REGISTERS
from ptxsim.execute.simt_stack import advance, settle, wait


@njit
def set_registers(cta, w, i, mask):
    """Warp w executes `setmaxnreg` instruction i in lanes `mask`, and its stack moves past it or waits."""
    warp, goal = cta.warps[w], np.int64(cta.instructions[i].register_goal)
    if goal - warp.registers > _free(cta):
        wait(warp, 0, FOR_REGISTERS - 1, i, mask, False)
        return
    advance(warp, 0, i + 1)
    if goal > warp.registers:
        warp.registers = goal
    elif 0 < -goal < warp.registers:
        warp.registers = -goal
        _serve(cta)


@njit
def _free(cta):
    """The registers per thread of a warp that the pool has."""
    free = cta.n_warps * cta.entry_registers
    for w in range(cta.n_warps):
        free -= cta.warps[w].registers
    return free


@njit
def _serve(cta):
    """Let the waiting warps go on that the pool has registers for."""
    free = _free(cta)
    for w in range(cta.n_warps):
        warp = cta.warps[w]
        top = warp.depth[0] - 1
        if top < 0 or warp.stack_wait[top, 0] != FOR_REGISTERS:
            continue
        goal = np.int64(cta.instructions[warp.waits_since[top, 0]].register_goal)
        if goal - warp.registers <= free:
            free -= goal - warp.registers
            warp.registers = goal
            warp.stack_wait[top, 0] = 0
            settle(warp, 0)
