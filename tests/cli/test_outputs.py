"""What a command would write is looked at before it does anything: no input or store is lost, no run made in vain."""

import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from scalekernel import INPUTS, LAUNCH, SCALE
from smallkernel import Cli

from ptxtool.base.diag import error

SPEC = 'kernels = ["scale.ptx"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel, its launch file, a GPU file, a sweep file, a store and a scheduler's file, as the current folder."""
    (tmp_path / "scale.ptx").write_text(SCALE)
    (tmp_path / "scale.toml").write_text('file = "scale.ptx"\n' + LAUNCH)
    (tmp_path / "gpu.toml").write_text('inherits = "tesla-c2050"\n')
    (tmp_path / "f.toml").write_text(SPEC)
    (tmp_path / "own.py").write_text("def pick(sm, scheduler):\n    return -1\n")
    with sqlite3.connect(tmp_path / "f.db") as store:
        store.execute("create table t (x)")
    shutil.copy(tmp_path / "f.db", tmp_path / "other.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that begins fails the test."""

    def begun(*_: object, **__: object) -> None:
        raise AssertionError("it has begun")

    for name in ("simulate", "run", "compare", "sweep", "reproduce"):
        monkeypatch.setattr(f"ptxtool.api.{name}", begun)


@pytest.mark.parametrize(
    ("line", "option", "lost"),
    [
        ("sweep f.toml -o f.db", "-o", "f.db"),
        ("sweep f.toml -o f.toml", "-o", "f.toml"),
        ("sweep f.toml -o scale.ptx", "-o", "scale.ptx"),
        ("sweep f.toml -o scale.toml", "-o", "scale.toml"),
        ("sweep f.toml --store new.db -o new.db", "-o", "new.db"),
        ("sweep show f.db -o f.db", "-o", "f.db"),
        ("sweep show f.db --plot ./f.db", "--plot", "./f.db"),
        ("reproduce register-sharing --store r.db --csv r.db", "--csv", "r.db"),
        ("reproduce register-sharing --csv register-sharing.db", "--csv", "register-sharing.db"),
        ("reproduce register-sharing --csv a --page a", "--page", "a"),
        ("reproduce register-sharing --page other.db", "--page", "other.db"),
        ("sim scale.ptx -o scale.ptx", "-o", "scale.ptx"),
        ("sim scale.ptx --trace scale.toml", "--trace", "scale.toml"),
        ("sim scale.ptx --trace a -o ./a", "-o", "./a"),
        ("sim scale.toml -o scale.ptx", "-o", "scale.ptx"),
        ("sim scale.ptx --gpu gpu.toml -o gpu.toml", "-o", "gpu.toml"),
        ("sim scale.ptx --scheduler own.py:pick -o own.py", "-o", "own.py"),
        ("sim scale.ptx -o link", "-o", "link"),
        ("compare scale.ptx -o scale.toml", "-o", "scale.toml"),
        ("run scale.ptx --launch scale.toml -o scale.toml", "-o", "scale.toml"),
        ("run scale.ptx -o other.db", "-o", "other.db"),
        ("rewrite -p unroll-decls scale.ptx --json -o scale.ptx", "-o", "scale.ptx"),
        ("live scale.ptx -o scale.ptx", "-o", "scale.ptx"),
        ("occupancy scale.ptx -o scale.toml", "-o", "scale.toml"),
        ("check scale.ptx -o scale.ptx", "-o", "scale.ptx"),
        ("diff scale.ptx scale.ptx -o scale.ptx", "-o", "scale.ptx"),
        ("fmt --check scale.ptx -o scale.ptx", "-o", "scale.ptx"),
    ],
)
def test_no_input_is_replaced(cli: Cli, folder: Path, line: str, option: str, lost: str) -> None:
    os.symlink("scale.ptx", folder / "link")
    before = contents(folder)
    result = cli(*line.split())
    assert result.exit_code == 1
    assert f"error[E503]: {option} cannot write '{lost}': " in result.stderr
    assert f"help: nothing was run; give {option} another file" in result.stderr
    assert contents(folder) == before


def test_data_of_arguments_and_results(cli: Cli, folder: Path) -> None:
    np.save("x.npy", np.arange(3584, dtype=np.float32))
    (folder / "scale.toml").write_text(
        INPUTS.replace("range = [0, 3584]", 'file = "x.npy"').replace("count = 3584\n", "")
    )
    before = contents(folder)
    assert "cannot write 'x.npy'" in cli("run", "scale.ptx", "-o", "x.npy").stderr
    saved = cli("run", "scale.ptx", "--save", ".")
    assert "--save cannot write 'x.npy'" in saved.stderr
    assert "give --save another folder" in saved.stderr
    options = ["--grid", "28", "--block", "128", "--arg", "x.npy", "--arg", "2.5"]
    assert "cannot write 'x.npy'" in cli("run", "scale.ptx", *options, "-o", "x.npy").stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    "line",
    [
        "compare scale.ptx -o missing/x",
        "sim scale.ptx -o missing/x",
        "sim scale.ptx --trace missing/x",
        "run scale.ptx -o scale.toml/x",
        "run scale.ptx --save scale.toml/x",
        "run scale.ptx --save scale.toml",
        "sweep f.toml -o missing/x",
        "reproduce register-sharing --page missing/x.html",
        "reproduce register-sharing --csv .",
    ],
)
def test_a_place_that_cannot_be_written(cli: Cli, folder: Path, line: str) -> None:
    before = contents(folder)
    result = cli(*line.split())
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[E503]: cannot write " in result.stderr
    assert contents(folder) == before


def test_in_place_and_devices(cli: Cli, folder: Path) -> None:
    """What replaces a kernel by itself, rewritten or laid out, is wanted; a device can be written twice."""
    assert cli("rewrite", "-p", "unroll-decls", "scale.ptx", "-o", "scale.ptx").exit_code == 0
    assert ".reg .f32 %f0;" in (folder / "scale.ptx").read_text()
    assert cli("fmt", "scale.ptx", "-o", "scale.ptx").exit_code == 0
    assert cli("live", "scale.ptx", "-o", os.devnull).exit_code == 0
    result = cli("reproduce", "no-such-thing", "--page", os.devnull, "--csv", os.devnull, "--help")
    assert result.exit_code == 0


def test_a_report_that_cannot_be_written_is_printed(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: object, data: bytes) -> None:
        raise error("E503", f"cannot write '{path}': no space left on device")

    expected = cli("live", "scale.ptx").stdout
    monkeypatch.setattr("ptxtool.formats.files.write_output", full)
    result = cli("live", "scale.ptx", "-o", "report")
    assert (result.exit_code, result.stdout) == (1, expected)
    assert "no space left on device" in result.stderr
