"""CTA dispatch: every SM with a free slot takes at most one CTA per cycle, SMs in turn (timing-model section 1.8).

Of SMs that share a port of the network one takes a CTA, in turn (GPGPU-Sim, `simt_core_cluster::issue_block2core`).

Where several launches run at the same time, `kernels/select_kernel.py` says which of them an SM takes it from.
"""

from ptxsim.base.jit import bit, ctz, flat_i64, flat_u8, inline, njit
from ptxsim.base.kernel_records import context_at, kernel_at, special_rows_at
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute import simt_stack
from ptxsim.execute.start import init_warp
from ptxsim.timing.kernels.select_kernel import first_of_free_warps, has_room_for, kernel_for, note_ready
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.monitor import cta_launched, slot_for_new, warps_launched
from ptxsim.timing.sharing.pairs import cta_started
from ptxsim.timing.sm_state import BARRIERS, sm_of
from ptxsim.timing.timeline_codes import CTA
from ptxsim.timing.timeline_events import note
from ptxsim.timing.warps.clusters import cta_begins, has_room, next_in_clusters


@inline
def _sm_in_turn(run, port, k):
    """The SM that is asked k-th of those at a port."""
    n = run.sms_per_port
    return port if n == 1 else port * n + (run.port_turn[port] + 1 + k) % n


@inline
def _took(run, port, index):
    run.launched_sm = index
    run.port_turn[port] = index - port * run.sms_per_port


@inline
def dispatch(run, execution):
    """Launch CTAs after the SMs' cycle."""
    ports = run.n_sms // run.sms_per_port
    port = run.last_sm // run.sms_per_port
    for _ in range(ports):
        port = port + 1 if port + 1 < ports else 0
        for k in range(run.sms_per_port):
            index = _sm_in_turn(run, port, k)
            if run.is_open[index] and run.next_cta < run.n_ctas and (run.cluster_ctas < 2 or has_room(run)):
                _take(run, sm_of(run, index), execution)
                _took(run, port, index)
                break
    _end_of_turn(run)


@njit
def dispatch_kernels(run):
    """The same for several launches at a time."""
    if run.next_ready <= run.cycle:
        note_ready(run)
        run.may_dispatch = 1
    if run.may_dispatch == 0:
        return
    run.may_dispatch = 0
    ports = run.n_sms // run.sms_per_port
    port = run.last_sm // run.sms_per_port
    for _ in range(ports):
        port = port + 1 if port + 1 < ports else 0
        for turn in range(run.sms_per_port):
            index = _sm_in_turn(run, port, turn)
            sm = sm_of(run, index)
            k = kernel_for(run, sm)
            if k >= 0 and has_room_for(run, sm, k):
                _take_of(run, sm, k)
                _took(run, port, index)
                run.may_dispatch = 1
                break
    _end_of_turn(run)


@inline
def _end_of_turn(run):
    run.last_sm = run.launched_sm
    if run.next_cta >= run.n_ctas:  # an SM without work has to notice that
        for index in range(run.n_sms):
            sm = sm_of(run, index)
            run.sm_next[index] = max(min(run.sm_next[index], run.cycle + 1), sm.last_cycle + 1)


@inline
def _take(run, sm, execution):
    """An SM with an open slot takes the next CTA of the only launch."""
    slot = slot_for_new(run, sm) if run.switching else ctz(sm.free_slots)
    if sm.free_slots == bit(slot):
        set_open(run, sm.index, 0)
    kernel = kernel_at(run.kernels, 0)
    cta = next_in_clusters(run, execution) if run.cluster_ctas > 1 else kernel.next_cta
    _launch(run, sm, execution, 0, slot, slot * run.warps_per_cta, cta)


