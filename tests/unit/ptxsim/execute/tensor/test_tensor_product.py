"""Products in tensor memory in all three runs, bit for bit: every kind, where A and D lie, scales; and one by hand.

Shared memory and tensor memory hold random elements, so what is read elsewhere than the reference reads it differs.
"""

import random
from typing import Any

import numpy as np
import pytest
from matrix_values import element, scale_words
from three_ways import three_ways

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

TILE = 16384  # bytes of each factor
CELLS = 64  # columns that are allocated and compared
HEAD = """.version 8.8
.target sm_100a
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p<4>;
	.reg .b32 %r<120>;
	.reg .b64 %d<12>;
	.shared .align 1024 .b8 tile[32768];
	.shared .b32 place;
	.shared .b64 barrier;
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
	setp.lt.u32 %p1, %r3, 8192;
	@%p1 bra copy;
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra allocated;
	mbarrier.init.shared.b64 [barrier], 1;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 64;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
	bar.sync 0;
	ld.shared.u32 %r6, [place];
	shr.u32 %r7, %r1, 5;
	shl.b32 %r7, %r7, 21;
	add.u32 %r7, %r7, %r6;
	mul.wide.u32 %d3, %r1, 4;
	add.s64 %d4, %d1, %d3;
	add.s64 %d5, %d2, %d3;
	add.s64 %d5, %d5, 32768;
	and.b32 %r3, %r2, 0x3ffff;
	shr.u32 %r3, %r3, 4;
	cvt.u64.u32 %d6, %r3;
	or.b64 %d7, %d6, A_FIELDS;
	add.s64 %d8, %d6, 1024;
	or.b64 %d8, %d8, B_FIELDS;
	mov.u32 %r8, WHAT;
	setp.ne.u32 %p2, ADDS, 0;
"""
REGISTERS = [f"%r{20 + r}" for r in range(CELLS)]
STORED = "{" + ", ".join(REGISTERS) + "}"
TAIL = f"""
	bar.sync 0;
	setp.ne.u32 %p3, %r1, 0;
	@%p3 bra done;
	PRODUCT
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];
done:
	mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;
	@!%p1 bra done;
	tcgen05.fence::after_thread_sync;
	tcgen05.ld.sync.aligned.32x32b.x64.b32 {STORED}, [%r7];
	tcgen05.wait::ld.sync.aligned;
	STORES
	bar.sync 0;
	@%p3 bra end;
end:
	setp.ge.u32 %p1, %r1, 32;
	@%p1 bra freed;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 64;
freed:
	ret;
}}
"""
CLUSTER_BARRIER = "barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;"


def of_pair(text: str, issuer: int) -> str:
    """The text for two CTAs of a cluster, which have parts of `in` and `out` of their own; one of them multiplies."""
    own = "".join(
        f"\tmul.wide.u32 %d9, %r9, {n_bytes};\n\tadd.s64 {base}, {base}, %d9;\n"
        for base, n_bytes in (("%d1", 512 * CELLS), ("%d2", 2 * TILE + 512 * CELLS))
    )
    changes = {
        "(.param .u64 out, .param .u64 in)": "(.param .u64 out, .param .u64 in) .reqnctapercluster 2",
        "\tmov.u32 %r1, %tid.x;\n": f"\t.reg .b16 %h;\n\tmov.b16 %h, 3;\n\tmov.u32 %r1, %tid.x;\n"
        f"\tmov.u32 %r9, %cluster_ctarank;\n{own}",
        "cta_group::1": "cta_group::2",
        "\tbar.sync 0;\n\tsetp.ne.u32 %p3, %r1, 0;\n": f"\t{CLUSTER_BARRIER}\n\tmul.lo.u32 %r10, %r9, 128;\n"
        f"\tadd.u32 %r10, %r10, %r1;\n\tsetp.ne.u32 %p3, %r10, {128 * issuer};\n",
        "shared::cluster.b64 [barrier];": "shared::cluster.multicast::cluster.b64 [barrier], %h;",
        "\tbar.sync 0;\n\t@%p3 bra end;\n": f"\t{CLUSTER_BARRIER}\n\t@%p3 bra end;\n",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


SWIZZLES = {"none": (0, 16), "32": (6, 32), "64": (4, 64), "128": (2, 128), "128 by 32": (1, 128)}
TINY = ["e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"]
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32}


