"""Waiting for the other workers of a run, or for the memory side; the first worker lets that catch up meanwhile."""

from typing import Any

from ptxsim.base.atomics import call_at, pause
from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.side.catch_up import catch_up
from ptxsim.timing.memory.team.team import all_left, limit_of, memory_cycle_of, stop_soon, team_at, turn_of

_SPINS = 500
"""Rounds before another thread may have the core."""


@inline
def wait(team: Any, me: int, spins: int) -> int:
    """Let some time pass; returns the number of such waits in a row."""
    t = team_at(team, 0)
    before = memory_cycle_of(team)
    if me == 0:
        catch_up(team)
    if me or memory_cycle_of(team) == before:
        t.idle_rounds[me, 0] += 1
    pause()
    if spins > _SPINS:
        if t.yield_cpu:
            call_at(t.yield_cpu)
        t.long_rounds[me, 0] += 1
        if t.long_rounds[me, 0] == t.patience:
            stop_soon(team)
    return spins + 1


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
    spins = 0
    t = team_at(team, 0)
    worker = 0
    while worker < t.n:
        if worker == me or turn_of(team, worker) >= position:
            worker += 1
        elif limit_of(team) < position:
            return False
        else:
            spins = wait(team, me, spins)
    return limit_of(team) >= position


@njit
def wait_for_memory(team: Any, me: int, cycle: int) -> bool:
    """Wait until the memory side has done a cycle; False if the run ends before it."""
    spins = 0
    while memory_cycle_of(team) <= cycle:
        if limit_of(team) >> 8 < cycle:
            return False
        spins = wait(team, me, spins)
    return True


@njit
def wait_for_all(team: Any) -> None:
    """Serve the others until they have stopped."""
    spins = 0
    while not all_left(team):
        spins = wait(team, 0, spins)
