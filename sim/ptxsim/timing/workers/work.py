"""A worker: the cycle loop of some of the SMs.

Workers go through the cycles side by side. A worker waits for the others where the order of SMs matters: before an
instruction that accesses memory which others see, before a CTA ends, and for CTA dispatch; and for the memory side,
which it may be ahead of by the cycles that a reply needs at least in the network (a conservative parallel simulation:
Chandy and Misra, "Distributed simulation", IEEE TSE 1979).
"""

from functools import cache
from typing import Any

import numpy as np

from ptxsim.base.atomics import ticks
from ptxsim.base.jit import inline, njit, types
from ptxsim.timing.core.ahead import may_go_on
from ptxsim.timing.core.cycle import PAUSED, declared_loop, sm_cycle
from ptxsim.timing.core.dispatch import dispatch
from ptxsim.timing.core.faults import keep_fault
from ptxsim.timing.core.issue import NO_TURN
from ptxsim.timing.core.ldst import take_reply_asleep
from ptxsim.timing.memory.memory_state import l1_at
from ptxsim.timing.memory.side.catch_up import catch_up
from ptxsim.timing.memory.side.waits import (
    call_all,
    is_turn,
    stay,
    wait,
    wait_for_all,
    wait_for_memory,
    wait_for_room,
    wait_for_turn,
)
from ptxsim.timing.memory.team.ports import first_due, look_for_replies, outbox_has_room
from ptxsim.timing.memory.team.team import (
    LAST,
    SMS_DONE,
    add_done,
    limit_of,
    memory_cycle_of,
    note_fault,
    ready_of,
    set_asleep,
    set_end,
    set_left,
    set_ready,
    set_turn,
    stop_of,
    team_at,
    turn_of,
)
from ptxsim.timing.sm_state import FOREVER, sm_of
from ptxsim.timing.workers.slice_records import begin, end

CLOCK, BEGIN, END = -3, -2, -1
"""In place of the number of a worker: to read the clock; before they start; and after they have stopped."""


@inline
def _work(run, dispatching, execution, memory, pick, window, decide):
    """Run this worker's SMs until the run stops or ends; `dispatching` is the record that CTA dispatch works on."""
    team = run.team
    t = team_at(team, 0)
    me = run.worker
    while True:
        now = run.cycle
        set_turn(team, me, now << 8)
        run.stop_cycle = stop_of(team)
        if me == 0:
            catch_up(team)
        if now >= run.stop_cycle or not wait_for_memory(team, me, now - t.lookahead):
            return
        if limit_of(team) < now << 8:
            return
        run.known = memory_cycle_of(team) + t.lookahead
        look_for_replies(team, me)
        late = _all_sms(run, dispatching, execution, memory, pick, window, decide)
        if late < 0:
            return
        if run.ctas_done:
            done = add_done(team, run.ctas_done)
            run.ctas_done = 0
            if done >= run.n_ctas:
                set_end(team, now << 8 | LAST)
                set_turn(team, me, (now + 1) << 8)
                return
        if run.open_sms and run.next_cta < run.n_ctas and not _dispatch(run, dispatching, execution):
            return
        set_turn(team, me, (now + 1) << 8)
        following = FOREVER
        for k in range(late):
            _go_ahead(run, execution, memory, pick, window, decide, np.int64(t.late[me, k]))
        for index in range(t.first_sm[me], t.end_sm[me]):
            following = min(following, run.sm_next[index], first_due(team, index) + run.response_hops)
        set_asleep(team, me, np.int64(following >= FOREVER))
        run.cycle = min(max(min(following, run.known), now + 1), run.stop_cycle)


@inline
def _all_sms(run, dispatching, execution, memory, pick, window, decide):
    """The cycle of all SMs that are due: first, each in its turn, of those whose order matters; of the others while it
    is not their turn, or after them. An SM goes ahead at once if no other worker waits for this one. Returns the number
    of those that have yet to go ahead; -1 if the run has ended before."""
    team = run.team
    t = team_at(team, 0)
    me = run.worker
    now = run.cycle
    ordered = others = late = 0
    for index in range(t.first_sm[me], t.end_sm[me]):
        if run.sm_next[index] <= now or first_due(team, index) + run.response_hops <= now:
            if _order_matters(run, sm_of(run, index)):
                t.ordered[me, ordered] = index
                ordered += 1
            else:
                t.others[me, others] = index
                others += 1
    set_turn(team, me, _turn_at(t, me, now, 0, ordered))
    if ordered + others:
        set_asleep(team, me, np.int64(0))
    k = 0
    while k < ordered or others:
        index = np.int64(t.ordered[me, k])
        if others and (k == ordered or not is_turn(team, me, now << 8 | index)):
            others -= 1
            index = np.int64(t.others[me, others])
        else:
            set_turn(team, me, now << 8 | index)
            k += 1
            if _may_be_last(sm_of(run, index)):
                if not wait_for_turn(team, me, now << 8 | index):
                    return -1
                run.next_cta = dispatching.next_cta
            else:
                run.next_turn = _turn_at(t, me, now, k, ordered)
        if not _step(run, execution, memory, pick, window, decide, index):
            return -1
        run.next_turn = 0
        if k == ordered:
            _go_ahead(run, execution, memory, pick, window, decide, index)
        else:
            t.late[me, late] = index
            late += 1
    return late


