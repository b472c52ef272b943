"""CUDA programs as nvcc compiles them, run on the simulated GPU: each checks its own results."""

from pathlib import Path

import pytest
from cuda_programs import COMPILE, DRIVER, compiled, compiled_for_cuda_11, run, with_driver

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
    "alignment": "alignments are right",
    "clusters": "clusters are right",
    "convolution": "convolutions are right",
    "despeckle": "pictures are right",
    "factors": "factors are right",
    "fractal": "pictures are right",
    "graphs": "graphs are right",
    "grid_sync": "solutions are right",
    "heat": "temperatures are right",
    "histograms": "counts are right",
    "messages": "messages are right",
    "paths": "paths are right",
    "pipeline": "chunks are right",
    "pools": "memory is right",
    "prefix_sums": "sums are right",
    "random_walks": "estimates are right",
    "search": "distances are right",
    "sorting": "orders are right",
    "sparse": "solutions are right",
    "transpose": "transposes are right",
    "vectors": "vectors are right",
    "equal_sums": "sums are right",
    "diagonals": "scores are right",
    "libraries": "libraries are right",
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
def test_clusters_of_blocks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The attribute of a launch, and the head of a kernel."""
    program = compiled("block_clusters", tmp_path, "-cudart", "shared", "-arch", "compute_90", "-std=c++17")
    ran = run(capfd, program)
    assert (ran.run.status, ran.printed) == (0, "block clusters are right\n")
    (refused,) = ran.diagnostics
    assert refused.message.endswith("grid (8, 1, 1) in clusters of (3, 1, 1)")


@pytest.mark.slow
def test_tensor_maps(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Those that cuTensorMapEncodeTiled makes, found by cudaGetDriverEntryPoint."""
    program = compiled("tensor_maps", tmp_path, "-cudart", "shared", "-arch", "compute_90", "-std=c++17")
    ran = run(capfd, program, options={"asynchronous": "late"})
    assert (ran.run.status, ran.printed, ran.diagnostics) == (0, "tensor maps are right\n", [])


@pytest.mark.slow
def test_tensor_maps_along_w(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One that cuTensorMapEncodeIm2colWide makes, and what it refuses."""
    program = compiled(
        "tensor_maps_along_w", tmp_path, "-cudart", "shared", "-arch", "compute_100a", "-std=c++17"
    )
    ran = run(capfd, program)
    assert (ran.run.status, ran.printed, ran.diagnostics) == (0, "pixels along W are right\n", [])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pipeline", "graphs", "transpose"])
def test_a_default_stream_for_each_thread(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Such a build calls NAME_ptsz and NAME_ptds."""
    program = compiled(name, tmp_path, *COMPILE, "-default-stream", "per-thread")
    assert b"_ptsz" in program.read_bytes()
    ran = run(capfd, program)
    assert (ran.run.status, ran.printed.splitlines()[-1]) == (0, LAST_LINES[name])
    assert ran.run.missing == ()


@pytest.mark.slow
def test_large_copies(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("copies", folder), tmp_path / "opened")
    assert (ran.run.status, ran.printed, ran.diagnostics) == (0, "copies are right\n", [])


@pytest.mark.slow
def test_references_of_old_programs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled_for_cuda_11("references", tmp_path))
    assert (ran.run.status, ran.printed) == (0, "references are right\n")
    (problem,) = ran.diagnostics
    assert problem.message.endswith("nothing given for '.texref numbers'")


@pytest.mark.slow
def test_what_kernels_print_and_assert(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("messages", folder))
    line = "value  3.14|42    |00beef|x|%|-1234567890123|1e-07"
    assert ran.printed.splitlines() == [line, line, "messages are right"]
    (problem,) = ran.diagnostics
    assert (problem.code, problem.to_dict()["cuda"]) == ("E413", "messages.cu:11")


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
    assert messages[10:13] == [
        "cudaEventRecord: invalid resource handle",
        "cudaMalloc: invalid argument",
        "a launch of store(int*): its argument 0 is a null pointer",
    ]
    assert all("freed" in text for text in messages[13:])
    assert len(messages) == 15
    assert (ran.run.missing, len(ran.notes)) == (("cudaIpcGetMemHandle",), 1)


@pytest.mark.slow
def test_processes_of_a_shell_have_devices_of_their_own(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled("vector_add", folder)
    ran = run(capfd, "sh", "-c", f"{program} 10 && {program} 20 && exit 4")
    assert (ran.run.status, ran.run.processes, len(ran.run.launches)) == (4, 2, 2)
    assert ran.printed == "10 sums are right\n20 sums are right\n"


@pytest.mark.slow
@pytest.mark.parametrize("timed", [False, True])
def test_the_driver_api(timed: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = compiled("driver", tmp_path, *DRIVER, *with_driver(tmp_path))
    ran = run(capfd, program, timed=timed, gpu_chosen=True)
    assert (ran.run.status, ran.printed) == (0, "driver calls are right\n")
    launches = [(launch.kernel, launch.error) for launch in ran.run.launches]
    clusters = [("ranks", 0), ("ranks", 912), ("ranks", 0)]
    assert launches == [*2 * [*3 * [("count", 0)], ("count", 9)], *clusters]
    assert all(launch.cycles > 0 for launch in ran.run.launches if timed and not launch.error)
    found = [problem.message.partition(":")[0].partition("(")[0] for problem in ran.diagnostics]
    twice = ["a launch of count", "launch 4, count, grid 0x1x1, block 1x1x1", "cuMemFree"]
    assert found[:5] == [*twice, "no kernel 'absent' in driver.1.ptx", "cuMemcpyHtoD"]
    assert found[-4:] == [
        "unexpected 'nonsense' outside a function",
        "a module of the application is machine code, without PTX",
        "launch 10, ranks, grid 4x1x1, block 1x1x1",
        "cuLaunchKernelEx",
    ]
    assert (ran.run.missing, len(ran.notes)) == (("cuGraphCreate",), 1)


@pytest.mark.slow
def test_arrays_of_the_driver_api(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, compiled("driver_arrays", tmp_path, *DRIVER, *with_driver(tmp_path)))
    assert (ran.run.status, ran.printed) == (0, "arrays are right\n")
    found = [problem.message for problem in ran.diagnostics]
    assert [text.partition(":")[0] for text in found] == [
        *4 * ["the end of a texture or surface object"],
        *3 * ["cuTexObjectCreate"],
        *("cuMemcpy3D", "cuMemcpyHtoA"),
    ]
    assert found[7].endswith("from (8, 1, 1) on: the array has 16 x 3 x 2")
    assert ran.run.missing == ("cuMipmappedArrayCreate",)


@pytest.mark.slow
def test_both_apis_have_one_device(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = compiled("both_apis", tmp_path, *DRIVER, "-cudart", "shared", *with_driver(tmp_path))
    ran = run(capfd, program)
    assert (ran.run.status, ran.printed) == (0, "both see the same memory\n")
    assert (ran.run.processes, len(ran.run.launches)) == (1, 1)


@pytest.mark.slow
def test_a_static_runtime_that_a_shell_starts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = compiled("vector_add", tmp_path, "-arch", "compute_75")
    ran = run(capfd, "sh", "-c", f"{program}; true")
    (problem,) = ran.diagnostics
    assert "static CUDA runtime" in problem.message
    assert "nvcc -cudart shared" in problem.message
    assert not ran.run.launches
