"""Skipping the cycles in which nothing happens changes no counter, on any kind of grid; nor does running again.

Every counter of `SimResult.to_dict`, the reasons of slots too, and every byte of memory, with the skip on and off.
"""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.measure import run as measured_loop
from mixed_kernel import run_mixed

import ptxsim


def run_sample(name: str, grid: tuple[int, ...], **options: Any) -> tuple[dict[str, Any], bytes]:
    launch, kernel = sample(name)
    arguments = launch.arguments()
    result = ptxsim.launch(
        kernel,
        grid,
        launch.block,
        arguments,
        registers=launch.registers,
        dynamic_shared=launch.dynamic_shared,
        hotspots=True,
        **options,
    )
    return result.to_dict(), b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))


def same(run: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
    skipped, memory = run(*arguments, **options)
    stepped, other = run(*arguments, event_skip=False, **options)
    assert {k: v for k, v in skipped.items() if stepped[k] != v} == {}
    assert memory == other
    return skipped


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf"])
@pytest.mark.parametrize("share", [0, 90])
@pytest.mark.parametrize(
    ("name", "grid"), [("sgemm", (14, 5)), ("hotspot", (14, 5)), ("reduction", (90,)), ("saxpy", (90,))]
)
def test_samples(name: str, grid: tuple[int, ...], share: int, scheduler: str) -> None:
    same(run_sample, name, grid, share_registers=share, scheduler=scheduler)


@pytest.mark.parametrize(("name", "grid"), [("sgemm", (1, 1)), ("hotspot", (3, 1)), ("saxpy", (15,))])
def test_small_grids(name: str, grid: tuple[int, ...]) -> None:
    """Most SMs never get a block: their schedulers are counted no longer than the launch takes."""
    same(run_sample, name, grid, share_registers=90)


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "old", "rrr", "two_level:2", "static_limit:3", "owf"])
@pytest.mark.parametrize(
    ("grid", "block"), [(1, 1), (5, 45), (40, 96), ((3, 5, 2), (8, 3, 2)), (16, 1024), (29, 250)]
)
def test_mixed(grid: Any, block: Any, scheduler: str) -> None:
    same(run_mixed, grid, block, scheduler=scheduler)


@pytest.mark.parametrize("options", [{"bank_conflicts": False}, {"max_cycles": 1500}, {"max_cycles": 1}])
def test_mixed_with_options(options: dict[str, Any]) -> None:
    same(run_mixed, 40, 96, **options)


@pytest.mark.parametrize("lock_as_stall", [False, True])
def test_mixed_shared(lock_as_stall: bool) -> None:
    options = {"registers": 60, "share_registers": 80, "allocate": False, "lock_as_stall": lock_as_stall}
    result = same(run_mixed, 90, 192, **options)
    assert result["shared_pairs"] > 0
    assert result["stall_points"]


def test_a_second_run_is_the_same() -> None:
    assert run_mixed(40, 96) == run_mixed(40, 96)


@pytest.mark.parametrize("block", [32, 256])
def test_gpgpusim42(block: int) -> None:
    body = (
        "ld.param.u64 %l1, [p];\n\tld.global.u32 %r1, [%l1];\n\tld.const.u32 %r3, [table];\n"
        "\tadd.u32 %r4, %r1, %r3;\n\tst.shared.u32 [tile], %r4;\n\tld.shared.u32 %r5, [tile];\n\tbar.sync 0;"
    )
    results = [
        measured_loop(body, 3, grid=40, block=block, gpu="gpgpusim42-c2050", event_skip=skip).to_dict()
        for skip in (True, False)
    ]
    assert results[0] == results[1]
