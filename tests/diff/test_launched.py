"""Timed runs of the samples: the memory of the untimed run, however warps are scheduled, shared, and rewritten.

On a part of each grid, large enough that every SM gets more blocks than it can hold.
"""

from functools import cache

import numpy as np
import pytest
from kernels import sample
from reference.interpreter import run_reference

import ptxsim
from ptxtool.ir.nodes import Function
from ptxtool.passes.pipeline import rewrite

# blocks in x and y: 8, 6, 9 and 9 for each of the 14 SMs, which hold 5 (8 at 90 percent sharing), 3 (6), 6 and 6
GRIDS = {"sgemm": (14, 8), "hotspot": (14, 6), "reduction": (126, 1), "saxpy": (126, 1)}
RESIDENT = {"sgemm": (5, 8), "hotspot": (3, 6), "reduction": (6, 6), "saxpy": (6, 6)}


@cache
def rewritten(name: str) -> Function:
    """The kernel of a sample, rewritten."""
    kernel = sample(name)[1]
    return rewrite(kernel.module, "unroll-decls,reorder-decls{order=text}").module.kernels[kernel.name]


def run(name: str, is_rewritten: bool, **options: object) -> tuple[ptxsim.SimResult, list[np.ndarray]]:
    launch, original = sample(name)
    arguments = launch.arguments()
    result = ptxsim.launch(
        rewritten(name) if is_rewritten else original,
        GRIDS[name],
        launch.block,
        arguments,
        registers=launch.registers,
        dynamic_shared=launch.dynamic_shared,
        **options,  # type: ignore[arg-type]
    )
    return result, [a for a in arguments if isinstance(a, np.ndarray)]


@cache
def baseline(name: str) -> tuple[ptxsim.SimResult, list[np.ndarray]]:
    return run(name, False)


@pytest.mark.parametrize("name", GRIDS)
def test_a_timed_run_computes_what_the_reference_does(name: str) -> None:
    """The corner blocks of the part, element by element; a last place may differ where a sum is rounded otherwise."""
    launch, kernel = sample(name)
    x, y = GRIDS[name]
    arguments = launch.arguments()
    ctas = sorted({(0, 0, 0), (x - 1, y - 1, 0)})
    run_reference(kernel, GRIDS[name], launch.block, arguments, launch.dynamic_shared, ctas=ctas)
    reference = [a for a in arguments if isinstance(a, np.ndarray)]
    _, timed = baseline(name)
    for before, expected, found in zip(
        (i.value for i in launch.inputs if i.is_buffer), reference, timed, strict=True
    ):
        written = expected != before
        np.testing.assert_array_equal(found[written], expected[written])


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf"])
@pytest.mark.parametrize("share", [0, 90])
@pytest.mark.parametrize("is_rewritten", [False, True])
def test_memory_is_identical(name: str, scheduler: str, share: int, is_rewritten: bool) -> None:
    first, expected = baseline(name)
    result, found = run(name, is_rewritten, scheduler=scheduler, share_registers=share)
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()
    assert result.resident_ctas == RESIDENT[name][share > 0]
    assert (result.warp_instructions, result.thread_instructions) == (
        first.warp_instructions,
        first.thread_instructions,
    )


@pytest.mark.parametrize("name", ["sgemm", "hotspot"])
def test_rewriting_moves_the_first_stop_later(name: str) -> None:
    original, _ = run(name, False, share_registers=90)
    rewritten, _ = run(name, True, share_registers=90)
    assert min(p.instruction for p in original.stall_points) == 0
    # sgemm: the second accumulator is its fifth register; hotspot: $r1 is its fourth
    assert min(p.instruction for p in rewritten.stall_points) == {"sgemm": 2, "hotspot": 7}[name]


def test_sharing_changes_nothing_where_registers_do_not_limit() -> None:
    assert baseline("reduction")[0].cycles == run("reduction", False, share_registers=90)[0].cycles
    assert run("reduction", False, share_registers=90)[0].stall_points == ()
