"""A sweep: nothing is run twice, what fails stops nothing else, and an interrupt keeps what there is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scalekernel import LAUNCH
from tinysweep import FAULTY, swept, write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration


def test_nothing_is_run_twice_and_a_change_runs_what_it_concerns(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'kernels = ["scale.ptx", { file = "two.ptx", launch = "two.toml" }]\nschedulers = ["lrr", "gto"]\n',
    )
    (tmp_path / "two.ptx").write_text((tmp_path / "scale.ptx").read_text())
    (tmp_path / "two.toml").write_text(LAUNCH.replace("2.5", "3.5"))
    seen: list[Any] = []
    first = swept(path, progress=seen.append)
    assert (first.simulated, first.counts()) == (4, {"done": 4})
    assert [(p.total, p.stored, p.ended) for p in seen] == [(4, 0, n) for n in range(5)]
    again = swept(path)
    assert (again.simulated, again.records) == (0, first.records)
    (tmp_path / "two.toml").write_text(LAUNCH.replace("2.5", "4.5"))
    changed = swept(path)
    assert changed.simulated == 2
    assert changed["scale lrr"] == first["scale lrr"]
    assert changed["two lrr"].key != first["two lrr"].key
    same = api.sweep([replace(Configuration(tmp_path / "scale.ptx"), label=name) for name in "abc"], jobs=1)
    assert same.simulated == 1
    assert [record.memory for record in same] == [first["scale lrr"].memory] * 3


def test_what_fails_stops_nothing_else(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'kernels = ["faulty.ptx", "wrong.ptx", "scale.ptx"]\n'
        'passes = ["", "allocate{max-regs=1}"]\nregisters = ["", 60000]\n',
    )
    (tmp_path / "faulty.ptx").write_text(FAULTY)
    (tmp_path / "wrong.ptx").write_text((tmp_path / "scale.ptx").read_text().replace("mul.f32", "add.f32"))
    result = swept(path)
    status = {
        record.label: (record.status, *(p["code"] for p in record.outcome.problems)) for record in result
    }
    declined = {
        f"{kernel} {{allocate{{max-regs=1}}}}{many}": ("failed", "E301")
        for kernel in ("faulty", "wrong", "scale")
        for many in ("", " 60000 registers")
    }
    assert status == declined | {
        "faulty": ("failed", "E404"),
        "faulty 60000 registers": ("failed", "E402"),
        "wrong": ("wrong", "E409"),
        "wrong 60000 registers": ("failed", "E402"),
        "scale": ("done",),
        "scale 60000 registers": ("failed", "E402"),
    }
    (reported,) = result["faulty"].outcome.problems
    assert reported["line"] == 17
    assert str(reported["text"]).startswith(f"{tmp_path / 'faulty.ptx'}:17:")
    assert result["faulty"].counters == {}
    assert result["wrong"].counters["status"] == "done"
    again = swept(path)
    assert (again.simulated, again.records) == (0, result.records)


def test_a_bug_of_ours_is_reported_and_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 'kernels = ["scale.ptx"]\n')

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("one two")

    with monkeypatch.context() as patched:
        patched.setattr("ptxtool.runs.launch_runs.run_launch", broken)
        result = swept(path)
    assert result["scale"].status == "bug"
    assert "ZeroDivisionError: one two" in str(result["scale"].outcome.problems[0]["text"])
    assert swept(path).counts() == {"done": 1}


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path)

    def interrupt(at: Any) -> None:
        if at.ended == 2:
            raise KeyboardInterrupt

    result = swept(path, progress=interrupt, on_interrupt="return")
    assert result.interrupted
    assert result.counts() == {"done": 2, "waiting": 2}
    with pytest.raises(KeyboardInterrupt):
        swept(path, progress=lambda at: interrupt(replace(at, ended=2)))
    rest = swept(path)
    assert (rest.simulated, rest.complete) == (2, True)


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_wrong_numbers_of_jobs(tmp_path: Path, jobs: Any) -> None:
    with pytest.raises(PtxError, match=r"E502.*jobs = "):
        swept(write(tmp_path), jobs=jobs)
