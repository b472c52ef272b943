"""The C library: what it exports, how it is built, and what it says without a simulator."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxtool.applications import library
from ptxtool.applications.library import (
    VERSIONS,
    calls,
    driver_calls,
    generated_source,
    implemented,
    library_folder,
    runtime_source,
)
from ptxtool.base.diag import PtxError

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def test_every_call_is_one_of_an_api_once() -> None:
    every = [*calls(), *driver_calls()]
    assert len(every) == len(set(every))
    assert implemented() <= set(every)
    assert {"cuInit", "cuMemAlloc_v2", "cuLaunchKernel", "cuModuleLoadData"} <= implemented()
    assert {"cudaMalloc", "cudaMemcpy", "__cudaRegisterFatBinary", "cudaLaunchKernel"} <= implemented()


def test_the_rest_is_generated() -> None:
    source = generated_source("x86_64")
    assert "jmp cudaMemcpyAsync" in source
    assert (
        'API int cudaIpcGetMemHandle(void) { static int named; return missing("cudaIpcGetMemHandle", &named); }'
        in source
    )
    assert "b cudaMemcpyAsync" in generated_source("aarch64")
    assert "cuLaunchKernel_ptsz: jmp cuLaunchKernel" in source
    assert "jmp ptxtool_cudaMalloc@PLT" in runtime_source("x86_64", "12")
    assert "ptxtool_runtime(12)" in runtime_source("x86_64", "12")


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
def test_triton_and_torch_find_a_backend_on_the_path() -> None:
    code = (
        "from importlib.metadata import entry_points; found = [*entry_points(group='triton.backends'), "
        "*entry_points(group='torch.backends')]; "
        "print([(e.name, e.value) for e in found if e.value.startswith('ptxtool')])"
    )
    path = library_folder() / library.PYTHON
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(path)}
    )
    assert done.stdout == "[('cpu', 'ptxtool_triton'), ('ptxtool', 'ptxtool_triton.inductor:use_triton')]\n"
    package = path / "ptxtool_triton"
    assert {each.name for each in package.iterdir()} == {
        "__init__.py",
        "compiler.py",
        "driver.py",
        "inductor.py",
    }


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


ENTRIES = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
found, status, text = ctypes.c_void_p(), ctypes.c_int(9), ctypes.c_char_p()
def of(name, version):
    code = lib.cuGetProcAddress_v2(name, ctypes.byref(found), version, ctypes.c_uint64(0), ctypes.byref(status))
    return code, status.value, found.value
def at(name):
    return ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
assert of(b"cuMemAlloc", 11000) == (0, 0, at("cuMemAlloc_v2"))
assert of(b"cuInit", 13000) == (0, 0, at("cuInit"))
for version, name in ((11000, "cuCtxCreate_v2"), (11040, "cuCtxCreate_v3"), (12050, "cuCtxCreate_v4")):
    assert of(b"cuCtxCreate", version) == (0, 0, at(name)), name
assert of(b"cuAbsent", 13000) == (500, 1, None)
assert lib.cuGetErrorName(201, ctypes.byref(text)) == 0
assert text.value == b"CUDA_ERROR_INVALID_CONTEXT"
assert lib.cuGetErrorString(12345, ctypes.byref(text)) == 1
print(lib.cuDeviceGetCount(ctypes.byref(status)), lib.cuInit(0), lib.cuInit(1))
"""


@needs_compiler
@pytest.mark.parametrize("name", ["libcuda.so.1", "libcuda.so"])
def test_functions_of_the_driver_by_name_and_version(name: str) -> None:
    path = library_folder() / name
    done = subprocess.run([sys.executable, "-c", ENTRIES, str(path)], capture_output=True, text=True, env={})
    assert (done.stdout, done.stderr.count("ptxtool exec")) == ("3 100 1\n", 2), done.stderr


@needs_compiler
def test_the_driver_has_every_call() -> None:
    found = ctypes.CDLL(str(library_folder() / "libcuda.so.1"))
    assert all(hasattr(found, name) for name in driver_calls())
