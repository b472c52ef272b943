"""Runs at the same time: in order, the same results, and what an interrupt or an error does to the others."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from ptxsim.launch_options import LaunchOptions
from ptxsim.timing.drive import ProgressSnapshot
from ptxtool.base.diag import PtxError
from ptxtool.runs.parallel.side_by_side import check_jobs, side_by_side

AT = ProgressSnapshot(1, 0, 1, 0, 0)
FOUR = [LaunchOptions() for _ in range(4)]


def until_stopped(options: LaunchOptions) -> str:
    """A run that goes on until it is interrupted, and then returns."""
    assert options.progress is not None
    end = time.monotonic() + 20
    try:
        while time.monotonic() < end:
            options.progress(AT)
            time.sleep(0.005)
    except KeyboardInterrupt:
        return "interrupted"
    return "ended"


@pytest.mark.parametrize("jobs", [1, 2, 4, 9])
def test_results_come_in_order(jobs: int) -> None:
    announced: list[int] = []

    def run(k: int, options: LaunchOptions) -> int:
        time.sleep(0.02 * (4 - k))
        return 10 * k

    assert list(side_by_side(run, FOUR, jobs, announced.append)) == [0, 10, 20, 30]
    assert announced == [0, 1, 2, 3]


def test_as_many_run_at_a_time() -> None:
    together = threading.Barrier(3)

    def run(k: int, options: LaunchOptions) -> int:
        return together.wait(20)  # breaks where fewer than three run

    assert sorted(side_by_side(run, FOUR[:3], 3)) == [0, 1, 2]


def test_progress_is_that_of_the_first_that_has_not_ended() -> None:
    seen: list[int] = []
    options = [LaunchOptions(progress=lambda at, k=k: seen.append(k)) for k in range(3)]  # type: ignore[misc]

    def run(k: int, options: LaunchOptions) -> None:
        assert options.progress is not None
        for _ in range(20):
            options.progress(AT)
            time.sleep(0.001)

    for _ in side_by_side(run, options, 3):
        pass
    assert seen[0] == 0
    assert seen == sorted(seen)


def test_an_error_is_raised_in_its_turn_and_stops_the_others() -> None:
    ended: list[str] = []
    begun = threading.Barrier(3)

    def run(k: int, options: LaunchOptions) -> str:
        if k == 0:
            return "first"
        begun.wait(20)
        if k == 1:
            raise ValueError("wrong")
        ended.append(until_stopped(options))
        return "stopped"

    runs = side_by_side(run, FOUR, 4)
    assert next(runs) == "first"
    with pytest.raises(ValueError, match="wrong"):
        next(runs)
    assert ended == ["interrupted"] * 2


def test_runs_whose_results_are_not_taken_are_stopped() -> None:
    ended: list[str] = []

    def run(k: int, options: LaunchOptions) -> str:
        if k == 0:
            return "first"
        ended.append(until_stopped(options))
        return "other"

    with closing(side_by_side(run, FOUR, 2)) as runs:
        assert next(runs) == "first"
    assert set(ended) <= {"interrupted"}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C in a moment, as the terminal sends it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    yield
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_after_an_interrupt_the_run_whose_turn_it_is_ends_as_its_options_say(ctrl_c: None) -> None:
    found = []
    with closing(side_by_side(lambda k, options: until_stopped(options), FOUR, 2)) as runs:
        for run in runs:
            found.append(run)
            if run == "interrupted":
                break
    assert found == ["interrupted"]


@pytest.mark.parametrize("jobs", [0, -1, True, 2.0, "2"])
def test_numbers_of_jobs_that_cannot_be(jobs: Any) -> None:
    with pytest.raises(PtxError, match="E502"):
        check_jobs(jobs)


def test_by_default_there_is_a_job_for_each_cpu() -> None:
    assert 1 <= check_jobs(None) <= (os.cpu_count() or 1)
