"""An experiment of the papers: its runs, and what is reported of results that were not made."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from sweep_records import record

from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.sweep.reproduction.experiment import configurations, reproduction
from ptxtool.sweep.reproduction.papers import SHARING, paper


@pytest.mark.parametrize("name", SHARING)
def test_the_runs_of_an_experiment(name: str) -> None:
    application = msgspec.structs.replace(paper(name).application[0], second="", loads_first=0)
    papers = msgspec.structs.replace(
        paper(name), application=(application,), unlimited=paper(name).unlimited[:1]
    )
    runs = [run for run in configurations(papers) if not str(run.name).endswith("as PTX")]
    labels = [run.label for run in runs]
    assert len(set(labels)) == len(labels)
    baselines = [run for run in runs if run.scheme == "Unshared-LRR"]
    applications = (*papers.application, *papers.unlimited)
    assert [run.name for run in baselines] == [application.name for application in applications]
    assert all((run.share_registers, run.share_scratchpad, run.passes) == (0, 0, "") for run in baselines)
    shared = {run.axes[f"share_{papers.resource}"] for run in runs}
    assert shared == {0, *papers.percents}


def runs_of(experiment: str, name: str) -> tuple[Configuration, ...]:
    chosen = paper(experiment)
    found = tuple(a for a in chosen.application if a.name == name)
    return configurations(msgspec.structs.replace(chosen, application=found, unlimited=()))


def launches(runs: Iterable[Configuration]) -> set[str]:
    return {Path(str(run.launch)).name for run in runs}


def test_the_runs_on_a_second_grid() -> None:
    runs = runs_of("register-sharing", "LIB")
    second = [run for run in runs if run.name == "LIB, second grid"]
    assert [run.scheme for run in second] == ["Unshared-LRR", "Shared-OWF-Unrolled-Dyn"]
    assert launches(second) == {"second-grid.toml"}
    assert launches(run for run in runs if run not in second) == {"launch.toml"}


@pytest.mark.parametrize(
    ("experiment", "name"), [("register-sharing", "MUM"), ("scratchpad-sharing", "lavaMD")]
)
def test_the_runs_without_the_faults_of_the_papers_simulator(experiment: str, name: str) -> None:
    runs = runs_of(experiment, name)
    working = [run for run in runs if run.name == f"{name}, working"]
    assert [run.scheme.endswith("LRR") for run in working] == [True, False]
    assert launches(working) == {"launch.toml"}
    second = [run for run in runs if run.name == f"{name}, second grid"]
    assert launches(second) == {"second-grid.toml"}
    assert launches(run for run in runs if run not in working + second) == {"as-the-papers.toml"}


def test_the_runs_with_loads_first_and_in_the_order_of_the_source() -> None:
    runs = runs_of("scratchpad-sharing", "NW1")
    of_source = [run for run in runs if run.name == "NW1, order of the source"]
    assert [run.scheme for run in of_source] == ["Unshared-LRR", "Shared-OWF-0", "Shared-OWF"]
    assert {(run.kernel, run.passes, run.registers) for run in of_source} == {("sharing/nw1", "", None)}
    for run in runs:
        if run not in of_source and run.name != "NW1, as PTX":
            assert str(run.kernel).endswith("sharing/nw1/kernel.ptx")
            assert run.passes.startswith("hoist-loads:registers=64,lower-ptxplus:regs=64")
            assert run.registers == 64


def test_scratchpad_kernels_run_as_ptx_with_the_same_order_of_loads() -> None:
    found = [run for run in runs_of("scratchpad-sharing", "NW1") if run.name == "NW1, as PTX"]
    assert [run.scheme for run in found] == ["Unshared-LRR", "Shared-OWF-0", "Shared-OWF"]
    assert {(str(run.kernel)[-22:], run.passes) for run in found} == {
        ("sharing/nw1/kernel.ptx", "hoist-loads:registers=64")
    }
    assert not [run for run in runs_of("register-sharing", "sgemm") if "as PTX" in str(run.name)]


def test_every_application_has_a_second_grid() -> None:
    assert all(a.second for name in SHARING for a in paper(name).application)


def test_memory_must_be_the_same_under_all_schemes() -> None:
    runs = [record(kernel, scheme, None) for kernel in "ab" for scheme in ("base", "shared")]
    runs[3] = replace(runs[3], outcome=replace(runs[3].outcome, memory="other"))
    found = reproduction(paper("register-sharing"), SweepResult("s", tuple(runs))).findings[0]
    assert found.question == "memory identical under all schemes"
    assert (found.ours, found.agrees) == ("1 of 2 launches", False)


def test_why_runs_have_no_result() -> None:
    lost = record("b", "base", None, "lost")
    silent = replace(lost, outcome=replace(lost.outcome, problems=()))
    runs = (record("a", "base", None, "failed"), silent)
    found = reproduction(paper("register-sharing"), SweepResult("s", runs))
    reasons = [(failure.row, failure.scheme, failure.reason) for failure in found.failures]
    assert reasons == [("a", "base", "out of bounds"), ("b", "base", "lost")]
    assert all(finding.question != "memory identical under all schemes" for finding in found.findings)
