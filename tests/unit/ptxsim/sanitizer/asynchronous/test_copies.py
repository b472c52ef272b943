"""Bulk copies: what is read or changed before they are complete, addresses and sizes, and code that waits."""

from typing import Any

import numpy as np
import pytest
from asynchronous_runs import OPEN, assert_found, problems, texts, wait

import ptxsim

LOAD = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
TENSOR = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate],"
FILL = """
	shl.b32 %r4, %r1, 2;
	add.u32 %r4, %r4, %r3;
	st.shared.u32 [%r4], %r1;
	fence.proxy.async.shared::cta;
	bar.sync 0;
"""

FAULTS: dict[str, tuple[str, str]] = {
    "read before the mbarrier is waited for": (
        "reads byte 0 of variable 'tile'",
        f"""{OPEN}
	{EXPECT} 128;
	@%p1 {LOAD} [tile], [%d2], 128, [gate]; // note
{wait(mark=" // +")}
	ld.shared.u32 %r4, [tile]; // E410
	st.global.u32 [%d1], %r4;
""",
    ),
    "source overwritten before the group is waited for": (
        "which an asynchronous operation reads",
        f"""{FILL}
	@%p1 {STORE} [%d1], [tile], 128; // note
	@%p1 cp.async.bulk.commit_group;
	@%p1 cp.async.bulk.wait_group.read 0; // +
	bar.sync 0;
	st.shared.u32 [%r4], 7; // E410
	@%p1 cp.async.bulk.wait_group.read 0; // -
""",
    ),
    "waits for the group before": (
        "which an asynchronous operation reads",
        f"""{FILL}
	@%p1 {STORE} [%d1], [tile], 64;
	@%p1 cp.async.bulk.commit_group;
	@%p1 {STORE} [%d1+64], [tile+64], 64; // note
	@%p1 cp.async.bulk.commit_group;
	@%p1 cp.async.bulk.wait_group.read 1; // -
	@%p1 cp.async.bulk.wait_group.read 0; // +
	bar.sync 0;
	st.shared.u32 [%r4], 7; // E410
	@%p1 cp.async.bulk.wait_group.read 0;
""",
    ),
    "ends while a copy may read": (
        "thread (0,0,0) of CTA (0,0,0) ends, and its bulk copy may still read shared memory",
        f"""{FILL}
	@%p1 {STORE} [%d1], [tile], 128; // E410
	@%p1 cp.async.bulk.commit_group;
	@%p1 cp.async.bulk.wait_group.read 0; // +
""",
    ),
    "destination read before all of the copy is waited for": (
        "reads byte 0 of buffer 'out'",
        f"""{FILL}
	@%p1 {STORE} [%d1], [tile], 128; // note
	@%p1 cp.async.bulk.commit_group;
	@%p1 cp.async.bulk.wait_group.read 0; // -
	@%p1 cp.async.bulk.wait_group 0; // +
	bar.sync 0;
	ld.global.u32 %r5, [%d1]; // E410
	st.shared.u32 [tile+1024], %r5;
""",
    ),
    "beyond the buffer": (
        "starts a bulk copy of bytes out of bounds: byte 8064 of buffer 'in'",
        f"""{OPEN}
	{EXPECT} 256;
	@%p1 {LOAD} [tile], [%d2+8064], 256, [gate]; // - E404
	@%p1 {LOAD} [tile], [%d2+7936], 256, [gate]; // +
{wait()}
""",
    ),
    "beyond shared memory": (
        "starts a bulk copy of bytes out of bounds",
        f"""{OPEN}
	{EXPECT} 128;
	@%p1 {LOAD} [tile+65536], [%d2], 128, [gate]; // - E404
	@%p1 {LOAD} [tile], [%d2], 128, [gate]; // +
{wait()}
""",
    ),
    "misaligned address": (
        "starts a bulk copy at byte 8 of variable 'tile' (8192 bytes) in shared memory, and an address or the size is",
        f"""{OPEN}
	{EXPECT} 128;
	@%p1 {LOAD} [tile+8], [%d2], 128, [gate]; // - E405
	@%p1 {LOAD} [tile+16], [%d2], 128, [gate]; // +
{wait()}
""",
    ),
    "size of 24 bytes": (
        "an address or the size is not aligned",
        f"""{OPEN}
	mov.u32 %r5, 24; // -
	mov.u32 %r5, 32; // +
	{EXPECT} %r5;
	@%p1 {LOAD} [tile], [%d2], %r5, [gate]; // - E405
	@%p1 {LOAD} [tile], [%d2], %r5, [gate]; // +
{wait()}
""",
    ),
}
HANGS = ("beyond the buffer", "beyond shared memory", "misaligned address", "size of 24 bytes")
"""The copy that is left out is waited for."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    says, body = FAULTS[name]
    assert_found(body, says, more="E407" if name in HANGS else "")


def test_a_ring_of_two_stages_is_clean() -> None:
    """The last warp fetches, the first one reads; a stage is given back through an mbarrier."""
    body = f"""
	.shared .align 8 .b64 gates[4];
	mov.u32 %r10, gates;
	@%p1 mbarrier.init.shared.b64 [%r10], 1;
	@%p1 mbarrier.init.shared.b64 [%r10+8], 1;
	@%p1 mbarrier.init.shared.b64 [%r10+16], 32;
	@%p1 mbarrier.init.shared.b64 [%r10+24], 32;
	bar.sync 0;
	mov.u32 %r11, 0;
