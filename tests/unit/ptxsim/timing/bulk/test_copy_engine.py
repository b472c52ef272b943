"""Bulk copies in timed runs, worked out by hand for the `h100`.

A request that an SM sends in cycle t is taken by its slice in t + 2, waits the 213 cycles of `l2.rop_cycles` and one
more (packets), is answered, and its reply is at the SM one cycle later: 217 for a hit, and 2 more to the LDST unit
(`ldst.response_hops`). Each sector has a reply, of which an SM takes one a cycle.
"""

import random
from typing import Any

import numpy as np
import pytest
from bulk_kernels import WAIT, kernel, load
from timed_copies import CLOCK, COMMIT, EXPECT, KEEP, LOAD, STORE, TRY, clocks, machine

import ptxsim
from ptxtool.formats.gpu import load_gpu

ISSUE, LATENCY = 32, 32
"""`tma.issue_cycles` and `tma.latency_cycles`."""
HIT = 217 + 2
COLD = "l2.copies_fill=false"
SKIP = pytest.mark.parametrize("event_skip", [True, False])


def load_time(n_bytes: int, *settings: str, copies: int = 1, **options: Any) -> int:
    """Cycles from the first of some copies to the instruction after the wait for all."""
    body = EXPECT.format(n_bytes * copies) + CLOCK.format(2)
    body += "".join(LOAD.format(16, k * n_bytes, n_bytes) for k in range(copies))
    body += TRY + CLOCK.format(4) + KEEP
    (before, _, after, _), result = clocks(body, gpu=machine(*settings), **options)
    assert result.stats["warp_insn"] < 60
    return after - before - 1  # the first copy issues in the cycle after the first clock


@SKIP
@pytest.mark.parametrize(("n_bytes", "sectors"), [(16, 1), (32, 1), (64, 2), (128, 4), (256, 8), (1024, 32)])
def test_a_load_that_hits_the_l2(n_bytes: int, sectors: int, event_skip: bool) -> None:
    assert load_time(n_bytes, event_skip=event_skip) == ISSUE + HIT + (sectors - 1) + LATENCY


def test_engine_times_are_the_machine_s() -> None:
    assert load_time(16, "tma.issue_cycles=5") == 5 + HIT + LATENCY
    assert load_time(16, "tma.latency_cycles=0") == ISSUE + HIT
    assert load_time(1024, "tma.requests_per_cycle=8") == load_time(1024)  # replies are the limit


def test_a_load_that_misses_waits_for_dram() -> None:
    """As much longer as a load: 479 - 263 cycles (docs/model/hardware.md), but for the phase of DRAM's clock."""
    assert load_time(16, COLD) == pytest.approx(ISSUE + HIT + 479 - 263 + LATENCY, abs=2)


def test_copies_overlap() -> None:
    """A second copy takes the cycles of its 32 sectors only."""
    assert load_time(1024, copies=2) - load_time(1024) == 32
    assert load_time(512, COLD, copies=2) - load_time(512, COLD) < 60


def statistics(body: str, **options: Any) -> dict[str, int]:
    """Statistics of a kernel that accesses memory by copies only."""
    return dict(clocks(body, 0, **options)[1].stats)


