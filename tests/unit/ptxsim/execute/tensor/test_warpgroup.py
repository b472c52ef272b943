"""Products of warp groups in all three runs, bit for bit: every type, A in registers and in shared memory, swizzles.

Shared memory holds random elements, so a matrix that is read elsewhere than the reference reads it differs.
"""

import random

import numpy as np
import pytest
from matrix_values import WIDTHS, element, metadata_words, registers
from three_ways import three_ways

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

TILE = 16384  # bytes of each factor
SWIZZLES = {"none": (0, 16), "128": (1, 128), "64": (2, 64), "32": (3, 32)}
HEAD = """.version 8.7
.target sm_90a
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p<3>;
	.reg .b32 %r<300>;
	.reg .b64 %d<10>;
	.shared .align 1024 .b8 tile[BYTES];
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [in];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tile;
	mov.u32 %r3, %r1;
copy:
	mul.wide.u32 %d3, %r3, 4;
	add.s64 %d3, %d2, %d3;
	ld.global.u32 %r4, [%d3];
	shl.b32 %r5, %r3, 2;
	add.u32 %r5, %r2, %r5;
	st.shared.u32 [%r5], %r4;
	add.u32 %r3, %r3, 128;
	setp.lt.u32 %p1, %r3, WORDS;
	@%p1 bra copy;
	bar.sync 0;
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d4, %d1, %d3;
	add.s64 %d5, %d2, %d3;
	add.s64 %d5, %d5, BYTES;
	shr.u32 %r3, %r2, 4;
	cvt.u64.u32 %d6, %r3;
	or.b64 %d7, %d6, A_FIELDS;
	add.s64 %d8, %d6, B_START;
	or.b64 %d8, %d8, B_FIELDS;
	setp.eq.u32 %p2, 0, SCALE;
"""


