"""A product of matrices by two CTAs with one tensor core: tensor copies, products, commits and mbarriers of a pair."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim import TensorMap
from ptxtool.parse import parse

M, N, K, DEPTH = 256, 64, 192, 64  # DEPTH: of the tiles that are copied at once
REGISTERS = "{" + ", ".join(f"%f{j}" for j in range(N)) + "}"
MULTIPLY = (
    "\t@%p1 tcgen05.mma.cta_group::2.kind::f16 [%r6], %d5, %d6, %r9, %p4;\n"
    "\tadd.s64 %d5, %d5, 2;\n\tadd.s64 %d6, %d6, 2;\n\tsetp.eq.u32 %p4, %r1, %r1;\n"
) * (DEPTH // 16)
STORE = "".join(f"\tst.global.f32 [%d1+{4 * j}], %f{j};\n" for j in range(N))
COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
TEXT = f""".version 8.8
.target sm_100a
.visible .entry k(.param .u64 out, .param .align 64 .b8 a[128], .param .align 64 .b8 b[128]) .reqnctapercluster 2
{{
	.shared .align 1024 .b8 of_a[{M // 2 * DEPTH * 2}];
	.shared .align 1024 .b8 of_b[{N // 2 * DEPTH * 2}];
	.shared .align 8 .b64 full;
	.shared .align 8 .b64 empty;
	.shared .b32 place;
	.reg .pred %p<8>;
	.reg .b16 %h;
	.reg .b32 %r<20>;
	.reg .f32 %f<{N}>;
	.reg .b64 %d<10>;
	ld.param.u64 %d1, [out];
	mov.b64 %d2, a;
	cvta.param.u64 %d2, %d2;
	mov.b64 %d3, b;
	cvta.param.u64 %d3, %d3;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %cluster_ctarank;
	mov.b16 %h, 3;
	setp.eq.u32 %p1, %r1, 0; // asks for copies
	setp.lt.u32 %p3, %r1, 32;
	setp.eq.and.u32 %p2, %r2, 0, %p3; // multiplies
	setp.eq.and.u32 %p6, %r2, 0, %p1;
	@%p1 mbarrier.init.shared.b64 [full], 1;
	@%p1 mbarrier.init.shared.b64 [empty], 1;
	fence.mbarrier_init.release.cluster;
	fence.proxy.async;
	@!%p3 bra ALLOCATED;
	tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], {N};
	tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
ALLOCATED:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.shared.u32 %r6, [place];
	mov.u32 %r7, full;
	mapa.shared::cluster.u32 %r7, %r7, 0; // the first CTA's
	mul.lo.u32 %r10, %r2, {M // 2};
	mul.lo.u32 %r11, %r2, {N // 2};
	mov.u32 %r9, {(M >> 4) << 24 | (N >> 3) << 17 | 1 << 4};
	mov.u32 %r12, 0; // along k
	mov.u32 %r13, 0; // the parity
	setp.ne.u32 %p4, %r1, %r1;
LOOP:
	@%p6 mbarrier.arrive.expect_tx.shared.b64 _, [full], {(M + N) * DEPTH * 2};
	@%p1 {COPY} [of_a], [%d2, {{%r12, %r10}}], [%r7];
	@%p1 {COPY} [of_b], [%d3, {{%r12, %r11}}], [%r7];
	@!%p2 bra AWAIT;
FULL:
	mbarrier.try_wait.parity.shared.b64 %p5, [full], %r13;
	@!%p5 bra FULL;
	mov.u32 %r14, of_a;
	shr.u32 %r14, %r14, 4;
	cvt.u64.u32 %d5, %r14;
	or.b64 %d5, %d5, {1024 >> 4 << 32 | 1 << 46 | 2 << 61};
	mov.u32 %r14, of_b;
	shr.u32 %r14, %r14, 4;
	cvt.u64.u32 %d6, %r14;
	or.b64 %d6, %d6, {1024 >> 4 << 32 | 1 << 46 | 2 << 61};
{MULTIPLY}	@%p1 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [empty], %h;
AWAIT:
	mbarrier.try_wait.parity.shared.b64 %p5, [empty], %r13;
	@!%p5 bra AWAIT;
	xor.b32 %r13, %r13, 1;
	add.u32 %r12, %r12, {DEPTH};
	setp.lt.u32 %p5, %r12, {K};
	@%p5 bra LOOP;
	tcgen05.fence::after_thread_sync;
	shr.u32 %r15, %r1, 5;
	shl.b32 %r15, %r15, 21;
	add.u32 %r15, %r15, %r6;
	tcgen05.ld.sync.aligned.32x32b.x{N}.b32 {REGISTERS}, [%r15];
	tcgen05.wait::ld.sync.aligned;
	add.u32 %r16, %r10, %r1;
	mul.wide.u32 %d7, %r16, {4 * N};
	add.s64 %d1, %d1, %d7;
{STORE}	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	@!%p3 bra FREED;
	tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r6, {N};
FREED:
	ret;
}}
"""


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch], ids=["functional", "timed"])
def test_a_product_of_two_ctas(run: Callable[..., Any]) -> None:
    """Small whole numbers: every sum is exact."""
    generator = np.random.default_rng(4)
    a, b = (generator.integers(-4, 5, (lines, K)).astype(np.float16) for lines in (M, N))
    maps = (
        TensorMap(a, box=(DEPTH, M // 2), swizzle="128B"),
        TensorMap(b, box=(DEPTH, N // 2), swizzle="128B"),
    )
    out = np.zeros((M, N), np.float32)
    run(parse(TEXT).kernels["k"], 2, 128, [out, *maps])
    assert (out == a.astype(np.float32) @ b.astype(np.float32).T).all()
    if run is ptxsim.run:
        assert run(parse(TEXT).kernels["k"], 2, 128, [out, *maps], check="all").problems == ()
