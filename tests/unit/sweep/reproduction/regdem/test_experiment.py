"""RegDem's evaluation of a kernel that takes a moment: its runs, and what they become."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from crowded import crowded, launch

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.sweeps import Record, StoredResult, SweepResult
from ptxtool.sweep.reproduction.regdem.experiment import Candidates, configurations, enumerated, reproduction
from ptxtool.sweep.reproduction.regdem.paper import Benchmark, Paper, paper

# 4 and 6 CTAs of 8 warps on an SM that can hold 48 warps; 25 - 20 + 2 registers of 4 * 256 bytes
ROW = Benchmark("crowded", "ours", "crowded.ptx", 256, 7, (25, 20), 7168, (32 / 48, 1.0))
GPU = load_gpu("tesla-c2050")
SMALL: Paper = msgspec.structs.replace(paper(), gpu="tesla-c2050", benchmark=(ROW,))


@pytest.fixture
def candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Candidates:
    monkeypatch.chdir(tmp_path)
    Path("crowded.ptx").write_text(crowded())
    Path("launch.toml").write_text(launch(28))
    return enumerated(ROW, GPU, api.kernel)


def ended(candidates: Candidates, **others: StoredResult) -> SweepResult:
    """A run of 1000 cycles of every text, but for `others` by the last word of their names."""
    counters = {
        "cycles": 1000,
        "warp_instructions": 5,
        "slots": dict.fromkeys(("issued", "stall", "idle", "scoreboard"), 250),
        "core": {"bank_conflict_cycles": 0, "register_bank_conflicts": 0},
    }
    good = StoredResult("done", counters, (), (), "same")
    return SweepResult(
        "regdem",
        tuple(
            Record(run.label, run.axes, "k", others.get(run.scheme.split()[-1], good))
            for run in configurations([candidates], GPU)
        ),
    )


def test_a_run_for_every_different_text(candidates: Candidates) -> None:
    variants = candidates.tuning.variants
    runs = configurations([candidates], GPU)
    assert len({run.text for run in runs}) == len(runs) == sum(not v.same_as for v in variants) > 10
    assert (runs[0].label, runs[0].scheme, runs[0].name) == ("crowded/original", "original", "crowded")
    assert {run.registers for run in runs} >= {25, 20}
    methods = {v.method for v in variants}
    assert methods == {"original", "local", "local-shared", "demote"}


def test_tables_of_what_ran(candidates: Candidates) -> None:
    result = ended(candidates)
    found = reproduction(SMALL, [candidates], result, GPU)
    assert (found.n_runs, found.complete, found.failures) == (len(result), True, ())
    for key in ("registers", "slots", "occupancy"):
        assert all(v.ours == v.paper for v in found.exhibit(key).values), key
    assert {v.ours for v in found.exhibit("gain").values} == {0}
    agreed = {f.question: f.agrees for f in found.findings}
    assert agreed["results as the original's under all variants"] is True
    assert agreed["the predictor's choices, of the speed of an exhaustive search"] is True


def test_other_memory_and_failures_are_listed(candidates: Candidates) -> None:
    failed = StoredResult("failed", problems=({"code": "E404", "message": "out of bounds", "text": ""},))
    other = StoredResult("done", ended(candidates).records[0].counters, (), (), "other")
    found = reproduction(SMALL, [candidates], ended(candidates, conflicts=other, hoist=failed), GPU)
    reasons = {failure.reason for failure in found.failures}
    assert reasons == {"out of bounds", "memory differs from the original's"}
    agreed = {f.question: f.agrees for f in found.findings}
    assert agreed["results as the original's under all variants"] is False


def test_what_has_not_run_is_missing(candidates: Candidates) -> None:
    """The original ran, nothing else did."""
    records = ended(candidates).records
    waiting = tuple(replace(each, outcome=StoredResult("waiting")) for each in records[1:])
    found = reproduction(SMALL, [candidates], SweepResult("regdem", (records[0], *waiting)), GPU)
    assert (found.complete, found.failures) == (False, ())
    gains = {v.column: v.ours for v in found.exhibit("gain").values}
    assert set(gains.values()) == {None}


def test_a_sample_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PtxError, match="E501"):
        enumerated(ROW, GPU, api.kernel)