NEXT:
	and.b32 %r12, %r11, 1;
	shl.b32 %r13, %r12, 3;
	add.u32 %r13, %r13, %r10;
	shl.b32 %r14, %r12, 7;
	add.u32 %r14, %r14, %r3;
	shr.u32 %r15, %r11, 1;
	and.b32 %r15, %r15, 1;
	setp.eq.u32 %p3, %r2, 0;
	@%p3 bra READS;
	xor.b32 %r15, %r15, 1;
FREE:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r13+16], %r15;
	@!%p2 bra FREE;
	setp.eq.u32 %p4, %r1, 32;
	@%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r13], 128;
	@%p4 {LOAD} [%r14], [%d2], 128, [%r13];
	bra LAST;
READS:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r13], %r15;
	@!%p2 bra READS;
	shl.b32 %r16, %r1, 2;
	add.u32 %r16, %r16, %r14;
	ld.shared.u32 %r17, [%r16];
	mbarrier.arrive.shared.b64 %d4, [%r13+16];
LAST:
	add.u32 %r11, %r11, 1;
	setp.lt.u32 %p5, %r11, 9;
	@%p5 bra NEXT;
"""
    assert problems(texts(body)[1], threads=64) == ()


def test_a_tensor_map_that_is_changed_needs_its_fence() -> None:
    """The map lies in global memory, and thread 0 changes its address."""
    map_: Any = ptxsim.TensorMap(np.zeros((8, 32), np.float32), (8, 32))
    body = f"""{OPEN}
	mov.u32 %r6, 0;
	add.s64 %d5, %d1, 1024;
	@!%p1 bra COPIED;
MORE:
	cvt.u64.u32 %d6, %r6;
	add.s64 %d7, %d3, %d6;
	ld.u64 %d8, [%d7];
	add.s64 %d9, %d5, %d6;
	st.global.u64 [%d9], %d8; // note
	add.u32 %r6, %r6, 8;
	setp.lt.u32 %p3, %r6, 128;
	@%p3 bra MORE;
	fence.proxy.tensormap::generic.release.gpu; // +
	fence.proxy.tensormap::generic.acquire.gpu [%d5], 128; // +
COPIED:
	{EXPECT} 1024;
	@%p1 {TENSOR} [tile], [%d5, {{0, 0}}], [gate]; // E410
{wait()}
"""
    assert_found(body, "uses the tensor map at byte 1024 of buffer 'out'", map_=map_)
