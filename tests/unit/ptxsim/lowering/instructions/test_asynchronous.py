"""Asynchronous copies and mbarriers, worked out by hand, in all three runs."""

import numpy as np
import pytest
from three_ways import kernel_text, three_ways, words

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

SHARED = """
	mov.u32 %r20, tile;
	shl.b32 %r21, %r1, 4;
	add.u32 %r21, %r21, %r20;
	mul.wide.u32 %d6, %r1, 16;
	add.s64 %d6, %d6, %d2;
"""


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ("cp.async.ca.shared.global [%r21], [%d6], 4;", [1, 9, 9, 9]),
        ("cp.async.ca.shared::cta.global.L2::128B [%r21], [%d6+8], 8;", [3, 4, 9, 9]),
        ("cp.async.cg.shared.global [%r21], [%d6], 16;", [1, 2, 3, 4]),
        ("cp.async.cg.shared.global [%r21], [%d6], 16, 8;", [1, 2, 0, 0]),
        # 6 bytes: half of a word
        ("mov.u32 %r22, 6; cp.async.ca.shared.global [%r21], [%d6], 16, %r22;", [1, 2 & 0xFFFF, 0, 0]),
        ("mov.u32 %r22, 0; mov.u64 %d6, 0; cp.async.ca.shared.global [%r21], [%d6], 16, %r22;", [0, 0, 0, 0]),
        ("setp.lt.u32 %p1, %r1, 99; cp.async.ca.shared.global [%r21], [%d6], 4, %p1;", [0, 9, 9, 9]),
        ("setp.lt.u32 %p1, %r1, 99; cp.async.ca.shared.global [%r21], [%d6], 4, !%p1;", [1, 9, 9, 9]),
    ],
)
def test_copies(copy: str, expected: list[int]) -> None:
    """Every thread copies from its 16 bytes: 1 + 100 t, 2, 3, 4. Words that the copy does not reach hold 9."""
    body = (
        SHARED
        + f"""
	mov.u32 %r23, 9;
	st.shared.v4.u32 [%r21], {{%r23, %r23, %r23, %r23}};
	{copy}
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.v4.u32 {{%r24, %r25, %r26, %r27}}, [%r21];
	mad.lo.u32 %r6, %r25, 16, %r24;
	mad.lo.u32 %r6, %r26, 256, %r6;
	mad.lo.u32 %r6, %r27, 4096, %r6;"""
    )
    values = [v for t in range(32) for v in (1 + 65536 * t, 2, 3, 4)]
    found = words(body, 32, values)
    base = sum(v << 4 * k for k, v in enumerate(expected))
    assert found == [base + (65536 * t if expected[0] == 1 else 0) for t in range(32)]


def test_a_copy_reads_only_what_it_says() -> None:
    """The last thread's 16 bytes end after 4 of them; with a size of 4 that is no fault."""
    body = (
        SHARED
        + "mov.u32 %r22, 4; cp.async.ca.shared.global [%r21], [%d6], 16, %r22; ld.shared.u32 %r6, [%r21];"
    )
    text = kernel_text(body)
    results = three_ways(text, 32, lambda: [np.zeros(32, np.uint32), np.arange(125, dtype=np.uint32)])
    assert list(results[0][0]) == [4 * t for t in range(32)]
    with pytest.raises(PtxError, match="E404"):
        three_ways(
            text.replace("%r22, 4", "%r22, 8"),
            32,
            lambda: [np.zeros(32, np.uint32), np.zeros(125, np.uint32)],
        )
    with pytest.raises(PtxError, match="E405"):
        three_ways(
            text.replace("[%d6]", "[%d6+4]"), 32, lambda: [np.zeros(32, np.uint32), np.zeros(999, np.uint32)]
        )