@njit
def _take_of(run, sm, k):
    """An SM with room takes the next CTA of launch k."""
    kernel = kernel_at(run.kernels, k)
    first = first_of_free_warps(run, sm, kernel.warps_per_cta)
    sm.used_registers += kernel.registers
    sm.used_scratchpad += kernel.scratchpad
    kernel.cta_cycles -= run.cycle
    if kernel.first_cycle < 0:
        kernel.first_cycle = run.cycle
    _launch(run, sm, context_at(run.contexts_of, k), k, ctz(sm.free_slots), first, kernel.next_cta)


@njit
def _launch(run, sm, execution, k, slot, first, cta):
    """CTA `cta` of launch k begins in a slot of an SM, with warps from `first` on."""
    kernel = kernel_at(run.kernels, k)
    sm.free_slots &= ~bit(slot)
    run.next_cta += 1
    kernel.next_cta += 1
    sm.cta_cycles -= run.cycle
    sm.cta_id[slot] = cta
    sm.cta_kernel[slot] = k
    sm.cta_first[slot] = first
    sm.cta_size[slot] = sm.cta_warps[slot] = kernel.warps_per_cta
    for number in range(BARRIERS):
        sm.cta_arrived[slot, number] = 0
        sm.cta_counted[slot, number] = 0
        sm.cta_holds[slot, number] = 0
        sm.cta_seen[slot, number] = 0
    context = slot
    if run.switching:
        context = cta_launched(run, sm, slot)
    sm.cta_context[slot] = context
    if kernel.shared_bytes:
        image = flat_u8(kernel.shared_image, kernel.shared_bytes)
        memory = flat_u8(sm.shared_memory + context * sm.shared_bytes, kernel.shared_bytes)
        for at in range(kernel.shared_bytes):
            memory[at] = image[at]
        execution.shared_memory = sm.shared_memory + context * sm.shared_bytes
    if run.clusters:
        cta_begins(run, execution, cta)
    for number in range(kernel.warps_per_cta):
        _start_warp(run, sm, execution, kernel, slot, number)
    if run.switching:
        warps_launched(run, sm, slot)
    cta_started(run, sm, slot)
    if run.timeline:
        note(run, sm, CTA, slot, cta, 0, 0)
    if not sm.counting:  # its idle cycles do not count
        sm.last_cycle = sm.charged = run.cycle
        sm.counting = 1
    run.sm_next[sm.index] = min(run.sm_next[sm.index], run.cycle + 1)


@inline
def _start_warp(run, sm, execution, kernel, slot, number):
    w = sm.cta_first[slot] + number
    me = warp_bit(sm, w)
    context = w
    if run.switching:
        context = sm.cta_context[slot] * run.warps_per_cta + number
    sm.context[w] = context
    sm.first_register[w] = context * run.n_registers
    sm.slot_of[context] = w
    sm.warp_registers[context] = run.entry_registers
    threads = min(32, kernel.threads_per_cta - 32 * number)
    simt_stack.start(sm, w, bit(threads) - 1)
    sm.stack_pc[0, w] = kernel.first_instruction
    sm.resident |= me
    sm.inner_wait &= ~me
    sm.cta_slot[w] = slot
    sm.warp_in_cta[w] = number
    sm.dynamic_id[w] = sm.next_dynamic_id
    sm.next_dynamic_id += 1
    sm.ib_n[w] = 0
    sm.ib_pc[w] = 0
    sm.fetch_pc[w] = sm.code_first[w] = kernel.first_instruction
    sm.code_end[w] = kernel.end_instruction
    sm.done_at[w] = 0
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    for r in range(context * run.n_registers, (context + 1) * run.n_registers):
        ready_at[r] = 0
    execution.warp = sm.index * run.contexts + context
    cta, columns, rows = sm.cta_id[slot], kernel.grid[0], kernel.grid[1]
    init_warp(
        execution,
        special_rows_at(kernel.special_rows, kernel.n_special_rows),
        number,
        cta % columns,
        cta // columns % rows,
        cta // (columns * rows),
        kernel.block,
        kernel.grid,
        sm.index,
        w,
    )
