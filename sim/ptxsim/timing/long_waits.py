"""Which warps wait for memory: for the timeline, and for the trigger of CTA switching."""

from ptxsim.base.jit import flat_i64, njit
from ptxsim.base.program import instruction_at
from ptxsim.timing.sm_state import LONG


@njit
def waits_long(run, sm, w):
    """True if the head of a warp waits for a load from beyond the SM."""
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    instruction = instruction_at(run.code, sm.ib_pc[w])
    base = sm.first_register[w]
    for k in range(instruction.n_registers):
        if ready_at[base + instruction.register[k]] == LONG:
            return True
    return False
