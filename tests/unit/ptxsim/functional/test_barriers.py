"""Barriers of a run without time: which threads are counted. (All forms: `timing/warps/test_barrier.py`.)"""

from typing import Any

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


def found(body: str, block: int, grid: int = 1) -> list[Any]:
    kernel = kernel_of(f"mov.u32 %r1, %tid.x;\n\t{body}")
    return list(ptxsim.run(kernel, grid, block, [np.zeros(1, np.uint32)], check="barriers").problems)


FOURTH_ENDS = "shr.u32 %r2, %r1, 5;\n\tsetp.eq.u32 %p1, %r2, 3;\n\t@%p1 ret;\n\t"


@pytest.mark.parametrize("barrier", ["bar.sync 0;", "barrier.sync 2;", "bar.red.popc.u32 %r3, 0, %p1;"])
def test_a_barrier_that_a_warp_never_reaches_is_found(barrier: str) -> None:
    (problem,) = found(FOURTH_ENDS + barrier, 128, 2)
    assert problem.code == "E412"
    assert problem.message == (
        "divergent barrier: warp 0 of CTA (0,0,0) waits here, warp 3 never reaches it (2 times in all)"
    )
    assert problem.source.text[problem.start : problem.end] == barrier
    assert problem.note.message == "warp 3 ends here"
    assert problem.source.text[problem.note.start : problem.note.end] == "@%p1 ret;"


def test_a_barrier_that_only_one_warp_reaches_is_found() -> None:
    (problem,) = found("setp.ge.u32 %p1, %r1, 32;\n\t@%p1 ret;\n\tbar.sync 0;", 128)
    assert "warps 1, 2 and 3 never reach it" in problem.message


def test_a_barrier_of_fewer_threads_and_one_that_all_reach_are_fine() -> None:
    assert found(FOURTH_ENDS + "bar.sync 0, 96;", 128) == []
    assert found("bar.sync 0;\n\t" + FOURTH_ENDS, 128) == []


def test_a_deadlock_reports_the_warps_that_ended() -> None:
    with pytest.raises(
        PtxError, match=r"warp 2 waits at 'bar.sync 0, 128;' in line 1\d; warp 3 ended at line 1\d"
    ):
        found(FOURTH_ENDS + "bar.sync 0, 128;", 128)


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
