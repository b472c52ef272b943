"""Tensor memory: loads and stores of every shape, copies, shifts, allocation; where the words lie is worked by hand."""

import numpy as np
import pytest
from three_ways import three_ways

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

HEAD = """.version 8.8
.target sm_100a
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p<4>;
	.reg .b32 %r<60>;
	.reg .b64 %d<12>;
	.shared .align 1024 .b8 tile[8192];
	.shared .b32 place;
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra allocated;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;
allocated:
	bar.sync 0;
	ld.shared.u32 %r2, [place];
	shr.u32 %r3, %r1, 5;
	shl.b32 %r3, %r3, 21;
	add.u32 %r3, %r3, %r2;
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d4, %d1, %d3;
"""
FREE = """
	bar.sync 0;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra freed;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
freed:
	ret;
}
"""


def named(first: int, count: int) -> list[str]:
    return [f"%r{first + r}" for r in range(count)]


def listed(registers: list[str]) -> str:
    return "{" + ", ".join(registers) + "}"


def filled() -> str:
    """Every word has its lane and column: lane << 8 | column."""
    lines = [f"\tshl.b32 %r4, %r1, 8; add.u32 %r{20 + c}, %r4, {c};\n" for c in range(32)]
    return "".join(lines) + f"\ttcgen05.st.sync.aligned.32x32b.x32.b32 [%r3], {listed(named(20, 32))};\n"


def stored(registers: list[str]) -> str:
    return "".join(f"\tst.global.u32 [%d4+{512 * j}], {name};\n" for j, name in enumerate(registers))


def run(body: str, count: int, given: np.ndarray | None = None) -> np.ndarray:
    """What `count` registers have in 128 threads, if all runs agree."""
    data = np.zeros(4, np.uint32) if given is None else given
    text = HEAD + body + FREE
    return three_ways(text, 128, lambda: [np.zeros((count, 128), np.uint32), data.copy()])[0][0]


@pytest.mark.parametrize(
    ("shape", "count", "expected"),
    [
        # thread 13 of warp 2, whose lanes begin at 64: lane << 8 | column of its registers
        ("32x32b.x2", 2, [(77, 0), (77, 1)]),
        ("16x64b.x2", 2, [(67, 1), (67, 3)]),
        ("16x128b.x1", 2, [(67, 1), (75, 1)]),
        ("16x256b.x1", 4, [(67, 2), (67, 3), (75, 2), (75, 3)]),
    ],
)
def test_where_a_thread_finds_its_words(shape: str, count: int, expected: list[tuple[int, int]]) -> None:
    registers = named(20, count)
    body = (
        filled() + f"\ttcgen05.ld.sync.aligned.{shape}.b32 {listed(registers)}, [%r3];\n" + stored(registers)
    )
    found = run(body, count)
    assert [divmod(int(v), 256) for v in found[:, 64 + 13]] == expected


def test_two_halves() -> None:
    """The upper threads of a warp load from columns 10 later: thread 20 is lane 4."""
    body = (
        filled()
        + "\ttcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r20, %r21}, [%r3], 10;\n"
        + stored(named(20, 2))
    )
    found = run(body, 2)
    assert [divmod(int(v), 256) for v in found[:, 20]] == [(4, 10), (4, 11)]
    assert [divmod(int(v), 256) for v in found[:, 4]] == [(4, 0), (4, 1)]


def test_upper_lanes_of_a_warp() -> None:
    body = filled() + "\tadd.u32 %r5, %r3, 0x100000;\n"
    body += "\ttcgen05.ld.sync.aligned.16x64b.x1.b32 %r20, [%r5];\n" + stored(["%r20"])
    assert divmod(int(run(body, 1)[0, 0]), 256) == (16, 0)


