"""Clusters of CTAs, worked out by hand: in a run without time, by the reference, and timed."""

import numpy as np
import pytest
from three_ways import three_ways

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) DIRECTIVES
{
	.reg .pred %p<4>;
	.reg .b32 %r<30>;
	.reg .b64 %d<10>;
	.shared .align 16 .b8 tile[256];
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %cluster_ctarank;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ctaid.y;
	mov.u32 %r5, %nctaid.x;
	mad.lo.u32 %r5, %r4, %r5, %r3;
	mov.u32 %r6, %ntid.x;
	mad.lo.u32 %r5, %r5, %r6, %r1;
	mul.wide.u32 %d2, %r5, 4;
	add.s64 %d2, %d1, %d2;
"""
TAIL = """
	st.global.u32 [%d2], %r10;
	ret;
}
"""
SYNC = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"


def text(body: str, directives: str = "") -> str:
    return HEAD.replace("DIRECTIVES", directives) + body + TAIL


def run(
    body: str, grid: tuple[int, ...], block: int, cluster: tuple[int, ...] | None, head: str = ""
) -> np.ndarray:
    n = int(np.prod(grid)) * block
    more = {} if cluster is None else {"cluster": cluster}
    results = three_ways(text(body, head), block, lambda: [np.zeros(n, np.uint32)], grid=grid, **more)
    return results[0][0].reshape(-1, block)


def test_arrivals_of_lanes_with_masks_of_their_own() -> None:
    """Lane n of CTA 1 arrives n % 3 + 1 times in the CTAs of mask n & 15, lane 0 in none; each CTA sees what is left of
    1000 arrivals in the state before its own one."""
    body = f"""
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [tile], 1000;
	fence.mbarrier_init.release.cluster;
	{SYNC}
	setp.eq.u32 %p2, %r2, 1;
	and.b32 %r12, %r1, 15;
	rem.u32 %r13, %r1, 3;
	add.u32 %r13, %r13, 1;
	@%p2 mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [tile], %r13, %r12;
	{SYNC}
	mov.u32 %r10, 0;
	mov.u64 %d5, 0;
	@%p1 mbarrier.arrive.shared.b64 %d5, [tile];
	@%p1 mbarrier.pending_count.b64 %r10, %d5;
"""
    found = run(body, (4,), 32, (4,))
    left = [1000 - sum(n % 3 + 1 for n in range(32) if n >> cta & 1) for cta in range(4)]
    assert found[:, 0].tolist() == left
    assert not found[:, 1:].any()


def test_special_registers() -> None:
    """A grid of 4 x 2 CTAs in clusters of 2 x 2: rank x + 2 y within a cluster, cluster x of 2, one row of clusters."""
    body = """
	mov.u32 %r10, %clusterid.x;
	mov.u32 %r11, %nclusterid.x;   mad.lo.u32 %r10, %r10, 10, %r11;
	mov.u32 %r11, %nclusterid.y;   mad.lo.u32 %r10, %r10, 10, %r11;
	mov.u32 %r11, %cluster_ctaid.x; mad.lo.u32 %r10, %r10, 10, %r11;
	mov.u32 %r11, %cluster_ctaid.y; mad.lo.u32 %r10, %r10, 10, %r11;
	mov.u32 %r11, %cluster_nctaid.x; mad.lo.u32 %r10, %r10, 10, %r11;
	mov.u32 %r11, %cluster_nctarank; mad.lo.u32 %r10, %r10, 10, %r11;
	mad.lo.u32 %r10, %r10, 10, %r2;
	mov.pred %p1, %is_explicit_cluster;
	selp.u32 %r11, 1, 0, %p1;
	mad.lo.u32 %r10, %r10, 10, %r11;
"""
    found = run(body, (4, 2), 1, (2, 2))[:, 0].tolist()
    # clusterid.x, nclusterid.x, nclusterid.y, cluster_ctaid.x, .y, cluster_nctaid.x, cluster_nctarank, rank, explicit
    assert found == [
        (21002401), (21102411), (121002401), (121102411),
        (21012421), (21112431), (121012421), (121112431),
    ]  # fmt: skip
    alone = run(body, (2,), 1, None)[:, 0].tolist()
    assert alone == [21001100, 121001100]


def test_every_cta_reads_its_neighbour() -> None:
    """Thread t of rank r stores 100 r + t; it then loads what thread t of rank r + 1 (of 4) has stored."""
    body = f"""
	mad.lo.u32 %r7, %r2, 100, %r1;
	mov.u32 %r8, tile;
	mad.lo.u32 %r9, %r1, 4, %r8;
	st.shared.u32 [%r9], %r7;
	{SYNC}
	add.u32 %r11, %r2, 1;
	and.b32 %r11, %r11, 3;
	mapa.shared::cluster.u32 %r12, %r9, %r11;
	ld.shared::cluster.u32 %r10, [%r12];
	{SYNC}
