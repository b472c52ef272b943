"""Registers of `wgmma` and `tcgen05.ld`: read before the wait, changed before it, used without a fence."""

import pytest
from asynchronous_runs import assert_found, problems, texts

MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}"
DESCRIPTOR = """
	shr.u32 %r4, %r3, 4;
	cvt.u64.u32 %d4, %r4;
	or.b64 %d4, %d4, 0x0000000800080000;
	mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
	mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0; mov.b32 %r8, 0;
"""
PRODUCT = f"\t{MMA}, %d4, %d4, 1, 1, 1, 0, 0;"
FENCE, COMMIT, WAIT = (
    f"\twgmma.{what};"
    for what in ("fence.sync.aligned", "commit_group.sync.aligned", "wait_group.sync.aligned 0")
)
USE = "\tmad.wide.u32 %d5, %r1, 4, %d1; st.global.f32 [%d5], %f2;"

FAULTS = {
    "no wait": (
        "uses register '%f2', which 'wgmma' may still write",
        [FENCE, PRODUCT, COMMIT, f"{WAIT} // +", f"{USE} // E410"],
    ),
    "the group is not committed": (
        "may still write",
        [FENCE, PRODUCT, f"{COMMIT} // +", WAIT, f"{USE} // E410"],
    ),
    "waits for the group before": (
        "may still write",
        [
            FENCE,
            PRODUCT,
            COMMIT,
            PRODUCT,
            COMMIT,
            f"{WAIT.replace('0;', '1;')} // -",
            f"{WAIT} // +",
            f"{USE} // E410",
            WAIT,
        ],
    ),
    "written before the wait": (
        "uses register '%f1'",
        [FENCE, PRODUCT, COMMIT, f"{WAIT} // +", "\tadd.f32 %f1, %f5, 0f00000000; // E410", WAIT],
    ),
    "a copy of a register is read": (
        "uses register '%f6'",
        [
            FENCE,
            PRODUCT,
            COMMIT,
            "\tmov.f32 %f6, %f2;",
            f"{WAIT} // +",
            "\tmad.wide.u32 %d5, %r1, 4, %d1; st.global.f32 [%d5], %f6; // E410",
            WAIT,
        ],
    ),
    "no fence": (
        "uses register '%f1', and no 'wgmma.fence'",
        [f"{FENCE} // +", f"{PRODUCT} // E410", COMMIT, WAIT],
    ),
    "no fence after an accumulator is changed": (
        "uses register '%f3', and no 'wgmma.fence'",
        [FENCE, "\tadd.f32 %f3, %f1, %f1;", f"{FENCE} // +", f"{PRODUCT} // E410", COMMIT, WAIT],
    ),
    "A is changed before the wait": (
        "uses register '%r6', which 'wgmma' may still read",
        [
            FENCE,
            f"\t{MMA}, {{%r5, %r6, %r7, %r8}}, %d4, 1, 1, 1, 0;",
            COMMIT,
            f"{WAIT} // +",
            "\tadd.u32 %r6, %r6, 1; // E410",
            WAIT,
        ],
    ),
}


def test_a_missing_wait_is_one_finding() -> None:
    """Whatever number of registers it is for; the next one is another."""
    lines = [FENCE, PRODUCT, COMMIT, USE, USE.replace("%f2", "%f3"), PRODUCT, COMMIT, USE, WAIT]
    body = "\n".join([DESCRIPTOR, *lines, ""])
    found = problems(texts(body)[0], threads=128)
    uses = [n for n, line in enumerate(texts(body)[0].split("\n"), 1) if "st.global.f32" in line]
    assert [d.line for d in found] == [uses[0], uses[2]]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    says, lines = FAULTS[name]
    body = DESCRIPTOR + "\tmov.f32 %f5, %f1;\n" + "\n".join(lines) + "\n"
    assert_found(body, says, threads=128)


def test_a_chain_of_products_is_clean() -> None:
    body = "\n".join([DESCRIPTOR, FENCE, PRODUCT, PRODUCT, COMMIT, PRODUCT, COMMIT, WAIT, USE, ""])
    assert problems(texts(body)[1], threads=128) == ()


def test_loads_of_tensor_memory() -> None:
    body = """
	setp.ge.u32 %p3, %r1, 32;
	@%p3 bra GO;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;
GO:
	bar.sync 0;
	ld.shared.u32 %r10, [place];
	shl.b32 %r11, %r2, 21;
	add.u32 %r11, %r11, %r10;
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r11];
	tcgen05.wait::ld.sync.aligned; // +
	st.global.u32 [%d1], %r12; // E410
	tcgen05.wait::ld.sync.aligned; // -
	bar.sync 0;
	@%p3 bra DONE;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;
DONE:
"""
    # every thread stores to one place: threads of different values there would race
    body = body.replace("st.global.u32 [%d1]", "mad.wide.u32 %d5, %r1, 4, %d1;\n\tst.global.u32 [%d5]")
    assert_found(
        body, "uses register '%r12', which 'tcgen05.ld' may still write", target="sm_100a", threads=128
    )
