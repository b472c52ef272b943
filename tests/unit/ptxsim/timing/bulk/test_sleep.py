"""Warps that sleep at an mbarrier, worked out by hand: when they wake, and that they issue nothing meanwhile."""

import numpy as np
import pytest
from bulk_kernels import WAIT, kernel
from timed_copies import CLOCK, EXPECT, KEEP, LOAD, TRY, clocks, machine

import ptxsim
from ptxtool.base.diag import PtxError

SKIP = pytest.mark.parametrize("event_skip", [True, False])
GPU = machine()


def test_a_warp_that_waits_issues_once() -> None:
    """The wait for 16 bytes and that for 1024 are the same instructions, in the loop that compilers write."""
    found = [clocks(EXPECT.format(n) + LOAD.format(64, 0, n) + WAIT, 0)[1] for n in (16, 1024)]
    assert found[0].stats["warp_insn"] == found[1].stats["warp_insn"]
    assert found[1].cycles - found[0].cycles == 31  # sectors, of which one arrives a cycle


@SKIP
@pytest.mark.parametrize(
    ("limit", "cycles"),
    [("", 10000), (", 1000", 1980), (", 500", 990)],  # `tma.try_wait_cycles`; nanoseconds at 1980 MHz
)
def test_a_test_fails_when_its_time_limit_is_over(limit: str, cycles: int, event_skip: bool) -> None:
    body = CLOCK.format(2) + TRY.replace(", 0;", f", 0{limit};") + CLOCK.format(4)
    body += "selp.u32 %r5, 1, 0, %p2;\n" + KEEP
    (before, _, after, done), _ = clocks(body, event_skip=event_skip)
    assert (after - before - 1, done) == (cycles, 0)


def test_a_test_of_a_phase_that_is_complete_does_not_wait() -> None:
    body = TRY.replace("0;", "1;") + "selp.u32 %r5, 1, 0, %p2;\n" + KEEP
    assert clocks(body)[0][3] == 1


ARRIVE = """
	mov.u32 %r9, %tid.x;
	setp.eq.u32 %p5, %r9, 32;
	setp.ge.u32 %p4, %r9, 32;
	@%p4 bra OTHER;
	mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
	mov.u32 %r4, %clock;
	@%p1 st.shared.u32 [tile+4], %r4;
	bra OUT;
OTHER:
	CHAIN
	mov.u32 %r4, %clock;
	@%p5 mbarrier.arrive.shared.b64 _, [bar];
	@%p5 st.shared.u32 [tile], %r4;
OUT:
"""


@SKIP
def test_a_warp_wakes_in_the_cycle_after_the_last_arrival(event_skip: bool) -> None:
    """The other warp arrives in the cycle after its clock, and so the sleeper's clock is two later."""
    chain = "\n".join(["mul.lo.u32 %r8, %r8, 3;"] * 40)
    out = np.zeros(16, np.uint32)
    given = [out, np.zeros(4, np.uint32)]
    text = kernel(ARRIVE.replace("CHAIN", chain), 2)
    ptxsim.launch(text, 1, 64, given, gpu=GPU, event_skip=event_skip, registers=16)
    assert out[1] == out[0] + 2
    assert out[0] > 40 * 4


def test_hot_spots_name_the_mbarrier() -> None:
    """The three schedulers without a warp have none; the fourth waits from the test to the end of the copy."""
    body = EXPECT.format(1024) + LOAD.format(64, 0, 1024) + TRY
    result = clocks(body, 0, hotspots=True)[1]
    spots = result.hotspots
    assert spots is not None
    (place,) = [spot for spot in spots.instructions if spot.reasons.get("mbarrier")]
    assert place.text.startswith("mbarrier.try_wait")
    # the test issues two cycles after the copy at the earliest
    assert 32 + 219 + 31 + 32 - 10 < spots.reasons["mbarrier"] < 32 + 219 + 31 + 32
    assert spots.reasons["copies"] == 0


def test_hot_spots_name_the_copies() -> None:
    store = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d2], [tile], 512;\n"
    body = store + "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n"
    spots = clocks(body, 0, hotspots=True)[1].hotspots
    assert spots is not None
    assert spots.reasons["copies"] > 200
    assert spots.reasons["mbarrier"] == 0


def test_lanes_wait_for_different_mbarriers() -> None:
    """Lane 0 waits for 16 bytes, lane 1 for 1024 at an mbarrier of its own: the warp wakes with the later one."""
    body = """
	.shared .align 8 .b64 second;
	@%p1 mbarrier.init.shared.b64 [second], 1;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [second], 1024;
	mov.u32 %r6, bar;
	mov.u32 %r7, second;
	selp.u32 %r6, %r6, %r7, %p1;
	mov.u32 %r2, %clock;
	@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+64], [%d2], 16, [bar];
	@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+128], [%d2+128], 1024, [second];
	mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;
	mov.u32 %r4, %clock;
	selp.u32 %r5, 1, 0, %p2;
"""
    (before, _, after, done), _ = clocks(body + KEEP)
    assert done == 1
    assert after - before - 1 == 32 + 219 + 32 + 32  # 33 sectors, the first of which is of the first copy


def test_bytes_that_never_come_are_a_deadlock() -> None:
    """The wait begins again after every time limit, and nothing else happens."""
    with pytest.raises(PtxError, match="E407"):
        clocks(EXPECT.format(80) + LOAD.format(64, 0, 64) + WAIT, 0)


def test_a_fault_of_an_instruction_that_waited_for_room_is_reported() -> None:
    """The third copy of 32 lanes has no room at first; its destination is beyond the shared memory."""
    body = """
	mul.lo.u32 %r7, %r1, 16;
	mov.u32 %r8, tile;
	add.u32 %r8, %r8, %r7;
"""
    copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8+{}], [%d2], 16, [bar];\n"
    with pytest.raises(PtxError, match=r"E404.*\n.*\+4096\]"):
        clocks(body + "".join(copy.format(k) for k in (0, 512, 4096)), 0)


@pytest.mark.slow
def test_wide_records_take_the_same_cycles() -> None:
    """SMs of more than 64 warps have other records."""
    body = EXPECT.format(1024) + CLOCK.format(2) + LOAD.format(64, 0, 1024) + TRY + CLOCK.format(4) + KEEP
    found = [
        clocks(body, gpu=machine(f"sm.warps={warps}", f"sm.threads={32 * warps}"))[0] for warps in (64, 128)
    ]
    assert found[0] == found[1]


def test_ctas_that_are_switched_test_again_and_again() -> None:
    body = EXPECT.format(64) + LOAD.format(64, 0, 64) + WAIT
    issued = []
    for scheme in ("virtual-thread", "none"):
        given = [np.zeros(16, np.uint32), np.arange(64, dtype=np.uint32)]
        issued.append(ptxsim.launch(kernel(body), 1, 32, given, gpu=GPU, scheme=scheme).stats["warp_insn"])
    assert issued[0] >= issued[1] + 10