"""
    found = run(body, (8,), 48, (4,))
    for cta in range(8):
        assert found[cta].tolist() == [100 * ((cta % 4 + 1) % 4) + t for t in range(48)]


def test_generic_addresses_atomics_and_ranks() -> None:
    """All 2 x 32 threads add 1 to a word of rank 1 through a generic address; getctarank says where it lies."""
    body = f"""
	mov.u32 %r8, tile;
	mov.u32 %r9, 5;
	st.shared.u32 [%r8], %r9;
	{SYNC}
	cvta.shared.u64 %d3, tile;
	mov.u32 %r13, 1;
	mapa.u64 %d4, %d3, %r13;
	atom.add.u32 %r14, [%d4], 1;
	getctarank.u64 %r15, %d4;
	getctarank.u64 %r16, %d3;
	isspacep.shared::cluster %p1, %d4;
	isspacep.shared::cta %p2, %d3;
	selp.u32 %r17, 1, 0, %p1;
	selp.u32 %r18, 1, 0, %p2;
	{SYNC}
	ld.shared.u32 %r10, [tile];
	mad.lo.u32 %r10, %r10, 10, %r15;
	mad.lo.u32 %r10, %r10, 10, %r16;
	mad.lo.u32 %r10, %r10, 10, %r17;
	mad.lo.u32 %r10, %r10, 10, %r18;
"""
    found = run(body, (2,), 32, (2,))
    assert set(found[0].tolist()) == {51011}  # 5; 1, 0, 1, 1
    assert set(found[1].tolist()) == {691111}  # 5 + 64


def test_the_head_of_a_kernel_says_the_clusters() -> None:
    body = f"mov.u32 %r10, %cluster_nctarank; {SYNC}"
    head = ".explicitcluster .reqnctapercluster 2"
    assert run(body, (4,), 1, None, head)[:, 0].tolist() == [2, 2, 2, 2]


def test_threads_that_exit_are_not_waited_for() -> None:
    """The first warp of rank 0 exits at once; the others meet at the barrier, without `.aligned` too."""
    body = """
	mov.u32 %r10, 7;
	setp.lt.u32 %p1, %r1, 32;
	setp.eq.and.u32 %p1, %r2, 0, %p1;
	@%p1 bra OUT;
	barrier.cluster.arrive.release;
	mov.u32 %r10, 8;
	barrier.cluster.wait.acquire;
OUT:
"""
    found = run(body, (2,), 64, (2,))
    assert found.tolist() == [[7] * 32 + [8] * 32, [8] * 64]


BOTH = (functional.run, ptxsim.launch)


@pytest.mark.parametrize("way", BOTH)
def test_memory_of_a_cta_that_has_ended(way) -> None:
    """Rank 0 ends; rank 1 spins a while and then loads from it."""
    body = """
	setp.eq.u32 %p1, %r2, 0;
	@%p1 ret;
	mov.u32 %r9, 3000;
L:	sub.u32 %r9, %r9, 1;
	setp.ne.u32 %p2, %r9, 0;
	@%p2 bra L;
	mov.u32 %r8, tile;
	mov.u32 %r11, 0;
	mapa.shared::cluster.u32 %r12, %r8, %r11;
	ld.shared::cluster.u32 %r10, [%r12];
"""
    with pytest.raises(PtxError, match="E404"):
        way(parse(text(body)).kernels["k"], 2, 32, [np.zeros(64, np.uint32)], cluster=2)


@pytest.mark.parametrize("way", BOTH)
def test_what_is_refused(way) -> None:
    kernel = parse(text("mov.u32 %r10, 1;", ".maxclusterrank 4")).kernels["k"]
    given = [np.zeros(64, np.uint32)]
    for cluster, grid in (((3,), 4), ((8,), 8), ((17,), 17)):
        with pytest.raises(PtxError, match="E402"):
            way(kernel, grid, 1, given, cluster=cluster)
    with pytest.raises(PtxError, match="E401"):
        way(kernel, 4, 1, given, cluster=0)
    required = parse(text("mov.u32 %r10, 1;", ".reqnctapercluster 2")).kernels["k"]
    with pytest.raises(PtxError, match="takes clusters of 2 x 1 x 1"):
        way(required, 4, 1, given, cluster=4)
    explicit = parse(text("mov.u32 %r10, 1;", ".explicitcluster")).kernels["k"]
    with pytest.raises(PtxError, match="has to say its clusters"):
        way(explicit, 4, 1, given)


def test_a_barrier_that_one_cta_does_not_reach() -> None:
    """Rank 1 waits at its CTA's barrier for warp 1, which waits at the cluster's."""
    body = f"""
	mov.u32 %r10, 1;
	setp.eq.u32 %p1, %r2, 0;
	@%p1 bra C;
	setp.lt.u32 %p2, %r1, 32;
	@%p2 bra B;
C:	{SYNC}
	bra END;
B:	bar.sync 0;
END:
"""
    kernel = parse(text(body)).kernels["k"]
    with pytest.raises(PtxError, match=r"E40[67].*barrier\.cluster\.wait"):
        functional.run(kernel, 2, 64, [np.zeros(128, np.uint32)], cluster=2)


def test_planes_of_clusters_are_numbered_as_in_the_reference() -> None:
    """A grid of 2 x 4 in clusters of 1 x 2: each CTA reports the %ctaid.y of the next rank."""
    body = f"""
	mov.u32 %r8, tile;
	st.shared.u32 [%r8], %r4;
	{SYNC}
	xor.b32 %r11, %r2, 1;
	mapa.shared::cluster.u32 %r12, %r8, %r11;
	ld.shared::cluster.u32 %r10, [%r12];
	{SYNC}
"""
    assert run(body, (2, 4), 1, (1, 2))[:, 0].tolist() == [1, 1, 0, 0, 3, 3, 2, 2]
