"""Operations of two CTAs, and copies and arrivals that reach another CTA of the cluster: faults there are found."""

from typing import Any

import numpy as np
import pytest
from asynchronous_runs import assert_found, problems, texts, wait

import ptxsim

SYNC = "\tbarrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;\n"
RELAXED = "\tbarrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;\n"
# %r20 the rank, %p6 thread 0 of the first CTA, %p7 the second CTA
BEGIN = """
	.reg .b16 %h;
	mov.b16 %h, 3;
	mov.u32 %r20, %cluster_ctarank;
	setp.eq.u32 %p7, %r20, 1;
	setp.eq.and.u32 %p6, %r20, 0, %p1;
	@%p1 mbarrier.init.shared.b64 [gate], 1;
	fence.mbarrier_init.release.cluster;
"""
ALLOCATE = """
	setp.ge.u32 %p3, %r1, 32;
	@%p3 bra GO;
	tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], 32;{mark}
GO:
	bar.sync 0;
	ld.shared.u32 %r10, [place];
	shl.b32 %r11, %r2, 21;
	add.u32 %r11, %r11, %r10;
"""
FREE = f"""{SYNC}
	@%p3 bra DONE;
	tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;
DONE:
"""
# M = 128 (64 of each CTA), N = 32, kind::f16 into .f32, both factors K-major without a swizzle: 2 KB of each `tile`
FACTORS = """
	shl.b32 %r21, %r1, 4;
	add.u32 %r21, %r21, %r3;
	shr.u32 %r4, %r3, 4;
	and.b32 %r4, %r4, 0x3fff;
	cvt.u64.u32 %d4, %r4;
	or.b64 %d4, %d4, 0x0000400800080000;
	mov.u32 %r5, 0x08080010;
	mov.b32 %r22, 0;
	setp.ne.u32 %p4, %r1, %r1;
"""
ZEROS = "\tst.shared.v4.u32 [%r21], {%r22, %r22, %r22, %r22};"
FENCE = "\tfence.proxy.async.shared::cta;"
MMA = "\t@%p6 tcgen05.mma.cta_group::2.kind::f16 [%r10], %d4, %d4, %r5, %p4;"
COMMIT = (
    "\t@%p6 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
    "[gate], %h;"
)
STORE = "\ttcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1};"
LOAD = "\ttcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r11];"
WAIT = "\ttcgen05.wait::{}.sync.aligned;"
SKIP = "\t@%p7 bra OVER; // -\n"
SET_UP = BEGIN + ALLOCATE + FACTORS

FAULTS: dict[str, tuple[str, str]] = {
    "the other CTA reads before the commit": (
        "of CTA (1,0,0) uses column 0 of tensor memory, which a product or a copy writes",
        f"{SET_UP}\n{SYNC}{MMA} // note\n{COMMIT}\n{RELAXED}{SKIP}{wait()}\nOVER:\n{LOAD} // E410\n"
        f"{WAIT.format('ld')}\n{wait('LAST')}\n{FREE}",
    ),
    "a barrier instead of the commit's mbarrier": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"{SET_UP}\n{SYNC}{MMA} // note\n{COMMIT}\n{SYNC}{wait(mark=' // +')}\n{LOAD} // E410\n"
        f"{WAIT.format('ld')}\n{wait('LAST')}\n{FREE}",
    ),
    "the other CTA's store is not waited for": (
        "uses column 0 of tensor memory, which 'tcgen05.st' writes",
        f"{SET_UP}\n{STORE} // note\n{WAIT.format('st')} // +\n\t@!%p7 bra WAITED; // -\n"
        f"\tbra BEHIND; // -\nWAITED: // -\n{WAIT.format('st')} // -\nBEHIND: // -\n"
        f"{SYNC}\tsetp.eq.u32 %p4, %r1, %r1;\n{MMA} // E410\n{COMMIT}\n{wait()}\n{WAIT.format('st')}\n{FREE}",
    ),
    "no proxy fence in the other CTA": (
        "the asynchronous proxy reads byte 0 of variable 'tile'",
        f"{SET_UP}\n{ZEROS} // note\n{FENCE} // +\n\t@!%p7 fence.proxy.async.shared::cta; // -\n"
        f"{SYNC}{MMA} // E410\n{COMMIT}\n{wait()}\n{FREE}",
    ),
    "the other CTA overwrites a factor": (
        "of CTA (1,0,0) writes byte",
        f"{SET_UP}\n{SYNC}{MMA} // note\n{COMMIT}\n{RELAXED}{wait(mark=' // +')}\n"
        f"\t@%p7 st.shared.v4.u32 [%r21], {{%r1, %r1, %r1, %r1}}; // E410\n{wait('LAST')}\n{FREE}",
    ),
    "freed before the commit": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"{SET_UP}\n{SYNC}{MMA} // note\n{COMMIT}\n{RELAXED}{wait(mark=' // +')}\n\t@%p3 bra FREED;\n"
        f"\ttcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32; // E410\nFREED:\n{wait('LAST')}\n{SYNC}",
    ),
    "never freed by the other CTA": (
        "tensor memory is never freed: 32 columns of CTA (1,0,0)",
        BEGIN
        + ALLOCATE.replace("{mark}", " // E419")
        + SKIP
        + FREE.replace("DONE:", "OVER:\nDONE:")
        # the second CTA waits at the barrier too
        .replace(SYNC, "")
        .replace("@%p3", f"{SYNC}\t@%p3")
        .replace("\t\tbarrier", "\tbarrier"),
    ),
    "allocation after the permit is given up": (
        "allocates tensor memory after its CTA has given up the permit to",
        f"""{BEGIN}
	setp.ge.u32 %p3, %r1, 32;
	@%p3 bra FIRST;
	tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; // - note
FIRST:
	bar.sync 0;
{ALLOCATE.replace("{mark}", " // E419")}{FREE}""",
    ),
    "a copy to both tensor memories": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"{SET_UP}\n{ZEROS}\n{FENCE}\n{SYNC}\t@%p6 tcgen05.cp.cta_group::2.128x128b [%r10], %d4; // note\n{COMMIT}\n"
        f"{RELAXED}{SKIP}{wait()}\nOVER:\n{LOAD} // E410\n{WAIT.format('ld')}\n{wait('LAST')}\n{FREE}",
    ),
    "a shift in both tensor memories": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"{SET_UP}\n{STORE}\n{WAIT.format('st')}\n{SYNC}\t@%p6 tcgen05.shift.cta_group::2.down [%r10]; // note\n"
        f"{COMMIT}\n{RELAXED}{SKIP}{wait()}\nOVER:\n{LOAD} // E410\n{WAIT.format('ld')}\n{wait('LAST')}\n{FREE}",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_pair_is_found(name: str) -> None:
    says, body = FAULTS[name]
    assert_found(body.replace("{mark}", ""), says, target="sm_100a", threads=128, grid=2, cluster=2)


