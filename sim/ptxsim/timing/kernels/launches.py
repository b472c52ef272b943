"""The life of a launch: it waits for others and for a place among those that run, has its CTAs launched, and ends
(timing-model section 1.8).

A launch that has nothing to wait for takes the lowest free place, in the order of launches; `launch_cycles` later it is
ready for its first CTA. When its last CTA has ended, its place is free from the next cycle on, and launches that wait
for nothing else begin. Reference: GPGPU-Sim 4.2, `gpgpu_sim::launch`, `can_start_kernel`, `decrement_kernel_latency`,
`stream_manager::operation`.
"""

from ptxsim.base.jit import flat_i64, inline, njit, popcount
from ptxsim.base.kernel_records import ENDED, RUNNING, WAITING, context_at, kernel_at


@njit
def take_places(run, cycle):
    """Launches that wait for nothing take the free places; `cycle` is the first in which they can have a CTA."""
    for k in range(run.n_kernels):
        kernel = kernel_at(run.kernels, k)
        if kernel.state != WAITING or kernel.waits_for:
            continue
        place = 0
        while place < run.most_running and run.running[place] >= 0:
            place += 1
        if place == run.most_running:
            return
        run.running[place] = k
        kernel.state = RUNNING
        kernel.ready_cycle = cycle + kernel.launch_cycles
        run.next_ready = min(run.next_ready, kernel.ready_cycle)


@inline
def cta_done(run, sm, slot):
    """The CTA of a slot has ended."""
    run.ctas_done += 1
    if run.concurrent:
        kernel = kernel_at(run.kernels, sm.cta_kernel[slot])
        kernel.ctas_done += 1
        _leave_sm(run, sm, kernel)
        if kernel.ctas_done == kernel.n_ctas:
            _end(run, sm.cta_kernel[slot])


@njit
def _leave_sm(run, sm, kernel):
    """What a CTA has taken from an SM is free."""
    kernel.cta_cycles += run.cycle
    sm.used_registers -= kernel.registers
    sm.used_scratchpad -= kernel.scratchpad
    run.may_dispatch = 1


@njit
def _end(run, k):
    """Launch k has ended: others follow."""
    kernel = kernel_at(run.kernels, k)
    kernel.state = ENDED
    kernel.end_cycle = run.cycle
    for place in range(run.most_running):
        if run.running[place] == k:
            run.running[place] = -1
    followers = flat_i64(kernel.successors, kernel.n_successors)
    for j in range(kernel.n_successors):
        kernel_at(run.kernels, followers[j]).waits_for -= 1
    take_places(run, run.cycle + 1)


@njit
def count_issue(run, sm, slot, mask):
    """Lanes `mask` of a warp of a CTA have issued an instruction."""
    kernel = kernel_at(run.kernels, sm.cta_kernel[slot])
    kernel.warp_instructions += 1
    kernel.thread_instructions += popcount(mask)


@njit
def shift_targets(sm, execution, w):
    """The targets of lanes, which the program of a launch counts from its own first instruction."""
    for lane in range(32):
        execution.lane_target[lane] += sm.code_first[w]


@njit
def any_half_full(run):
    """Whether the print buffer of a launch is half full."""
    for k in range(run.n_kernels):
        context = context_at(run.contexts_of, k)
        if context.host_used > context.host_bytes >> 1:
            return True
    return False
