"""Lanes that wait for lanes of their own warp get on, as from sm_70 on, in a run without time and in plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

Run = Callable[..., Any]
HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 mutex;
.shared .align 8 .b64 flag[2];
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d2, %d2, %d1;
"""


def kernel(body: str) -> Function:
    return parse(f"{HEAD}{body}\n}}\n", "k.ptx").kernels["k"]


@pytest.fixture(params=["run", "checked", "reference"])
def run(request: pytest.FixtureRequest) -> Run:
    def execute(body: str, out: Any, grid: int = 1, block: int = 32) -> None:
        if request.param == "reference":
            run_reference(kernel(body), (grid,), (block,), [out])
            return
        check = ("memory", "init", "races", "barriers") if request.param == "checked" else ()
        ptxsim.run(kernel(body), grid, block, [out], max_instructions=10**6, check=check)

    return execute


LOCK = """
SPIN:
	atom.global.cas.b32 %r2, [mutex], 0, 1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra SPIN;
	ld.volatile.global.u32 %r3, [%d1];
	add.u32 %r4, %r3, 1;
	st.volatile.global.u32 [%d1], %r4;
	atom.global.exch.b32 %r2, [mutex], 0;
"""


def test_a_lock_that_lanes_of_a_warp_spin_for(run: Run) -> None:
    """The lane that has it waits after the loop for those that want it: so nvcc writes locks for sm_100."""
    out = np.zeros(1, np.uint32)
    run(LOCK + "ret;", out, grid=2, block=40)
    assert out[0] == 80


def test_lanes_meet_again_behind_a_lock(run: Run) -> None:
    """They come one by one, and wait for each other at the vote. Each has another ticket: 0 to 31."""
    out = np.zeros(33, np.uint32)
    exchange = """
	vote.sync.ballot.b32 %r5, 1, 0xffffffff;
	redux.sync.add.u32 %r6, %r3, 0xffffffff;
	setp.eq.u32 %p2, %r5, 0xffffffff;
	selp.u32 %r6, %r6, 0, %p2;
	st.global.u32 [%d2+4], %r6;
	ret;
"""
    run(LOCK + exchange, out)
    assert out[0] == 32
    assert out[1:].tolist() == [31 * 32 // 2] * 32


def test_lanes_meet_at_a_barrier_of_the_warp(run: Run) -> None:
    """After the lock lane t writes 10 t into shared memory; after the barrier it reads the next lane's."""
    text = """
	mov.u32 %r7, tile;
	shl.b32 %r8, %r1, 2;
	add.u32 %r7, %r7, %r8;
	mul.lo.u32 %r9, %r1, 10;
	st.shared.u32 [%r7], %r9;
	mov.u32 %r12, 0xffffffff;
	bar.warp.sync %r12;
	add.u32 %r8, %r8, 4;
	and.b32 %r8, %r8, 127;
	mov.u32 %r7, tile;
	add.u32 %r7, %r7, %r8;
	ld.shared.u32 %r10, [%r7];
	st.global.u32 [%d2+4], %r10;
	ret;
"""
    out = np.zeros(33, np.uint32)
    run(".shared .align 4 .b8 tile[128];" + LOCK + text, out)
    assert out[1:].tolist() == [10 * ((t + 1) % 32) for t in range(32)]


def test_a_flag_that_the_other_side_of_a_branch_sets(run: Run) -> None:
    """The lower half waits for lane 31, which comes later on a SIMT stack; the waiting lanes count nothing."""
    text = """
	mov.u32 %r3, 0;
	st.volatile.shared.u32 [flag], %r3;
	setp.ge.u32 %p1, %r1, 16;
	@%p1 bra UPPER;
WAIT:
	ld.volatile.shared.u32 %r2, [flag];
	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra WAIT;
	bra DONE;
UPPER:
	setp.eq.u32 %p3, %r1, 31;
	mov.u32 %r2, 5;
	@%p3 st.volatile.shared.u32 [flag], %r2;
	mov.u32 %r2, 7;
DONE:
	st.global.u32 [%d2], %r2;
	ret;
"""
    out = np.zeros(32, np.uint32)
    run(text, out)
    assert out.tolist() == [5] * 16 + [7] * 16


def test_barriers_at_different_depths_of_divergence(run: Run) -> None:
    """Lanes 0 to 3, 4 to 15 and 16 to 31 come to three barrier instructions, of which two are one branch deeper."""
    text = """
	mov.u32 %r2, 1;
	setp.ge.u32 %p1, %r1, 16;
	@%p1 bra THIRD;
	setp.ge.u32 %p2, %r1, 4;
	@%p2 bra SECOND;
	barrier.sync 1, 32;
	bra INNER;
SECOND:
	barrier.sync 1, 32;
	mov.u32 %r2, 2;
INNER:
	add.u32 %r2, %r2, 10;
	bra DONE;
THIRD:
	barrier.sync 1, 32;
	mov.u32 %r2, 3;
DONE:
	st.global.u32 [%d2], %r2;
	ret;
"""
    out = np.zeros(32, np.uint32)
    run(text, out)
    assert out.tolist() == [11] * 4 + [12] * 12 + [3] * 16


def test_an_mbarrier_for_both_sides_of_a_branch(run: Run) -> None:
    """Both halves arrive at it, 32 threads in all, and test it in a loop of their own."""
    side = """
	mbarrier.arrive.shared.b64 %d3, [flag];
TEST{0}:
	mbarrier.test_wait.shared.b64 %p2, [flag], %d3;
	@!%p2 bra TEST{0};
	mov.u32 %r2, {0};
"""
    text = f"""
	setp.eq.u32 %p1, %r1, 0;
	mov.u32 %r3, 32;
	@%p1 mbarrier.init.shared.b64 [flag], %r3;
	mov.u32 %r12, 0xffffffff;
	bar.warp.sync %r12;
	setp.ge.u32 %p1, %r1, 16;
	@%p1 bra UPPER;
	{side.format(1)}
	bra DONE;
UPPER:
	{side.format(2)}
DONE:
	st.global.u32 [%d2], %r2;
	ret;
"""
    out = np.zeros(32, np.uint32)
    run(text, out)
    assert out.tolist() == [1] * 16 + [2] * 16


def test_text_that_ends_without_ret(run: Run) -> None:
    """Both sides of a branch run off the end, one after the other."""
    text = """
	setp.lt.u32 %p1, %r1, 16;
	@%p1 bra LOWER;
	st.global.u32 [%d2], 8;
	bra END;
LOWER:
	st.global.u32 [%d2], 9;
END:
"""
    out = np.zeros(32, np.uint32)
    run(text, out)
    assert out.tolist() == [9] * 16 + [8] * 16


@pytest.mark.parametrize("others", ["", "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra END;"])
def test_nobody_sets_the_flag(others: str) -> None:
    """Lanes without help spin until the run is given up."""
    text = f"{others}\nSPIN: ld.volatile.global.u32 %r2, [mutex];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra SPIN;\nEND: ret;"
    with pytest.raises(PtxError, match="E408"):
        ptxsim.run(kernel(text), 1, 32, [np.zeros(1, np.uint32)], max_instructions=200_000)
