"""Clusters in timed runs: all CTAs of one are resident together."""

import numpy as np
import pytest
from built import kernel_of

import ptxsim
from ptxtool.base.diag import PtxError

BODY = """
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u32 %r10, %cluster_ctarank;
	ld.param.u64 %l0, [p];
	mov.u32 %r20, %ctaid.x;
	mul.wide.u32 %l1, %r20, 4;
	add.u64 %l0, %l0, %l1;
	st.global.u32 [%l0], %r10;
"""


def test_a_cluster_that_has_no_room_is_refused() -> None:
    """A Tesla C2050 has 14 SMs, and each room for one CTA of 1024 threads."""
    with pytest.raises(PtxError, match="a cluster of 16 CTAs, of which 14 are resident"):
        ptxsim.launch(kernel_of(BODY), 16, 1024, [np.zeros(16, np.uint32)], cluster=16)


TIMES = """
	mov.u32 %r1, %clock;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ld.param.u64 %l0, [p];
	mov.u32 %r20, %ctaid.x;
	mul.wide.u32 %l1, %r20, 8;
	add.u64 %l0, %l0, %l1;
	red.global.min.u32 [%l0], %r1;
	mov.u32 %r2, %clock;
	red.global.max.u32 [%l0+4], %r2;
"""


@pytest.mark.parametrize("event_skip", [True, False])
def test_clusters_wait_until_there_is_room_for_all_their_ctas(event_skip: bool) -> None:
    """Clusters of 8 CTAs of 1024 threads on 14 SMs: one at a time is resident, as 6 SMs are too few for the second.

    Every CTA stores when its first warp begins and when its last one ends. Those of a cluster begin together, 8 CTAs
    within 8 cycles and their first fetches, before any of them ends; those of the next one after all have ended.
    """
    out = np.tile(np.array([0xFFFFFFFF, 0], np.uint32), (32, 1))
    ptxsim.launch(kernel_of(TIMES), 32, 1024, [out], cluster=8, event_skip=event_skip)
    first, last = out[:, 0].reshape(4, 8).astype(int), out[:, 1].reshape(4, 8).astype(int)
    assert (first.max(axis=1) < last.min(axis=1)).all()
    assert (first.min(axis=1)[1:] > last.max(axis=1)[:-1]).all()


def test_clusters_are_not_simulated_with_cta_switching() -> None:
    with pytest.raises(PtxError, match=r"CTA switching .* together with clusters"):
        ptxsim.launch(kernel_of(BODY), 2, 32, [np.zeros(2, np.uint32)], cluster=2, scheme="virtual-thread")
