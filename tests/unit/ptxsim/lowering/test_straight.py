"""The runs of instructions that only compute and access memory."""

from small_lowering import PTXPLUS, lowered


def test_a_run_ends_before_control_and_barriers() -> None:
    body = """
	add.u32 %r1, %r1, 1;
	ld.global.u32 %r2, [%rd1];
	membar.gl;
	bar.sync 0;
	add.u32 %r1, %r1, 1;
	bra L;
L:	ret;"""
    assert list(lowered(body).instructions["straight"]) == [2, 1, 1, 0, 1, 0, 0]


def test_instructions_across_a_warp_are_in_no_run() -> None:
    body = "add.u32 %r1, %r1, 1; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; add.u32 %r1, %r1, 1; ret;"
    assert list(lowered(body).instructions["straight"]) == [1, 0, 1, 0]


def test_an_instruction_that_exits_ends_the_run_before_it() -> None:
    body = "add.u32 $r1, $r1, $r1; mov.exit.u32 $r1, $r2; add.u32 $r1, $r1, $r1;"
    assert list(lowered(body, PTXPLUS).instructions["straight"]) == [1, 0, 1]
