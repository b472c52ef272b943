"""The comparison of all schemes on a kernel that takes a moment: its runs, and what they become."""

from dataclasses import replace
from pathlib import Path

import pytest
from pressured import write

from ptxtool import api
from ptxtool.results.sweeps import StoredResult, SweepResult
from ptxtool.sweep.reproduction.register_schemes import experiment
from ptxtool.sweep.reproduction.register_schemes.experiment import configurations, reproduce, reproduction
from ptxtool.sweep.reproduction.register_schemes.matrix import Restriction, matrix

ONLY = Restriction(["nw1"], ["regmutex", "virtual-thread"], ["gtx980-finereg"])


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small kernel in the place of all samples."""
    path = write(tmp_path)
    monkeypatch.setattr(experiment, "kernel_file", lambda sample: path)


def test_a_run_for_each_kernel_scheme_and_machine(small: None) -> None:
    runs = configurations(matrix(replace(ONLY, gpus=[])), api.kernel)
    assert [(run.gpu, run.scheme) for run in runs] == [
        (gpu, scheme)
        for gpu in ("gtx980-finereg", "tesla-c2050")
        for scheme in ("none", "virtual-thread", "regmutex")
    ]
    assert len({run.label for run in runs}) == len(runs)
    assert {run.passes for run in runs} == {"allocate"}
    assert {run.registers for run in runs} == {34}  # the launch file has none
    assert all(run.register_scheme == run.scheme for run in runs)


def test_registers_of_the_launch_file_where_it_has_more(small: None, tmp_path: Path) -> None:
    launch = tmp_path / "launch.toml"
    launch.write_text("registers = 40\n" + launch.read_text())
    assert {run.registers for run in configurations(matrix(ONLY), api.kernel)} == {40}


def test_ptxplus_is_taken_as_it_is() -> None:
    (run,) = configurations(matrix(Restriction(["hotspot"], ["none"], ["tesla-c2050"])), api.kernel)
    assert (run.passes, run.registers) == ("", 36)


def test_tables_of_what_ran(small: None) -> None:
    """25 CTAs at 34 registers, 30 with a base set of 24 (`pressured.py`)."""
    found = reproduce(api.kernel, ONLY, jobs=1)
    assert (found.gpu, found.n_runs, found.complete, found.failures) == ("gtx980-finereg", 3, True, ())
    residents = {v.column: v.ours for v in found.exhibit("residents gtx980-finereg").values}
    assert 30 >= residents["regmutex"] > 25 >= residents["none"] > 20
    work = {v.column: v.ours for v in found.exhibit("compiler regmutex gtx980-finereg").values}
    assert (work["base set"], work["extended"], work["marks"], work["moves added"]) == (24, 10, 2, 10)
    assert found.findings[0].ours == "1 of 1 kernels"
    assert found.findings[0].agrees
    assert not found.has_papers


def test_failures_are_those_that_are_no_refusals(small: None) -> None:
    chosen = matrix(ONLY)
    runs = configurations(chosen, api.kernel)
    outcomes = (
        StoredResult("lost"),
        StoredResult("failed", problems=({"code": "E407", "message": "no warp can go on", "text": ""},)),
        StoredResult("failed", problems=({"code": "E301", "message": "cannot split", "text": ""},)),
    )
    from ptxtool.results.sweeps import Record

    records = tuple(Record(r.label, r.axes, "k", o) for r, o in zip(runs, outcomes, strict=True))
    found = reproduction(chosen, SweepResult("schemes", records))
    assert [(f.scheme, f.reason) for f in found.failures] == [
        ("none on gtx980-finereg", "lost"),
        ("virtual-thread on gtx980-finereg", "no warp can go on"),
    ]
