"""`setmaxnreg` in timed runs: who waits from when to when, worked out by hand."""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import one_sm
from msgspec.structs import replace
from register_pools import CIRCLE, NEVER, PRODUCER, pool_kernel, setting

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.settings import with_settings
from ptxtool.results.simulation import SimResult

SM = with_settings(one_sm("tesla-c2050"), ["fetch.perfect=true"])


def timed(
    body: str, block: int = 64, bounds: str = ".maxnreg 40", **options: Any
) -> tuple[SimResult, list[int]]:
    """The result, and what every thread has in %r6."""
    words = np.zeros(block, np.uint32)
    options = {"gpu": SM} | options
    return ptxsim.launch(pool_kernel(body, bounds), 1, block, [words], **options), words.tolist()


def chain(n: int) -> str:
    """`n` additions that depend on each other: 11 cycles each (latency 4, five stages, two source registers)."""
    return "\n\t".join(["add.f32 %f1, %f1, %f2;"] * n)


@pytest.mark.parametrize("event_skip", [True, False])
def test_a_warp_waits_until_the_cycle_in_which_another_releases_what_it_lacks(event_skip: bool) -> None:
    """The consumer's `.inc` issues in some cycle c, the producer's `.dec` in d, 11 cycles later for each addition.

    The wait takes d - c cycles. The consumer is alone on the second scheduler, which finds nothing from c + 1 on; in
    cycle d itself the first scheduler is the first to issue, so the consumer can issue again: d - c - 1 slots.
    """
    few, _ = timed(PRODUCER.replace("CHAIN", chain(20)), event_skip=event_skip, hotspots=True)
    many, _ = timed(PRODUCER.replace("CHAIN", chain(60)), event_skip=event_skip, hotspots=True)
    assert many.core["register_wait_cycles"] - few.core["register_wait_cycles"] == 40 * 11
    assert many.cycles - few.cycles == 40 * 11
    for result in (few, many):
        assert result.core["register_waits"] == 1
        assert result.hotspots is not None
        assert result.hotspots.reasons["registers"] == result.core["register_wait_cycles"] - 1
        (place,) = [spot for spot in result.hotspots.instructions if spot.reasons.get("registers")]
        assert place.text == setting("inc", 56)


def test_a_wait_takes_as_long_as_one_at_a_barrier_at_which_the_other_arrives() -> None:
    body = PRODUCER.replace("CHAIN", chain(30))
    barrier = body.replace(setting("dec", 24), "bar.arrive 1, 64;").replace(
        setting("inc", 56), "bar.sync 1, 64;"
    )
    assert timed(body)[0].cycles == timed(barrier)[0].cycles


@pytest.mark.parametrize(
    ("released", "wanted", "waits"),
    [(24, 56, 1), (24, 64, None), (32, 48, 1), (32, 56, None), (24, 40, 0), (24, 24, 0)],
)
def test_the_pool_has_what_was_released_and_no_more(released: int, wanted: int, waits: int | None) -> None:
    """40 at the entry: `.dec 24` releases 16, `.dec 32` 8. None: the wait never ends."""
    body = PRODUCER.replace("CHAIN", chain(9)).replace("24;", f"{released};").replace("56;", f"{wanted};")
    if waits is None:
        with pytest.raises(PtxError, match="E407"):
            timed(body)
    else:
        assert timed(body)[0].core["register_waits"] == waits


def test_waiting_warps_go_on_by_number_as_far_as_the_pool_reaches() -> None:
    """Warp 0 releases 16 of its 40 registers, and 11 * 40 cycles later warp 1, which has taken 8 of these, 24.

    Warp 1 wants 8 more than 40: it goes on first. Warp 2 wants 16, of which 8 are left: it waits on. Warp 3 wants 8:
    it goes on with warp 1. So warp 2 waits for the whole of warp 1's chain as well.
    """
    body = f"""@%p1 {setting("inc", 48)}
	@%p2 {setting("inc", 56)}
	@%p3 {setting("inc", 48)}
	@%p2 bra DONE;
	@%p3 bra DONE;
	{chain(40)}
	@%p1 {setting("dec", 24)}
	@%p0 {setting("dec", 24)}
DONE:
	mov.u32 %r6, %clock;"""
    result, clocks = timed(body, 128)
    of_warp = clocks[::32]
    assert result.core["register_waits"] == 3
    assert of_warp[3] < of_warp[0] + 40
    assert of_warp[2] - of_warp[3] > 40 * 11 - 40


def test_an_exit_releases_nothing() -> None:
    with pytest.raises(PtxError, match="E407"):
        timed(f"@%p0 ret;\n\t{setting('inc', 48)}")


def test_a_guard_without_lanes_moves_nothing() -> None:
    body = f"setp.gt.u32 %p5, %r1, 4096;\n\t@%p5 {setting('inc', 200)}\n\tmov.u32 %r6, 3;"
    result, words = timed(body)
    assert words == [3] * 64
    assert result.core["register_waits"] == 0


