"""The CUDA programs of `tests/applications/programs`: compiling them, and running them on the simulated GPU."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from checkout import TESTS

from ptxsim.launch_options import LaunchOptions
from ptxtool.applications.exec import run_application
from ptxtool.applications.library import driver_calls, library_folder
from ptxtool.applications.recording import Recorder
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.sampling import Sampling
from ptxtool.applications.settings import Settings
from ptxtool.base.diag import Diagnostic
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.applications import ApplicationRun

PROGRAMS = TESTS / "applications" / "programs"
COMPILE = ("-cudart", "shared", "-arch", "compute_75", "-lineinfo")


DRIVER = ("-arch", "compute_75")


def with_driver(folder: Path) -> tuple[str, ...]:
    """The options that link a program with libcuda: a library of its name that has its calls, without bodies."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = folder / "libcuda.c"
    source.write_text("".join(f"int {name}(void) {{ return 34; }}\n" for name in driver_calls()))
    command = [compiler, "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*command, "-o", str(folder / "libcuda.so"), str(source)], check=True)
    return (f"-L{folder}", "-lcuda")


def compiled(name: str, folder: Path, *options: str) -> Path:
    """The executable of a program, compiled once a folder; skips the test without nvcc."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    path = folder / name
    if not path.exists():
        command = ["nvcc", *(options or COMPILE), "-o", str(path), str(PROGRAMS / f"{name}.cu")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return path


def compiled_for_cuda_11(name: str, folder: Path) -> Path:
    """The executable of a C++ program that makes nvcc's calls itself; skips the test without a compiler."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    path = folder / name
    library = library_folder() / "libcudart.so.11.0"
    command = [compiler, "-std=c++17", "-o", str(path), str(PROGRAMS / f"{name}.cpp"), str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


@dataclass
class Ran:
    """A run in this process: its result, what the application printed, and the notes."""

    run: ApplicationRun
    printed: str
    notes: list[str]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return list(self.run.problems)


def run(
    capfd: pytest.CaptureFixture[str],
    *command: object,
    record: Path | None = None,
    sim_launches: str | None = None,
    **changes: Any,
) -> Ran:
    """Run a command; `changes` are those of `Settings`, and `options` of its launches, recorded in a folder."""
    told: list[Diagnostic | str] = []
    options = LaunchOptions(**changes.pop("options", {}))
    settings = Settings(load_gpu("tesla-c2050"), options, **{"memory_bytes": 64 << 20, **changes})
    capfd.readouterr()
    reporter = Reporter(told.append)
    if record is not None:
        reporter.recorder = Recorder(record, ["app"], told.append, reporter.problem)
    if sim_launches is not None:
        reporter.sampling = Sampling.of(sim_launches, settings.gpu)
    result = run_application([str(word) for word in command], settings, reporter)
    return Ran(result, capfd.readouterr().out, [message for message in told if isinstance(message, str)])
