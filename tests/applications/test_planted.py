"""`--check all` finds the faults of `planted.cu`, with the CUDA line and the launch or call, and none where none is."""

from pathlib import Path

import pytest
from cuda_programs import PROGRAMS, Ran, compiled
from cuda_programs import run as run_program

pytestmark = pytest.mark.slow

_FAULT_FREE = [
    "vector_add",
    "symbols",
    "matrix_multiply",
    "streams",
    "device",
    "textures",
    "pointers",
    "diagonals",
    "wavefront",
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


def run(capfd: pytest.CaptureFixture[str], *command: object) -> Ran:
    return run_program(capfd, *command, options={"check": "all"})


def line_of(fault: str, program: str = "planted.cu") -> int:
    """The line of a program that has a fault."""
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"// {fault}"))


@pytest.mark.parametrize(
    ("fault", "code", "what"),
    [
        ("outside-write", "E404", "writes 4 bytes right after the block of 256 bytes"),
        ("outside-read", "E404", "reads 4 bytes, 4 bytes before the block of 256 bytes"),
        ("shared-outside", "E404", "reads 4 bytes at address 0x100 in shared memory, which has 256 bytes"),
        ("local-outside", "E404", "in local memory, which has 32 bytes"),
        ("misaligned", "E405", "writes 4 bytes at byte 2 of the block"),
        ("null", "E404", "writes 4 bytes at address 0x0"),
        ("after-free", "E404", "byte 0 of the block of 256 bytes at 0x10010000, which was freed"),
        ("global-unwritten", "E411", "reads byte 0 of the block of 256 bytes"),
        ("shared-unwritten", "E411", "reads byte 252 of variable"),
        ("local-unwritten", "E411", "reads byte 28 of variable"),
        ("shared-race", "E410", "in shared memory, which another thread writes"),
        ("no-syncwarp", "E410", "in shared memory, which another thread writes"),
        ("warps-race", "E410", "writes byte 0 of the block of 256 bytes"),
        ("grid-race", "E410", "writes byte 0 of the block of 256 bytes"),
        ("divergent-barrier", "E412", "thread (16,0,0) of the same warp is elsewhere"),
        ("missed-barrier", "E412", "warp 0 of CTA (0,0,0) waits here, warp 1 never reaches it"),
    ],
)
def test_a_fault_of_a_kernel(
    fault: str, code: str, what: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled("planted", folder), fault)
    assert (ran.run.status, ran.printed) == (0, "cudaSuccess\n")  # the launch goes on without the access
    assert ran.diagnostics
    for found in ran.diagnostics:
        assert (found.code, found.to_dict()["cuda"]) == (code, f"planted.cu:{line_of(fault)}")
        assert found.message.startswith(f"{ran.run.launches[-1]}: ")
    assert any(what in found.message for found in ran.diagnostics)


@pytest.mark.parametrize(
    ("fault", "call", "what"),
    [
        ("double-free", "cudaFree(0x10010000)", "which was freed"),
        ("free-inside", "cudaFree(0x10010020)", "byte 32 of the block of 256 bytes"),
        ("copy-beyond", "cudaMemcpy(to 0x100100f0, ", "no 20 bytes at 0x100100f0"),
        ("copy-of-freed", "cudaMemcpy(to 0x", "which was freed"),
        ("fill-beyond", "cudaMemset(0x10010000, 0, 260 bytes)", "no 260 bytes"),
    ],
)
def test_a_fault_of_a_call(
    fault: str, call: str, what: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (found,) = run(capfd, compiled("planted", folder), fault).diagnostics
    assert found.code == "E404"
    assert found.message.startswith(call)
    assert what in found.message


@pytest.mark.parametrize("name", _FAULT_FREE)
def test_kernels_without_faults(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """(Some of the programs make wrong calls on purpose.)"""
    ran = run(capfd, compiled(name, folder))
    assert ran.run.status == 0
    assert ran.run.launches
    assert [launch for launch in ran.run.launches if launch.findings] == []


def test_a_race_in_a_test_program(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The CTAs of the second launch of `launches.cu` store different numbers at one place."""
    ran = run(capfd, compiled("launches", folder))
    assert [launch.number for launch in ran.run.launches if launch.findings] == [2]
    (found,) = ran.diagnostics
    assert (found.code, "which another thread writes" in found.message) == ("E410", True)


def test_a_race_whose_results_are_right(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("equal_sums", folder))
    assert (ran.run.status, ran.printed) == (0, "sums are right\n")
    line = line_of("equal-sums", "equal_sums.cu")
    assert {(found.code, found.to_dict()["cuda"]) for found in ran.diagnostics} == {
        ("E410", f"equal_sums.cu:{line}")
    }


def test_what_was_written_once_stays_written(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By a kernel, a fill, or the application in pinned and managed memory; a copy takes what it is of with it."""
    ran = run(capfd, compiled("initialised", folder))
    assert (ran.run.status, ran.printed) == (0, "all launches\n")
    launches = [int(found.message.removeprefix("launch ").partition(",")[0]) for found in ran.diagnostics]
    assert launches == [6, 8]
    assert ["byte 128 of" in found.message for found in ran.diagnostics] == [True, False]
