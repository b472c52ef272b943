"""The loop of a cluster: its CTAs take turns, also where one spins on what another stores."""

import numpy as np
from built import kernel_of

import ptxsim

WAIT = """
	.shared .align 4 .b32 cell;
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, cell;
	setp.eq.u32 %p1, %r1, 1;
	@%p1 bra SECOND;
SPIN:
	ld.volatile.shared.u32 %r10, [cell];
	setp.eq.u32 %p2, %r10, 0;
	@%p2 bra SPIN;
	bra OUT;
SECOND:
	mov.u32 %r3, 0;
	mapa.shared::cluster.u32 %r4, %r2, %r3;
	mov.u32 %r10, 42;
	st.relaxed.cluster.shared::cluster.u32 [%r4], %r10;
OUT:
	ld.param.u64 %l0, [p];
	mov.u32 %r20, %ctaid.x;
	mul.wide.u32 %l1, %r20, 4;
	add.u64 %l0, %l0, %l1;
	st.global.u32 [%l0], %r10;
"""


def test_a_cta_waits_for_what_another_stores_in_its_memory() -> None:
    """Rank 0 spins until rank 1 has stored 42 in rank 0's memory, in each of two clusters; with checks too."""
    for checks in ((), ("memory", "init", "races", "barriers")):
        out = np.zeros(4, np.uint32)
        result = ptxsim.run(kernel_of(WAIT), 4, 1, [out], cluster=2, check=checks)
        assert out.tolist() == [42, 42, 42, 42]
        assert not result.problems


def test_counts_are_those_of_all_ctas() -> None:
    """Without clusters and with: as many CTAs and instructions."""
    body = "mov.u32 %r10, %ctaid.x; add.u32 %r10, %r10, 1;"
    results = [
        ptxsim.run(kernel_of(body), 4, 64, [np.zeros(4, np.uint32)], cluster=c) for c in (None, 1, 2, 4)
    ]
    assert len({(r.ctas, r.warp_instructions) for r in results}) == 1