MULTICAST = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"


def test_a_multicast_that_the_other_cta_does_not_wait_for() -> None:
    map_: Any = ptxsim.TensorMap(np.ones((8, 32), np.float32), (8, 32))
    body = f"""{BEGIN}
{SYNC}	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 1024;
	@%p6 {MULTICAST} [tile], [%d3, {{0, 0}}], [gate], %h; // note
{RELAXED}{SKIP}{wait()}
OVER:
	ld.shared.u32 %r4, [tile]; // E410
	mad.wide.u32 %d5, %r20, 4, %d1;
	st.global.u32 [%d5], %r4;
{wait("LAST")}{SYNC}"""
    assert_found(body, "reads byte 0 of variable 'tile'", threads=32, grid=2, cluster=2, map_=map_)


ARRIVE = """
	mov.u32 %r5, gate;
	xor.b32 %r6, %r20, 1;
	mapa.shared::cluster.u32 %r6, %r5, %r6;
	@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];"""


def test_an_mbarrier_that_is_not_published() -> None:
    """A relaxed barrier orders nothing; a barrier of the CTA is not for others."""
    begin = BEGIN.replace("\tfence.mb", "\tbar.sync 0;\n\tfence.mb").replace(
        "release.cluster;", "release.cluster; // +"
    )
    body = begin.replace("[gate], 1;", "[gate], 1; // note") + RELAXED + ARRIVE + f" // E410\n{wait()}{SYNC}"
    says = "uses the mbarrier at byte 0 of variable 'gate' (8 bytes) in shared memory of another CTA, to which its"
    assert_found(body, says, threads=64, grid=2, cluster=2)


def test_an_mbarrier_of_another_cta_that_is_not_initialised() -> None:
    body = BEGIN.replace("@%p1 mbarrier.init", "@%p6 mbarrier.init", 1).replace(
        "\t@%p6 mbarrier.init.shared.b64 [gate], 1;",
        "\t@%p6 mbarrier.init.shared.b64 [gate], 1; // -\n\t@%p1 mbarrier.init.shared.b64 [gate], 1; // +",
    )
    body += f"{SYNC}\tsetp.eq.and.u32 %p1, %r20, 0, %p1;{ARRIVE} // E419\n{SYNC}"
    assert_found(body, "which has not been initialised", threads=32, grid=2, cluster=2)


def test_what_is_published_later_counts() -> None:
    """The barrier of the cluster is relaxed; a later release for the cluster, by another warp, publishes too."""
    body = (
        BEGIN.replace("\tfence.mbarrier_init.release.cluster;\n", "\tbar.sync 0;\n")
        + f"""{RELAXED}
	setp.eq.u32 %p3, %r1, 32;
	@%p3 fence.acq_rel.cluster;
{SYNC}{ARRIVE}
{wait()}{SYNC}"""
    )
    assert problems(texts(body)[1], threads=64, grid=2, cluster=2) == ()