@pytest.mark.parametrize("n_bytes", [32, 512, 1600])
def test_every_sector_is_counted(n_bytes: int) -> None:
    body = EXPECT.format(n_bytes) + LOAD.format(0, 0, n_bytes) + TRY
    found = statistics(body, gpu=machine(COLD))
    assert found["l2_accesses"] == found["l2_misses"] == found["dram_reads"] == n_bytes // 32
    assert found["icnt_requests_packets"] == -(-n_bytes // 128)
    assert found["icnt_replies_packets"] == n_bytes // 32


def test_requests_end_with_lines_and_sectors() -> None:
    """192 bytes from byte 80 on: 48 to the end of the line, which begin in its third sector, a line, and 16."""
    found = statistics(EXPECT.format(192) + LOAD.format(0, 80, 192) + TRY, gpu=machine(COLD))
    assert (found["icnt_requests_packets"], found["l2_accesses"]) == (3, 2 + 4 + 1)


def test_rows_of_a_box_that_are_outside_are_not_read() -> None:
    """Rows 2 to 5 of a tensor of 4 rows, 8 of 24 words each: two rows of one sector."""
    tensor = np.zeros((4, 24), np.uint32)
    of = ptxsim.TensorMap(tensor, (8, 4))
    given = [of, np.zeros(32, np.uint32), np.zeros(4, np.uint32)]
    result = ptxsim.launch(kernel(load(of, (8, 2), 128), 0, True), 1, 32, given, gpu=machine(COLD))
    assert (result.stats["icnt_requests_packets"], result.stats["l2_accesses"]) == (2, 2)


@SKIP
def test_a_store_has_read_its_source_when_its_requests_are_sent(event_skip: bool) -> None:
    """256 bytes: two requests in two cycles; the last of 8 acknowledgements comes 8 cycles after the first request's
    first one would alone. What the second wait sees is what it has to."""
    wait = "@%p1 cp.async.bulk.wait_group{} 0;\n"
    body = CLOCK.format(2) + STORE.format(0, 512, 256) + COMMIT
    body += wait.format(".read") + CLOCK.format(3) + wait.format("") + CLOCK.format(4) + KEEP
    source = np.full(4096, 7, np.uint32)
    (before, read, after, _), _ = clocks(body, source=source, event_skip=event_skip)
    issued = before + 1
    assert read == issued + ISSUE + 1
    assert after == issued + ISSUE + HIT + 7 + LATENCY
    assert source[:65].tolist() == [0] * 64 + [7]


def test_reductions_are_made_in_the_l2() -> None:
    add = "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [tile+512], 128;\n"
    found = statistics(add + COMMIT + "@%p1 cp.async.bulk.wait_group 0;\n", gpu=machine(COLD))
    assert found["l2_accesses"] == found["dram_reads"] == 4


def test_lanes_with_the_same_store_make_one() -> None:
    """A store that all lanes issue alike costs what one lane's does; each lane's reduction counts."""
    end = COMMIT + "@%p1 cp.async.bulk.wait_group 0;\n"
    add = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [tile+512], 128;\n"
    of_all = STORE.format(0, 512, 256).replace("@%p1 ", "")
    assert (
        statistics(of_all + end)["l2_accesses"]
        == statistics(STORE.format(0, 512, 256) + end)["l2_accesses"]
        == 8
    )
    assert statistics(add + end)["l2_accesses"] == 32 * 4


def test_data_are_there_when_the_copy_completes_and_not_before() -> None:
    """Warps look at the last word of 1024 bytes, again and again: it comes in the cycle in which the wait ends."""
    copy = EXPECT.format(1024) + CLOCK.format(2) + LOAD.format(64, 0, 1024)
    look = """
LOOK:
	ld.shared.u32 %r6, [tile+1084];
	mov.u32 %r4, %clock;
	setp.eq.u32 %p4, %r6, 0;
	@%p4 bra LOOK;
"""
    (before, _, seen, _), _ = clocks(copy + look + KEEP)
    end = before + 1 + load_time(1024)
    assert end <= seen < end + 120  # a round of the loop takes less


def test_more_copies_than_the_engine_holds() -> None:
    """Three instructions of 32 copies: the third waits until the engine has room, and has issued once."""
    body = """
	mul.lo.u32 %r7, %r1, 16;
	cvt.u64.u32 %d5, %r7;
	add.s64 %d6, %d2, %d5;
	mov.u32 %r8, tile;
	add.u32 %r8, %r8, %r7;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1536;
"""
    copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8+{}], [%d6+{}], 16, [bar];\n"
    body += "".join(copy.format(k, k) for k in (0, 512, 1024)) + TRY
    found = [clocks(body, 384, event_skip=skip) for skip in (True, False)]
    assert found[0][0] == list(range(1, 385))
    assert found[0][1].stats == found[1][1].stats
    insn = [clocks(b, 0)[1].stats["warp_insn"] for b in (body, body.replace(copy.format(1024, 1024), ""))]
    assert insn[0] == insn[1] + 1


