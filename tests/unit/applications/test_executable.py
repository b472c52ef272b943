"""Which programs can be run: those that exist, and that do not have the static CUDA runtime inside."""

import struct
import sys
from pathlib import Path

import pytest

from ptxtool.applications.executable import check_executable, find_executable
from ptxtool.base.diag import PtxError


def elf(needed: bytes, device_code: bool = True) -> bytes:
    """A 64-bit ELF file of four sections, which needs one library."""
    names = b"\0.shstrtab\0.dynstr\0.dynamic\0" + (b".nv_fatbin\0" if device_code else b".other\0")
    strings, dynamic = b"\0" + needed + b"\0", struct.pack("<4Q", 1, 1, 0, 0)
    start = 64
    places = [
        (start, len(names)),
        (start + len(names), len(strings)),
        (start + len(names) + len(strings), len(dynamic)),
    ]
    table = places[-1][0] + len(dynamic)
    head = b"\x7fELF\x02".ljust(40, b"\0") + struct.pack("<QIHHHHHH", table, 0, 64, 0, 0, 64, 4, 0)
    sections = [
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, *place, 0, 0, 1, 0)
        for name, kind, place in ((1, 3, places[0]), (11, 3, places[1]), (19, 6, places[2]), (28, 1, (64, 0)))
    ]
    return head + names + strings + dynamic + b"".join(sections)


def test_a_static_runtime_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app"
    path.write_bytes(elf(b"libm.so.6"))
    with pytest.raises(PtxError, match="'app' is linked with the static CUDA runtime") as caught:
        check_executable(path)
    assert caught.value.diagnostics[0].help == "link it with 'nvcc -cudart shared'"


@pytest.mark.parametrize(
    "data",
    [
        elf(b"libcudart.so.12"),
        elf(b"libcuda.so.1"),
        elf(b"libm.so.6", device_code=False),
        b"#!/bin/sh\n",
        b"",
        b"\x7fELF\x02\0",
    ],
)
def test_all_others_are_run(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "app"
    path.write_bytes(data)
    check_executable(path)


def test_the_interpreter_is_found_and_run() -> None:
    check_executable(find_executable(sys.executable))
    assert find_executable("sh").name == "sh"


def test_programs_that_cannot_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain = tmp_path / "plain"
    plain.write_text("")
    for name, what, help in (
        ("./absent", "no program './absent'", "give the path of the application after --"),
        ("./plain", "'./plain' is not executable", "make it executable: chmod +x ./plain"),
        ("./", "'./' is a folder", "give the path of the application after --"),
    ):
        with pytest.raises(PtxError, match="E501") as caught:
            find_executable(name)
        (problem,) = caught.value.diagnostics
        assert (problem.message, problem.help) == (what, help)
    plain.chmod(0o755)
    with pytest.raises(PtxError, match="no program 'plain'") as caught:
        find_executable("plain")
    assert caught.value.diagnostics[0].help == "give its path: ./plain"