def fields(swizzle: str, across: bool, lines: int, chunks: int) -> int:
    """The upper bits of a descriptor of a dense tile."""
    mode, width = SWIZZLES[swizzle]
    atom = (4 if mode == 1 else 8) * width
    if across and width == 16:
        leading, stride = atom * chunks, atom
    else:
        leading, stride = atom, atom * max(chunks * 16 // width, 1)
    return leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | mode << 61


def words(name: str, kind: str, count: int, seed: str) -> np.ndarray:
    """Words with elements of a type; those of less than 8 bits are random bits."""
    generator, width = random.Random(f"{name} {seed}"), WIDTHS.get(name, 8)
    if kind == "bits" or name in ("e2m3", "e3m2", "e2m1", "s8", "u8"):
        return np.array([generator.getrandbits(32) for _ in range(count)], np.uint32)
    per = 32 // width
    return np.array(
        [sum(element(name, kind, generator) << width * j for j in range(per)) for _ in range(count)],
        np.uint32,
    )


def descriptor(kind: str, a: str, b: str, d: str, m: int, n: int, more: int = 0) -> int:
    """An instruction descriptor."""
    numbers = {"f16": ["f16", "bf16"], "tf32": ["", "", "tf32"], "i8": ["u8", "s8"]}.get(kind, TINY)
    if kind.startswith("mxf4"):
        numbers = ["", "e2m1"]
    bits = numbers.index(a) << 7 | numbers.index(b) << 10 | n >> 3 << 17 | more
    if kind.startswith("mx"):
        return bits | m >> 7 << 27
    return bits | m >> 4 << 24 | {"f16": 0, "f32": 1, "s32": 2}[d] << 4


def metadata(kind: str, cta: int) -> np.ndarray:
    """Two columns of metadata with a meaning."""
    indices = [4, 14] if kind == "tf32" else [4, 8, 12, 9, 13, 6, 14]
    chosen = np.random.default_rng(cta).choice(np.array(indices, np.uint32), (2, 128, 8))
    made: np.ndarray = (chosen << np.arange(0, 32, 4, dtype=np.uint32)).sum(axis=2).astype(np.uint32)
    return made


def run_product(
    kind: str,
    types: tuple[str, str, str],
    *,
    m: int = 128,
    n: int = 8,
    values: str = "floats",
    in_tensor: bool = False,
    swizzle: str = "128",
    across: tuple[bool, bool] = (False, False),
    more: int = 0,
    adds: bool = True,
    stationary: bool = False,
    suffix: str = "",
    scales: str = "",
    lanes: str = "",
    divided: str = "",
    issuer: int | None = None,
    zeros: int | None = None,
    sparse: bool = False,
) -> np.ndarray:
    d, a, b = types
    n_ctas = 1 if issuer is None else 2
    k = {"f16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}.get(kind, 32)
    found = []
    for name, lines, is_across in ((a, m // n_ctas, across[0]), (b, n // n_ctas, across[1])):
        per_chunk = 32 if kind.startswith("mxf4") else min(128 // WIDTHS.get(name, 8), 16)
        length = 2 * k if sparse and len(found) else k
        inner, outer = (lines, length) if is_across else (length, lines)
        found.append(fields(swizzle, is_across, outer, max(inner // per_chunk, 1)))
    what = descriptor(kind, a, b, d, m, n, more)
    text = HEAD.replace("A_FIELDS", str(found[0])).replace("B_FIELDS", str(found[1]))
    text = text.replace("WHAT", str(what)).replace("ADDS", str(int(adds)))
    text += "".join(f"\tld.global.u32 {name}, [%d5+{512 * j}];\n" for j, name in enumerate(REGISTERS))
    text += f"\ttcgen05.st.sync.aligned.32x32b.x64.b32 [%r7], {STORED};\n\ttcgen05.wait::st.sync.aligned;\n"
    of_a = "[%r6+32]" if in_tensor else "%d7"
    opcode = f"tcgen05.mma{'.ws' * stationary}{'.sp' * sparse}.cta_group::1.kind::{kind}{suffix}"
    text += TAIL.replace(
        "PRODUCT", f"{opcode} [%r6], {of_a}, %d8{', [%r6+60]' * sparse}, %r8{scales}{lanes}, %p2{divided};"
    ).replace(
        "STORES", "".join(f"\tst.global.u32 [%d4+{512 * j}], {name};\n" for j, name in enumerate(REGISTERS))
    )
    if zeros is not None:
        text = text.replace(", %p2;", ", %p2, %d11;").replace(
            "\tmov.u32 %r8,", f"\tmov.b64 %d11, {zeros};\n\tmov.u32 %r8,"
        )
    if issuer is not None:
        text = of_pair(text, issuer)
    before, given = [], []
    for cta in range(n_ctas):
        cells = words(d, values, CELLS * 128, f"cells{cta}").reshape(CELLS, 128)
        if in_tensor:
            cells[32:] = words(a, values, 32 * 128, f"tensor{cta}").reshape(32, 128)
        if scales:
            name = "ue8m0" if what >> 23 & 1 else "ue4m3"
            moderate = values != "bits"
            cells[48:] = np.concatenate(
                [scale_words(name, moderate, f"{j} {cta}").reshape(64) for j in range(32)]
            ).reshape(16, 128)
        if sparse:
            cells[60:62] = metadata(kind, cta)
        before.append(cells)
        factors = [words(name, values, TILE // 4, f"{side}{cta}") for side, name in (("a", a), ("b", b))]
        given += [*factors, cells.ravel()]
    everything = np.concatenate(given)
    runs = three_ways(
        text, 128, lambda: [np.zeros((n_ctas, CELLS, 128), np.uint32), everything.copy()], grid=(n_ctas,)
    )
    result: np.ndarray = runs[0][0]
    assert all((after != cells).any() for after, cells in zip(result, before, strict=True))
    return result


DENSE: list[tuple[str, tuple[str, str, str]]] = [
    ("f16", ("f32", "f16", "f16")), ("f16", ("f16", "f16", "f16")), ("f16", ("f32", "bf16", "bf16")),
    ("tf32", ("f32", "tf32", "tf32")), ("f8f6f4", ("f32", "e4m3", "e5m2")), ("f8f6f4", ("f16", "e2m3", "e3m2")),
    ("f8f6f4", ("f32", "e2m1", "e4m3")), ("i8", ("s32", "s8", "u8")), ("i8", ("s32", "u8", "s8")),
]  # fmt: skip


@pytest.mark.parametrize("in_tensor", [False, True], ids=["shared", "tensor"])
@pytest.mark.parametrize(("kind", "types"), DENSE)
def test_kinds(kind: str, types: tuple[str, str, str], in_tensor: bool) -> None:
    run_product(kind, types, in_tensor=in_tensor, n=16 if kind == "i8" else 8)


@pytest.mark.parametrize("kind", ["f16", "tf32", "f8f6f4"])
def test_any_bits(kind: str) -> None:
    """Infinities, NaNs and subnormals."""
    types = next(t for k, t in DENSE if k == kind)
    run_product(kind, types, values="bits")


@pytest.mark.parametrize("swizzle", ["none", "32", "64", "128"])
@pytest.mark.parametrize("across", [(True, False), (False, True)])
def test_descriptors(swizzle: str, across: tuple[bool, bool]) -> None:
    more = across[0] << 15 | across[1] << 16
    n = max(SWIZZLES[swizzle][1] // 2, 8) if across[1] else 8  # B's lines are along n
    run_product(
        "f16", ("f32", "f16", "f16"), m=64, n=n, swizzle=swizzle, across=across, more=more, values="whole"
    )


def test_elements_of_32_bits_across() -> None:
    run_product(
        "tf32",
        ("f32", "tf32", "tf32"),
        m=64,
        n=32,
        swizzle="128 by 32",
        across=(True, True),
        more=3 << 15,
        values="whole",
    )


@pytest.mark.parametrize(("m", "n"), [(32, 64), (64, 64), (128, 8)])
def test_weight_stationary(m: int, n: int) -> None:
    run_product("f16", ("f32", "f16", "f16"), m=m, n=n, stationary=True, values="whole")


def zero_mask(starts: list[int], firsts: list[int], skip: int, use: int, shift: int, has: int = 1) -> int:
    """A zero-column mask descriptor; both lists by part."""
    bits = sum(start << 8 * part for part, start in enumerate(starts))
    bits |= sum(first << 32 + part for part, first in enumerate(firsts))
    return bits | has << 39 | skip << 40 | use << 48 | shift << 56


@pytest.mark.parametrize("across", [False, True], ids=["k", "n"])
@pytest.mark.parametrize(
    ("m", "n", "zeros"),
    [
        (128, 64, zero_mask([0], [0], 2, 3, 0)),
        (128, 64, zero_mask([0], [0], 2, 3, 32, has=0)),
        (64, 128, zero_mask([0, 0], [1, 0], 2, 3, 7)),
        (32, 128, zero_mask([0, 1, 2, 1], [1, 1, 0, 0], 2, 3, 2)),
    ],
)
def test_zero_columns(m: int, n: int, zeros: int, across: bool) -> None:
    """The manual's examples and shifts, with elements of B side by side along k or along n."""
    more, swizzle = (1 << 16, "none") if across else (0, "32")
    run_product(
        "f16", ("f32", "f16", "f16"), m=m, n=n, stationary=True, values="whole", zeros=zeros, more=more,
        across=(False, across), swizzle=swizzle,
    )  # fmt: skip


@pytest.mark.parametrize("in_tensor", [False, True], ids=["shared", "tensor"])
def test_half_of_the_lanes(in_tensor: bool) -> None:
    run_product("f16", ("f32", "f16", "f16"), m=64, in_tensor=in_tensor, values="whole")


@pytest.mark.parametrize(("m", "issuer"), [(128, None), (256, 0)])
def test_rows_of_a_that_are_shifted(m: int, issuer: int | None) -> None:
    """`.ashift`: a row of D is the next one of the product as it is, but the last of a CTA; A stays."""
    plain, shifted = (
        run_product(
            "f16", ("f32", "f16", "f16"), m=m, n=16, in_tensor=True, adds=False, values="whole", suffix=suffix,
            issuer=issuer,
        )
        for suffix in ("", ".ashift")
    )  # fmt: skip
    assert shifted[:, :16, :127].tolist() == plain[:, :16, 1:].tolist()
    assert shifted[:, :16, 127].tolist() == plain[:, :16, 127].tolist()
    assert shifted[:, 16:].tolist() == plain[:, 16:].tolist()


def test_64_rows_are_not_shifted() -> None:
    with pytest.raises(PtxError, match="E404"):
        run_product("f16", ("f32", "f16", "f16"), m=64, in_tensor=True, suffix=".ashift")


SCALED: list[tuple[str, str, tuple[str, str, str], int]] = [
    ("mxf8f6f4", ".block_scale.scale_vec::1X", ("f32", "e4m3", "e2m1"), 1 << 23 | 1 << 29 | 2 << 4),
    ("mxf8f6f4", ".block_scale", ("f32", "e3m2", "e5m2"), 1 << 23 | 3 << 29),
    ("mxf4", ".block_scale.scale_vec::2X", ("f32", "e2m1", "e2m1"), 1 << 23 | 2 << 29),
    ("mxf4nvf4", ".block_scale.scale_vec::2X", ("f32", "e2m1", "e2m1"), 1 << 23 | 2 << 4),
    ("mxf4nvf4", ".block_scale.scale_vec::4X", ("f32", "e2m1", "e2m1"), 0),
    ("mxf4nvf4", ".block_scale.block16", ("f32", "e2m1", "e2m1"), 1 << 23),
]


@pytest.mark.parametrize(
    ("case", "values"), [(case, ("floats", "bits")[k % 2]) for k, case in enumerate(SCALED)]
)
def test_scaled_blocks(case: tuple[str, str, tuple[str, str, str], int], values: str) -> None:
    kind, suffix, types, more = case
    run_product(kind, types, suffix=suffix, more=more, scales=", [%r6+48], [%r6+56]", values=values)


def test_scales_of_forty_columns() -> None:
    kind, suffix, types, more = SCALED[0]
    run_product(kind, types, suffix=suffix, more=more, scales=", [%r6+48], [%r6+56]", n=40)


def test_what_else_an_instruction_says() -> None:
    """Both factors negated and one of them; D not added, D divided by 8, lanes that are not written; saturation."""
    f16 = ("f32", "f16", "f16")
    run_product("f16", f16, more=1 << 13, values="whole")
    run_product("f16", f16, more=1 << 14, adds=False, values="whole")
    run_product("f16", f16, more=3 << 13, divided=", 3", values="whole")
    run_product(
        "f16", f16, lanes=", {%r1, %r7, %r8, 0xf0f0f0f0}".replace("0xf0f0f0f0", "%r2"), values="whole"
    )
    run_product("i8", ("s32", "s8", "s8"), more=1 << 3, n=16)


@pytest.mark.parametrize("in_tensor", [False, True], ids=["shared", "tensor"])
@pytest.mark.parametrize("m", [128, 256])
def test_two_ctas(m: int, in_tensor: bool) -> None:
    run_product("f16", ("f32", "f16", "f16"), m=m, n=32, in_tensor=in_tensor, values="whole", issuer=0)


def test_two_ctas_otherwise() -> None:
    """The second CTA multiplies, B has its elements along n, and 256 lanes have bits of their own."""
    lanes = ", {%r1, %r7, %r8, %r3, %r9, %r3, %r1, %r7}"
    run_product(
        "f8f6f4", ("f16", "e4m3", "e5m2"), m=256, n=32, swizzle="none", across=(False, True), more=1 << 16,
        lanes=lanes, issuer=1,
    )  # fmt: skip
    run_product("i8", ("s32", "s8", "u8"), m=128, n=32, issuer=1)


@pytest.mark.parametrize("m", [128, 256])
@pytest.mark.parametrize("case", SCALED[1:3])
def test_scaled_blocks_of_two_ctas(case: tuple[str, str, tuple[str, str, str], int], m: int) -> None:
    kind, suffix, types, more = case
    run_product(kind, types, m=m, n=48, suffix=suffix, more=more, scales=", [%r6+48], [%r6+56]", issuer=0)


SPARSE: list[tuple[str, tuple[str, str, str], int]] = [
    ("f16", ("f32", "f16", "f16"), 0), ("f16", ("f32", "bf16", "bf16"), 1), ("tf32", ("f32", "tf32", "tf32"), 1),
    ("f8f6f4", ("f16", "e4m3", "e5m2"), 0), ("f8f6f4", ("f32", "e2m1", "e3m2"), 0), ("i8", ("s32", "s8", "u8"), 0),
]  # fmt: skip


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize("case", SPARSE)
def test_sparse(case: tuple[str, tuple[str, str, str], int], m: int) -> None:
    """A in shared memory for half of the lanes, in tensor memory for all; the selector takes a column."""
    kind, types, selector = case
    run_product(kind, types, m=m, n=16, sparse=True, in_tensor=m == 128, more=4 | selector)


@pytest.mark.parametrize(("m", "n"), [(32, 64), (64, 64)])
def test_sparse_and_stationary(m: int, n: int) -> None:
    run_product(
        "f16", ("f32", "f16", "f16"), m=m, n=n, sparse=True, stationary=True, more=4, values="whole",
        zeros=zero_mask([0] * 4, [0] * 4, 2, 3, 0),
    )  # fmt: skip


@pytest.mark.parametrize("case", [SCALED[0], SCALED[2], SCALED[4]])
def test_sparse_scaled_blocks(case: tuple[str, str, tuple[str, str, str], int]) -> None:
    kind, suffix, types, more = case
    scales = ", [%r6+48], [%r6+56]"
    run_product(kind, types, n=16, sparse=True, suffix=suffix, more=more | 4, scales=scales)
    run_product(kind, types, m=256, n=16, sparse=True, suffix=suffix, more=more | 4, scales=scales, issuer=0)


@pytest.mark.parametrize("m", [128, 256])
def test_sparse_of_two_ctas(m: int) -> None:
    """With 64 rows each, a sparse A has 16 in the lanes of a warp."""
    run_product("f16", ("f32", "f16", "f16"), m=m, n=32, sparse=True, more=5, values="whole", issuer=1)


def one_product(what: int) -> Any:
    """Ones times ones in f16, nothing added: every element of D is 16, the length of k."""
    text = HEAD.replace("A_FIELDS", str(fields("none", False, 128, 2))).replace("ADDS", "0")
    text = text.replace("B_FIELDS", str(fields("none", False, 8, 2))).replace("WHAT", str(what))
    stores = "".join(f"\tst.global.u32 [%d4+{512 * j}], {name};\n" for j, name in enumerate(REGISTERS))
    text += TAIL.replace("PRODUCT", "tcgen05.mma.cta_group::1.kind::f16 [%r6], %d7, %d8, %r8, %p2;").replace(
        "STORES", stores
    )
    out = np.zeros((CELLS, 128), np.float32)
    ptxsim.run(parse(text).kernels["k"], 1, 128, [out, np.full(16384, 0x3C003C00, np.uint32)])
    return out


def test_by_hand() -> None:
    out = one_product(descriptor("f16", "f16", "f16", "f32", 128, 8))
    assert out[:8].tolist() == [[16.0] * 128] * 8
    assert not out[8:].any()


@pytest.mark.parametrize(("m", "more"), [(16, 0), (96, 0), (256, 0), (128, 4)])
def test_a_descriptor_of_no_product(m: int, more: int) -> None:
    """The last one says that A is sparse."""
    with pytest.raises(PtxError, match="an instruction descriptor") as caught:
        one_product(descriptor("f16", "f16", "f16", "f32", m, 8, more))
    assert caught.value.diagnostics[0].code == "E404"