@inline
def _turn_at(t, me, now, k, n):
    """The position of the k-th of n SMs in order."""
    return now << 8 | (np.int64(t.ordered[me, k]) if k < n else SMS_DONE)


@inline
def _order_matters(run, sm):
    """Whether an SM may do something in this cycle whose order others see: access memory, or end its last CTA."""
    may_issue = sm.ready | sm.blocked | sm.wakes[run.cycle & run.wheel]
    if sm.has_head & sm.outside & may_issue or run.issue_width > 1:
        return True
    return _may_be_last(sm)


@inline
def _may_be_last(sm):
    """Whether an SM may have no warps after this cycle: what it then does depends on whether CTAs are left."""
    return sm.resident & ~sm.finishing == 0


@njit
def _step(run, execution, memory, pick, window, decide, index):
    """The cycle of an SM; False if the run has ended before."""
    team = run.team
    now = run.cycle
    t = team_at(team, 0)
    sm = sm_of(run, index)
    l1 = l1_at(run.l1s, index)
    if not outbox_has_room(team, index) and not wait_for_room(team, run.worker, index, now):
        return False
    t.own[run.worker].last_step = max(t.own[run.worker].last_step, now)
    if run.sm_next[index] > now and take_reply_asleep(run, sm, execution, l1, memory):
        return True
    sm_cycle(run, sm, execution, l1, memory, pick, window, decide)
    if run.fault_kind == NO_TURN:
        run.fault_kind = 0
        return False
    if run.fault_kind:
        keep_fault(run, execution, index)
        note_fault(team, run.kept_fault[0])
    return True


@njit
def _go_ahead(run, execution, memory, pick, window, decide, index):
    """The cycles that an SM may do ahead of the others."""
    sm = sm_of(run, index)
    now = run.cycle
    while may_go_on(run, sm, memory, now):
        run.cycle = run.sm_next[index]
        sm_cycle(run, sm, execution, l1_at(run.l1s, index), memory, pick, window, decide)
        if run.fault_kind:
            keep_fault(run, execution, index)
            note_fault(run.team, run.kept_fault[0])
    t = team_at(run.team, 0)
    t.own[run.worker].last_step = max(t.own[run.worker].last_step, run.cycle)
    run.cycle = now


@njit
def _dispatch(run, dispatching, execution):
    """CTA dispatch after this cycle, for all workers with SMs that have room: the first of them does it. False if the
    run has ended before."""
    team = run.team
    t = team_at(team, 0)
    me = run.worker
    now = run.cycle
    position = now << 8 | LAST
    set_turn(team, me, position)
    if not wait_for_turn(team, me, position):
        return False
    for index in range(t.first_sm[me], t.end_sm[me]):
        dispatching.is_open[index] = run.is_open[index]
    set_ready(team, me, now)
    since = 0
    first = me
    for worker in range(me):
        if turn_of(team, worker) == position:
            first = worker
            break
    if first != me:
        while turn_of(team, first) == position:
            since = wait(team, me, since)
    else:
        for worker in range(me + 1, t.n):
            while turn_of(team, worker) == position and ready_of(team, worker) != now:
                since = wait(team, me, since)
        dispatching.cycle = now
        dispatching.open_sms = 0
        for index in range(run.n_sms):
            dispatching.open_sms += dispatching.is_open[index]
            dispatching.sm_next[index] = FOREVER
        if dispatching.next_cta < run.n_ctas:
            dispatch(dispatching, execution)
        set_turn(team, me, (now + 1) << 8)
    run.next_cta = dispatching.next_cta
    run.open_sms = 0
    for index in range(t.first_sm[me], t.end_sm[me]):
        run.sm_next[index] = min(run.sm_next[index], dispatching.sm_next[index])
        run.is_open[index] = dispatching.is_open[index]
        run.open_sms += run.is_open[index]
    return True


def _simulate(runs, contexts, memories, pick, window, decide, worker):
    """Run as one of several workers, whose records are followed by that for CTA dispatch."""
    if worker == CLOCK:
        return ticks()
    if worker == BEGIN:
        begin(runs, memories[0])
        return PAUSED
    if worker == END:
        return end(runs, memories[0])
    run = runs[worker]
    if worker == 0:
        call_all(run.team)
    while True:
        _work(run, runs[run.n_workers], contexts[worker], memories[0], pick, window, decide)
        if worker == 0:
            wait_for_all(run.team)
            set_left(run.team, worker)
            return PAUSED
        if not stay(run.team, worker):
            return PAUSED


@cache
def simulator(is_wide: bool, constants: tuple[tuple[str, int], ...]) -> Any:
    """The compiled loop of a worker, as `core.cycle.simulator`. `worker`: its number, CLOCK, BEGIN or END."""
    return declared_loop(_simulate, is_wide, constants, types.int64)
