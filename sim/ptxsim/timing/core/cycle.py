"""The loop: cycles of the whole GPU, skipping those in which nothing can change (timing-model section 1.1).

Order in a step: memory side, then every SM (writeback, execute, LDST, with the operand collector in it or after it,
issue, decode, fetch), then CTA dispatch. Each SM and the memory keep the next cycle at which their state can change;
that cycle may be too early, never too late. An SM may run ahead of the others (`ahead.py`). Slots of skipped cycles
are charged by the state before them, so results do not depend on skipping.
"""

from functools import cache
from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, entry, for_records, inline, njit, types
from ptxsim.base.program import CONTEXT, engine_at
from ptxsim.base.warp_masks import no_warps, warp_bit
from ptxsim.execute.boundary import compile_wide
from ptxsim.timing.bulk.copy_engine import engine_cycle
from ptxsim.timing.bulk.sleep import FAULT as SLEEP_FAULT
from ptxsim.timing.bulk.sleep import STILL, engine_next, sleeps, wakes
from ptxsim.timing.core.ahead import may_go_on
from ptxsim.timing.core.class_units import execute_classes, next_class_entry
from ptxsim.timing.core.collector_sets import all_frozen, collect_all
from ptxsim.timing.core.dispatch import dispatch, dispatch_kernels
from ptxsim.timing.core.execute import execute_units, next_entry
from ptxsim.timing.core.faults import give_fault, keep_fault
from ptxsim.timing.core.fetch import decode, fetch, fetchable, pass_refused
from ptxsim.timing.core.issue import issue, note_fault, open_ports, valid_warps
from ptxsim.timing.core.ldst import (
    charge_stuck_head,
    copies_done,
    ldst_busy,
    ldst_cycle,
    next_shared,
    take_reply_asleep,
)
from ptxsim.timing.core.operands import collect, is_frozen
from ptxsim.timing.core.reasons import charge
from ptxsim.timing.core.retire import next_retirement
from ptxsim.timing.kernels.launches import any_half_full
from ptxsim.timing.memory.l1_pipes import next_look_up
from ptxsim.timing.memory.l1_sectors import forget
from ptxsim.timing.memory.memory_state import MEMORY, l1_at
from ptxsim.timing.memory.side.memory_cycle import memory_cycle
from ptxsim.timing.memory.system import reply_next
from ptxsim.timing.memory.team.team import set_turn
from ptxsim.timing.residency.decisions import DECIDE
from ptxsim.timing.residency.monitor import switch_ctas, switch_next
from ptxsim.timing.schedulers.signature import PICK, WINDOW
from ptxsim.timing.sharing.locks import end_lock_wait, retest
from ptxsim.timing.sm_state import FOREVER, IDLE, RUN, RUN_WIDE, SCOREBOARD, STALL, sm_of
from ptxsim.timing.timeline_events import observe
from ptxsim.timing.warps.register_pool import count_open_waits
from ptxsim.timing.warps.scoreboard import next_wake, writes_done

DONE, PAUSED, DEADLOCK, FAULT, LIMIT = range(5)


@njit
def _slot_kind(run, sm, own):
    """The kind of a slot in a cycle in which no warp of a scheduler has changed."""
    valid = sm.seen_valid & own
    if valid & sm.seen_ready & ~sm.lock_wait:
        return STALL  # ready, but every port that it could take was closed
    if valid:
        return STALL if run.lock_as_stall and valid & sm.lock_wait else SCOREBOARD
    return IDLE


@njit
def account_skipped(run, sm, l1, window):
    """Bring the counters up to the previous cycle: only a policy's window can have changed since the SM last ran."""
    _count_retries(run, sm, l1)
    charge_until(run, sm, window, run.cycle - 1)


@inline
def _count_retries(run, sm, l1):
    """Count the accesses that caches have refused in the cycles since the SM last ran."""
    skipped = run.cycle - sm.last_cycle - 1
    if skipped > 0 and sm.counting:
        charge_stuck_head(sm, l1, skipped)
        if sm.fetch_stuck:
            pass_refused(sm, skipped * run.fetches)


@inline
def charge_until(run, sm, window, cycle):
    """Charge the slots of all uncharged cycles up to `cycle`: the same warps were valid and ready in each of them."""
    cycles = cycle - sm.charged
    sm.charged = cycle
    if cycles <= 0 or not sm.counting:
        return
    sm.active_cycles += cycles
    if run.has_window:
        for _ in range(cycles):
            for s in range(run.n_schedulers):
                _charge_slots(run, sm, s, sm.supervised[s] & window(sm, s), 1)
    else:
        for s in range(run.n_schedulers):
            _charge_slots(run, sm, s, sm.supervised[s], cycles)


@inline
def _look(run, sm, window, charged):
    """Note which warps are valid and ready, or miss code; cycles up to `charged` are charged by those noted before."""
    valid = valid_warps(sm)
    ready = valid & sm.ready
    if valid != sm.seen_valid or ready != sm.seen_ready or sm.imiss != sm.seen_imiss:
        if sm.charged < charged:
            charge_until(run, sm, window, charged)
        sm.seen_valid, sm.seen_ready, sm.seen_imiss = valid, ready, sm.imiss


