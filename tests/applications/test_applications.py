"""CUDA programs as nvcc compiles them, run on the simulated GPU: each checks its own results."""

from pathlib import Path

import pytest
from cuda_programs import compiled, run

LAST_LINES = {
    "vector_add": "5000 sums are right",
    "symbols": "variables are right",
    "matrix_multiply": "products are right",
    "streams": "sums are right",
    "launches": "launches are right",
    "device": "answers are right",
    "textures": "texels are right",
    "pointers": "lists are right",
    "mistakes": "errors are right",
    "equal_sums": "sums are right",
    "wavefront": "scores are right",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAST_LINES)
def test_a_program_without_time(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled(name, folder))
    assert (ran.run.status, ran.printed.splitlines()[-1]) == (0, LAST_LINES[name])
    assert ran.run.processes == 1
    assert all(launch.warp_instructions > 0 for launch in ran.run.launches if not launch.error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vector_add", "symbols", "launches", "equal_sums"])
def test_a_program_with_time(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled(name, folder), timed=True, gpu_chosen=True)
    assert (ran.run.status, ran.printed.splitlines()[-1]) == (0, LAST_LINES[name])
    assert all(launch.cycles > 0 for launch in ran.run.launches)
    assert ran.notes == [
        "ptxtool exec: the application has no PTX for sm_20 (tesla-c2050) or older: that for sm_75 runs"
    ]


@pytest.mark.slow
def test_arguments_and_what_kernels_print(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, compiled("vector_add", folder), "77").printed == "77 sums are right\n"
    printed = run(capfd, compiled("launches", folder)).printed.splitlines()
    lines = [
        "before",
        "block 0 of 2: odd",
        "block 1 of 2: odd",
        "between",
        "block 0 of 1: even",
        "launches are right",
    ]
    assert printed == lines


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["size", "speed", "none"])
def test_device_code_as_nvcc_compresses_it(
    mode: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ("-cudart", "shared", "-arch", "compute_75", f"-compress-mode={mode}")
    assert run(capfd, compiled("vector_add", tmp_path, *options)).run.status == 0


@pytest.mark.slow
def test_wrong_calls_are_reported_one_by_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("mistakes", folder))
    messages = [diagnostic.message for diagnostic in ran.diagnostics]
    found = [(text.partition("(")[0], text.rpartition(": ")[2]) for text in messages]
    assert [name for name, _ in found[:4]] == ["cudaMemcpy", "cudaMemcpy", "cudaMemcpy", "cudaMemset"]
    assert found[1][1] == "a null pointer"
    assert found[2][1] == "the destination is not device memory"
    assert messages[4].startswith("an allocation of 1152921504606846976 bytes: no room")
    assert "byte 4 of the block of 256 bytes" in messages[5]
    assert [text.rpartition(": ")[2] for text in messages[6:10]] == [
        "this grid cannot be launched",
        "this block cannot be launched",
        "this grid cannot be launched",
        "this grid cannot be launched",
    ]
    assert all("freed" in text for text in messages[10:])
    assert len(messages) == 12
    assert (ran.run.missing, len(ran.notes)) == (("cudaGraphCreate",), 1)


@pytest.mark.slow
def test_processes_of_a_shell_have_devices_of_their_own(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled("vector_add", folder)
    ran = run(capfd, "sh", "-c", f"{program} 10 && {program} 20 && exit 4")
    assert (ran.run.status, ran.run.processes, len(ran.run.launches)) == (4, 2, 2)
    assert ran.printed == "10 sums are right\n20 sums are right\n"
