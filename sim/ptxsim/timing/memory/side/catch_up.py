"""The memory side of a run with workers: the first of them lets it catch up with all.

Cycle m of the memory side needs what every SM has sent in the cycles before m. Each SM's requests and taken replies are
applied in the order of their cycles, before the memory side's next cycle; the order of SMs makes no difference.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit, record_at, types
from ptxsim.execute.boundary import boundary
from ptxsim.timing.memory.memory_state import FOREVER, MEMORY
from ptxsim.timing.memory.network.interconnect import next_grant, take
from ptxsim.timing.memory.requests import drop_request, enter_network
from ptxsim.timing.memory.side.memory_cycle import memory_cycle
from ptxsim.timing.memory.team.ports import POP, drain, set_applied, set_full
from ptxsim.timing.memory.team.team import (
    WAITING,
    first_cycle,
    is_asleep,
    limit_of,
    memory_cycle_of,
    set_idle,
    set_memory_cycle,
    set_stop,
    stop_of,
    stops_soon,
    team_at,
)

memory_at = record_at(MEMORY)
"""`memory_at(address of a MEMORY record, 0)`"""


@njit
def _apply_sent(memory: Any, team: Any, cycle: int) -> int:
    """Apply what SMs have sent before `cycle`; returns the cycle in which the next of it has to be applied."""
    t = team_at(team, 0)
    following = FOREVER
    for sm in range(t.n_sms):
        if t.first_cycle[sm] < cycle:
            _apply_of(memory, team, sm, cycle)
        following = min(following, t.first_cycle[sm])
    return following + 1


@njit
def _apply_of(memory: Any, team: Any, sm: int, cycle: int) -> None:
    t = team_at(team, 0)
    at = t.applied[sm]
    while True:
        entry = t.waiting[sm, at & (WAITING - 1)]
        if entry.cycle >= cycle:
            t.first_cycle[sm] = entry.cycle
            break
        if entry.kind == POP:
            r = take(memory, memory.replies, sm, entry.line)
            memory.next = min(memory.next, memory.replies.next)
            drop_request(memory, r)
        else:
            enter_network(
                memory,
                sm,
                entry.cycle,
                entry.line,
                np.int64(entry.bytes),
                np.int64(entry.kind),
                np.int64(entry.tag),
                np.int64(entry.words),
                np.int64(entry.flits),
            )
        at += 1
        if at == t.entered[sm]:
            t.first_cycle[sm] = FOREVER
            break
    set_applied(team, sm, at)


@inline
def _tell_full(memory: Any, team: Any) -> None:
    """Tell how long the inputs of the network that are almost full stay so."""
    network = memory.requests
    for sm in range(memory.n_sms):
        if network.input[sm].flits > network.input_flits - network.longest:
            set_full(team, sm, next_grant(network, sm))


@njit
def _advance(memory: Any, team: Any, limit: int) -> None:
    """Run the memory side up to cycle `limit`, before which all SMs have sent all."""
    t = team_at(team, 0)
    cycle = memory_cycle_of(team)
    drain(team)
    while cycle <= limit:
        following = _apply_sent(memory, team, cycle)
        if memory.next <= cycle:
            memory_cycle(memory, cycle)
            if not memory.requests.of_packets:
                _tell_full(memory, team)
            t.last_memory = cycle
        following = min(following, memory.next)
        if following >= FOREVER and _nothing_left(team):
            set_idle(team)
            set_stop(team, min(stop_of(team), cycle + t.lookahead + t.ahead + 1))
        cycle = max(cycle + 1, min(following, limit + 1))
        set_memory_cycle(team, cycle)
        if memory.n_free < t.reserve or stops_soon(team):
            set_stop(team, min(stop_of(team), cycle + t.lookahead + t.ahead + 1))


@njit
def _nothing_left(team: Any) -> bool:
    """Whether all workers sleep, and nothing is on its way that could wake one."""
    t = team_at(team, 0)
    for sm in range(t.n_sms):
        if t.arrived[sm] != t.port[sm].taken:
            return False
    for worker in range(t.n):
        if not is_asleep(team, worker):
            return False
    drain(team)  # who has taken a reply since it was looked at is awake, or has posted that
    for sm in range(t.n_sms):
        if t.first_cycle[sm] < FOREVER:
            return False
    return True


@njit(types.void(types.uint64))
def _catch_up(team: Any) -> None:
    limit = min(first_cycle(team), limit_of(team) >> 8, stop_of(team) - 1)
    if memory_cycle_of(team) <= limit:
        _advance(memory_at(team_at(team, 0).memory, 0), team, limit)
    else:
        drain(team)


catch_up: Any = boundary("catch_up", _catch_up)
"""`catch_up(team)`: let the memory side catch up with the last of the workers. Only the first worker calls it."""


@njit(types.void(types.uint64, types.int64))
def _settle(team: Any, cycle: int) -> None:
    memory = memory_at(team_at(team, 0).memory, 0)
    _advance(memory, team, cycle)
    _apply_sent(memory, team, FOREVER)


settle: Any = boundary("settle", _settle)
"""`settle(team, cycle)`: the workers have stopped; the memory side does all cycles up to `cycle`, and has all that was
sent."""
