"""The loop of a run without time: what a CTA begins with, and exactly how many instructions it may execute."""

from typing import Any

import numpy as np
import pytest
from built import kernel_of

import ptxsim
from ptxtool.base.diag import PtxError


def words(body: str, grid: Any, block: Any, n: int = 64) -> list[int]:
    out = np.zeros(n, np.uint32)
    ptxsim.run(kernel_of(body), grid, block, [out])
    return out.tolist()


STORE = """
	ld.param.u64 %l0, [p];
	mul.wide.u32 %l1, %r20, 4;
	add.u64 %l0, %l0, %l1;
	st.global.u32 [%l0], %r10;"""


def test_ctas_run_in_the_order_of_x_then_y_then_z() -> None:
    """Every CTA takes a number from a counter, and stores its place at this number."""
    body = f"""
	ld.param.u64 %l2, [p];
	atom.global.add.u32 %r20, [%l2], 1;
	add.u32 %r20, %r20, 1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ctaid.y;
	mov.u32 %r3, %ctaid.z;
	mad.lo.u32 %r10, %r2, 10, %r1;
	mad.lo.u32 %r10, %r3, 100, %r10;
	{STORE}"""
    expected = [x + 10 * y + 100 * z for z in range(2) for y in range(3) for x in range(2)]
    assert words(body, (2, 3, 2), 1)[:13] == [12, *expected]


def test_no_cta_sees_the_shared_memory_of_the_one_before() -> None:
    body = f""".shared .align 4 .b32 cell;
	mov.u32 %r20, %ctaid.x;
	ld.shared.u32 %r10, [cell];
	mov.u32 %r1, 7;
	st.shared.u32 [cell], %r1;
	{STORE}"""
    assert words(body, 5, 1, 5) == [0] * 5


def test_the_last_warp_has_the_lanes_that_are_left() -> None:
    body = f"""mov.u32 %r20, %tid.x;
	vote.ballot.b32 %r1, 1;
	popc.b32 %r10, %r1;
	{STORE}"""
    assert words(body, 1, 40) == [32] * 32 + [8] * 8 + [0] * 24


LATE_FIRST_WARP = """
	mov.u32 %r1, %tid.x;
	shr.u32 %r10, %r1, 5;
	setp.ne.u32 %p1, %r10, 0;
	@%p1 bra STORE;
	mov.u32 %r2, 0;
LOOP:
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p1, %r2, 50;
	@%p1 bra LOOP;
STORE:
	mov.u32 %r20, 0;"""


@pytest.mark.parametrize("check", [(), ("races",)])
@pytest.mark.parametrize(("length", "last"), [(1, 0), (64, 0), (1000, 1)])
def test_the_next_warp_runs_after_a_slice(length: int, last: int, check: tuple[str, ...]) -> None:
    """The first warp executes 150 instructions before both store their numbers at one place."""
    out = np.zeros(1, np.uint32)
    ptxsim.run(kernel_of(LATE_FIRST_WARP + STORE), 1, 64, [out], slice=length, check=check)
    assert out[0] == last


@pytest.mark.parametrize("space", ["global", "shared"])
def test_a_load_ends_a_slice(space: str) -> None:
    """Both warps load before one of them stores what it has loaded and one more."""
    address = "%l0" if space == "global" else "cell"
    body = f""".shared .align 4 .b32 cell;
	ld.param.u64 %l0, [p];
	ld.{space}.u32 %r1, [{address}];
	add.u32 %r1, %r1, 1;
	st.{space}.u32 [{address}], %r1;
	bar.sync 0;
	ld.{space}.u32 %r10, [{address}];
	mov.u32 %r20, 0;"""
    assert words(body + STORE, 1, 64, 1) == [1]


@pytest.mark.parametrize("length", [0, 1 << 21, 2.5])
def test_a_slice_is_a_number_of_instructions(length: Any) -> None:
    with pytest.raises(PtxError, match=r"E401[\s\S]*slice"):
        ptxsim.run(kernel_of(STORE), 1, 32, [np.zeros(1, np.uint32)], slice=length)


@pytest.mark.parametrize("check", [(), ("memory",)])
def test_the_limit_of_instructions_is_that_of_a_cta(check: tuple[str, ...]) -> None:
    """3 CTAs of 2 warps that execute 4 instructions each: 8 are enough, 7 are not."""
    kernel = kernel_of("mov.u32 %r1, 1;\n\tadd.u32 %r2, %r1, 1;\n\tadd.u32 %r3, %r2, 1;")
    buffer = [np.zeros(1, np.uint32)]
    assert ptxsim.run(kernel, 3, 64, buffer, max_instructions=8, check=check).warp_instructions == 24
    with pytest.raises(PtxError, match="E408"):
        ptxsim.run(kernel, 3, 64, buffer, max_instructions=7, check=check)