def test_a_cta_keeps_its_shared_memory_until_its_stores_are_made() -> None:
    """CTAs that end at once, one after the other on the only SM: each stores its number, by copy."""
    body = """
	mov.u32 %r9, %ctaid.x;
	@%p1 st.shared.v4.u32 [tile], {%r9, %r9, %r9, %r9};
	mul.wide.u32 %d5, %r9, 16;
	add.s64 %d6, %d2, %d5;
	@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d6], [tile], 16;
"""
    to = np.zeros(4 * 12, np.uint32)
    gpu = machine("sm.ctas=2")
    ptxsim.launch(kernel(body), 12, 32, [np.zeros(4, np.uint32), to], gpu=gpu)
    assert to.tolist() == [k // 4 for k in range(48)]


CLUSTER = """
	mov.u32 %r2, %cluster_ctarank;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""
LEAVE = """
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""


def both_ranks(body: str, words: int, **options: Any) -> tuple[np.ndarray, Any]:
    out, source = np.zeros(2 * words, np.uint32), np.arange(1, 4097, dtype=np.uint32)
    gpu = machine("l2.copies_fill=false", sms=2)
    options = {"gpu": gpu, "cluster": (2,)} | options
    result = ptxsim.launch(kernel(body, words), 2, 32, [out, source], **options)
    return out.reshape(2, words), result


def test_a_multicast_reads_once() -> None:
    """256 bytes for two CTAs: 8 sectors, and those of the stores of the results (2 x 8)."""
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f"""{CLUSTER}
	{EXPECT.format(256)}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	setp.eq.and.u32 %p5, %r2, 1, %p1;
	mov.u16 %h1, 3;
	@%p5 {copy} [tile], [%d2], 256, [bar], %h1;
	{TRY}
	{LEAVE}"""
    found = [both_ranks(body, 64, event_skip=skip) for skip in (True, False)]
    for out, _ in found:
        assert out.tolist() == [list(range(1, 65))] * 2
    assert found[0][1].stats == found[1][1].stats
    assert found[0][1].stats["dram_reads"] == 8
    assert found[0][1].stats["l2_accesses"] == 8 + 16


@SKIP
def test_a_copy_to_another_cta_wakes_it(event_skip: bool) -> None:
    """128 bytes take 4 cycles of the engine, and 180 to the other SM, whose warp sleeps."""
    copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    body = f"""{CLUSTER}
	{EXPECT.format(128)}
	mov.u32 %r6, tile;
	mapa.shared::cluster.u32 %r6, %r6, 1;
	mov.u32 %r7, bar;
	mapa.shared::cluster.u32 %r7, %r7, 1;
	setp.eq.and.u32 %p5, %r2, 0, %p1;
	setp.eq.u32 %p4, %r2, 0;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r10, 0;
	mov.u32 %r11, 0;
	mov.u32 %r3, %clock;
	@%p5 {copy} [%r6+256], [tile+256], 128, [%r7];
	mov.u32 %r5, %clock;
	@%p4 bra OUT;
	{TRY}
OUT:
	mov.u32 %r4, %clock;
	{KEEP}
	{LEAVE}"""
    out, _ = both_ranks(body, 4, event_skip=event_skip)
    before, after = out[0, 1], out[0, 3]
    assert after == before + 2
    assert out[1, 2] == before + 1 + ISSUE + 4 + 180


STREAM = """
	mov.u32 %r9, %ctaid.x;
	mul.wide.u32 %d5, %r9, 32768;
	add.s64 %d6, %d2, %d5;
	mov.u32 %r8, 0;
	.shared .align 128 .b8 large[8192];
ROUND:
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8192;
	@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [large], [%d6], 8192, [bar];
AGAIN:
	mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r8;
	@!%p2 bra AGAIN;
	xor.b32 %r8, %r8, 1;
	add.s64 %d6, %d6, 8192;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p4, %r7, 4;
	@%p4 bra ROUND;
"""


def stream_rate(sms: int, *settings: str) -> float:
    """Bytes a cycle of SMs that read 32 KB each, 8 KB a copy, out of one channel with two slices."""
    gpu = machine("dram.channels=1", "l2.slices=2", *settings, sms=sms)
    body = "mov.u32 %r7, 0;\n" + STREAM
    given = [np.zeros(4, np.uint32), np.zeros(sms * 8192, np.uint32)]
    return sms * 32768 / int(ptxsim.launch(kernel(body), sms, 32, given, gpu=gpu).cycles)


def test_a_stream_is_as_fast_as_the_l2() -> None:
    """A slice passes on a sector a cycle: 64 bytes, which two SMs could take alone."""
    assert 0.8 * 64 < stream_rate(24) <= 64


def test_a_stream_is_as_fast_as_dram() -> None:
    """16 bytes, twice in one of 2619 MHz: 42.3 a core cycle. More SMs are no faster."""
    peak = 2 * 16 * 2619 / 1980
    few, many = stream_rate(4, COLD), stream_rate(12, COLD)
    assert 0.35 * peak < few < peak
    assert 0.7 * few < many < 1.05 * few
    assert stream_rate(12, COLD, "clocks.dram_mhz=1310") == pytest.approx(many / 2, rel=0.1)


def test_requests_of_a_machine_without_sectors_are_lines() -> None:
    """`tesla-c2050`: 512 bytes are four, with one reply each."""
    gpu = load_gpu("tesla-c2050")
    copied, without = (
        statistics(EXPECT.format(512) + more, gpu=gpu) for more in (LOAD.format(0, 0, 512) + TRY, TRY)
    )
    instructions = 3  # lines of code at most that the copy's instruction adds
    for name in ("icnt_requests_packets", "icnt_replies_packets", "l2_accesses"):
        assert 4 <= copied[name] - without[name] < 4 + instructions


def random_body(seed: int) -> str:
    """Loads by copy and others, stores by copy, waits for some of them: in each of the 4 warps another choice."""
    source, found = random.Random(seed), []
    for turn in range(8):
        size, at, to = (16 * source.randrange(1, 40) for _ in range(3))
        who = f"setp.eq.u32 %p6, %r1, {32 * source.randrange(4)};\n"
        kind = source.randrange(4)
        if kind == 0:
            found.append(who + LOAD.format(to, at, size).replace("%p1", "%p6"))
            found.append(f"@%p6 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], {size};\n")
        elif kind == 1:
            found.append(who + (STORE.format(8192 + at, to, size) + COMMIT).replace("%p1", "%p6"))
            read = source.choice(("", ".read"))
            found.append(f"@%p6 cp.async.bulk.wait_group{read} {source.randrange(2)};\n")
        elif kind == 2:
            found.append(f"ld.global.u32 %r{20 + turn}, [%d2+{at}];\nadd.u32 %r9, %r9, %r{20 + turn};\n")
        else:
            found.append(f"mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1, {source.randrange(50, 400)};\n")
            found.append("mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0, 100;\n" * source.randrange(2))
    return (
        "mov.u32 %r9, 0;\n"
        + "".join(found)
        + "bar.sync 0;\n@%p1 mbarrier.arrive.shared.b64 _, [bar];\n"
        + WAIT
    )


@pytest.mark.parametrize("seed", range(12))
def test_skipping_changes_nothing(seed: int) -> None:
    results = []
    for skip in (True, False):
        given = [np.zeros(6 * 64, np.uint32), np.arange(8192, dtype=np.uint32)]
        text = kernel(random_body(seed), 64)
        gpu = machine("l2.copies_fill=false", "dram.channels=2", "l2.slices=4", sms=2)
        result = ptxsim.launch(text, 6, 128, given, gpu=gpu, event_skip=skip, hotspots=seed % 2 == 0)
        results.append((result.stats, *(a.tobytes() for a in given)))
    assert results[0] == results[1]
