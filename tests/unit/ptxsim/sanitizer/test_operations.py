"""Operations in flight: what completes them, for which warps, and how many are kept."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import operations, shadow_state


class Kept:
    """The records of a CTA of four warps."""

    def __init__(self) -> None:
        self.clocks = np.zeros((shadow_state.MAX_WARPS, shadow_state.MAX_WARPS), np.int32)
        np.fill_diagonal(self.clocks, 1)
        self.kept = np.zeros(1, state.ASYNCHRONOUS)
        self.checks: Any = np.zeros(1, shadow_state.CHECKS)
        self.checks[0]["clocks"], self.checks[0]["asynchronous"] = (
            self.clocks.ctypes.data,
            self.kept.ctypes.data,
        )
        self.checks[0]["n_warps"] = 4

    def __call__(self, function: Any, *args: int) -> Any:
        return functions[function.__name__ if hasattr(function, "__name__") else function](
            self.checks[0], *args
        )


functions: dict[str, Any] = {
    name: for_python(getattr(operations, name))
    for name in ("begin", "continued", "is_complete", "observe", "commit")
}


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_a_warp_that_waits_knows_it(kept: Kept) -> None:
    number = kept("begin", state.LOADS, 7, 0, 5, 0)
    stamp = state.FIRST_STAMP - number
    kept("observe", 1, state.LOADS, 5, 0)  # an earlier phase
    kept("observe", 1, state.LOADS, 10, 1)  # another mbarrier
    assert not kept("is_complete", stamp, 1)
    kept("observe", 1, state.LOADS, 5, 1)
    assert kept("is_complete", stamp, 1)
    assert not kept("is_complete", stamp, 2)
    kept.clocks[2, 1] = 1  # after a barrier of both
    assert kept("is_complete", stamp, 2)


def test_products_are_tracked_from_their_commit_on(kept: Kept) -> None:
    number = kept("continued", state.PRODUCTS, 7, 0, state.OPEN, 0)
    assert kept("continued", state.PRODUCTS, 7, 0, state.OPEN, 0) == number
    assert kept("continued", state.PRODUCTS, 8, 0, state.OPEN, 0) == number + 1
    kept("commit", 9, 0, 5, 3)
    assert kept("continued", state.PRODUCTS, 7, 0, state.OPEN, 0) == number + 2
    kept("observe", 0, state.PRODUCTS, 5, 4)
    assert kept("is_complete", state.FIRST_STAMP - number, 0)
    assert not kept("is_complete", state.FIRST_STAMP - number - 2, 0)


def test_a_commit_is_for_all_products_before(kept: Kept) -> None:
    """Those that an earlier commit has given to another mbarrier too; not those of other threads, nor later ones."""
    first = kept("begin", state.PRODUCTS, 7, 0, state.OPEN, 0)
    kept("commit", 8, 0, 5, 3)
    others = kept("begin", state.PRODUCTS, 7, 32, state.OPEN, 0)
    second = kept("begin", state.PRODUCTS, 7, 0, state.OPEN, 0)
    kept("commit", 8, 0, 5, 4)
    kept("commit", 9, 0, 10, 0)  # nothing has begun since
    last = kept("begin", state.PRODUCTS, 7, 0, state.OPEN, 0)
    kept("observe", 2, state.PRODUCTS, 10, 1)
    done = [kept("is_complete", state.FIRST_STAMP - number, 2) for number in (first, second, others, last)]
    assert done == [True, True, False, False]


def test_old_operations_count_as_complete(kept: Kept) -> None:
    number = kept("begin", state.LOADS, 7, 0, 5, 0)
    for _ in range(state.N_OPERATIONS - 1):
        kept("begin", state.LOADS, 7, 0, 5, 0)
    assert not kept("is_complete", state.FIRST_STAMP - number, 0)
    kept("begin", state.LOADS, 7, 0, 5, 0)
    assert kept("is_complete", state.FIRST_STAMP - number, 0)
