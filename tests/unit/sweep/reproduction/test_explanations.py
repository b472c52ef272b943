"""Experiments that explain results: their runs, the figures of runs that were not made, and when a claim holds."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from paper_runs import run

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.sweep.reproduction.explanations import (
    AS_IT_IS,
    Measured,
    application_of,
    configurations,
    effects,
    exhibit,
    findings,
    measured_rows,
)
from ptxtool.sweep.reproduction.papers import SHARING, Experiment, paper

PLAIN = Measured(ipc=100, order=1, sharing=2, gain=3.02, bus=20, refused=40)
EXPLAINED = [(name, a) for name in SHARING for a in paper(name).application if a.experiment]


@pytest.mark.parametrize(("name", "application"), EXPLAINED, ids=[a.name for _, a in EXPLAINED])
def test_the_experiments_of_the_papers_can_be_run(name: str, application: object) -> None:
    chosen = paper(name)
    found = application_of(chosen, application.name)  # type: ignore[attr-defined]
    runs = configurations(chosen, found)
    assert len({r.label for r in runs}) == len(runs) == 3 * (1 + len(found.experiment))
    rows = [AS_IT_IS, *(each.change for each in found.experiment)]
    assert list(dict.fromkeys(r.name for r in runs)) == rows
    assert {each.beside for each in found.experiment} <= set(rows)
    machine = load_gpu(chosen.gpu)
    for each in found.experiment:
        assert each.sample or each.kernel or each.launch or each.settings or each.source_order
        assert not each.settings or with_settings(machine, each.settings) != machine
    for each_run in runs:
        assert each_run.launch is not None
        assert Path(str(each_run.launch)).is_file()
        assert each_run.settings in ((), *(each.settings for each in found.experiment))


def test_an_experiment_differs_in_what_it_names() -> None:
    chosen = paper("scratchpad-sharing")
    application = msgspec.structs.replace(
        application_of(chosen, "lavaMD"),
        experiment=(
            Experiment("forces", "s", "gain falls", launch="launch.toml"),
            Experiment("form", "s", "gain falls", kernel="kernel.ptx"),
            Experiment("text", "s", "gain falls", sample="lavamd"),
            Experiment("machine", "s", "IPC rises", settings=("l1d.ways=16",)),
        ),
    )
    base = {r.name: r for r in configurations(chosen, application) if r.scheme == "Unshared-LRR"}
    shown = {
        row: (Path(str(r.kernel)).name, Path(str(r.launch)).parts[-2:], r.settings) for row, r in base.items()
    }
    assert shown == {
        AS_IT_IS: ("lavamd", ("lavamd", "as-the-papers.toml"), ()),
        "forces": ("lavamd", ("lavamd", "launch.toml"), ()),
        "form": ("kernel.ptx", ("lavamd", "as-the-papers.toml"), ()),
        "text": ("lavamd", ("lavamd", "launch.toml"), ()),
        "machine": ("lavamd", ("lavamd", "as-the-papers.toml"), ("l1d.ways=16",)),
    }
    assert "sharing" not in Path(str(base["text"].launch)).parts


def test_an_experiment_in_the_order_of_the_source() -> None:
    chosen = paper("scratchpad-sharing")
    application = msgspec.structs.replace(
        application_of(chosen, "NW1"),
        experiment=(
            Experiment("source", "s", "gain falls", source_order=True),
            Experiment("form", "s", "gain stays", kernel="kernel.ptx"),
        ),
    )
    runs = {r.name: r for r in configurations(chosen, application) if r.scheme == "Unshared-LRR"}
    assert runs[AS_IT_IS].passes == "hoist-loads:registers=64,lower-ptxplus:regs=64"
    assert (runs["source"].kernel, runs["source"].passes) == ("sharing/nw1", "")
    assert (Path(str(runs["form"].kernel)).name, runs["form"].passes) == (
        "kernel.ptx",
        "hoist-loads:registers=64",
    )


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("hotspot", "there are some for "),
        ("sgem", "did you mean 'sgemm'?"),
        ("nothing", "there are some for"),
    ],
)
def test_an_application_without_experiments(name: str, help: str) -> None:
    with pytest.raises(PtxError) as caught:
        application_of(paper("register-sharing"), name)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("E502", f"no experiments explain '{name}'")
    assert problem.help.startswith(help)
    assert "sgemm" in problem.help


def test_figures_of_a_row() -> None:
    """1000 core cycles at 575 MHz are 1304.35 of the DRAM at 750, on 6 channels; 600 column commands take 2 each."""
    chosen = paper("scratchpad-sharing")
    nw = msgspec.structs.replace(
        application_of(chosen, "NW1"),
        experiment=(Experiment("fast", "s", "IPC rises", settings=("clocks.dram_mhz=1500",)),),
    )
    more = {"dram": {"reads": 400, "writes": 200}, "active_cycles": 500}
    base = {**run(100), **more, "l1": {"reservation_fails": 100}}
    runs = {}
    for row in (AS_IT_IS, "fast"):
        for scheme, found in (("Unshared-LRR", base), ("Shared-OWF-0", run(110)), ("Shared-OWF", run(99))):
            runs[row, scheme] = found
    rows = measured_rows(chosen, nw, runs)
    plain = rows[AS_IT_IS]
    assert (plain.ipc, plain.order, plain.sharing) == (100, pytest.approx(10), pytest.approx(-10))
    assert (plain.gain, plain.refused) == (pytest.approx(-1), pytest.approx(20))
    assert plain.bus == pytest.approx(100 * 1200 / (6 * 1304.35), abs=0.01)
    assert rows["fast"].bus == pytest.approx(plain.bus / 2)
    del runs["fast", "Shared-OWF-0"]
    assert measured_rows(chosen, nw, runs).keys() == {AS_IT_IS}


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({"ipc": 109}, {"IPC stays", "gain stays"}),
        ({"ipc": 111}, {"IPC rises", "gain stays"}),
        ({"ipc": 89}, {"IPC falls", "gain stays"}),
        ({"gain": 6.1}, {"IPC stays", "gain rises"}),
        ({"gain": 0.2}, {"IPC stays", "gain stays"}),
        ({"gain": -0.6}, {"IPC stays", "gain falls", "gain changes its sign"}),
        ({"gain": -0.4}, {"IPC stays", "gain falls"}),  # within 0.5% of nothing: no sign
    ],
)
def test_when_a_claim_holds(change: dict[str, float], holds: set[str]) -> None:
    assert effects(replace(PLAIN, **change), PLAIN) == holds


def test_what_is_reported() -> None:
    application = msgspec.structs.replace(
        application_of(paper("register-sharing"), "sgemm"),
        experiment=(
            Experiment("grid", "the grid decides it", "gain changes its sign"),
            Experiment("clock", "DRAM bounds it", "IPC rises"),
            Experiment("both", "the clock adds nothing", "IPC stays", beside="clock"),
            Experiment("lost", "a run failed", "IPC stays"),
        ),
    )
    rows = {
        AS_IT_IS: PLAIN,
        "grid": replace(PLAIN, gain=-15),
        "clock": replace(PLAIN, ipc=105),
        "both": replace(PLAIN, ipc=115),
    }
    found = list(findings(application, rows))
    assert [(f.question, f.ours, f.agrees) for f in found] == [
        ("grid: the grid decides it", "gain changes its sign: +3.0 to -15.0%", True),
        ("clock: DRAM bounds it", "IPC rises: +5.0%", False),
        ("both: the clock adds nothing", "IPC stays: +9.5%", True),
    ]
    table = exhibit(application, rows)
    assert table.rows == (AS_IT_IS, "grid", "clock", "both", "lost")
    cell = table.at(AS_IT_IS, "gain")
    assert cell is not None
    assert (cell.ours, cell.paper) == (3.02, 4.06)
    assert all(v.paper is None for v in table.values if v.row != AS_IT_IS)
    assert all(v.ours is None for v in table.values if v.row == "lost")