@inline
def _charge_slots(run, sm, s, own, cycles):
    """Charge slots of cycles in which no warp of a scheduler has changed."""
    kind = _slot_kind(run, sm, own)
    sm.slots[s, kind] += cycles
    if kind == IDLE and sm.seen_imiss & own:
        sm.instruction_miss_slots += cycles
    if run.hotspots:
        charge(run, sm, s, kind, own, sm.seen_valid & own, cycles)


@njit
def _release_membars(run, sm, execution, l1):
    """A fence waits for the warp's pending register writes only (section 1.3), not for its stores."""
    waiting = sm.in_membar
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if writes_done(run, sm, w) <= run.cycle:
            sm.in_membar &= ~warp_bit(sm, w)
            if l1.flush:
                forget(l1)
    waiting = sm.in_wait
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        if sleeps(run, sm, w):
            woken = wakes(run, sm, execution, w)
            if woken == SLEEP_FAULT:
                note_fault(
                    run, sm, w, engine_at(run.engines, sm.index).at[w], execution.error, execution.error_lane
                )
            if woken != STILL:
                sm.in_wait &= ~warp_bit(sm, w)
        elif copies_done(sm, w):
            sm.in_wait &= ~warp_bit(sm, w)


@njit
def _next_membar(run, sm):
    """The earliest cycle in which a fence can end as far as is known; FOREVER if all wait for loads."""
    following = FOREVER
    waiting = sm.in_membar
    while waiting:
        w = ctz(waiting)
        waiting &= waiting - 1
        following = min(following, writes_done(run, sm, w))
    return following


@njit
def sm_cycle(run, sm, execution, l1, memory, pick, window, decide):
    """One core cycle of one SM."""
    _count_retries(run, sm, l1)
    if run.eager_slots:
        charge_until(run, sm, window, run.cycle - 1)
    slot = run.cycle & run.wheel
    sm.ready |= sm.wakes[slot]
    sm.wakes[slot] = no_warps(sm)
    if sm.lock_wait and sm.release_cycle <= run.cycle:
        retest(run, sm)
    if run.collector_sets:
        execute_classes(run, sm)
    else:
        execute_units(run, sm)
    ldst_cycle(run, sm, execution, l1, memory)
    if run.engines:
        engine_cycle(run, sm, execution, memory)
    if run.collector_sets:
        collect_all(run, sm)
    elif run.collector_stage:
        collect(run, sm)
    if sm.in_membar | sm.in_wait:
        _release_membars(run, sm, execution, l1)
    issued = False
    if sm.counting:
        if run.eager_slots or sm.stale or valid_warps(sm) & sm.ready & open_ports(run, sm):
            if sm.charged < run.cycle - 1:
                charge_until(run, sm, window, run.cycle - 1)
            sm.charged = run.cycle
            sm.active_cycles += 1
            issued = issue(run, sm, execution, pick, window)
        else:
            _look(run, sm, window, run.cycle - 1)
    if run.has_team and run.next_turn:
        set_turn(run.team, run.worker, run.next_turn)
    for _ in range(run.fetches):
        decode(run, sm)
        fetch(run, sm, memory)
    if run.switching:
        switch_ctas(run, sm, execution, l1, memory, decide)
    if l1.flush and sm.resident == sm.finishing and sm.swapped_out == 0 and _is_emptied(run, sm, l1):
        forget(l1)
    _look(run, sm, window, run.cycle)
    sm.last_cycle = run.cycle
    run.sm_next[sm.index] = _next_cycle(run, sm, l1, issued)
    if sm.resident == 0 and sm.swapped_out == 0 and (run.next_cta >= run.n_ctas or not run.count_idle):
        charge_until(run, sm, window, run.cycle)
        sm.counting = 0


@inline
def _is_emptied(run, sm, l1):
    """Whether an L1 is flushed now that all threads have exited: one that keeps stores, once all warps have retired and
    no CTA follows."""
    return l1.allocates == 0 or (sm.resident == 0 and run.next_cta >= run.n_ctas)


@inline
def _next_cycle(run, sm, l1, issued):
    """The cycle in which this SM has to run next, replies from the network not considered."""
    soon = run.cycle + 1
    valid = valid_warps(sm)
    ready = valid & sm.ready & ~sm.lock_wait
    if issued or sm.stale or ready & open_ports(run, sm):
        return soon
    if sm.latch_warp >= 0 or sm.l1i.n_ready or sm.l1i.miss_count:
        return soon
    if fetchable(sm) & ~sm.fetch_stuck:
        return soon
    if run.collector_sets:
        following = next_class_entry(run, sm)
        if following <= soon or ldst_busy(sm, l1) or not all_frozen(run, sm):
            return soon
    else:
        following = next_entry(run, sm)
        if following <= soon or ldst_busy(sm, l1) or not is_frozen(run, sm):
            return soon
    # a ready warp has yet to ask for its lock, or another warp to pass a release mark
    if valid & sm.needs_lock and (ready & sm.needs_lock or valid & sm.marked):
        return soon
    if sm.lock_wait and sm.release_cycle > run.cycle:
        return soon
    following = min(following, next_wake(sm), next_look_up(l1), next_shared(sm))
    if sm.finishing:
        following = min(following, next_retirement(sm))
    if sm.in_membar:
        following = min(following, _next_membar(run, sm))
    if run.switching:
        following = min(following, switch_next(run, sm))
    if run.engines:
        following = min(following, engine_next(run, sm))
    return max(following, soon)


