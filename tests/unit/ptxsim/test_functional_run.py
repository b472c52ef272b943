"""A run without time: what it counts, and CTAs that fit no machine."""

from typing import Any

import numpy as np
import pytest
from built import kernel_of

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError


def run(body: str, grid: Any, block: Any, **options: Any) -> ptxsim.FunctionalResult:
    return ptxsim.run(kernel_of(body), grid, block, [np.zeros(64, np.uint32)], **options)


def test_instructions_are_counted_by_warp_and_a_branch_by_the_paths_that_it_takes() -> None:
    # 3 CTAs of 40 threads: two warps each; `ret` counts
    assert run("mov.u32 %r1, 1;\n\tmov.u32 %r2, 2;", 3, 40) == ptxsim.FunctionalResult(3, 3 * 2 * 3)
    branch = """mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 8;
	@%p1 bra LOW;
	mov.u32 %r2, 1;
LOW:
	mov.u32 %r3, 1;"""
    # warp 0 diverges: both paths, 6 instructions with `ret`; warp 1 does not jump: 6 too; a block of 8 jumps: 5
    assert run(branch, 1, 40).warp_instructions == 6 + 6
    assert run(branch, 1, 8).warp_instructions == 5


@pytest.mark.parametrize(
    ("block", "dynamic", "message"),
    [
        (1025, 0, "1025 threads in a block"),
        ((32, 8, 5), 0, "1280 threads in a block"),
        (1, 1 << 20, "1048576 bytes of dynamic shared memory"),
    ],
)
def test_a_cta_that_fits_no_machine(block: Any, dynamic: int, message: str) -> None:
    with pytest.raises(PtxError, match=f"E402.*{message}"):
        run("", 1, block, dynamic_shared=dynamic)


def test_as_many_threads_as_fit() -> None:
    assert run("", 1, 1024).warp_instructions == 32


@pytest.mark.parametrize(("declared", "dynamic"), [(300_000, 0), (100_000, 150_000)])
def test_shared_memory_that_no_machine_has(declared: int, dynamic: int) -> None:
    text = (
        f".version 8.0\n.target sm_80\n.address_size 64\n.shared .b8 big[{declared}];\n.visible .entry k()\n"
        "{\n.reg .b32 %r1;\nmov.u32 %r1, big;\nst.shared.u32 [%r1], 1;\nret;\n}\n"
    )
    with pytest.raises(PtxError, match=f"E402.*has {declared} bytes of shared memory"):
        ptxsim.run(ptxtool.parse(text).kernels["k"], 1, 32, [], dynamic_shared=dynamic)
