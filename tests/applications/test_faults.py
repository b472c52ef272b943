"""What goes wrong in kernels and in processes: the error of CUDA, a diagnostic, and nothing that stays behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cuda_programs import PROGRAMS, compiled, run

from ptxtool.base.diag import PtxError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("faults", tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def endless(faults: Path) -> list[str]:
    """The command of a launch that never ends; other processes need not compile the simulator any more."""
    command = [sys.executable, "-m", "ptxtool", "exec", "--", str(faults)]
    done = subprocess.run([*command, "fork"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "forked after the first CUDA call has no device" in done.stderr
    return [*command, "endless"]


def line_of(text: str) -> int:
    """The line of `faults.cu` that has a text."""
    lines = (PROGRAMS / "faults.cu").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("fault", "name", "code", "what", "source"),
    [
        (
            "outside",
            "cudaErrorIllegalAddress",
            "E404",
            "right after the block of 256 bytes",
            "out[threadIdx.x + n]",
        ),
        ("freed", "cudaErrorIllegalAddress", "E404", "which was freed", "out[threadIdx.x + n]"),
        ("host", "cudaErrorIllegalAddress", "E404", "where no buffer is", "out[threadIdx.x + n]"),
        ("null", "cudaErrorIllegalAddress", "E404", "address 0x0", "out[threadIdx.x + n]"),
        ("misaligned", "cudaErrorMisalignedAddress", "E405", "misaligned access", "void misaligned"),
        ("trap", "cudaErrorLaunchFailure", "E414", "trap", "__trap()"),
    ],
)
def test_a_fault_of_a_kernel(
    fault: str, name: str, code: str, what: str, source: str, faults: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, faults, fault)
    assert (ran.run.status, ran.printed) == (1, f"{fault}: {name}\n")  # and the error has stayed
    (problem,) = ran.diagnostics
    assert problem.code == code
    assert problem.message.startswith(f"launch {len(ran.run.launches)}, ")
    assert what in problem.message
    assert problem.to_dict()["cuda"] == f"faults.cu:{line_of(source)}"


@pytest.mark.parametrize("timed", [False, True])
def test_a_kernel_that_waits_for_the_host(
    timed: bool, faults: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another thread can write while the launch runs; the one that launched cannot."""
    ran = run(capfd, faults, "set-by-a-thread", timed=timed)
    assert (ran.run.status, ran.printed, ran.diagnostics) == (0, "set-by-a-thread: cudaSuccess\n", [])
    ran = run(capfd, faults, "set-too-late", timed=timed)
    assert (ran.run.status, ran.printed) == (1, "set-too-late: cudaErrorLaunchTimeout\n")
    (problem,) = ran.diagnostics
    assert problem.code == "E407"
    assert problem.help.endswith("a kernel cannot wait for what its own host thread does next")


@pytest.mark.parametrize("timed", [False, True])
def test_accesses_outside_may_be_counted(
    timed: bool, faults: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, faults, "outside", timed=timed, options={"out_of_bounds": "count"})
    assert (ran.run.status, ran.printed) == (0, "outside: cudaSuccess\n")
    assert ran.run.launches[0].out_of_bounds == 1  # the last of 64 threads stores right after the buffer


@pytest.mark.parametrize(
    ("fault", "status", "launches"), [("crash", 128 + signal.SIGSEGV, 1), ("exit", 7, 0)]
)
def test_a_process_that_ends(
    fault: str, status: int, launches: int, faults: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, faults, fault)
    assert (ran.run.status, len(ran.run.launches), ran.diagnostics) == (status, launches, [])


@pytest.mark.parametrize(
    ("fault", "status"), [("crash-in-launch", 128 + signal.SIGSEGV), ("exit-in-launch", 5)]
)
@pytest.mark.parametrize("timed", [False, True])
def test_a_process_that_ends_in_a_launch(
    fault: str, status: int, timed: bool, faults: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, faults, fault, timed=timed)
    assert (ran.run.status, ran.printed) == (status, "launched\n")
    assert [note for note in ran.notes if "endless" in note] == [
        "ptxtool exec: launch 1, endless(int volatile*), grid 1x1x1, block 1x1x1: the process has ended, and so has "
        "the launch"
    ]


def test_a_fork_has_no_device_and_its_parent_goes_on(faults: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, faults, "fork")
    assert (ran.run.status, ran.printed, len(ran.run.launches)) == (0, "fork: cudaSuccess\n", 1)


def test_the_static_runtime_and_machine_code_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    static = compiled("vector_add", tmp_path, "-arch", "compute_75")
    with pytest.raises(PtxError, match="linked with the static CUDA runtime"):
        run(capfd, static)
    static.unlink()
    ran = run(
        capfd, compiled("vector_add", tmp_path, "-cudart", "shared", "-gencode=arch=compute_75,code=sm_75")
    )
    assert ran.run.status == 2
    assert "no kernel image is available for execution on the device" in ran.printed
    assert ran.diagnostics[0].message == "a module of the application has no PTX, only machine code"
    assert "-gencode arch=compute_75" in ran.diagnostics[0].help


def test_separate_compilation(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ("-cudart", "shared", "-rdc=true", "-gencode=arch=compute_75,code=sm_75")
    ran = run(capfd, compiled("vector_add", tmp_path, *options))
    assert ran.run.status == 2
    assert "no kernel image is available for execution on the device" in ran.printed
    assert "code compiled with -rdc=true has none either" in ran.diagnostics[0].help


@pytest.mark.parametrize("to_group", [True, False])
def test_an_interrupt_ends_both(to_group: bool, endless: list[str], faults: Path) -> None:
    process = subprocess.Popen(
        endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "launched\n"
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "exit status 130" in errors
    assert not _running(faults)


def test_the_application_dies_with_the_simulator(endless: list[str], faults: Path) -> None:
    process = subprocess.Popen(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "launched\n"
    process.kill()
    process.communicate(timeout=300)
    assert not _running(faults)


def _running(program: Path) -> list[str]:
    """Processes of a program, a moment after the last should have ended."""
    import time

    time.sleep(0.5)
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "exe") == str(program):
                found.append(folder.name)
        except OSError:
            continue
    return found
