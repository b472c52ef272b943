"""Waiting for the other workers of a run, or for the memory side; the first worker lets that catch up meanwhile."""

from typing import Any

from ptxsim.base.atomics import call_at, pause, ticks
from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.side.catch_up import catch_up
from ptxsim.timing.memory.team.ports import outbox_has_room
from ptxsim.timing.memory.team.team import (
    CALLED,
    STAYS,
    all_left,
    limit_of,
    memory_cycle_of,
    set_left,
    set_thread,
    stop_soon,
    team_at,
    tell_posted,
    thread_of,
    turn_of,
)


@inline
def wait(team: Any, me: int, since: int) -> int:
    """Let some time pass; returns when the wait has begun, which is 0 before its first round."""
    t = team_at(team, 0)
    own = t.own[me]
    now = ticks()
    if since == 0:
        since = now
    else:
        passed = now - own.waited_to
        own.waited += passed
        if now - since > t.long_wait:
            own.waited_long += passed
            if own.waited_long > t.patience:
                stop_soon(team)
            if t.yield_cpu:
                call_at(t.yield_cpu)
    if me == 0:
        before = memory_cycle_of(team)
        catch_up(team)
        if memory_cycle_of(team) != before:
            now = ticks()
    own.waited_to = now
    pause()
    return since


@inline
def is_turn(team: Any, me: int, position: int) -> bool:
    """Whether it is the turn of a position."""
    for worker in range(team_at(team, 0).n):
        if worker != me and turn_of(team, worker) < position:
            return False
    return True


@njit
def wait_for_turn(team: Any, me: int, position: int) -> bool:
    """Wait until it is the turn of a position; False if the run ends before it."""
    since = 0
    t = team_at(team, 0)
    worker = 0
    while worker < t.n:
        if worker == me or turn_of(team, worker) >= position:
            worker += 1
        elif limit_of(team) < position:
            return False
        else:
            since = wait(team, me, since)
    return limit_of(team) >= position


@njit
def wait_for_memory(team: Any, me: int, cycle: int) -> bool:
    """Wait until the memory side has done a cycle; False if the run ends before it."""
    since = 0
    while memory_cycle_of(team) <= cycle:
        if limit_of(team) >> 8 < cycle:
            return False
        since = wait(team, me, since)
    return True


@njit
def wait_for_room(team: Any, me: int, sm: int, cycle: int) -> bool:
    """Wait until an SM can post all of a cycle, which is that of its worker; False if the run ends before it."""
    since = 0
    tell_posted(team, me)
    while not outbox_has_room(team, sm):
        if limit_of(team) >> 8 < cycle:
            return False
        since = wait(team, me, since)
    return True


@njit
def wait_for_all(team: Any) -> None:
    """Serve the others until they have stopped."""
    since = 0
    while not all_left(team):
        since = wait(team, 0, since)


@njit
def call_all(team: Any) -> None:
    """Let the threads that stay begin a slice."""
    for worker in range(1, team_at(team, 0).n):
        if thread_of(team, worker) == STAYS:
            set_thread(team, worker, CALLED)


@njit
def stay(team: Any, me: int) -> bool:
    """A worker has stopped: its thread waits for the next slice. False if there is none."""
    t = team_at(team, 0)
    set_thread(team, me, STAYS)
    set_left(team, me)
    since = ticks()
    while thread_of(team, me) == STAYS:
        pause()
        if t.yield_cpu and ticks() - since > t.long_wait:
            call_at(t.yield_cpu)
    return thread_of(team, me) == CALLED
