"""Recorded launches in the tables of the papers: their application, their runs, and their counters together."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from paper_runs import run
from sweep_records import record

from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.exhibits import Exhibit, ExhibitValue, Finding
from ptxtool.results.sweeps import Record, SweepResult
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.papers import SHARING, Paper, paper
from ptxtool.sweep.reproduction.recorded import (
    added,
    alone,
    beside,
    configurations,
    findings,
    originals,
    results,
    row_name,
)

SGEMM = "_Z9mysgemmNTPKfiS0_iPfiiff"


def recording(folder: Path, *symbols: str) -> Path:
    """A recording with a launch of each kernel; nothing in it is run here."""
    rows = []
    for number, symbol in enumerate(symbols, 1):
        name = f"{number:04}-launch"
        launch = folder / name
        launch.mkdir(parents=True)
        (launch / "kernel.ptx").write_text("")
        (launch / "launch.toml").write_text(
            f'file = "kernel.ptx"\nkernel = "{symbol}"\ngrid = 1\nblock = 32\n'
        )
        rows.append(f'[[launch]]\nfile = "{name}/launch.toml"\nnumber = {number}\n')
    (folder / "launch.toml").write_text("\n".join(rows))
    return folder


def test_an_application_is_found_by_the_name_of_its_kernel(tmp_path: Path) -> None:
    recording(tmp_path / "a", SGEMM, "_Z6helperv", SGEMM)
    recording(tmp_path / "b", "calculate_temp", "_ZN3own6helperEv")
    found = originals(paper("register-sharing"), tmp_path)
    folders = {name: [each.folder.name for each in each_of] for name, each_of in found.launches.items()}
    assert folders == {"sgemm": ["0001-launch", "0003-launch"], "hotspot": ["0001-launch"]}
    assert found.launches["sgemm"][0].symbol == SGEMM
    assert found.others == {"helper": 2}
    answers = {f.question: f.ours for f in findings(paper("register-sharing"), found)}
    assert answers["recorded launches"] == "hotspot 1, sgemm 2"
    assert answers["2 recorded launches of no application"] == "helper 2"
    missing = answers["applications without a recorded launch"].split(", ")
    assert missing[:3] == ["backprop", "b+tree", "LIB"]
    assert "sgemm" not in missing


@pytest.mark.parametrize("name", SHARING)
def test_every_application_has_a_kernel_of_its_own(name: str) -> None:
    rows = (*paper(name).application, *paper(name).unlimited)
    assert len({a.kernel for a in rows}) == len(rows)


def test_folders_without_launches_of_an_application(tmp_path: Path) -> None:
    with pytest.raises(PtxError) as caught:
        originals(paper("register-sharing"), tmp_path)
    assert caught.value.diagnostics[0].code == "E501"
    recording(tmp_path / "a", "srad_cuda_1")
    with pytest.raises(PtxError) as caught:
        originals(paper("register-sharing"), tmp_path)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E502"
    assert "mysgemmNT" in problem.help
    assert originals(paper("scratchpad-sharing"), tmp_path).launches.keys() == {"SRAD1"}
    (tmp_path / "a" / "0001-launch" / "kernel.ptx").unlink()
    with pytest.raises(PtxError) as caught:
        originals(paper("scratchpad-sharing"), tmp_path)
    assert caught.value.diagnostics[0].code == "E501"


def only(name: str, *applications: str) -> Paper:
    chosen = paper(name)
    rows = tuple(a for a in chosen.application if a.name in applications)
    return msgspec.structs.replace(chosen, application=rows, unlimited=())


def test_launches_run_as_ptxplus_with_the_papers_registers(tmp_path: Path) -> None:
    chosen = only("register-sharing", "sgemm")
    found = originals(chosen, recording(tmp_path, SGEMM, SGEMM))
    runs = configurations(chosen, found)
    assert len({r.label for r in runs}) == len(runs)
    by_scheme = {r.scheme: r for r in runs if "0002" in r.name}
    assert len(runs) == 2 * len(by_scheme)
    base, full = by_scheme["Unshared-LRR"], by_scheme["Shared-OWF-Unrolled-Dyn"]
    assert (base.passes, base.registers, base.entry) == (f"lower-ptxplus:regs=48:kernel={SGEMM}", 48, SGEMM)
    assert full.passes.startswith(f"{base.passes},unroll-decls")
    assert (full.share_registers, full.scheduler) == (90, "owf")
    assert base.kernel == tmp_path / "0002-launch" / "kernel.ptx"
    assert base.launch == tmp_path / "0002-launch" / "launch.toml"
    scratchpad = only("scratchpad-sharing", "SRAD1")
    found = originals(scratchpad, recording(tmp_path / "s", "srad_cuda_1"))
    plain = configurations(scratchpad, found)[0]
    assert (plain.passes, plain.registers) == ("lower-ptxplus:kernel=srad_cuda_1", None)


def test_launches_together() -> None:
    """20 lanes in each of 1000 cycles, and 40 in 3000: 140,000 thread instructions in 4000 cycles."""
    one = {
        **run(20),
        "cycles": 1000,
        "thread_instructions": 20_000,
        "l1": {"misses": 3},
        "limiter": "threads",
    }
    other = {**run(40), "cycles": 3000, "thread_instructions": 120_000, "l1": {"misses": 5, "hits": 1}}
    total = added([one, other | {"resident_ctas": 2, "registers": 40}])
    assert (total["cycles"], total["thread_ipc"]) == (4000, 35)
    assert total["l1"] == {"misses": 8, "hits": 1}
    assert (total["n_ctas"], total["resident_ctas"], total["registers"]) == (840, 3, 40)
    assert (total["limiter"], total["block"]) == ("threads", (16, 16, 1))
    assert one["l1"] == {"misses": 3}


def test_a_third_column(tmp_path: Path) -> None:
    """sgemm gains 10% in our sample and 4% in two recorded launches; a launch without a result leaves a gap."""
    chosen = only("register-sharing", "sgemm")
    found = originals(chosen, recording(tmp_path, SGEMM, SGEMM))
    names = sorted({r.name for r in configurations(chosen, found)})
    full = "Shared-OWF-Unrolled-Dyn"

    def made(name: str, scheme: str, ipc: float) -> Record:
        plain = record("kernel", scheme, ipc, name=name)
        counters = {**run(ipc), "thread_instructions": ipc * 1000}
        return replace(plain, outcome=replace(plain.outcome, counters=counters))

    recorded = tuple(made(n, s, ipc) for n in names for s, ipc in (("Unshared-LRR", 100), (full, 104)))
    totals = results(chosen, found, SweepResult("s", recorded))
    assert set(totals) == {(row_name("sgemm"), "Unshared-LRR"), (row_name("sgemm"), full)}
    ours = {("sgemm", "Unshared-LRR"): run(100), ("sgemm", full): run(110)}
    exhibits = Exhibits(chosen, {**ours, **totals}, load_gpu(chosen.gpu)).all()
    (gain,) = [e for e in exhibits if e.key == "gain"]
    (cell,) = gain.values
    assert (cell.ours, cell.paper, cell.recorded) == (pytest.approx(10), 4.06, pytest.approx(4))
    lost = results(chosen, found, SweepResult("s", recorded[:-1]))
    assert set(lost) == {(row_name("sgemm"), "Unshared-LRR")}


def test_answers_of_recorded_launches_stand_beside_ours() -> None:
    exhibit = Exhibit("k", "t", "p", "q", (ExhibitValue("a", "c", 1.0, 2.0, 3.0),))
    assert alone(exhibit).values[0].ours == 3.0
    ours = (Finding("sign", "gain", "loss", False), Finding("mean", "+1%", "+2%", True))
    theirs = (Finding("sign", "loss", "loss", True),)
    assert [f.recorded for f in beside(ours, theirs)] == ["loss", ""]
