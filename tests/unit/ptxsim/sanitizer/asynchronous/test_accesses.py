"""Matrices in shared memory: ordinary writes without a fence, swizzles, writes before products have read factors."""

from typing import Any

import numpy as np
from asynchronous_runs import OPEN, assert_found, wait

import ptxsim

LOAD = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d4, %d5, 1, 1, 1, 0, 0;"
ZEROS = "\tmov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
DESCRIPTORS = f"""
{ZEROS}	shr.u32 %r4, %r3, 4;
	cvt.u64.u32 %d4, %r4;
	or.b64 %d4, %d4, 0x0000000800080000;
	add.s64 %d5, %d4, 256;
	shl.b32 %r5, %r1, 5;
	add.u32 %r5, %r5, %r3;
"""
END = """
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
"""


def test_a_product_of_what_threads_have_written() -> None:
    body = f"""{DESCRIPTORS}
	st.shared.v4.u32 [%r5], {{%r1, %r1, %r1, %r1}}; // note
	fence.proxy.async.shared::cta; // +
	bar.sync 0;
	wgmma.fence.sync.aligned;
	{MMA} // E410
{END}"""
    assert_found(body, "the asynchronous proxy reads byte", threads=128)


def test_a_product_without_a_barrier() -> None:
    body = f"""{DESCRIPTORS}
	st.shared.v4.u32 [%r5], {{%r1, %r1, %r1, %r1}}; // note
	fence.proxy.async.shared::cta;
	bar.sync 0; // +
	wgmma.fence.sync.aligned;
	{MMA} // E410
{END}"""
    assert_found(body, "reads byte", threads=128)


def test_a_factor_is_overwritten_before_the_wait() -> None:
    body = f"""{DESCRIPTORS}
	wgmma.fence.sync.aligned;
	{MMA} // note
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0; // +
	bar.sync 0;
	st.shared.v4.u32 [%r5], {{%r1, %r1, %r1, %r1}}; // E410
	wgmma.wait_group.sync.aligned 0;
"""
    assert_found(body, "which an asynchronous operation reads", threads=128)


def test_a_warp_that_has_waited_speaks_for_its_group() -> None:
    """Another warp overwrites a factor when thread 96 has waited: a product is one of four warps."""
    body = f"""{OPEN}{DESCRIPTORS}
	setp.ge.u32 %p3, %r1, 128;
	@%p3 bra FIFTH;
	wgmma.fence.sync.aligned;
	{MMA} // note
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0; // +
	setp.eq.u32 %p4, %r1, 96;
	@%p4 mbarrier.arrive.shared.b64 %d6, [gate];
	wgmma.wait_group.sync.aligned 0; // -
	bra DONE;
FIFTH:
{wait()}
	setp.eq.u32 %p4, %r1, 128;
	@%p4 st.shared.u32 [tile], 7; // E410
DONE:
"""
    assert_found(body, "which an asynchronous operation reads", threads=160)


def test_a_swizzle_that_differs_from_that_of_the_map() -> None:
    """64 rows of 64 halves come with a swizzle of 128 bytes; a product reads 16 of them as if it were one of 64."""
    map_: Any = ptxsim.TensorMap(np.ones((64, 64), np.float16), (64, 64), swizzle="128B")
    body = f"""{OPEN}{ZEROS}
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 8192;
	@%p1 {LOAD} [tile], [%d3, {{0, 0}}], [gate]; // note
{wait()}
	shr.u32 %r4, %r3, 4;
	cvt.u64.u32 %d4, %r4;
	or.b64 %d4, %d4, 0x8000004000010000; // -
	or.b64 %d4, %d4, 0x4000004000010000; // +
	mov.b64 %d5, %d4;
	wgmma.fence.sync.aligned;
	{MMA} // E419
{END}"""
    assert_found(body, "reads a matrix with one of 64 bytes at byte", threads=128, map_=map_)


def test_a_matrix_beyond_shared_memory() -> None:
    """The warp reads it as a whole: it is reported once for each warp, and the run goes on."""
    body = f"""{DESCRIPTORS}
	add.s64 %d5, %d4, 4096; // -
	wgmma.fence.sync.aligned;
	{MMA} // - E404
	{MMA} // +
{END}"""
    assert_found(body, "in shared memory, which has", threads=128)
