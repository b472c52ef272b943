"""Tuning: what is simulated, what is compared, what is refused."""

from pathlib import Path
from typing import Any

import pytest
from crowded import crowded, launch

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.sweeps import Record, StoredResult
from ptxtool.results.tuning import Tuning
from ptxtool.runs import tuning_variants
from ptxtool.sweep.tuning import TuningOptions, tune, with_record

GPU = load_gpu("tesla-c2050")


def tuned(folder: Path, head: str = "", file: str | None = None, text: str = "", **options: Any) -> Tuning:
    """The kernel tuned, with this launch file; None for none."""
    path = folder / "crowded.ptx"
    path.write_text(text or crowded(head))
    given = None
    if file is not None:
        (folder / "launch.toml").write_text(file)
        given = api.load_launch(folder / "launch.toml")
    kernel = api.kernel(api.load(path))
    return tune(kernel, given, GPU, api.kernel, TuningOptions(**{"ptxas": False, "jobs": 1} | options))


def test_predictions_need_no_launch(tmp_path: Path) -> None:
    found = tuned(tmp_path, ".reqntid 256\n", mode="predict")
    assert (found.threads, found.gpu) == (256, "tesla-c2050")
    assert all(v.cycles is None for v in found.variants)
    assert found.original.name == "original"


def test_the_best_are_simulated_and_compared(tmp_path: Path) -> None:
    """Two of the best predicted and the original; a second tuning takes all from the store."""
    store, seen = tmp_path / "runs.db", list[Any]()
    found = tuned(tmp_path, file=launch(28), best=2, store=store, progress=seen.append)
    best = [v.name for v in found.distinct[:2]]
    ran = [v.name for v in found.variants if v.cycles is not None and not v.same_as]
    assert sorted(ran) == sorted({*best, "original"})
    assert (found.problems, found.interrupted) == ((), False)
    assert found.chosen.cycles == min(v.cycles for v in found.variants if v.cycles is not None)
    assert seen[-1].ended == len(ran)
    again = tuned(tmp_path, file=launch(28), best=2, store=store, progress=seen.append)
    assert (seen[-1].ended, seen[-1].stored) == (0, len(ran))
    assert again.to_dict() == found.to_dict()
    every = tuned(tmp_path, file=launch(28), mode="simulate", store=store, progress=seen.append)
    assert (seen[-1].total, seen[-1].stored) == (len(every.distinct), len(ran))
    assert all(v.cycles is not None for v in every.variants)


def test_several_processes_make_the_same_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = tuned(tmp_path, ".reqntid 256\n", mode="predict")
    monkeypatch.setitem(tune.__globals__, "_WORTH_A_PROCESS", 1)
    monkeypatch.setattr(tuning_variants._Maker, "made", lambda *_: pytest.fail("made in this process"))
    two = tuned(tmp_path, ".reqntid 256\n", mode="predict", jobs=2)
    assert len(two.variants) > 8
    assert two == one


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match=r"E501.*no launch to simulate 'crowded' with"):
        tuned(tmp_path, ".reqntid 256\n")
    with pytest.raises(PtxError, match=r"E402.*the size of the CTAs of 'crowded' is unknown"):
        tuned(tmp_path, mode="predict")
    with pytest.raises(PtxError, match=r"E402.*512 threads per CTA"):
        tuned(tmp_path, ".reqntid 256\n", mode="predict", threads=512)
    with pytest.raises(PtxError, match=r"E502.*best = 0"):
        TuningOptions(best=0)
    several = (
        launch().replace("grid = 84\nblock = 256\n", "")
        + '[[launch]]\ngrid = 1\nblock = 32\nargs = ["in", "out"]\n'
    )
    with pytest.raises(PtxError, match=r"E502.*a list of 1 launch,"):
        tuned(tmp_path, file=several, mode="predict")


def record(status: Any, memory: str = "m", checked: tuple[str, ...] = (), **counters: Any) -> Record:
    problems = () if status == "done" else ({"message": "because"},)
    return Record("a", {}, "key", StoredResult(status, counters, checked, problems, memory))


def test_results_are_compared_with_the_originals(tmp_path: Path) -> None:
    one = tuned(tmp_path, ".reqntid 256\n", mode="predict").variants[0]
    first = record("done", cycles=100)

    def after(found: Record | None) -> tuple[int | None, str]:
        variant = with_record(one, found, first)
        return variant.cycles, variant.problem

    assert after(record("done", cycles=90)) == (90, "")
    assert after(record("done", "other", cycles=90)) == (90, "memory differs from the original's")
    assert after(record("done", "other", ("out",), cycles=90)) == (90, ""), "as the launch file expects"
    assert after(record("wrong", cycles=90)) == (90, "because")
    assert after(record("failed")) == (None, "because")
    assert after(None) == (None, "")
    assert after(Record("a", {}, "key", StoredResult("waiting"))) == (None, "")
