"""Sums of launches by kernel."""

from dataclasses import replace

import pytest

from ptxtool.results.applications import ApplicationRun, Launch, RewrittenKernel

LAUNCHES = (
    Launch(1, "_Z3addPf", (2, 1, 1), (32, 1, 1), warp_instructions=20, cycles=100, seconds=1e-6),
    Launch(2, "other", (1, 1, 1), (32, 1, 1), warp_instructions=5, cycles=600, seconds=6e-6),
    Launch(
        3,
        "_Z3addPf",
        (2, 1, 1),
        (32, 1, 1),
        warp_instructions=30,
        cycles=100,
        seconds=1e-6,
        findings=2,
        out_of_bounds=7,
    ),
    Launch(4, "_Z3addPf", (0, 1, 1), (32, 1, 1), error=9),
)


def test_sums_by_kernel_the_longest_first() -> None:
    run = ApplicationRun(("./app", "x"), 3, "tesla-c2050", True, 1, LAUNCHES, ("cudaGraphCreate",))
    other, add = run.kernels
    assert (other.kernel, other.launches, other.cycles, other.share) == ("other", 1, 600, 0.75)
    assert (add.launches, add.failed, add.warp_instructions, add.cycles, add.findings) == (3, 1, 50, 200, 2)
    assert (add.out_of_bounds, other.out_of_bounds) == (7, 0)
    assert add.seconds == pytest.approx(2e-6)
    data = run.to_dict()
    assert (data["command"], data["status"], data["launches"], data["cycles"]) == (["./app", "x"], 3, 4, 800)
    assert [kernel.get("cpp_name") for kernel in data["kernels"]] == [None, "add(float*)"]
    assert data["missing"] == ["cudaGraphCreate"]


def test_estimates() -> None:
    """The error of a kernel is the mean over the cycles of its estimated launches, that of the run over all time."""
    first, second = replace(LAUNCHES[0], cycles=300, seconds=3e-6), replace(LAUNCHES[1], seconds=4e-6)
    guessed = [
        replace(LAUNCHES[0], cycles=cycles, seconds=cycles / 1e8, is_estimated=True, uncertainty=error)
        for cycles, error in ((100, 0.5), (200, 0.2))
    ]
    run = ApplicationRun(
        ("./app",), 0, "tesla-c2050", True, 1, (first, second, *guessed), (), sim_launches="1-2"
    )
    add, other = run.kernels
    assert (add.simulated, add.estimated, other.simulated, other.estimated) == (1, 2, 1, 0)
    assert add.estimated_seconds == pytest.approx(3e-6)
    assert (add.error, add.largest_error) == (pytest.approx(0.3), 0.5)
    assert (other.error, other.largest_error) == (None, None)
    assert run.error == pytest.approx(0.3 * 3e-6 / 10e-6)
    data = run.to_dict()
    assert (data["sim_launches"], data["error"]) == ("1-2", run.error)
    assert (data["kernels"][0]["estimated"], data["kernels"][0]["error"]) == (2, add.error)
    unknown = replace(run, launches=(*run.launches, replace(guessed[0], uncertainty=None)))
    assert (unknown.kernels[0].error, unknown.error) == (None, None)


def test_no_launch_has_no_share() -> None:
    run = ApplicationRun(("./app",), 0, "tesla-c2050", False, 1, (LAUNCHES[3],), ())
    assert run.kernels[0].share == 0.0
    assert str(LAUNCHES[0]) == "launch 1, add(float*), grid 2x1x1, block 32x1x1"


def test_registers_before_and_after_passes() -> None:
    rewritten = (RewrittenKernel("_Z3addPf", 64, 20, 16),)
    run = ApplicationRun(("./app",), 0, "gpu", False, 1, (), (), passes="allocate", rewritten=rewritten)
    (kernel,) = run.to_dict()["rewritten"]
    assert (kernel["cpp_name"], kernel["threads"]) == ("add(float*)", 64)
    assert (kernel["registers_before"], kernel["registers_after"], kernel["refused"]) == (20, 16, "")
