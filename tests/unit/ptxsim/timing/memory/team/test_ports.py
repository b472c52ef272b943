"""Requests and replies between SMs and a memory side that is at another cycle."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from memory_machine import LINE, Machine, memory_cycle, on_array

from ptxsim.base.jit import JIT_DISABLED, for_python
from ptxsim.timing.memory.memory_state import FOREVER, READ
from ptxsim.timing.memory.team import ports, team
from ptxsim.timing.memory.team.team import INBOX, MOST_SENT, TEAM, WAITING
from ptxtool.formats.gpu import load_gpu

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")
WORKER, SM = 1, 5


@pytest.fixture
def shared() -> Any:
    record = np.zeros(1, TEAM)
    record["n"], record["n_sms"], record["response_hops"] = 2, 8, 3
    record["first_cycle"], record["port"]["due"] = FOREVER, FOREVER
    record["worker_of"][0][4:8] = WORKER
    record["first_sm"][0][WORKER], record["end_sm"][0][WORKER] = 4, 8
    return record


compiled = cache(for_python)


def call(function: Any, shared: Any, *arguments: Any) -> Any:
    return compiled(function)(np.uint64(shared.ctypes.data), *arguments)


def send(shared: Any, cycle: int, line: int = 0) -> None:
    call(ports.post, shared, SM, cycle, line, 128, READ, 7, 0xFFFFFFFF, 2)


def test_the_memory_side_gets_what_was_posted_in_order(shared: Any) -> None:
    for cycle, line in ((100, 0x80), (103, 0x100)):
        send(shared, cycle, line)
    call(ports.drain, shared)
    assert shared["entered"][0][SM] == 0  # not yet
    call(team.set_turn, shared, WORKER, 104 << 8)
    call(ports.drain, shared)
    waiting = shared["waiting"][0][SM]
    assert waiting["cycle"][:2].tolist() == [100, 103]
    assert waiting["line"][:2].tolist() == [0x80, 0x100]
    assert (waiting[0]["tag"], waiting[0]["bytes"], waiting[0]["flits"]) == (7, 128, 2)
    assert (shared["first_cycle"][0][SM], shared["first_cycle"][0][4]) == (100, FOREVER)


def test_an_outbox_is_full_until_entries_are_applied(shared: Any) -> None:
    for sent in range(WAITING - MOST_SENT + 1):
        assert call(ports.outbox_has_room, shared, SM), sent
        send(shared, sent)
    assert not call(ports.outbox_has_room, shared, SM)
    assert call(ports.outbox_has_room, shared, 4)
    call(ports.set_applied, shared, SM, 1)
    assert call(ports.outbox_has_room, shared, SM)


def test_replies_come_in_order_and_their_taking_is_posted(shared: Any) -> None:
    for request, due in ((11, 200), (12, 204)):
        call(ports.deliver, shared, SM, request, due)
    assert call(ports.first_due, shared, SM) == FOREVER  # the worker has not looked yet
    call(ports.look_for_replies, shared, WORKER)
    assert (call(ports.first_due, shared, SM), call(ports.first_request, shared, SM)) == (200, 11)
    assert call(ports.take_first, shared, SM, 200) == 11
    assert call(ports.first_due, shared, SM) == 204
    taken = shared["outbox"][0][WORKER][0]
    assert (taken["kind"], taken["cycle"], taken["line"]) == (ports.POP, 203, 201)
    call(ports.take_first, shared, SM, 204)
    assert call(ports.first_due, shared, SM) == FOREVER


def test_an_inbox_goes_round(shared: Any) -> None:
    for k in range(INBOX + 3):
        call(ports.deliver, shared, SM, k % 100, k)
        call(ports.look_for_replies, shared, WORKER)
        shared["own"]["posted"] = shared["port"]["sent"] = 0
        assert (call(ports.first_due, shared, SM), call(ports.take_first, shared, SM, k)) == (k, k % 100)


def test_an_input_is_full_until_later(shared: Any) -> None:
    for cycle, until in ((40, 40), (30, 40), (50, 50)):
        call(ports.set_full, shared, SM, cycle)
        assert call(ports.full_until, shared, SM) == until


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-qv100"])
def test_what_waits_in_the_network_when_workers_start(shared: Any, gpu: str) -> None:
    """Two replies lie in an output, and a request in another SM's input."""
    machine = Machine(load_gpu(gpu))
    machine.send(0, size=32, sm=SM, tag=1)
    machine.send(LINE, size=32, sm=SM, tag=2)
    while machine.m["replies"]["output"][SM]["count"] < 2:
        assert machine.now < 2000
        machine.now += 1
        memory_cycle(machine.array, machine.now)
    machine.send(2 * LINE, sm=4)
    shared["port"]["taken"], shared["own"], shared["told"] = 7, 7, 7  # of a slice before
    on_array(ports.set_up)(machine.array, np.uint64(shared.ctypes.data))
    call(ports.look_for_replies, shared, WORKER)
    due = call(ports.first_due, shared, SM)
    assert due == machine.due[SM]
    first = call(ports.take_first, shared, SM, due)
    second = call(ports.take_first, shared, SM, due + 1)
    assert machine.m["request"]["tag"][[first, second]].tolist() == [1, 2]
    assert call(ports.first_due, shared, SM) == FOREVER
    assert shared["left_flits"][0][[4, SM]].tolist() == [
        -machine.m["requests"]["input"][4]["flits"].astype(int),
        0,
    ]
    assert shared["left_flits"][0][4] < 0
