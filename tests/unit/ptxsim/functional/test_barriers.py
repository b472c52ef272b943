"""Barriers of a run without time: which threads are counted. (All forms: `timing/warps/test_barrier.py`.)"""

import numpy as np
import pytest
from built import kernel_of

import ptxsim
from ptxtool.base.diag import PtxError


def words(body: str, block: int) -> list[int]:
    """What every thread leaves in %r10; its number is in %r1."""
    text = f"""mov.u32 %r1, %tid.x;
	mov.u32 %r10, 0;
	{body}
	ld.param.u64 %l0, [p];
	mul.wide.u32 %l1, %r1, 4;
	add.u64 %l0, %l0, %l1;
	st.global.u32 [%l0], %r10;"""
    out = np.zeros(block, np.uint32)
    ptxsim.run(kernel_of(text), 1, block, [out])
    return out.tolist()


HALF_EXITS = "setp.ge.u32 %p1, %r1, 32;\n\t@%p1 ret;\n\t"


def test_threads_that_have_exited_are_counted_by_no_barrier() -> None:
    assert words(HALF_EXITS + "bar.sync 0;\n\tmov.u32 %r10, 1;", 64) == [1] * 32 + [0] * 32


def test_a_barrier_with_a_thread_count_waits_for_as_many_whatever_has_exited() -> None:
    with pytest.raises(PtxError, match="E406"):
        words(HALF_EXITS + "bar.sync 0, 64;", 64)


def test_a_barrier_counts_anew_each_time() -> None:
    body = """setp.lt.u32 %p1, %r1, 5;
	setp.lt.u32 %p2, %r1, 50;
	bar.red.popc.u32 %r2, 3, %p1;
	bar.red.popc.u32 %r3, 3, %p2;
	mad.lo.u32 %r10, %r3, 100, %r2;"""
    assert words(body, 64) == [5005] * 64


def test_the_lanes_that_the_last_warp_does_not_have_count_for_a_thread_count() -> None:
    """A thread count is a multiple of the warp size: 64 for a block of 40."""
    assert words("bar.sync 1, 64;\n\tmov.u32 %r10, 1;", 40) == [1] * 40


def test_barriers_of_two_numbers_do_not_complete_each_other() -> None:
    body = """setp.lt.u32 %p1, %r1, 32;
	@%p1 bar.sync 1, 64;
	@!%p1 bar.sync 2, 64;"""
    with pytest.raises(PtxError, match="E406"):
        words(body, 64)
