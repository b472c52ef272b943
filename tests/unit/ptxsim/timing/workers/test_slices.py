"""Which slices are shared, and by how many workers."""

from typing import Any, Literal

import pytest
from built import built
from microkernels.measure import one_sm
from shared_slices import loop_of_any_run, reduction, share_slices

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.options import MOST_THREADS
from ptxsim.timing.memory.team.team import MAX_WORKERS
from ptxsim.timing.schedulers import policy
from ptxsim.timing.workers import slices
from ptxsim.timing.workers.slices import most_workers

compiled = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")


def test_the_limits_are_one() -> None:
    assert MAX_WORKERS == MOST_THREADS


@compiled
@pytest.mark.parametrize(
    ("plan", "scheduler", "workers"),
    [
        ({}, "lrr", 14),
        ({"share": 90, "grid": 200, "threads": 256, "registers": 36}, "owf", 14),
        ({"hotspots": True}, "lrr", 1),
        ({"event_skip": False}, "lrr", 1),
        ({"max_cycles": 100}, "lrr", 1),
    ],
)
def test_how_many_workers_can_share_a_run(plan: dict[str, Any], scheduler: str, workers: int) -> None:
    assert most_workers(built(**plan), policy(scheduler)) == workers


@compiled
def test_an_sm_alone_has_one_worker() -> None:
    assert most_workers(built(gpu=one_sm("tesla-c2050")), policy("lrr")) == 1


@compiled
def test_nothing_is_shared_where_processors_have_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 1)
    asked: list[int] = []

    def free_the_third_time(n: int) -> bool:
        asked.append(n)
        return len(asked) == 3

    monkeypatch.setattr(slices, "has_free_cpus", free_the_third_time)
    assert reduction("tesla-c2050", threads=2) == alone
    assert (asked, len(ends)) == ([2, 2, 2], 1)


@compiled
@pytest.mark.parametrize(("has_code", "threads"), [(True, "auto"), (False, "auto"), (False, 3)])
def test_nothing_is_compiled_for_a_short_run(
    monkeypatch: pytest.MonkeyPatch, has_code: bool, threads: int | Literal["auto"]
) -> None:
    """Unless a number of threads is asked for."""
    share_slices(monkeypatch, 2)
    monkeypatch.setattr(slices, "simulating_threads", lambda n_sms: n_sms // 4)
    monkeypatch.setattr(slices, "say_if_compiling", lambda *_: None)
    monkeypatch.setattr(slices, "is_missing", lambda loop: not has_code)
    made: list[int] = []

    class Without(slices.Crew):
        has_threads, staying = False, 0

        def __init__(self, *arguments: Any) -> None:
            made.append(arguments[2])

        def release(self) -> None:
            pass

        def close(self) -> None:
            pass

    monkeypatch.setattr(slices, "Crew", Without)
    assert reduction("tesla-c2050", threads=threads)["status"] == "done"
    assert made == [3] * (has_code or threads == 3)