def test_packed_halves() -> None:
    """Register 1 has the lower halves of columns 2 and 3; stored unpacked, they are two words again."""
    body = filled() + "\ttcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r20, %r21}, [%r3];\n"
    body += (
        "\tadd.u32 %r5, %r3, 8;\n\ttcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r5], {%r20, %r21};\n"
    )
    body += "\ttcgen05.ld.sync.aligned.32x32b.x2.b32 {%r22, %r23}, [%r3+10];\n" + stored(named(20, 4))
    found = run(body, 4)
    assert found[1, 5] == 0x0502 | 0x0503 << 16
    assert found[2:, 5].tolist() == [0x0502, 0x0503]


def test_shifted_lanes() -> None:
    body = filled() + "\tbar.sync 0;\n\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 bra shifted;\n"
    body += "\ttcgen05.shift.cta_group::1.down [%r2];\nshifted:\n\tbar.sync 0;\n"
    body += (
        "\ttcgen05.ld.sync.aligned.32x32b.x16.b32 "
        + listed(named(20, 16))
        + ", [%r3];\n"
        + stored(named(20, 16))
    )
    found = run(body, 16)
    assert divmod(int(found[7, 40]), 256) == (41, 7)  # of 8 columns
    assert divmod(int(found[8, 40]), 256) == (40, 8)
    assert divmod(int(found[7, 127]), 256) == (127, 7)  # the last lane stays


COPY = """
	mov.u32 %r6, tile;
	mov.u32 %r7, %r1;
copying:
	mul.wide.u32 %d5, %r7, 4;
	add.s64 %d5, %d2, %d5;
	ld.global.u32 %r8, [%d5];
	shl.b32 %r9, %r7, 2;
	add.u32 %r9, %r6, %r9;
	st.shared.u32 [%r9], %r8;
	add.u32 %r7, %r7, 128;
	setp.lt.u32 %p1, %r7, 2048;
	@%p1 bra copying;
	shr.u32 %r6, %r6, 4;
	cvt.u64.u32 %d6, %r6;
	or.b64 %d6, %d6, FIELDS;
	bar.sync 0;
	setp.ne.u32 %p2, %r1, 0;
	@%p2 bra copied;
	tcgen05.cp.cta_group::1.SHAPE [%r2], %d6;
copied:
	bar.sync 0;
"""


@pytest.mark.parametrize(
    ("shape", "lines", "chunks"),
    [
        ("128x256b", 128, 2), ("128x128b", 128, 1), ("64x128b.warpx2::02_13", 64, 1), ("64x128b.warpx2::01_23", 64, 1),
        ("4x256b", 4, 2), ("32x128b.warpx4", 32, 1),
        ("32x128b.warpx4.b8x16.b4x16_p64", 32, 1), ("128x128b.b8x16.b6x16_p32", 128, 1),
    ],
)  # fmt: skip
def test_copies(shape: str, lines: int, chunks: int) -> None:
    """No swizzle: a line's chunks are 128 bytes apart, eight lines 128 bytes, then come the next."""
    fields = 128 >> 4 << 16 | 128 * chunks >> 4 << 32 | 1 << 46
    given = np.random.default_rng(5).integers(0, 1 << 32, 2048, dtype=np.uint32)
    body = COPY.replace("SHAPE", shape).replace("FIELDS", str(fields))
    body += f"\ttcgen05.ld.sync.aligned.32x32b.x{4 * chunks}.b32 {listed(named(20, 4 * chunks))}, [%r3];\n"
    found = run(filled() + body + stored(named(20, 4 * chunks)), 4 * chunks, given)
    if ".b8x16." in shape:
        return  # elements of 4 and 6 bits: the runs agree
    lane = 96 if lines == 4 else 101
    row = (
        lane % 32
    )  # of the last warp's lanes; of 64 rows it has the second half, of 4 the last in the first lane
    source = {128: lane, 64: 32 + row, 32: row, 4: 3}[lines]
    first = source // 8 * 8 * 4 * chunks + source % 8 * 4
    assert found[:4, lane].tolist() == given[first : first + 4].tolist()
    assert lines > 4 or divmod(int(found[0, 97]), 256) == (97, 0)


