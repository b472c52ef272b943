"""Tensor memory: allocation and the permit, columns that are read before what writes them is complete."""

import pytest
from asynchronous_runs import OPEN, assert_found, wait

ALLOCATE = """
	setp.ge.u32 %p3, %r1, 32;
	@%p3 bra GO;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;{mark}
GO:
	bar.sync 0;
	ld.shared.u32 %r10, [place];
	shl.b32 %r11, %r2, 21;
	add.u32 %r11, %r11, %r10;
"""
FREE = """
	bar.sync 0;
	@%p3 bra DONE;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;
DONE:
"""
# M = 128, N = 16, kind::f16 into .f32, both factors K-major without a swizzle
PRODUCT = """
	shr.u32 %r4, %r3, 4;
	cvt.u64.u32 %d4, %r4;
	or.b64 %d4, %d4, 0x0000400800080000;
	mov.u32 %r5, 0x08040010;
	setp.ne.u32 %p4, %r1, %r1;
"""
MMA = "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d4, %d4, %r5, %p4;"
STORE = "\ttcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1};"
LOAD = "\ttcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r11];"
WAIT = "\ttcgen05.wait::{}.sync.aligned;"

FAULTS: dict[str, tuple[str, str]] = {
    "never freed": (
        "tensor memory is never freed: 32 columns of CTA (0,0,0)",
        ALLOCATE.replace("{mark}", " // E419")
        + "".join(f"{line} // +\n" for line in FREE.strip("\n").split("\n")),
    ),
    "freed twice": (
        "tcgen05.dealloc of tensor memory that is not allocated: lane 0, column 0",
        ALLOCATE
        + FREE.replace("DONE:", "\ttcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32; // - E404\nDONE:"),
    ),
    "used after it is freed": (
        "access to tensor memory that is not allocated, or no longer: lane",
        f"{ALLOCATE}\n{STORE} // +\n{WAIT.format('st')}\n{FREE}\n\tbar.sync 0;\n{STORE} // - E404\n",
    ),
    "lanes of another warp": (
        "access to lanes of tensor memory that belong to another warp: lane 0, column 0",
        f"{ALLOCATE}\n\tmov.u32 %r11, %r10; // -\n{STORE} // E404\n{WAIT.format('st')}\n{FREE}",
    ),
    "allocation after the permit is given up": (
        "allocates tensor memory after its CTA has given up the permit to",
        f"""
	setp.ge.u32 %p3, %r1, 32;
	@%p3 bra FIRST;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; // - note
FIRST:
	bar.sync 0;
{ALLOCATE.replace("{mark}", " // E419")}{FREE}""",
    ),
    "a load before a store is waited for": (
        "uses column 0 of tensor memory, which 'tcgen05.st' writes",
        f"{ALLOCATE}\n{STORE} // note\n{WAIT.format('st')} // +\n{LOAD} // E410\n"
        f"{WAIT.format('ld')}\n{WAIT.format('st')}\n{FREE}",
    ),
    "a load before the commit of a product": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"""{OPEN}{ALLOCATE}{PRODUCT}
	{MMA} // note
	@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [gate];
{wait(mark=" // +")}
{LOAD} // E410
{WAIT.format("ld")}
{wait("LAST")}
{FREE}""",
    ),
    "a load before a commit to CTAs of a mask": (
        "uses column 0 of tensor memory, which a product or a copy writes",
        f"""{OPEN}{ALLOCATE}{PRODUCT}
	.reg .b16 %h;
	mov.b16 %h, 1;
	{MMA} // note
	@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [gate], %h;
{wait(mark=" // +")}
{LOAD} // E410
{WAIT.format("ld")}
{wait("LAST")}
{FREE}""",
    ),
    "metadata whose store is not waited for": (
        "uses column 16 of tensor memory, which 'tcgen05.st' writes",
        f"""{OPEN}{ALLOCATE}{PRODUCT}
	or.b32 %r5, %r5, 4;
	add.u32 %r12, %r11, 16;
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {{%r1}}; // note
	tcgen05.wait::st.sync.aligned; // +
	bar.sync 0;
	@%p1 tcgen05.mma.sp.cta_group::1.kind::f16 [%r10], %d4, %d4, [%r10+16], %r5, %p4; // E410
	@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [gate];
{wait()}
	tcgen05.wait::st.sync.aligned;
{FREE}""",
    ),
    "a product of what a thread has written": (
        "the asynchronous proxy reads byte 0",
        f"""{OPEN}{ALLOCATE}{PRODUCT}
	@%p1 st.shared.u32 [%r3], 0; // note
	fence.proxy.async.shared::cta; // +
	{MMA} // E410
	@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [gate];
{wait()}
{FREE}""",
    ),
    "a factor is overwritten before the product is waited for": (
        "which an asynchronous operation reads",
        f"""{OPEN}{ALLOCATE}{PRODUCT}
	{MMA} // note
	@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [gate];
{wait(mark=" // +")}
	bar.sync 0;
	@%p1 st.shared.u32 [%r3], 7; // E410
{wait("LAST")}
{FREE}""",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    says, body = FAULTS[name]
    assert_found(body.replace("{mark}", ""), says, target="sm_100a", threads=128)
