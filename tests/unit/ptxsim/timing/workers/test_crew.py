"""A slice that workers share: it changes no result, and ends whole whatever comes between."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from shared_slices import loop_of_any_run, reduction, share_slices

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.timing.memory.team.team import TEAM
from ptxsim.timing.sm_state import RUN, SM
from ptxsim.timing.workers import crew

compiled = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")


@compiled
@pytest.mark.parametrize(
    ("gpu", "n"), [("tesla-c2050", 2), ("tesla-c2050", 3), ("gpgpusim42-qv100", 2), ("gpgpusim42-qv100", 8)]
)
def test_the_number_of_threads_changes_no_result(gpu: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = reduction(gpu)
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 3)
    assert reduction(gpu, threads=n) == alone
    assert len(ends) == 3


@compiled
@pytest.mark.parametrize("is_before", [True, False])
def test_an_interrupted_slice_ends_whole(monkeypatch: pytest.MonkeyPatch, is_before: bool) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    share_slices(monkeypatch, 3)
    run, interrupted = crew.Crew._call, []

    def interrupt(self: crew.Crew, worker: int) -> int:
        """Come before the first worker's slice has begun, or after it."""
        if worker == 0 and not interrupted:
            interrupted.append(worker)
            if not is_before:
                run(self, worker)
            raise KeyboardInterrupt
        return run(self, worker)

    monkeypatch.setattr(crew.Crew, "_call", interrupt)
    result = reduction("tesla-c2050", threads=2, on_interrupt="return")
    assert result["status"] == "interrupted"
    assert 300 < result["cycles"] <= 800
    for thread in threading.enumerate():
        if thread.name.startswith("ptxsim"):
            thread.join(10)
            assert not thread.is_alive()
    cut = reduction("tesla-c2050", max_cycles=result["cycles"])
    assert {k: v for k, v in result.items() if k not in ("status", "memory")} == {
        k: v for k, v in cut.items() if k not in ("status", "memory")
    }
    assert alone["status"] == "done"


@compiled
def test_no_worker_runs_twice() -> None:
    """An interrupt can come between the start of a thread and the note of it, which is then started again."""
    done: list[int] = []

    class Noting(crew.Crew):
        def __init__(self) -> None:
            pass

        def _call(self, worker: int) -> int:
            done.append(worker)
            return 0

    numbers = iter(range(1, 3))
    for _ in range(4):
        Noting()._call_next(numbers)
    assert done == [1, 2]


@compiled
def test_a_worker_that_waits_for_long_lets_all_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 3)
    monkeypatch.setattr(crew, "_PATIENCE", 1e-6)
    run = crew.Crew._call

    def late(self: crew.Crew, worker: int) -> int:
        if worker == 0:
            time.sleep(0.02)
        return run(self, worker)

    monkeypatch.setattr(crew.Crew, "_call", late)
    assert reduction("tesla-c2050", threads=2) == alone
    assert len(ends) == 3
    assert ends[0] < 400  # of 300 to 800


@compiled
def test_one_thread_does_it_where_no_more_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 2)
    start, started = threading.Thread.start, []

    def fail(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(crew.threading.Thread, "start", fail)
    assert reduction("tesla-c2050", threads=3) == alone
    assert len(started) == 1
    assert not ends


def balanced(
    own: int, waited: tuple[float, float], cycles: int = 1000, slower: dict[int, float] | None = None
) -> int:
    """SMs of the first of two workers, of 14, after a slice of a second with `own`, in which they waited so long."""
    workers = crew.Crew.__new__(crew.Crew)
    workers._n, workers._own, workers._speed = 2, own, slower or {}
    workers._n_busy, workers._ticks_per_second = 14, 1e9
    workers._team = np.zeros(1, TEAM)
    workers._team["own"]["waited"][0, :2] = [seconds * 1e9 for seconds in waited]
    workers._balance(cycles, 1.0)
    return workers._own


def test_workers_get_sms_by_how_long_they_wait() -> None:
    assert balanced(7, (0.0, 0.0)) == 7
    # 8 SMs in half a second: the memory side takes 0.625 seconds, as long as 10 SMs; 2 and 12 would be even
    assert balanced(6, (0.0, 0.5)) == 4
    assert balanced(6, (0.5, 0.0)) == 7  # no memory side
    assert balanced(0, (0.0, 0.9)) == 0
    assert balanced(6, (0.0, 0.5), slower={4: 900.0}) == 6
    assert balanced(6, (0.0, 0.5), slower={4: 1100.0}) == 4


@pytest.mark.parametrize(
    ("resident", "ctas_left", "ends"),
    [
        ([2, 3, 5, 9], 0, [5, 14]),  # two busy ones each
        ([9], 0, [0, 14]),  # the first worker has the memory side only
        ([2, 3, 5, 9], 1, [7, 14]),  # any SM may get the CTA
        ([], 0, [7, 14]),
    ],
)
def test_workers_divide_the_sms_that_have_ctas(resident: list[int], ctas_left: int, ends: list[int]) -> None:
    run, sms = np.zeros(1, RUN), np.zeros(14, SM)
    run["n_sms"], run["n_ctas"], run["next_cta"] = 14, 20, 20 - ctas_left
    sms["resident"][resident] = 1
    workers = crew.Crew.__new__(crew.Crew)
    workers._n, workers._n_busy, workers.share, workers._divided = 2, 0, 0.5, None
    workers._simulation = SimpleNamespace(run=run, sms=sms)  # type: ignore[assignment]
    workers._team = team = np.zeros(1, TEAM)
    workers._divide()
    assert team["end_sm"][0, :2].tolist() == ends
    assert team["first_sm"][0, :2].tolist() == [0, ends[0]]
    assert team["worker_of"][0, :14].tolist() == [0] * ends[0] + [1] * (14 - ends[0])


def test_each_worker_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    run = np.zeros(1, RUN)
    run["issues"], run["stall_offset"] = 77, 78
    workers = crew.Crew.__new__(crew.Crew)
    workers._n, workers._runs, workers._team = 2, np.zeros(3, RUN), np.zeros(1, TEAM)
    workers._simulation = SimpleNamespace(run=run)  # type: ignore[assignment]
    workers._addresses = {"issues": [5, 6], "stall_offset": [7, 9]}
    monkeypatch.setattr(workers, "_divide", lambda: None)
    monkeypatch.setattr(workers, "_call", lambda worker: 0)
    assert workers._begin() == [1]
    assert workers._runs["issues"].tolist() == [5, 6, 77]
    assert workers._runs["stall_offset"].tolist() == [7, 9, 78]