def test_counts_of_an_mbarrier() -> None:
    """Three arrivals expected: the states that thread 0 sees, and whether the phase is complete after each."""
    body = """
	mov.u32 %r20, tile;
	mbarrier.init.shared.b64 [%r20], 3;
	mbarrier.arrive.shared.b64 %d10, [%r20];
	mbarrier.pending_count.b64 %r7, %d10;
	mbarrier.test_wait.shared.b64 %p1, [%r20], %d10;
	mbarrier.arrive.noComplete.shared.b64 %d11, [%r20], 1;
	mbarrier.pending_count.b64 %r8, %d11;
	mbarrier.test_wait.parity.shared.b64 %p2, [%r20], 0;
	mbarrier.test_wait.parity.shared.b64 %p3, [%r20], 1;
	mbarrier.arrive.release.cta.shared::cta.b64 %d12, [%r20];
	mbarrier.pending_count.b64 %r9, %d12;
	mbarrier.try_wait.shared.b64 %p4, [%r20], %d10;
	mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p5, [%r20], 0, 100;
	mbarrier.try_wait.parity.shared.b64 %p6, [%r20], 1;
	mbarrier.arrive_drop.shared.b64 %d13, [%r20], 2;
	mbarrier.pending_count.b64 %r10, %d13;
	mbarrier.arrive.shared.b64 %d14, [%r20];
	mbarrier.pending_count.b64 %r11, %d14;
	mbarrier.arrive.shared.b64 %d15, [%r20];
	mbarrier.pending_count.b64 %r12, %d15;
	mbarrier.inval.shared.b64 [%r20];
	mad.lo.u32 %r6, %r8, 10, %r7;
	mad.lo.u32 %r6, %r9, 100, %r6;
	mad.lo.u32 %r6, %r10, 1000, %r6;
	mad.lo.u32 %r6, %r11, 10000, %r6;
	mad.lo.u32 %r6, %r12, 100000, %r6;
	selp.u32 %r13, 1, 0, %p1; mad.lo.u32 %r6, %r13, 0x1000000, %r6;
	selp.u32 %r13, 1, 0, %p2; mad.lo.u32 %r6, %r13, 0x2000000, %r6;
	selp.u32 %r13, 1, 0, %p3; mad.lo.u32 %r6, %r13, 0x4000000, %r6;
	selp.u32 %r13, 1, 0, %p4; mad.lo.u32 %r6, %r13, 0x8000000, %r6;
	selp.u32 %r13, 1, 0, %p5; mad.lo.u32 %r6, %r13, 0x10000000, %r6;
	selp.u32 %r13, 1, 0, %p6; mad.lo.u32 %r6, %r13, 0x20000000, %r6;"""
    # phase 0: pending 3, 2, 1; phase 1 begins with 3, drops 2 (one is left for later phases), 1; phase 2 has 1
    assert words(body, 1) == [3 + 20 + 100 + 3000 + 10000 + 100000 + 0x4000000 + 0x8000000 + 0x10000000]


def test_drops() -> None:
    """Three arrivals a phase, one of which drops: the next phase has two; one of them drops with bytes to come."""
    body = """
	mov.u32 %r20, tile;
	mbarrier.init.shared.b64 [%r20], 3;
	mbarrier.arrive_drop.shared.b64 %d10, [%r20];
	mbarrier.arrive.shared.b64 _, [%r20], 2;
	mbarrier.arrive_drop.expect_tx.shared.b64 %d11, [%r20], 16;
	mbarrier.pending_count.b64 %r7, %d11;
	mbarrier.arrive.shared.b64 _, [%r20];
	mbarrier.test_wait.parity.shared.b64 %p1, [%r20], 1;
	mbarrier.complete_tx.shared.b64 [%r20], 16;
	mbarrier.test_wait.parity.shared.b64 %p2, [%r20], 1;
	mbarrier.init.shared.b64 [%r20], 4;
	mbarrier.arrive_drop.noComplete.shared.b64 %d12, [%r20], 2;
	mbarrier.arrive.shared.b64 %d13, [%r20], 2;
	mbarrier.arrive.shared.b64 %d14, [%r20];
	mbarrier.pending_count.b64 %r8, %d14;
	selp.u32 %r9, 100, 0, %p1;
	selp.u32 %r10, 200, 0, %p2;
	mad.lo.u32 %r6, %r8, 10, %r7;
	add.u32 %r6, %r6, %r9;
	add.u32 %r6, %r6, %r10;"""
    assert words(body, 1) == [2 + 20 + 200]