def pair(text: str) -> str:
    """The text for two CTAs of a cluster, which have parts of `in` and `out` of their own."""
    own = "\tmul.wide.u32 %d7, %r10, 1024;\n\tadd.s64 %d1, %d1, %d7;\n\tmul.wide.u32 %d7, %r10, 8192;\n"
    text = text.replace(
        "(.param .u64 out, .param .u64 in)", "(.param .u64 out, .param .u64 in) .reqnctapercluster 2"
    )
    text = text.replace(
        "\tmov.u32 %r1, %tid.x;\n", f"\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r10, %cluster_ctarank;\n{own}"
    )
    text = text.replace(
        "\tadd.s64 %d4, %d1, %d3;\n", "\tadd.s64 %d4, %d1, %d3;\n\tadd.s64 %d2, %d2, %d7;\n", 1
    )
    text = text.replace(
        "\tsetp.ne.u32 %p2, %r1, 0;\n", "\tshl.b32 %r11, %r10, 8;\n\tsetp.ne.u32 %p2, %r1, %r11;\n"
    )
    barrier = "\tbarrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;\n"
    return (
        text.replace("cta_group::1", "cta_group::2")
        .replace("\tbar.sync 0;\n\tsetp", f"{barrier}\tsetp")
        .replace("copied:\n\tbar.sync 0;\n", f"copied:\n{barrier}")
        .replace("shifted:\n\tbar.sync 0;\n", f"shifted:\n{barrier}")
    )


def test_copies_and_shifts_of_two_ctas() -> None:
    """What the first CTA asks for each does with its own shared memory; a lane then has what the next one had."""
    fields = 128 >> 4 << 16 | 128 >> 4 << 32 | 1 << 46
    given = np.random.default_rng(6).integers(0, 1 << 32, 4096, dtype=np.uint32)
    body = filled() + COPY.replace("SHAPE", "128x128b").replace("FIELDS", str(fields))
    body += "\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 bra shifted;\n"
    body += "\ttcgen05.shift.cta_group::1.down [%r2];\nshifted:\n\tbar.sync 0;\n"
    body += "\ttcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r3];\n" + stored(named(20, 2))
    text = pair(HEAD + body + FREE)
    found = three_ways(text, 128, lambda: [np.zeros((2, 2, 128), np.uint32), given.copy()], grid=(2,))[0][0]
    source = 46 // 8 * 32 + 46 % 8 * 4  # where lane 46 is copied from
    assert found[:, :, 45].tolist() == given.reshape(2, 2048)[:, source : source + 2].tolist()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "\ttcgen05.ld.sync.aligned.32x32b.x1.b32 %r20, [%r3+32];\n",
            "access to tensor memory that is not allocated",
        ),
        (
            "\ttcgen05.ld.sync.aligned.32x32b.x1.b32 %r20, [%r2];\n",
            "lanes of tensor memory that belong to another warp",
        ),
        (
            "\ttcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;\n",
            "no columns of tensor memory are free",
        ),
        (
            "\ttcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n",
            "dealloc of tensor memory that is not allocated",
        ),
    ],
)
def test_faults(body: str, message: str) -> None:
    kernel = parse(HEAD + body + FREE).kernels["k"]
    with pytest.raises(PtxError, match=message) as caught:
        ptxsim.run(kernel, 1, 128, [np.zeros(128, np.uint32), np.zeros(4, np.uint32)])
    assert caught.value.diagnostics[0].code == "E404"


@pytest.mark.parametrize("cluster", [None, 1, 3])
def test_no_peer(cluster: int | None) -> None:
    """The last CTA of three has none, nor has one alone."""
    text = (HEAD + FREE).replace("cta_group::1", "cta_group::2")
    n = cluster or 1
    with pytest.raises(PtxError, match="whose peer is not there") as caught:
        ptxsim.run(parse(text).kernels["k"], n, 128, [np.zeros(128, np.uint32)] * 2, cluster=cluster)
    assert caught.value.diagnostics[0].code == "E404"
