"""The words that workers share."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED, for_python
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.team import team
from ptxsim.timing.memory.team.team import TEAM

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")


@pytest.fixture
def shared() -> Any:
    record = np.zeros(1, TEAM)
    record["n"], record["fault_at"], record["end_at"] = 3, FOREVER, FOREVER
    return record


compiled = cache(for_python)


def call(function: Any, shared: Any, *arguments: Any) -> Any:
    return compiled(function)(np.uint64(shared.ctypes.data), *arguments)


def test_the_first_fault_stays(shared: Any) -> None:
    for position, first in ((900, 900), (500, 500), (700, 500)):
        call(team.note_fault, shared, position)
        assert call(team.limit_of, shared) == first


def test_the_end_is_a_limit_too(shared: Any) -> None:
    call(team.note_fault, shared, 900)
    call(team.set_end, shared, 800)
    assert call(team.limit_of, shared) == 800


def test_ctas_are_counted(shared: Any) -> None:
    assert [call(team.add_done, shared, n) for n in (2, 5)] == [2, 7]


def test_the_least_cycle_of_a_worker(shared: Any) -> None:
    for worker, cycle in enumerate((70, 60, 80)):
        call(team.set_cycle, shared, worker, cycle)
    assert call(team.first_cycle, shared) == 60


def test_all_have_left_but_the_first(shared: Any) -> None:
    call(team.set_left, shared, 2)
    assert not call(team.all_left, shared)
    call(team.set_left, shared, 1)
    assert call(team.all_left, shared)