def fields(swizzle: str, across: bool, lines: int, chunks: int, base: int = 0) -> int:
    """The upper bits of a descriptor of a dense tile: `lines` of k or rows, `chunks` of 16 bytes in one."""
    mode, width = SWIZZLES[swizzle]
    atom = 8 * width
    if across and swizzle == "none":  # from row to row of chunks `stride`, from 8 of k to the next `leading`
        leading, stride = atom * chunks, atom
    else:
        groups = max(chunks * 16 // width, 1)
        leading, stride = atom, atom * groups
    return leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | mode << 62


def tile_words(name: str, kind: str, seed: str) -> np.ndarray:
    generator, width = random.Random(seed), WIDTHS.get(name, 8)
    if name == "tf32":
        width = 32
    count = 32 // width
    words = [sum(element(name, kind, generator) << width * j for j in range(count)) for _ in range(TILE // 4)]
    return np.array(words, np.uint32)


def run_wgmma(
    opcode: str,
    n: int,
    names: tuple[str, str, str],
    *,
    in_registers: bool,
    kind: str,
    swizzle: str = "128",
    across: tuple[bool, bool] = (False, False),
    more: str,
    sparse: str = "",
    adds: bool = True,
    base: int = 0,
) -> np.ndarray:
    d, a, b = names
    n_d = n // 4 if d == "f16" else n // 2
    width = WIDTHS.get(a, 8)
    k = int(opcode.split("k")[1].split(".")[0])
    a_k = k // 2 if sparse else k
    sizes = [(64, a_k), (n, k)]
    descriptors = []
    for (lines, along), is_across in zip(sizes, across, strict=True):
        if is_across:
            lines, along = along, lines
        descriptors.append(fields(swizzle, is_across, lines, max(along * width // 128, 1), base))
    text = (
        HEAD.replace("BYTES", str(2 * TILE))
        .replace("WORDS", str(TILE // 2))
        .replace("SCALE", str(int(not adds)))
    )
    text = text.replace("A_FIELDS", str(descriptors[0] | base * 8)).replace("B_FIELDS", str(descriptors[1]))
    text = text.replace("B_START", str((TILE >> 4) + base * 8))
    results = [f"%r{10 + r}" for r in range(n_d)]
    fragment = [f"%r{200 + r}" for r in range(4)]
    loaded = [*results, *fragment, "%r210"]
    text += "".join(f"ld.global.u32 {name}, [%d5+{512 * j}];\n" for j, name in enumerate(loaded))
    of_a = "{" + ", ".join(fragment) + "}" if in_registers else "%d7"
    text += "wgmma.fence.sync.aligned;\n"
    text += (
        f"{opcode} {{{', '.join(results)}}}, {of_a}, %d8{', %r210' + sparse if sparse else ''}, %p2{more};\n"
    )
    text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    text += (
        "".join(f"st.global.u32 [%d4+{512 * j}], {name};\n" for j, name in enumerate(results)) + "ret;\n}\n"
    )

    def four(name: str, count: int, what: str) -> np.ndarray:
        parts = [registers(name, count, kind, f"{opcode} {what} {warp}") for warp in range(4)]
        return np.concatenate(parts, axis=1)

    words = [tile_words(a, kind, opcode + "a"), tile_words(b, kind, opcode + "b")]
    of_d = four(d, n_d, "d")
    metadata = np.concatenate([metadata_words(a, f"{opcode} {warp}") for warp in range(4)])
    given = np.concatenate([*words, of_d.ravel(), four(a, 4, "a").ravel(), metadata])
    found = three_ways(text, 128, lambda: [np.zeros((n_d, 128), np.uint32), given.copy()])
    return found[0][0]


FLOATS = [
    ("f32", "f16", "f16", 16), ("f16", "f16", "f16", 16), ("f32", "bf16", "bf16", 16), ("f32", "tf32", "tf32", 8),
    ("f32", "e4m3", "e5m2", 32), ("f16", "e5m2", "e4m3", 32),
]  # fmt: skip
INTEGERS = [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")]


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize("kind", ["floats", "bits"])
@pytest.mark.parametrize(("d", "a", "b", "k"), FLOATS)
def test_floats(d: str, a: str, b: str, k: int, kind: str, in_registers: bool) -> None:
    majors = ", 0" * (1 if in_registers else 2) if a in ("f16", "bf16") else ""
    opcode = f"wgmma.mma_async.sync.aligned.m64n16k{k}.{d}.{a}.{b}"
    run_wgmma(opcode, 16, (d, a, b), in_registers=in_registers, kind=kind, more=f", 1, -1{majors}")


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("across", [(False, False), (True, False), (False, True), (True, True)])
def test_descriptors(swizzle: str, across: tuple[bool, bool]) -> None:
    n = max(SWIZZLES[swizzle][1] // 2, 8) if across[1] else 8  # B's lines are along n
    opcode = f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16"
    majors = "".join(f", {int(one)}" for one in across)
    run_wgmma(
        opcode, n, ("f32", "f16", "f16"), in_registers=False, kind="whole", swizzle=swizzle, across=across,
        more=", -1, -1" + majors,
    )  # fmt: skip


@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_pattern_that_begins_elsewhere(swizzle: str) -> None:
    """A base offset of 3: the matrices begin 3 lines of 128 bytes after the tiles, and so does the pattern."""
    opcode = "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3"
    run_wgmma(
        opcode,
        8,
        ("f32", "e4m3", "e4m3"),
        in_registers=False,
        kind="whole",
        swizzle=swizzle,
        more=", 1, 1",
        base=3,
    )


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize("satfinite", ["", ".satfinite"])
@pytest.mark.parametrize(("a", "b"), INTEGERS)
def test_integers(a: str, b: str, satfinite: str, in_registers: bool) -> None:
    opcode = f"wgmma.mma_async.sync.aligned.m64n24k32{satfinite}.s32.{a}.{b}"
    run_wgmma(opcode, 24, ("s32", a, b), in_registers=in_registers, kind="bits", more="", swizzle="32")


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
def test_bits(in_registers: bool) -> None:
    opcode = "wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc"
    run_wgmma(
        opcode, 16, ("s32", "b1", "b1"), in_registers=in_registers, kind="whole", more="", swizzle="none"
    )


@pytest.mark.parametrize("in_registers", [False, True], ids=["shared", "registers"])
@pytest.mark.parametrize(("d", "a", "k", "selector"), [
    ("f32", "f16", 32, 0), ("f16", "f16", 32, 1), ("f32", "bf16", 32, 1), ("f32", "tf32", 16, 0),
    ("f32", "tf32", 16, 1), ("f32", "e4m3", 64, 0), ("s32", "s8", 64, 0),
])  # fmt: skip
def test_sparse(d: str, a: str, k: int, selector: int, in_registers: bool) -> None:
    more = (
        "" if d == "s32" else ", 1, 1" + (", 0" * (1 if in_registers else 2) if a in ("f16", "bf16") else "")
    )
    opcode = f"wgmma.mma_async.sp.sync.aligned.m64n8k{k}.{d}.{a}.{a}"
    run_wgmma(
        opcode, 8, (d, a, a), in_registers=in_registers, kind="floats", more=more, sparse=f", {selector}",
    )  # fmt: skip


def test_a_result_that_is_not_added() -> None:
    opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    run_wgmma(opcode, 8, ("f32", "f16", "f16"), in_registers=True, kind="whole", more=", 1, 1, 0", adds=False)


BY_HAND = """.version 8.0
.target sm_90a
.visible .entry k(.param .u64 out)
{
	.reg .f32 %f<4>;
	.reg .b32 %r<6>;
	.reg .b64 %d<6>;
	.shared .align 128 .b8 b[256];
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, b;
	shl.b32 %r3, %r1, 1;
	add.u32 %r3, %r2, %r3;
	mov.u16 %h1, 0x3c00;
	st.shared.u16 [%r3], %h1;
	bar.sync 0;
	mov.b32 %r4, 0x40003c00;
	shr.u32 %r5, %r2, 4;
	cvt.u64.u32 %d2, %r5;
	or.b64 %d2, %d2, START;
	mov.f32 %f0, 0f41200000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r4, %r4, %r4}, %d2, 1, 1, 1, 0;
	wgmma.commit_group.sync.aligned;
	WAIT
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d3, %d1, %d3;
	st.global.f32 [%d3], %f0;
	ret;
}
""".replace(".reg .b64", ".reg .b16 %h<2>;\n\t.reg .b64")
DENSE_TILE = 128 >> 4 << 16 | 256 >> 4 << 32
WAIT = "wgmma.wait_group.sync.aligned 0;"


@pytest.mark.parametrize(
    ("wait", "when", "expected"),
    [
        # A's rows are 1 2 1 2 ..., B is all ones: 10 + 8 * 1 + 8 * 2 = 34
        (WAIT, "early", 34.0),
        (WAIT, "late", 34.0),
        ("", "early", 34.0),
        # no wait: the result is not there yet
        ("", "late", 10.0),
        ("wgmma.wait_group.sync.aligned 1;", "late", 10.0),
    ],
)
def test_when_a_product_completes(wait: str, when: str, expected: float) -> None:
    kernel = parse(BY_HAND.replace("WAIT", wait).replace("START", str(DENSE_TILE))).kernels["k"]
    out = np.zeros(128, np.float32)
    ptxsim.run(kernel, 1, 128, [out], asynchronous=when)
    assert out.tolist() == [expected] * 128


def test_a_matrix_outside_of_shared_memory() -> None:
    kernel = parse(BY_HAND.replace("WAIT", WAIT).replace("START", str(DENSE_TILE | 4096))).kernels["k"]
    with pytest.raises(PtxError, match=r"E404.* in shared memory, which has 256 bytes"):
        ptxsim.run(kernel, 1, 128, [np.zeros(128, np.float32)])
