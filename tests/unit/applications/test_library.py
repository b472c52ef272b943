"""The C library: what it exports, how it is built, and what it says without a simulator."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxtool.applications import library
from ptxtool.applications.library import VERSIONS, calls, generated_source, implemented, library_folder
from ptxtool.base.diag import PtxError

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def test_every_call_is_one_of_the_runtime_once() -> None:
    assert len(calls()) == len(set(calls()))
    assert implemented() <= set(calls())
    assert {"cudaMalloc", "cudaMemcpy", "__cudaRegisterFatBinary", "cudaLaunchKernel"} <= implemented()


def test_the_rest_is_generated() -> None:
    source = generated_source("x86_64")
    assert "jmp cudaMemcpyAsync" in source
    assert (
        'API int cudaIpcGetMemHandle(void) { static int named; return missing("cudaIpcGetMemHandle", &named); }'
        in source
    )
    assert "b cudaMemcpyAsync" in generated_source("aarch64")


@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_a_library_for_each_version_has_every_call(version: str) -> None:
    path = library_folder() / f"libcudart.so.{version}"
    found = ctypes.CDLL(str(path))
    assert all(hasattr(found, name) for name in calls())
    found.cudaGetErrorString.restype = ctypes.c_char_p
    assert found.cudaGetErrorString(700) == b"an illegal memory access was encountered"
    number = ctypes.c_int()
    assert found.cudaRuntimeGetVersion(ctypes.byref(number)) == 0
    assert number.value // 1000 == int(version.split(".")[0])
    data = path.read_bytes()
    assert f"libcudart.so.{version}\0".encode() in data


@needs_compiler
def test_it_is_built_once() -> None:
    folder = library_folder()
    before = (folder / "libcudart.so.12").stat().st_mtime_ns
    assert library_folder() == folder
    assert (folder / "libcudart.so.12").stat().st_mtime_ns == before


@needs_compiler
def test_without_a_simulator_there_is_no_device() -> None:
    code = (
        "import ctypes, sys; lib = ctypes.CDLL(sys.argv[1]); n = ctypes.c_int(5); "
        "print(lib.cudaGetDeviceCount(ctypes.byref(n)), n.value, lib.cudaMalloc(None, 4))"
    )
    path = library_folder() / "libcudart.so.13"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, env={})
    assert done.stdout == "100 0 100\n"
    assert done.stderr.count("run the application with 'ptxtool exec -- APPLICATION'") == 1


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(PtxError, match="no C compiler") as caught:
        library_folder()
    assert "install one, such as 'apt install gcc'" in caught.value.diagnostics[0].help


def test_a_compiler_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(PtxError, match="cannot compile the runtime library: it is broken"):
        library_folder()


def test_other_processors_have_no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(library.platform, "machine", lambda: "riscv64")
    monkeypatch.setenv("CC", sys.executable)
    with pytest.raises(PtxError, match="no runtime library for riscv64"):
        library_folder()
