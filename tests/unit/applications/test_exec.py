"""Running a command that makes no CUDA call, or one by way of Python: status, environment, what is refused."""

import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from cuda_programs import run

from ptxtool.applications import exec
from ptxtool.base.diag import PtxError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 128 + signal.SIGKILL)]
)
def test_the_status_is_the_application_s(script: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, "sh", "-c", script)
    assert (ran.run.status, ran.run.processes, ran.run.launches) == (status, 0, ())


def test_the_application_has_the_environment_and_our_library_first(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    monkeypatch.setenv("OF_THE_USER", "kept")
    ran = run(capfd, "sh", "-c", 'echo "$OF_THE_USER $LD_LIBRARY_PATH $PTXTOOL_EXEC"')
    kept, path, name = ran.printed.split()
    ours, _, rest = path.partition(":")
    assert (kept, rest) == ("kept", "/somewhere")
    assert Path(ours, "libcudart.so.12").exists()
    assert name.startswith("ptxtool-exec-")


def test_the_simulator_is_loaded_while_the_application_starts(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun, loaded = tmp_path / "begun", tmp_path / "loaded"

    def load() -> None:
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        loaded.touch()

    monkeypatch.setattr(exec, "_load_simulator", load)
    ran = run(capfd, "sh", "-c", f"touch {begun}; while [ ! -e {loaded} ]; do sleep 0.01; done; exit 4")
    assert ran.run.status == 4
    assert begun.exists()


CALLS = """
import ctypes
lib = ctypes.CDLL("libcudart.so.12")
pointer = ctypes.c_uint64()
print(lib.cudaMalloc(ctypes.byref(pointer), 1000), pointer.value % 256)
data = (ctypes.c_uint8 * 1000)(*range(250))
print(lib.cudaMemcpy(pointer, data, ctypes.c_size_t(1000), 1), ctypes.c_uint8.from_address(pointer.value + 7).value)
print(lib.cudaFree(pointer), lib.cudaFree(pointer))
"""


def test_calls_of_a_process_that_loads_the_library_itself(capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, sys.executable, "-c", CALLS)
    assert ran.printed == "0 0\n0 7\n0 1\n"
    assert (ran.run.status, ran.run.processes) == (0, 1)
    (problem,) = ran.diagnostics
    assert problem.message.startswith("cudaFree(0x")


PROPERTIES = """
import ctypes, sys
version, name = sys.argv[1:3]
lib = ctypes.CDLL(f"libcudart.so.{version}")
data = (ctypes.c_uint8 * 2048)(*[0xAA] * 2048)
assert getattr(lib, name)(data, 0) == 0
def at(offset, n_bytes=4):
    return int.from_bytes(bytes(data[offset : offset + n_bytes]), "little")
print(bytes(data[:11]).decode(), *(at(int(offset)) for offset in sys.argv[3:]))
print(next(k for k in range(2048) if all(byte == 0xAA for byte in data[k:])))
"""


@pytest.mark.parametrize(
    ("version", "name", "n_bytes", "offsets"),
    [
        # sharedMemPerBlock, maxThreadsDim[2], major, multiProcessorCount, memoryBusWidth, maxThreadsPerMultiProcessor,
        # regsPerMultiprocessor, maxBlocksPerMultiProcessor: driver_types.h of each version
        ("11.0", "cudaGetDeviceProperties", 728, (296, 332, 360, 388, 612, 624, 648, 712)),
        ("12", "cudaGetDeviceProperties", 728, (296, 332, 360, 388, 612, 624, 648, 712)),
        ("12", "cudaGetDeviceProperties_v2", 1032, (296, 332, 360, 388, 612, 624, 648, 712)),
        ("13", "cudaGetDeviceProperties", 1008, (296, 332, 360, 384, 592, 604, 632, 688)),
    ],
)
def test_the_properties_of_each_version_of_cuda(
    version: str, name: str, n_bytes: int, offsets: tuple[int, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    words = (sys.executable, "-c", PROPERTIES, version, name, *offsets)
    ran = run(capfd, *words, gpu_chosen=True, target=80)
    assert ran.printed == f"tesla-c2050 49152 64 8 14 384 1536 32768 8\n{n_bytes}\n"


def test_what_cannot_be_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PtxError, match="no program '/nowhere/app'"):
        run(capfd, "/nowhere/app")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF\x02 and no more")
    broken.chmod(0o755)
    with pytest.raises(PtxError, match=r"cannot run '.*broken': exec format error"):
        run(capfd, broken)