@pytest.mark.parametrize("more", ["%r22", "%p1"])
@pytest.mark.parametrize("cache", ["ca", "cg"])
def test_copies_with_a_policy(more: str, cache: str) -> None:
    """A cache policy changes nothing."""
    size = "16" if cache == "cg" else "8"
    body = (
        SHARED
        + f"""
	mov.u32 %r22, 4;
	setp.lt.u32 %p1, %r1, 16;
	mov.u64 %d10, 0;
	cp.async.{cache}.shared.global.L2::cache_hint [%r21], [%d6], {size}, {more}, %d10;
	cp.async.wait_all;
	ld.shared.v2.u32 {{%r24, %r25}}, [%r21];
	add.u32 %r6, %r24, %r25;"""
    )
    values = [v for t in range(32) for v in (1 + t, 1000, 0, 0)]
    copied = [1 + t if "r22" in more else (0 if t < 16 else 1001 + t) for t in range(32)]
    assert words(body, 32, values) == copied


def test_bytes_of_an_mbarrier() -> None:
    """A phase with one arrival and 48 bytes to come is complete with the last of them."""
    body = """
	mov.u32 %r20, tile;
	mov.u32 %r21, 48;
	mbarrier.init.shared.b64 [%r20], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [%r20], %r21;
	mbarrier.test_wait.parity.shared.b64 %p1, [%r20], 0;
	mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r20], 16;
	mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r20], 8;
	mbarrier.complete_tx.shared::cta.b64 [%r20], 32;
	mbarrier.test_wait.parity.shared.b64 %p2, [%r20], 0;
	mbarrier.complete_tx.shared::cta.b64 [%r20], 8;
	mbarrier.test_wait.parity.shared.b64 %p3, [%r20], 0;
	mbarrier.test_wait.parity.shared.b64 %p4, [%r20], 1;
	selp.u32 %r6, 1, 0, %p1;
	selp.u32 %r7, 2, 0, %p2; add.u32 %r6, %r6, %r7;
	selp.u32 %r7, 4, 0, %p3; add.u32 %r6, %r6, %r7;
	selp.u32 %r7, 8, 0, %p4; add.u32 %r6, %r6, %r7;"""
    assert words(body, 1) == [4]


def test_copies_arrive_at_an_mbarrier() -> None:
    """32 threads copy; with `.noinc` their arrivals are the 32 expected ones, without it 32 more have to come."""
    body = (
        SHARED
        + """
	add.u32 %r22, %r20, 1024;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r22], 32;
	@%p1 mbarrier.init.shared.b64 [%r22+8], 32;
	bar.sync 0;
	cp.async.ca.shared.global [%r21], [%d6], 4;
	cp.async.mbarrier.arrive.noinc.shared.b64 [%r22];
	cp.async.mbarrier.arrive.shared.b64 [%r22+8];
	bar.sync 0;
	mbarrier.test_wait.parity.shared.b64 %p2, [%r22], 0;
	mbarrier.test_wait.parity.shared.b64 %p3, [%r22+8], 0;
	mbarrier.arrive.shared.b64 %d10, [%r22+8];
	mbarrier.test_wait.parity.shared.b64 %p4, [%r22+8], 0;
	ld.shared.u32 %r6, [%r21];
	selp.u32 %r7, 1000, 0, %p2; add.u32 %r6, %r6, %r7;
	selp.u32 %r7, 2000, 0, %p3; add.u32 %r6, %r6, %r7;
	selp.u32 %r7, 4000, 0, %p4; add.u32 %r6, %r6, %r7;"""
    )
    assert words(body, 32, range(128)) == [4 * t + 1000 + 4000 for t in range(32)]


