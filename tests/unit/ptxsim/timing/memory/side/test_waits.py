"""Turns of workers, and what ends waiting."""

import threading
import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED, entry, for_python, types
from ptxsim.base.machine_code import address
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.side import waits
from ptxsim.timing.memory.team.team import CALLED, GONE, MOST_SENT, OUTBOX, STAYS, TEAM

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")


@pytest.fixture
def shared() -> Any:
    record = np.zeros(1, TEAM)
    record["n"], record["fault_at"], record["end_at"] = 3, FOREVER, FOREVER
    record["told"]["turn"][0][:3] = 90, 100, 110
    record["memory_cycle"] = 50
    return record


compiled = cache(for_python)


def call(function: Any, shared: Any, *arguments: Any) -> Any:
    return compiled(function)(np.uint64(shared.ctypes.data), *arguments)


def test_it_is_the_turn_of_the_least_position(shared: Any) -> None:
    assert call(waits.is_turn, shared, 0, 95)
    assert not call(waits.is_turn, shared, 0, 105)
    assert not call(waits.is_turn, shared, 1, 95)
    assert call(waits.wait_for_turn, shared, 0, 100)


def test_the_end_of_a_run_ends_waiting(shared: Any) -> None:
    shared["end_at"] = 92
    assert not call(waits.wait_for_turn, shared, 1, 95)
    assert not call(waits.wait_for_memory, shared, 1, 60)


def test_waits_are_counted_and_long_ones_let_all_stop_soon(shared: Any) -> None:
    shared["long_wait"], shared["patience"] = 1000, 2000
    own = shared["own"][0][1]
    own["waited_to"] = 7  # of a wait before
    since = call(waits.wait, shared, 1, 0)
    assert (own["waited"], own["waited_to"]) == (0, since)
    for _ in range(2):
        time.sleep(0.001)
        assert call(waits.wait, shared, 1, since) == since
    assert own["waited_to"] == since + own["waited"]
    assert 2000 < own["waited_long"] <= own["waited"]
    assert shared["stops_soon"][0, 0] == 1
    assert not shared["own"]["waited"][0][[0, 2]].any()


def test_short_waits_are_not_long(shared: Any) -> None:
    shared["long_wait"], shared["patience"] = 1 << 60, 0
    since = call(waits.wait, shared, 1, 0)
    call(waits.wait, shared, 1, since)
    own = shared["own"][0][1]
    assert own["waited"] > own["waited_long"] == shared["stops_soon"][0, 0] == 0


def test_an_outbox_has_room_when_its_entries_were_taken(shared: Any) -> None:
    shared["worker_of"][0][3], shared["own"]["posted"][0][1] = 1, OUTBOX
    assert not call(waits.wait_for_room, shared, 1, 3, FOREVER)  # the run has ended before
    assert shared["told"]["posted"][0][1] == OUTBOX
    shared["drained"][0, 1, 0] = MOST_SENT
    assert call(waits.wait_for_room, shared, 1, 3, 0)


def _stay(team):  # type: ignore[no-untyped-def]
    return np.int64(waits.stay(team, 1))


@pytest.mark.parametrize(("state", "goes_on"), [(CALLED, True), (GONE, False)])
def test_a_thread_stays_until_it_is_called_or_let_go(shared: Any, state: int, goes_on: bool) -> None:
    stay, told = entry(types.int64(types.uint64))(_stay), []
    address(stay)  # compiled before a thread waits
    thread = threading.Thread(target=lambda: told.append(stay(shared.ctypes.data)))
    thread.start()
    while shared["told"]["left"][0][1] == 0:
        time.sleep(0.001)
    assert shared["thread"][0, :3, 0].tolist() == [GONE, STAYS, GONE]
    if state == CALLED:
        call(waits.call_all, shared)
    else:
        shared["thread"][0, 1, 0] = GONE
    thread.join()
    assert told == [goes_on]
    assert shared["thread"][0, :3, 0].tolist() == [GONE, state, GONE]


def test_memory_has_done_the_cycles_before_its_own(shared: Any) -> None:
    assert call(waits.wait_for_memory, shared, 1, 49)
