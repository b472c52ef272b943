"""The first fault of a run, in the order of cycles and SMs: kept until all SMs have come to its cycle."""

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.timing.sm_state import FOREVER

# places of a kept fault: its position, `cycle << 8 | SM`, which is not 0, then what a report reads
(_POSITION, _KIND, _SM, _KERNEL, _CTA, _INSTRUCTION, _THREAD, _WARP, _ERROR, _LANE, _ADDRESS, _SPACE) = range(
    12
)


@njit
def keep_fault(run, execution, index):
    """SM `index` has met a fault, and does nothing any more."""
    position = run.cycle << 8 | index
    if run.kept_fault[_POSITION] == 0 or position < run.kept_fault[_POSITION]:
        run.kept_fault[_POSITION] = position
        run.kept_fault[_KIND] = run.fault_kind
        run.kept_fault[_SM] = run.fault_sm
        run.kept_fault[_KERNEL] = run.fault_kernel
        run.kept_fault[_CTA] = run.fault_cta
        run.kept_fault[_INSTRUCTION] = run.fault_instruction
        run.kept_fault[_THREAD] = run.fault_thread
        run.kept_fault[_WARP] = run.wrong_warp
        run.kept_fault[_ERROR] = execution.error
        run.kept_fault[_LANE] = execution.error_lane
        run.kept_fault[_ADDRESS] = np.int64(execution.error_address)
        run.kept_fault[_SPACE] = execution.access_space
    run.fault_kind = execution.error = 0
    run.sm_next[index] = FOREVER


@njit
def give_fault(run, execution):
    """The kept fault is the first one."""
    run.fault_kind = run.kept_fault[_KIND]
    run.fault_sm = run.kept_fault[_SM]
    run.fault_kernel = run.kept_fault[_KERNEL]
    run.fault_cta = run.kept_fault[_CTA]
    run.fault_instruction = run.kept_fault[_INSTRUCTION]
    run.fault_thread = run.kept_fault[_THREAD]
    run.wrong_warp = run.kept_fault[_WARP]
    execution.error = run.kept_fault[_ERROR]
    execution.error_lane = run.kept_fault[_LANE]
    execution.error_address = np.uint64(run.kept_fault[_ADDRESS])
    execution.access_space = run.kept_fault[_SPACE]