def test_warps_hand_over_by_mbarriers() -> None:
    """Warp 1 waits by spinning, in a run that takes the warps in turn; generic addresses."""
    body = """
	mov.u64 %d10, tile;
	cvta.shared.u64 %d11, %d10;
	mov.u32 %r20, tile;
	and.b32 %r21, %r1, 31;
	shl.b32 %r22, %r21, 2;
	add.u32 %r22, %r22, %r20;
	mov.u32 %r6, 0;
	mov.u32 %r7, 0;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.b64 [%d11], 32;
	@%p1 mbarrier.init.b64 [%d11+8], 32;
	bar.sync 0;
	setp.ge.u32 %p2, %r1, 32;
	@%p2 bra PRODUCE;
CONSUME:
	and.b32 %r8, %r7, 1;
FULL:
	mbarrier.try_wait.parity.shared.b64 %p3, [%r20], %r8;
	@!%p3 bra FULL;
	ld.shared.u32 %r9, [%r22+64];
	mad.lo.u32 %r6, %r6, 3, %r9;
	mbarrier.arrive.shared.b64 _, [%r20+8];
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p4, %r7, 5;
	@%p4 bra CONSUME;
	bra DONE;
PRODUCE:
	mad.lo.u32 %r9, %r7, 100, %r21;
	st.shared.u32 [%r22+64], %r9;
	mbarrier.arrive.b64 _, [%d11];
	and.b32 %r8, %r7, 1;
EMPTY:
	mbarrier.test_wait.parity.b64 %p3, [%d11+8], %r8;
	@!%p3 bra EMPTY;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p4, %r7, 5;
	@%p4 bra PRODUCE;
DONE:"""
    expected = []
    for lane in range(32):
        value = 0
        for turn in range(5):
            value = 3 * value + 100 * turn + lane
        expected.append(value)
    assert words(body, 64) == expected + [0] * 32


def test_spinning_on_shared_memory() -> None:
    """A warp that waits for a flag by loads alone lets the one that sets it run."""
    body = """
	mov.u32 %r20, tile;
	mov.u32 %r21, 5;
	st.shared.u32 [%r20], 0;
	bar.sync 0;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 st.volatile.shared.u32 [%r20], %r21;
WAIT:
	ld.volatile.shared.u32 %r6, [%r20];
	setp.eq.u32 %p2, %r6, 0;
	@%p2 bra WAIT;"""
    assert words(body, 64) == [5] * 64


def test_an_mbarrier_that_nobody_completes() -> None:
    body = """
	mov.u32 %r20, tile;
	mbarrier.init.shared.b64 [%r20], 100;
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;
	@!%p1 bra WAIT;"""
    kernel = parse(kernel_text(body)).kernels["k"]
    with pytest.raises(PtxError, match="E407"):
        functional.run(kernel, (1,), (32,), [np.zeros(32, np.uint32), np.zeros(32, np.uint32)])


@pytest.mark.parametrize(
    "instruction",
    [
        "fence.proxy.async;",
        "fence.proxy.async.shared::cta;",
        "fence.mbarrier_init.release.cluster;",
        "fence.acq_rel.gpu;",
        "membar.gl;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        "membar.proxy.alias;",
        "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;",
        "nanosleep.u32 20;",
        "bar.warp.sync -1;",
    ],
)
def test_no_effect_on_values(instruction: str) -> None:
    assert words(f"add.u32 %r6, %r1, 1; {instruction}", 32) == list(range(1, 33))


def cycles(body: str) -> int:
    kernel = parse(kernel_text(body)).kernels["k"]
    given = [np.zeros(32, np.uint32), np.zeros(1 << 16, np.uint32)]
    found = [int(ptxsim.launch(kernel, (1,), (32,), given, event_skip=skip).cycles) for skip in (True, False)]
    assert found[0] == found[1]
    return found[0]


def test_waits_for_some_groups() -> None:
    """A wait for all but the last group lets 24 more lines come while the first is used; one for all does not.

    A group not yet committed is waited for by `wait_all` alone.
    """
    many = "".join(f"cp.async.ca.shared.global [%r21], [%d6+{4096 * k}], 4;\n" for k in range(1, 25))
    first = SHARED + "cp.async.ca.shared.global [%r21], [%d6], 4; cp.async.commit_group;\n"
    by_wait = {
        wait: cycles(
            f"{first}{many}{commit} cp.async.wait_{wait}; ld.shared.u32 %r6, [%r21]; "
            + "add.u32 %r6, %r6, %r6;\n" * 400
        )
        for wait, commit in (
            ("group 1", "cp.async.commit_group;"),
            ("group 0", "cp.async.commit_group;"),
            ("group 0 ", ""),
            ("all", ""),
        )
    }
    assert by_wait["group 1"] < by_wait["group 0"] - 20
    assert by_wait["group 0 "] < by_wait["all"] - 20
