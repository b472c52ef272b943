"""The kernels of a sweep file: files, samples, launch files, lists of recorded launches."""

from pathlib import Path
from typing import Any

import pytest
from recorded_program import recorded

from ptxtool.applications.launch_choice import launch_choice
from ptxtool.base.diag import PtxError
from ptxtool.sweep.spec_kernels import kernels_of


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (3, "E502"),
        ({"fiel": "k.ptx"}, "E502"),
        ({"name": "k"}, "E502"),
        ({"file": ""}, "E502"),
        ("none.ptx", "E501"),
        ("n" * 5000, "E501"),
        ("launch.toml", "E502"),
        ({"file": "launch.toml", "launch": "other.toml"}, "E502"),
    ],
)
def test_what_is_no_kernel(given: Any, code: str, tmp_path: Path) -> None:
    (tmp_path / "launch.toml").write_text("")
    with pytest.raises(PtxError) as caught:
        kernels_of(given, tmp_path)
    (found,) = caught.value.diagnostics
    assert (found.code, bool(found.help)) == (code, True)


def test_paths_are_relative_to_the_sweep_file(tmp_path: Path) -> None:
    (tmp_path / "k.v2.ptx").write_text("")
    (found,) = kernels_of({"file": "k.v2.ptx", "launch": "l.toml", "kernel": "main"}, tmp_path)
    assert found == {
        "kernel": str(tmp_path / "k.v2.ptx"),
        "launch": tmp_path / "l.toml",
        "entry": "main",
        "name": "k.v2",
    }


def test_a_file_goes_before_the_sample_of_its_name(tmp_path: Path) -> None:
    assert kernels_of("sgemm", tmp_path)[0]["kernel"] == "sgemm"
    (tmp_path / "sgemm").write_text("")
    assert kernels_of("sgemm", tmp_path)[0]["kernel"] == str(tmp_path / "sgemm")


def test_a_launch_file_has_its_kernel(tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "launch.toml").write_text('file = "main.ptx"\ngrid = 1\nblock = 1\n')
    fields = {
        "kernel": str(tmp_path / "k" / "main.ptx"),
        "launch": tmp_path / "k" / "launch.toml",
        "entry": None,
        "name": "k",
    }
    assert kernels_of("k", tmp_path) == (fields,)
    assert kernels_of({"file": "k/launch.toml", "name": "k"}, tmp_path) == (fields,)


def test_a_recording_is_a_kernel_for_each_launch(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1-3"))
    found = kernels_of("out", tmp_path)
    assert [each["name"] for each in found] == ["1-sum", "2-scale", "3-sum"]
    assert found[1]["kernel"] == str(tmp_path / "out" / "0002-scale" / "kernel.ptx")
    assert found[1]["launch"] == tmp_path / "out" / "0002-scale" / "launch.toml"
    named = kernels_of({"file": "out", "name": "app"}, tmp_path)
    assert [each["name"] for each in named] == ["app/1-sum", "app/2-scale", "app/3-sum"]
    with pytest.raises(PtxError, match="each has its kernel"):
        kernels_of({"file": "out", "kernel": "sum"}, tmp_path)


def test_launches_without_time_are_no_runs(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1-2"))
    path = tmp_path / "out" / "launch.toml"
    path.write_text(path.read_text().replace("number = 1\n", "number = 1\ntime = false\n"))
    assert [each["name"] for each in kernels_of("out", tmp_path)] == ["2-scale"]
    path.write_text(path.read_text().replace("number = 2\n", "number = 2\ntime = false\n"))
    with pytest.raises(PtxError, match="no launch with time"):
        kernels_of("out", tmp_path)


def test_files_outside_the_folder_need_leave(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1"))
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "launch.toml").write_text('[[launch]]\nfile = "../out/0001-sum/launch.toml"\n')
    with pytest.raises(PtxError, match="outside"):
        kernels_of("list", tmp_path)
    assert [each["name"] for each in kernels_of("list", tmp_path, allow_outside=True)] == ["1-sum"]
    alone = tmp_path / "list" / "launch.toml"
    alone.write_text('file = "../out/0001-sum/kernel.ptx"\ngrid = 1\nblock = 1\n')
    with pytest.raises(PtxError, match="outside"):
        kernels_of("list", tmp_path)
