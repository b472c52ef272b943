"""Driving the cycle loop in slices: the slices change no result, and an interrupted run is one that was cut there."""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import one_sm, parsed, text

import ptxsim
from ptxsim.timing import drive
from ptxsim.timing.drive import ProgressSnapshot

KERNEL = text("add.f32 %f1, %f1, %f2;")


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive, "_FIRST_CYCLES", 500)
    monkeypatch.setattr(drive, "_SLICE_SECONDS", 1e-9)


def launch(**options: Any) -> Any:
    arguments = [np.zeros(64, np.uint32), 100]
    return ptxsim.launch(
        parsed(KERNEL), 12, 64, arguments, gpu=one_sm("tesla-c2050"), registers=16, **options
    )


def test_progress_is_reported_after_every_slice() -> None:
    seen: list[ProgressSnapshot] = []
    result = launch(progress=seen.append)
    assert [at.cycles for at in seen] == list(range(500, result.cycles, 500))
    assert {at.n_ctas for at in seen} == {12}
    for name in ("ctas_done", "warp_instructions", "thread_instructions"):
        numbers = [getattr(at, name) for at in seen]
        assert numbers == sorted(numbers)
        assert numbers[0] < numbers[-1]
    assert seen[-1].warp_instructions <= result.warp_instructions


def test_slices_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    sliced = launch()
    monkeypatch.setattr(drive, "_FIRST_CYCLES", 1 << 20)
    assert launch().to_dict() == sliced.to_dict()


def test_an_interrupted_run_has_the_counters_of_its_cycles() -> None:
    def interrupt(at: ProgressSnapshot) -> None:
        if at.cycles >= 1000:
            raise KeyboardInterrupt

    found = launch(progress=interrupt, on_interrupt="return").to_dict()
    expected = launch(max_cycles=1000).to_dict()
    assert (found.pop("status"), expected.pop("status")) == ("interrupted", "max-cycles")
    assert found == expected
