"""Which launch an SM takes its next CTA from, where several run at the same time (timing-model section 1.8).

ONE_PER_SM (GPGPU-Sim's default): an SM runs CTAs of one launch. It takes them as long as that launch has some left;
once none is left and its own have all ended, it changes to the launch that gave the last CTA or, where that has none
left, to the next in turn.
LEFTOVER (GPGPU-Sim with `-gpgpu_concurrent_kernel_sm`): an SM takes a CTA of the launch whose turn it is, if it has
threads, registers, scratchpad and a CTA slot for it. The turn passes to the next launch when no CTA is left.
SPATIAL (J. Adriaens et al., "The case for GPGPU spatial multitasking", HPCA 2012): the SMs are divided evenly among the
launches that have CTAs left, in ranges of neighbours. An SM changes to another launch once its CTAs have ended.

Reference: GPGPU-Sim 4.2, `gpgpu_sim::select_kernel`, `simt_core_cluster::issue_block2core`,
`shader_core_ctx::can_issue_1block`, `occupy_shader_resource_1block`, `find_available_hwtid`.
"""

from ptxsim.base.jit import bit, njit, popcount
from ptxsim.base.kernel_records import LEFTOVER, ONE_PER_SM, kernel_at
from ptxsim.timing.sm_state import FOREVER


@njit
def gives(run, place):
    """Whether the launch in a place has a CTA to give now."""
    if run.running[place] < 0:
        return False
    kernel = kernel_at(run.kernels, run.running[place])
    return kernel.next_cta < kernel.n_ctas and kernel.ready_cycle <= run.cycle


@njit
def note_ready(run):
    """Find the next cycle in which a launch becomes ready, after the present one."""
    run.next_ready = FOREVER
    for place in range(run.most_running):
        if run.running[place] >= 0:
            ready = kernel_at(run.kernels, run.running[place]).ready_cycle
            if ready > run.cycle:
                run.next_ready = min(run.next_ready, ready)


@njit
def _next_in_turn(run):
    """The launch that gave the last CTA, or the next one that has some; -1 if none has."""
    if gives(run, run.last_place):
        return run.running[run.last_place]
    for n in range(1, run.most_running + 1):
        place = (run.last_place + n) % run.most_running
        if gives(run, place):
            run.last_place = place
            return run.running[place]
    return -1


@njit
def _in_range(run, index):
    """The launch that SM `index` is for, where the SMs are divided; -1 if none has CTAs."""
    n = 0
    for place in range(run.most_running):
        n += gives(run, place)
    left = index * n // run.n_sms
    for place in range(run.most_running):
        if gives(run, place):
            if left == 0:
                return run.running[place]
            left -= 1
    return -1


@njit
def kernel_for(run, sm):
    """The launch that an SM takes its next CTA from, if it has room for it; -1: none."""
    if run.kernel_policy == LEFTOVER:
        return _next_in_turn(run)
    own = sm.kernel
    is_empty = popcount(sm.free_slots) == run.sm_ctas
    if run.kernel_policy == ONE_PER_SM:
        if own >= 0 and kernel_at(run.kernels, own).next_cta < kernel_at(run.kernels, own).n_ctas:
            return own
        chosen = _next_in_turn(run) if is_empty else -1
    else:
        chosen = _in_range(run, sm.index)
        if not is_empty and chosen != own:
            return -1
    if chosen >= 0:
        sm.kernel = chosen
    return chosen


@njit
def first_of_free_warps(run, sm, n):
    """The first of n free warp slots, a multiple of n; -1 if there are none."""
    for first in range(0, run.sm_warps - n + 1, n):
        is_free = True
        for slot in range(run.sm_ctas):
            if sm.free_slots & bit(slot) == 0:
                end = sm.cta_first[slot] + sm.cta_size[slot]
                is_free = is_free and (end <= first or first + n <= sm.cta_first[slot])
        if is_free:
            return first
    return -1


@njit
def has_room_for(run, sm, k):
    """Whether an SM can take a CTA of a launch."""
    kernel = kernel_at(run.kernels, k)
    if sm.free_slots == 0:
        return False
    if run.kernel_policy != LEFTOVER:
        return run.sm_ctas - popcount(sm.free_slots) < kernel.resident_ctas
    if sm.used_registers + kernel.registers > run.sm_registers:
        return False
    if sm.used_scratchpad + kernel.scratchpad > run.sm_scratchpad:
        return False
    return first_of_free_warps(run, sm, kernel.warps_per_cta) >= 0
