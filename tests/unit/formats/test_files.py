"""Finding and reading inputs, the launch file of a kernel, and writing whole files."""

import io
import os
import sys
from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.files import (
    LIMIT_VARIABLE,
    find_input,
    launch_beside,
    read_bytes,
    read_input,
    sample_names,
    write_output,
)


def test_a_sample_by_name_unless_there_is_such_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {"sgemm", "hotspot", "reduction"} <= set(sample_names())
    assert find_input("sgemm").parts[-2:] == ("sgemm", "kernel.ptxplus")
    assert find_input("saxpy").parts[-2:] == ("saxpy", "kernel.ptx")
    assert find_input("regdem/md").parts[-3:] == ("regdem", "md", "kernel.ptx")
    assert find_input("backprop").parts[-2:] == ("backprop", "kernel.ptxplus")  # it has both
    assert find_input("sgemmm") == Path("sgemmm")
    Path("sgemm").touch()
    assert find_input("sgemm") == Path("sgemm")


def test_the_launch_file_of_a_kernel(tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    assert launch_beside(kernel) is None
    (tmp_path / "launch.toml").touch()
    assert launch_beside(kernel) == tmp_path / "launch.toml"
    (tmp_path / "k.toml").touch()
    assert launch_beside(kernel) == tmp_path / "k.toml"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xffx")))
    assert read_input("-") == ("<stdin>", b"\xffx")


@pytest.mark.parametrize("name", ["nowhere", "a\0b", ""])
def test_unreadable(name: str) -> None:
    with pytest.raises(PtxError) as problem:
        read_input(name)
    (reported,) = problem.value.diagnostics
    assert reported.code == "E501"
    assert reported.help


@pytest.mark.parametrize(
    ("name", "is_word"), [("hotspots", True), ("hotspots.ptx", False), ("a/hotspots", False)]
)
def test_samples_are_reported_where_a_word_could_be_one(name: str, is_word: bool) -> None:
    with pytest.raises(PtxError) as problem:
        read_input(name)
    assert ("packaged samples are " in problem.value.diagnostics[0].help) == is_word


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_output(tmp_path / "new", b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")

    def interrupted(source: object, target: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_output(out, b"new")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("name", ["missing/out", "", "a\0b"])
def test_unwritable(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PtxError) as problem:
        write_output(name, b"x")
    assert problem.value.diagnostics[0].code == "E503"
    assert list(tmp_path.iterdir()) == []


def test_inputs_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(b"x" * 1000)
    assert len(read_bytes(path, "")) == 1000
    monkeypatch.setenv(LIMIT_VARIABLE, "999")
    for read in (lambda: read_bytes(path, "advice"), lambda: read_input(path)):
        with pytest.raises(
            PtxError, match=r"k\.ptx': larger than 999 bytes; set PTXTOOL_INPUT_LIMIT"
        ) as caught:
            read()
        assert caught.value.diagnostics[0].code == "E501"
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(PtxError, match="PTXTOOL_INPUT_LIMIT is 'much'"):
        read_bytes(path, "")
    monkeypatch.delenv(LIMIT_VARIABLE)
    with path.open("wb") as sparse:
        sparse.truncate(2 << 30)
    with pytest.raises(PtxError, match="larger than 1073741824 bytes"):
        read_input(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
def test_a_device_is_read_up_to_its_first_nul() -> None:
    assert len(read_bytes("/dev/zero", "")) <= 1 << 20


def test_names_of_thousands_of_characters(tmp_path: Path) -> None:
    name = tmp_path / ("a" * 5000)
    assert launch_beside(name) is None
    with pytest.raises(PtxError, match=r"cannot read '[^']{1,80}': file name too long"):
        read_input(name)


def test_a_folder_with_a_launch_file_is_that_file(tmp_path: Path) -> None:
    assert find_input(tmp_path) == tmp_path
    (tmp_path / "launch.toml").write_text("")
    assert find_input(tmp_path) == tmp_path / "launch.toml"
