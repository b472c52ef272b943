"""Barriers in all their forms, worked out by hand: in the run without time, in the timed one and in the reference."""

import numpy as np
import pytest
from three_ways import kernel_text, three_ways, words

from ptxtool.base.diag import PtxError


@pytest.mark.parametrize("name", ["bar", "bar.cta", "barrier", "barrier.cta"])
def test_reductions(name: str) -> None:
    """96 threads, 40 of them below 40: the count, and whether all or any hold."""
    body = f"""
	setp.lt.u32 %p1, %r1, 40;
	{name}.red.popc.u32 %r7, 3, %p1;
	{name}.red.and.pred %p2, 3, %p1;
	{name}.red.or.pred %p3, 3, %p1;
	setp.lt.u32 %p1, %r1, 96;
	{name}.red.and.pred %p4, 3, %p1;
	{name}.red.or.pred %p5, 3, !%p1;
	selp.u32 %r8, 1000, 0, %p2;
	selp.u32 %r9, 2000, 0, %p3;
	selp.u32 %r10, 4000, 0, %p4;
	selp.u32 %r11, 8000, 0, %p5;
	add.u32 %r6, %r7, %r8;
	add.u32 %r6, %r6, %r9;
	add.u32 %r6, %r6, %r10;
	add.u32 %r6, %r6, %r11;"""
    assert words(body, 96) == [40 + 2000 + 4000] * 96


@pytest.mark.parametrize(
    "name", ["bar{}", "bar.cta{}", "barrier{}", "barrier.cta{}", "barrier{}.aligned", "barrier.cta{}.aligned"]
)
def test_every_spelling_with_a_thread_count(name: str) -> None:
    """Of 96 threads the first 64 meet: 40 hold; the third warp only arrives at a barrier for 96 that they wait at."""
    sync, arrive = name.format(".sync"), name.format(".arrive")
    count, all_, any_ = (
        name.format(f".red.{kind}") + f".{type_}"
        for kind, type_ in (("popc", "u32"), ("and", "pred"), ("or", "pred"))
    )
    body = f"""
	mov.u32 %r6, 0;
	setp.ge.u32 %p1, %r1, 64;
	setp.lt.u32 %p2, %r1, 40;
	@%p1 bra LAST;
	{sync} 1, 64;
	{count} %r7, 2, 64, %p2;
	{all_} %p3, 3, 64, %p2;
	{any_} %p4, 3, 64, %p2;
	selp.u32 %r8, 1000, 0, %p3;
	selp.u32 %r9, 2000, 0, %p4;
	add.u32 %r6, %r7, %r8;
	add.u32 %r6, %r6, %r9;
	{sync} 4, 96;
	bra DONE;
LAST:
	{arrive} 4, 96;
DONE:"""
    assert words(body, 96) == [2040] * 64 + [0] * 32


def test_a_reduction_of_a_block_that_fills_no_warp() -> None:
    """70 threads: the last warp has 6. All of them count, and no others."""
    body = """
	setp.ge.u32 %p1, %r1, 3;
	bar.red.popc.u32 %r7, 0, %p1;
	barrier.red.popc.u32 %r8, 1, 96, %p1;
	barrier.red.popc.aligned.u32 %r9, 2, %p1;
	mad.lo.u32 %r6, %r8, 1000, %r7;
	mad.lo.u32 %r6, %r9, 1000000, %r6;"""
    assert words(body, 70) == [67067067] * 70


def test_named_barriers_of_a_part_of_the_block() -> None:
    """Warps 0 and 1 meet at barrier 1 + w / 2, warps 2 and 3 at the next one, whose number is in a register."""
    body = """
	shr.u32 %r7, %r1, 6;
	add.u32 %r7, %r7, 1;
	mov.u32 %r8, tile;
	shl.b32 %r9, %r1, 2;
	add.u32 %r9, %r9, %r8;
	st.shared.u32 [%r9], %r1;
	mov.u32 %r10, 64;
	barrier.sync %r7, %r10;
	xor.b32 %r11, %r1, 63;
	shl.b32 %r11, %r11, 2;
	add.u32 %r11, %r11, %r8;
	ld.shared.u32 %r6, [%r11];"""
    assert words(body, 128) == [t ^ 63 for t in range(128)]


def test_producers_arrive_and_consumers_wait() -> None:
    """Warp 0 fills a buffer four times for warp 1: barrier 1 says full, barrier 2 empty."""
    body = """
	mov.u32 %r6, 0;
	mov.u32 %r7, 0;
	and.b32 %r8, %r1, 31;
	shl.b32 %r9, %r8, 2;
	mov.u32 %r10, tile;
	add.u32 %r9, %r9, %r10;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra CONSUMER;
PRODUCER:
	mad.lo.u32 %r11, %r7, 100, %r8;
	st.shared.u32 [%r9], %r11;
	bar.arrive 1, 64;
	bar.sync 2, 64;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p2, %r7, 4;
	@%p2 bra PRODUCER;
	bra DONE;
CONSUMER:
	bar.sync 1, 64;
	ld.shared.u32 %r11, [%r9];
	mad.lo.u32 %r6, %r6, 3, %r11;
	bar.arrive 2, 64;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p2, %r7, 4;
	@%p2 bra CONSUMER;
DONE:"""
    expected = [0] * 32
    for lane in range(32):
        value = 0
        for turn in range(4):
            value = 3 * value + 100 * turn + lane
        expected.append(value)
    assert words(body, 64) == expected


def test_lanes_of_a_warp_meet_from_both_sides_of_a_branch() -> None:
    """An unaligned barrier counts lanes: each side of the branch brings half of every warp."""
    body = """
	and.b32 %r7, %r1, 1;
	mov.u32 %r8, tile;
	shl.b32 %r9, %r1, 2;
	add.u32 %r9, %r9, %r8;
	xor.b32 %r10, %r9, 4;
	setp.eq.u32 %p1, %r7, 0;
	@%p1 bra EVEN;
	add.u32 %r11, %r1, 500;
	st.shared.u32 [%r9], %r11;
	barrier.sync 0;
	ld.shared.u32 %r6, [%r10];
	bra MEET;
EVEN:
	add.u32 %r11, %r1, 900;
	st.shared.u32 [%r9], %r11;
	barrier.sync 0;
	ld.shared.u32 %r6, [%r10];
MEET:
	add.u32 %r6, %r6, 1;"""
    assert words(body, 64) == [t + 502 if t % 2 == 0 else t + 900 for t in range(64)]


def test_a_warp_waits_with_half_of_its_lanes_while_the_others_exit() -> None:
    body = """
	mov.u32 %r6, 7;
	setp.lt.u32 %p1, %r1, 16;
	@%p1 bra WAIT;
	exit;
WAIT:
	barrier.sync 0;
	mov.u32 %r6, 9;"""
    assert words(body, 32) == [9] * 16 + [0] * 16


@pytest.mark.parametrize("body", ["mov.u32 %r7, 16; bar.sync %r7;", "mov.u32 %r7, 40; bar.sync 0, %r7;"])
def test_numbers_that_do_not_exist(body: str) -> None:
    with pytest.raises(PtxError, match="E406"):
        words(body, 64)


def test_a_barrier_that_half_of_the_warps_miss() -> None:
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0, 64; @!%p1 bar.sync 1, 64;"
    with pytest.raises(PtxError, match="E406"):
        three_ways(kernel_text(body), 64, lambda: [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])