@njit
def _finish(run, window):
    """Account every SM up to the last cycle, and every wait for a lock or for registers."""
    for index in range(run.n_sms):
        sm = sm_of(run, index)
        account_skipped(run, sm, l1_at(run.l1s, index), window)
        sm.last_cycle = run.cycle - 1
        waiting = held = sm.lock_wait
        while waiting:
            w = ctz(waiting)
            waiting &= waiting - 1
            end_lock_wait(run, sm, w)
        sm.lock_wait = held  # for the report of a deadlock
        if run.entry_registers:
            count_open_waits(run, sm)


@njit
def _last_step(run):
    """The last cycle that an SM has done."""
    last = np.int64(0)
    for index in range(run.n_sms):
        last = max(last, sm_of(run, index).last_cycle)
    return last


def _simulate(runs, contexts, memories, pick, window, decide):
    """Run until the grid is done, a fault, a deadlock, the cycle limit, or `stop_cycle`; returns which of these."""
    return _loop(runs[0], contexts[0], memories[0], pick, window, decide)


@inline
def _loop(run, execution, memory, pick, window, decide):
    half = execution.host_bytes >> 1  # of the print buffer
    while run.ctas_done < run.n_ctas:
        if run.kept_fault[0] and run.cycle > run.kept_fault[0] >> 8:
            give_fault(run, execution)
            _finish(run, window)
            return FAULT
        if run.max_cycles and run.cycle >= run.max_cycles:
            _finish(run, window)
            return LIMIT
        if run.cycle >= run.stop_cycle or execution.host_used > half:
            return PAUSED
        if run.has_prints and any_half_full(run):
            return PAUSED
        if memory.next <= run.cycle:
            memory_cycle(memory, run.cycle)
        following = FOREVER
        for index in range(run.n_sms):
            due = run.sm_next[index] <= run.cycle or run.event_skip == 0
            reply = reply_next(memory, index) + run.response_hops
            if due or reply <= run.cycle:
                sm = sm_of(run, index)
                l1 = l1_at(run.l1s, index)
                if due or not take_reply_asleep(run, sm, execution, l1, memory):
                    now = run.cycle
                    while True:
                        sm_cycle(run, sm, execution, l1, memory, pick, window, decide)
                        if run.timeline:
                            observe(run, sm)
                        if run.fault_kind:
                            keep_fault(run, execution, index)
                            break
                        if not may_go_on(run, sm, memory, now):
                            break
                        run.cycle = run.sm_next[index]
                    run.cycle = now
                reply = reply_next(memory, index) + run.response_hops
            following = min(following, run.sm_next[index], reply)
        if run.ctas_done >= run.n_ctas:
            run.cycle += 1
            break
        if run.open_sms and run.next_cta < run.n_ctas:
            if run.concurrent:
                dispatch_kernels(run)
                following = min(following, run.next_ready)
            else:
                dispatch(run, execution)
            for index in range(run.n_sms):
                following = min(following, run.sm_next[index])
        if run.kept_fault[0]:
            following = min(following, (run.kept_fault[0] >> 8) + 1)
        following = max(min(following, memory.next), run.cycle + 1)
        if following >= FOREVER:
            run.cycle = max(run.cycle, _last_step(run)) + 1
            _finish(run, window)
            return DEADLOCK
        if run.event_skip == 0:
            following = run.cycle + 1
        run.cycle = min(following, run.stop_cycle)
        if run.max_cycles:
            run.cycle = min(run.cycle, run.max_cycles)
    _finish(run, window)
    return DONE


@cache
def simulator(is_wide: bool, constants: tuple[tuple[str, int], ...]) -> Any:
    """The compiled loop, for narrow or wide records, and for runs whose records have these values (plain_run.py).
    Compiling takes a while the first time after an installation or an edit; then it is cached.

    A policy is two typed arguments and a register scheme one, so that none compiles it again.
    """
    return declared_loop(_simulate, is_wide, constants)


def declared_loop(simulate: Any, is_wide: bool, constants: tuple[tuple[str, int], ...], *more: Any) -> Any:
    """A loop of one thread or of several, by the constant `has_team`; `more`: the types of further arguments."""
    if is_wide:
        compile_wide()
    signature = types.int64(
        array_of(RUN_WIDE if is_wide else RUN, constants),
        array_of(CONTEXT),
        array_of(MEMORY, (("has_team", dict(constants)["has_team"]),)),
        types.FunctionType(PICK[is_wide]),
        types.FunctionType(WINDOW[is_wide]),
        types.FunctionType(DECIDE),
        *more,
    )
    declared = entry(signature)(simulate)
    for kind, taken in (("wide", is_wide), ("plain", len(constants) > 1)):
        if taken:
            for_records(declared, kind)
    return declared
