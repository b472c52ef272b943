"""Which slices are shared and by how many workers, and that an interrupted one ends whole."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from built import built
from microkernels.measure import one_sm
from shared_slices import loop_of_any_run, share_slices

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.options import MOST_THREADS
from ptxsim.timing.memory.team.team import MAX_WORKERS
from ptxsim.timing.schedulers import policy
from ptxsim.timing.workers import slices
from ptxsim.timing.workers.slices import Pace, most_workers
from ptxtool.base.resources import resource_dir
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.parse import parse

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


def paces(speeds: dict[bool, float], n: int) -> str:
    """The kinds of n slices, S for shared, with these speeds in cycles a second."""
    pace, kinds = Pace(), ""
    for _ in range(n):
        kinds += "aS"[pace.is_shared]
        pace.note(1000, 1000 / speeds[pace.is_shared], pace.is_shared)
    return kinds


def test_the_faster_kind_of_slice_goes_on() -> None:
    assert paces({False: 1.0, True: 1.5}, 24) == "aSSSa" + 16 * "S" + "aSS"
    assert paces({False: 1.0, True: 0.5}, 16) == "aSSaS" + 11 * "a"


def test_the_first_slices_are_short_and_not_shared() -> None:
    pace = Pace()
    for seconds in (0.004, 0.002):
        pace.note(1000, seconds, was_shared=False)
        assert not pace.is_shared
        assert pace.slice_seconds == 0.005
    pace.note(1000, 0.003, was_shared=False)
    assert pace.is_shared
    pace.note(1000, 0.031, was_shared=False)  # not compiled
    assert pace.is_shared
    assert pace.slice_seconds == pytest.approx(0.01)
    pace.note(1000, 1.0, was_shared=True)
    assert pace.slice_seconds == 0.1


def reduction(gpu: str, **options: Any) -> dict[str, Any]:
    folder = resource_dir("samples") / "reduction"
    described = load_launch(folder / "launch.toml")
    kernel = next(iter(parse((folder / "kernel.ptxplus").read_bytes()).kernels.values()))
    arguments = described.arguments()
    result = ptxsim.launch(
        kernel,
        described.grid,
        described.block,
        arguments,
        gpu=gpu,
        registers=described.registers,
        dynamic_shared=described.dynamic_shared,
        **options,
    )
    return result.to_dict() | {"memory": [a.tolist() for a in arguments if isinstance(a, np.ndarray)]}


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
@pytest.mark.parametrize("has_code", [True, False])
def test_nothing_is_compiled_for_a_short_run(monkeypatch: pytest.MonkeyPatch, has_code: bool) -> None:
    share_slices(monkeypatch, 2)
    monkeypatch.setattr(slices, "_COMPILED_AFTER", 5.0)
    monkeypatch.setattr(slices, "has_machine_code", lambda loop: has_code and loop == "threads")
    made: list[int] = []

    class Without(slices.Crew):
        has_threads = False

        def __init__(self, *arguments: Any) -> None:
            made.append(arguments[2])

        def close(self) -> None:
            pass

    monkeypatch.setattr(slices, "Crew", Without)
    assert reduction("tesla-c2050", threads=3)["status"] == "done"
    assert made == [3] * has_code


@compiled
@pytest.mark.parametrize("is_before", [True, False])
def test_an_interrupted_slice_ends_whole(monkeypatch: pytest.MonkeyPatch, is_before: bool) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    share_slices(monkeypatch, 3)
    run, interrupted = slices.Crew._call, []

    def interrupt(crew: Any, worker: int) -> None:
        """Come before the first worker's slice has begun, or after it."""
        if worker == 0 and not interrupted:
            interrupted.append(worker)
            if not is_before:
                run(crew, worker)
            raise KeyboardInterrupt
        run(crew, worker)

    monkeypatch.setattr(slices.Crew, "_call", interrupt)
    result = reduction("tesla-c2050", threads=2, on_interrupt="return")
    assert result["status"] == "interrupted"
    assert 300 < result["cycles"] <= 800
    assert all(not t.name.startswith("ptxsim") for t in threading.enumerate())
    cut = reduction("tesla-c2050", max_cycles=result["cycles"])
    assert {k: v for k, v in result.items() if k not in ("status", "memory")} == {
        k: v for k, v in cut.items() if k not in ("status", "memory")
    }
    assert alone["status"] == "done"


@compiled
def test_no_worker_runs_twice() -> None:
    """An interrupt can come between the start of a thread and the note of it, which is then started again."""
    done: list[int] = []

    class Noting(slices.Crew):
        def __init__(self) -> None:
            pass

        def _call(self, worker: int) -> None:
            done.append(worker)

    numbers = iter(range(1, 3))
    for _ in range(4):
        Noting()._call_next(numbers)
    assert done == [1, 2]


@compiled
def test_a_worker_that_waits_for_long_lets_all_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = reduction("tesla-c2050")
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 3)
    monkeypatch.setattr(slices, "_PATIENCE", 501)
    run = slices.Crew._call

    def late(crew: Any, worker: int) -> None:
        if worker == 0:
            time.sleep(0.02)
        run(crew, worker)

    monkeypatch.setattr(slices.Crew, "_call", late)
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

    monkeypatch.setattr(slices.threading.Thread, "start", fail)
    assert reduction("tesla-c2050", threads=3) == alone
    assert len(started) == 1
    assert not ends
