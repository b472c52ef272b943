"""The words that workers share."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED, for_python
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.team import team
from ptxsim.timing.memory.team.team import OWN, TEAM, TOLD

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


def test_the_first_cycle_that_is_not_done(shared: Any) -> None:
    for worker, position in enumerate((70 << 8, 60 << 8 | 5, 80 << 8)):
        call(team.set_turn, shared, worker, position)
    assert call(team.first_cycle, shared) == 60


@pytest.mark.parametrize(
    ("function", "values"), [(team.set_turn, (900,)), (team.set_asleep, (1,)), (team.set_left, ())]
)
def test_the_memory_side_may_take_what_was_posted_before(
    shared: Any, function: Any, values: tuple[int, ...]
) -> None:
    shared["own"]["posted"][0][:2] = 4, 6
    assert call(team.posted_of, shared, 1) == 0
    call(function, shared, 1, *map(np.int64, values))
    assert [call(team.posted_of, shared, worker) for worker in range(2)] == [0, 6]


def test_what_threads_write_shares_no_line() -> None:
    """Two lines of 64 bytes each, as processors fetch them in pairs."""
    assert TOLD.itemsize == OWN.itemsize == 128
    assert TEAM.fields is not None
    names = list(TEAM.names or ())
    written = names[names.index("memory_cycle") : names.index("entered")]
    assert [
        name for name in written if TEAM.fields[name][1] % 128 and name not in ("delivered", "unused_too")
    ] == []


def test_all_have_left_but_the_first(shared: Any) -> None:
    call(team.set_left, shared, 2)
    assert not call(team.all_left, shared)
    call(team.set_left, shared, 1)
    assert call(team.all_left, shared)