def test_it_does_nothing_where_the_registers_at_the_entry_are_unknown() -> None:
    """Unless the launch gives them, as `ptxas -maxrregcount` does."""
    body = f"{setting('inc', 200)}\n\tmov.u32 %r6, 3;"
    result, words = timed(body, bounds=".maxntid 64")
    assert words == [3] * 64
    assert "register_waits" not in result.core
    assert "'setmaxnreg' is ignored: the registers at the kernel's entry are unknown (W212)" in result.remarks
    with pytest.raises(PtxError, match="E407"):
        timed(body, bounds=".maxntid 64", registers=40)


def test_a_launch_that_gives_none_has_the_registers_of_the_bounds() -> None:
    assert timed("", bounds=".maxnreg 56")[0].registers < 56
    result = timed(setting("dec", 24), 384, bounds=".maxnreg 40")[0]
    assert result.registers == 40
    assert result.resident_ctas == 32768 // (40 * 384) == 2


def test_a_run_that_ends_early_has_counted_the_open_waits() -> None:
    body = PRODUCER.replace("CHAIN", chain(200))
    early, late = (timed(body, max_cycles=n)[0].core["register_wait_cycles"] for n in (1500, 1800))
    assert late - early == 300


WARPGROUPS = f"""setp.lt.u32 %p4, %r1, 128;
	@%p4 bra PRODUCER;
	{setting("inc", 232)}
	bar.sync 1, 384;
	sub.u32 %r3, %r1, 128;
	and.b32 %r3, %r3, 127;
	shl.b32 %r3, %r3, 2;
	mov.u32 %r4, tile;
	add.u32 %r4, %r4, %r3;
	ld.shared.u32 %r6, [%r4];
	{setting("dec", 40)}
	bra DONE;
PRODUCER:
	{setting("dec", 40)}
	shl.b32 %r3, %r1, 2;
	mov.u32 %r4, tile;
	add.u32 %r4, %r4, %r3;
	mul.lo.u32 %r5, %r1, 3;
	st.shared.u32 [%r4], %r5;
	bar.arrive 1, 384;
	{setting("inc", 232)}
DONE:"""
"""A warpgroup that produces with 40 registers for two that consume with 232: 168 each at the entry, 504 in all."""


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "two_level:4"])
@pytest.mark.parametrize("event_skip", [True, False])
def test_warpgroups_that_produce_and_consume(scheduler: str, event_skip: bool) -> None:
    """The four warps that produce release 4 * 128 registers, the eight others take 8 * 64 of these, later release
    8 * 192, and the first take 4 * 192 of these."""
    bounds, gpu = ".maxntid 384 .minnctapersm 1", one_sm("gtx980-finereg")
    result, words = timed(WARPGROUPS, 384, bounds, scheduler=scheduler, event_skip=event_skip, gpu=gpu)
    assert words == [0] * 128 + [3 * (t % 128) for t in range(256)]
    assert result.registers == 168
    assert 4 <= result.core["register_waits"] <= 12


@pytest.mark.parametrize("event_skip", [True, False])
def test_warps_keep_their_registers_while_their_cta_is_switched_out(event_skip: bool) -> None:
    """Of each CTA the first warp waits for registers and the second for memory, so that the next CTA has its turn."""
    body = f"""mov.u32 %r7, %ctaid.x;
	mul.wide.u32 %l2, %r7, 256;
	add.s64 %l3, %l3, %l2;
	@%p1 bra LOAD;
	{setting("inc", 48)}
	bra DONE;
LOAD:
	ld.global.cg.u32 %r6, [%l3];
	add.u32 %r6, %r6, 5;
	{setting("dec", 24)}
DONE:"""
    gpu = one_sm("gtx980-finereg")
    gpu = replace(gpu, sm=replace(gpu.sm, ctas=1))
    words = np.arange(20 * 64, dtype=np.uint32)
    options: dict[str, Any] = {"gpu": gpu, "scheme": "virtual-thread", "event_skip": event_skip}
    result = ptxsim.launch(pool_kernel(body), 20, 64, [words], **options)
    assert result.switching is not None
    assert result.switching.switches > 10
    assert result.core["register_waits"] == 20
    assert (words == [n + 5 if n // 32 % 2 else 0 for n in range(20 * 64)]).all()


def test_the_report_of_a_deadlock_has_the_circle() -> None:
    with pytest.raises(PtxError) as raised:
        timed(CIRCLE)
    (found,) = raised.value.diagnostics
    assert found.code == "E407"
    assert "deadlock, warps wait for each other in a circle: kernel 'k'" in found.message
    assert (
        "waits at 'setmaxnreg.inc.sync.aligned.u32 48;' in line 27 for 8 more registers per thread, "
        "of which the CTA has 0 free, until CTA (0,0,0) warp 0 has released others" in found.message
    )
    assert "CTA (0,0,0) warp 0 (threads (0,0,0) to (31,0,0), SM 0) waits at 'bar.sync 0;'" in found.message
    assert found.help is not None
    assert "setmaxnreg.dec" in found.help


def test_the_report_of_a_wait_for_warps_that_have_ended() -> None:
    with pytest.raises(PtxError) as raised:
        timed(NEVER)
    (found,) = raised.value.diagnostics
    assert found.code == "E407"
    assert found.message.endswith("for 8 more registers per thread, of which the CTA has 0 free")
