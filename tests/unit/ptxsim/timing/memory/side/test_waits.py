"""Turns of workers, and what ends waiting."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED, for_python
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.side import waits
from ptxsim.timing.memory.team.team import TEAM

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")


@pytest.fixture
def shared() -> Any:
    record = np.zeros(1, TEAM)
    record["n"], record["fault_at"], record["end_at"] = 3, FOREVER, FOREVER
    record["turn"][0][:3, 0] = 90, 100, 110
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


def test_memory_has_done_the_cycles_before_its_own(shared: Any) -> None:
    assert call(waits.wait_for_memory, shared, 1, 49)
