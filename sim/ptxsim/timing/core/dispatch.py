"""CTA dispatch: every SM with a free slot takes at most one CTA per cycle, SMs in turn (timing-model section 1.8)."""

from ptxsim.base.jit import bit, ctz, flat_i64, flat_u8, inline
from ptxsim.base.warp_masks import warp_bit
from ptxsim.execute import simt_stack
from ptxsim.execute.start import init_warp
from ptxsim.timing.open_sms import set_open
from ptxsim.timing.residency.monitor import cta_launched, slot_for_new, warps_launched
from ptxsim.timing.sharing.pairs import cta_started
from ptxsim.timing.sm_state import BARRIERS, sm_of
from ptxsim.timing.timeline_codes import CTA
from ptxsim.timing.timeline_events import note
from ptxsim.timing.warps.clusters import cta_begins, has_room, next_in_clusters


@inline
def dispatch(run, execution, special_rows):
    """Launch CTAs after the SMs' cycle."""
    index = run.last_sm
    for _ in range(run.n_sms):
        index = index + 1 if index + 1 < run.n_sms else 0
        if run.is_open[index] and run.next_cta < run.n_ctas and (run.cluster_ctas < 2 or has_room(run)):
            _launch(run, sm_of(run, index), execution, special_rows)
            run.launched_sm = index
    run.last_sm = run.launched_sm
    if run.next_cta >= run.n_ctas:  # an SM without work has to notice that
        for index in range(run.n_sms):
            sm = sm_of(run, index)
            run.sm_next[index] = max(min(run.sm_next[index], run.cycle + 1), sm.last_cycle + 1)


@inline
def _launch(run, sm, execution, special_rows):
    slot = slot_for_new(run, sm) if run.switching else ctz(sm.free_slots)
    sm.free_slots &= ~bit(slot)
    if sm.free_slots == 0:
        set_open(run, sm.index, 0)
    cta = next_in_clusters(run, execution) if run.cluster_ctas > 1 else run.next_cta
    run.next_cta += 1
    sm.cta_cycles -= run.cycle
    sm.cta_id[slot] = cta
    sm.cta_warps[slot] = run.warps_per_cta
    for number in range(BARRIERS):
        sm.cta_arrived[slot, number] = 0
        sm.cta_counted[slot, number] = 0
        sm.cta_holds[slot, number] = 0
        sm.cta_seen[slot, number] = 0
    context = slot
    if run.switching:
        context = cta_launched(run, sm, slot)
    sm.cta_context[slot] = context
    if sm.shared_bytes:
        image = flat_u8(run.shared_image, sm.shared_bytes)
        memory = flat_u8(sm.shared_memory + context * sm.shared_bytes, sm.shared_bytes)
        for k in range(sm.shared_bytes):
            memory[k] = image[k]
        execution.shared_memory = sm.shared_memory + context * sm.shared_bytes
    if run.clusters:
        cta_begins(run, execution, cta)
    for k in range(run.warps_per_cta):
        _start_warp(run, sm, execution, special_rows, slot, k, cta)
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
def _start_warp(run, sm, execution, special_rows, slot, k, cta):
    w = slot * run.warps_per_cta + k
    me = warp_bit(sm, w)
    context = sm.cta_context[slot] * run.warps_per_cta + k
    sm.context[w] = context
    sm.first_register[w] = context * run.n_registers
    sm.slot_of[context] = w
    sm.warp_registers[context] = run.entry_registers
    threads = min(32, run.threads_per_cta - 32 * k)
    simt_stack.start(sm, w, bit(threads) - 1)
    sm.resident |= me
    sm.inner_wait &= ~me
    sm.cta_slot[w] = slot
    sm.warp_in_cta[w] = k
    sm.dynamic_id[w] = sm.next_dynamic_id
    sm.next_dynamic_id += 1
    sm.ib_n[w] = 0
    sm.ib_pc[w] = 0
    sm.fetch_pc[w] = 0
    sm.done_at[w] = 0
    ready_at = flat_i64(sm.ready_at, run.contexts * run.n_registers)
    for r in range(context * run.n_registers, (context + 1) * run.n_registers):
        ready_at[r] = 0
    execution.warp = sm.index * run.contexts + context
    columns, rows = run.grid[0], run.grid[1]
    init_warp(
        execution,
        special_rows,
        k,
        cta % columns,
        cta // columns % rows,
        cta // (columns * rows),
        run.block,
        run.grid,
        sm.index,
        w,
    )
