"""Products of matrices: every shape and type in all three runs, bit for bit; and elements worked out by hand.

The compiled run and the reference know the fragments, the numbers and the sums from two different texts (the fragments
of `wmma` differ between them). Values: whole numbers whose sums are exact, moderate floats whose sums are cut, random
bits with infinities, NaNs and subnormals.
"""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from matrix_values import metadata_words, product_text, registers, tile_bytes
from three_ways import HEAD, three_ways


def run_product(
    opcode: str,
    names: tuple[str, str, str, str],
    counts: tuple[int, int, int, int],
    kind: str,
    more: str = "",
    metadata: np.ndarray | None = None,
    target: str = "sm_90",
) -> None:
    wide = names[1] == "f64"
    parts = [registers(name, count, kind, opcode) for name, count in zip(names[1:], counts[1:], strict=True)]
    if metadata is not None:
        parts.append(metadata.reshape(1, 32))
    given = np.concatenate(parts)

    def arguments() -> list[np.ndarray]:
        return [np.zeros((counts[0], 32), np.uint64 if wide else np.uint32), given.copy()]

    results = three_ways(product_text(opcode, counts, wide, more, target), 32, arguments, any_nan=wide)
    assert results[0][0].any() or kind == "bits"


DENSE = [
    # shape, D A B C, registers of each
    ("m16n8k8", "f16 f16 f16 f16", (2, 2, 1, 2)),
    ("m16n8k16", "f16 f16 f16 f16", (2, 4, 2, 2)),
    ("m16n8k8", "f32 f16 f16 f32", (4, 2, 1, 4)),
    ("m16n8k16", "f32 f16 f16 f32", (4, 4, 2, 4)),
    ("m16n8k8", "f32 bf16 bf16 f32", (4, 2, 1, 4)),
    ("m16n8k16", "f32 bf16 bf16 f32", (4, 4, 2, 4)),
    ("m16n8k4", "f32 tf32 tf32 f32", (4, 2, 1, 4)),
    ("m16n8k8", "f32 tf32 tf32 f32", (4, 4, 2, 4)),
    ("m16n8k16", "f16 e4m3 e5m2 f16", (2, 2, 1, 2)),
    ("m16n8k32", "f16 e5m2 e5m2 f16", (2, 4, 2, 2)),
    ("m16n8k16", "f32 e4m3 e4m3 f32", (4, 2, 1, 4)),
    ("m16n8k32", "f32 e5m2 e4m3 f32", (4, 4, 2, 4)),
    ("m8n8k16", "s32 s8 u8 s32", (2, 1, 1, 2)),
    ("m16n8k16", "s32 u8 s8 s32", (4, 2, 1, 4)),
    ("m16n8k32", "s32 s8 s8 s32", (4, 4, 2, 4)),
    ("m8n8k32", "s32 u4 s4 s32", (2, 1, 1, 2)),
    ("m16n8k32", "s32 s4 s4 s32", (4, 2, 1, 4)),
    ("m16n8k64", "s32 s4 u4 s32", (4, 4, 2, 4)),
    ("m8n8k4", "f64 f64 f64 f64", (2, 1, 1, 2)),
    ("m16n8k4", "f64 f64 f64 f64", (4, 2, 1, 4)),
    ("m16n8k8", "f64 f64 f64 f64", (4, 4, 2, 4)),
    ("m16n8k16", "f64 f64 f64 f64", (4, 8, 4, 4)),
]


def opcodes(shape: str, types: str) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    d, a, b, c = types.split()
    rest = f"{d}.{a}.{b}.{c}"
    yield f"mma.sync.aligned.{shape}.row.col.{rest}", (d, a, b, c)
    if a[1:] in ("8", "4"):
        yield f"mma.sync.aligned.{shape}.row.col.satfinite.{rest}", (d, a, b, c)
    if a == "f64":
        for rounding in ("rz", "rm", "rp"):
            yield f"mma.sync.aligned.{shape}.row.col.{rounding}.{rest}", (d, a, b, c)


@pytest.mark.parametrize("kind", ["whole", "floats", "bits"])
@pytest.mark.parametrize(("shape", "types", "counts"), DENSE)
def test_mma(shape: str, types: str, counts: tuple[int, int, int, int], kind: str) -> None:
    for opcode, names in opcodes(shape, types):
        run_product(opcode, names, counts, kind)


@pytest.mark.parametrize("target", ["sm_80", "sm_89", "sm_100"])
def test_generations_add_in_their_own_way(target: str) -> None:
    for shape, types, counts in DENSE[3:8:2] + (DENSE[10:12] if target != "sm_80" else []):
        opcode, names = next(opcodes(shape, types))
        run_product(opcode, names, counts, "floats", target=target)


@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
@pytest.mark.parametrize("operation", ["xor", "and"])
def test_single_bits(shape: str, operation: str) -> None:
    counts = {"m8n8k128": (2, 1, 1, 2), "m16n8k128": (4, 2, 1, 4), "m16n8k256": (4, 4, 2, 4)}[shape]
    opcode = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operation}.popc"
    run_product(opcode, ("s32", "b1", "b1", "s32"), counts, "bits")


@pytest.mark.parametrize("a_layout", ["row", "col"])
@pytest.mark.parametrize("b_layout", ["row", "col"])
@pytest.mark.parametrize("types", ["f16 f16", "f32 f16", "f32 f32"])
def test_four_small_products(a_layout: str, b_layout: str, types: str) -> None:
    d, c = types.split()
    counts = (4 if d == "f16" else 8, 2, 2, 4 if c == "f16" else 8)
    opcode = f"mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{d}.f16.f16.{c}"
    for kind in ("whole", "floats", "bits"):
        run_product(
            opcode, (d, "f16", "f16", c), counts, kind, target="sm_70" if kind == "floats" else "sm_75"
        )


@pytest.mark.parametrize("a", ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"])
def test_six_and_four_bit_floats(a: str) -> None:
    for b, d, count in (("e2m1", "f32", 4), ("e3m2", "f16", 2), ("e2m3", "f32", 4)):
        opcode = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
        for kind in ("floats", "bits"):
            run_product(opcode, (d, a, b, d), (count, 4, 2, count), kind, target="sm_120a")


SPARSE = [
    ("m16n8k16", "f16 f16 f16 f16", (2, 2, 2, 2), 4),
    ("m16n8k32", "f16 f16 f16 f16", (2, 4, 4, 2), 2),
    ("m16n8k16", "f32 f16 f16 f32", (4, 2, 2, 4), 4),
    ("m16n8k32", "f32 f16 f16 f32", (4, 4, 4, 4), 2),
    ("m16n8k16", "f32 bf16 bf16 f32", (4, 2, 2, 4), 4),
    ("m16n8k32", "f32 bf16 bf16 f32", (4, 4, 4, 4), 2),
    ("m16n8k8", "f32 tf32 tf32 f32", (4, 2, 2, 4), 4),
    ("m16n8k16", "f32 tf32 tf32 f32", (4, 4, 4, 4), 2),
    ("m16n8k64", "f32 e4m3 e5m2 f32", (4, 4, 4, 4), 1),
    ("m16n8k32", "s32 s8 u8 s32", (4, 2, 2, 4), 2),
    ("m16n8k64", "s32 u8 s8 s32", (4, 4, 4, 4), 1),
    ("m16n8k64", "s32 s4 u4 s32", (4, 2, 2, 4), 2),
    ("m16n8k128", "s32 u4 u4 s32", (4, 4, 4, 4), 1),
]


@pytest.mark.parametrize(("shape", "types", "counts", "selectors"), SPARSE)
def test_mma_sp(shape: str, types: str, counts: tuple[int, int, int, int], selectors: int) -> None:
    d, a, b, c = types.split()
    for selector in range(selectors):
        for base in ("mma.sp", "mma.sp::ordered_metadata"):
            opcode = f"{base}.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{c}"
            words = metadata_words(a, f"{opcode} {selector}")
            kind = "whole" if base == "mma.sp" else "floats"
            run_product(opcode, (d, a, b, c), counts, kind, f", %r70, {selector}", words)


@pytest.mark.parametrize(("a", "b", "d", "count"), [("e2m1", "e4m3", "f32", 4), ("e3m2", "e2m3", "f16", 2)])
def test_sparse_small_floats(a: str, b: str, d: str, count: int) -> None:
    opcode = f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
    words = metadata_words(a, opcode)
    run_product(opcode, (d, a, b, d), (count, 4, 4, count), "floats", ", %r70, 0", words, "sm_120a")


# ---- by hand


def half(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def run_words(body: str, given: np.ndarray, n_out: int, target: str = "sm_90") -> np.ndarray:
    """A body that stores to [%d1...] what it makes of [%d2...], in all runs."""
    text = HEAD.replace("TILE", "4096").replace("sm_90", target) + body + "ret;\n}\n"
    results = three_ways(text, 32, lambda: [np.zeros(n_out, np.uint32), given.copy()])
    return np.asarray(results[0][0])


def test_fragments_of_a_product_by_hand() -> None:
    """A has one nonzero element, row 11, column 6: it is element 1 of register 1 of lane 15 (row 3 + 8, 2 * 3).

    B has 5 at row 6, column 2 (lane 11, element 0 of register 0). So D has one element, row 11, column 2: accumulator
    2 of lane 13, 7 * 5 + C's 100.
    """
    given = np.zeros((3, 32), np.uint32)
    given[0, 15] = half(7.0)  # A's register 1
    given[1, 11] = half(5.0)
    given[2, :] = np.float32(100.0).view(np.uint32)
    body = """
	ld.global.u32 %r11, [%d5];
	ld.global.u32 %r14, [%d5+128];
	ld.global.u32 %r16, [%d5+256];
	mov.u32 %r10, 0; mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u32 %r15, 0;
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r20, %r21, %r22, %r23}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r16, %r16, %r16, %r16};
	st.global.u32 [%d4], %r20;
	st.global.u32 [%d4+128], %r21;
	st.global.u32 [%d4+256], %r22;
	st.global.u32 [%d4+384], %r23;
"""
    found = run_words(body, given, 128).view(np.float32).reshape(4, 32)
    expected = np.full((4, 32), 100.0, np.float32)
    expected[2, 13] = 135.0
    assert (found == expected).all()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        # 2^24 + 1 + 1 + 1 + 1: with 24 bits the unit is 2^24 / 2^24 = 1 and all count; with the 23 bits of sm_70 it is
        # 2, and the ones are cut away
        ("sm_70", 2.0**24),
        ("sm_80", 2.0**24 + 4),
    ],
)
def test_a_sum_is_cut_to_its_unit(target: str, expected: float) -> None:
    """C is 2^24; A's first row has four ones, B ones. `mma.m8n8k4` is the shape that sm_70 has."""
    given = np.zeros((3, 32), np.uint32)
    ones = half(1.0) | half(1.0) << 16
    given[0, :] = ones
    given[1, :] = np.float32(2.0**24).view(np.uint32)
    body = """
	ld.global.u32 %r10, [%d5];
	ld.global.u32 %r11, [%d5+128];
	mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},
		{%r10, %r10}, {%r10, %r10}, {%r11, %r11, %r11, %r11, %r11, %r11, %r11, %r11};
	st.global.u32 [%d4], %r20;
"""
    found = run_words(body, given, 32, target).view(np.float32)
    assert (found == np.float32(expected)).all()


def test_halves_are_rounded_to_even() -> None:
    """2048 + 1 lies between two halves and goes to the even one, 2048; 2048 + 3 goes to 2052."""
    given = np.array([half(1.0), half(3.0), half(2048.0) | half(2048.0) << 16], np.uint32).repeat(32)
    body = """
	ld.global.u32 %r10, [%d5];
	ld.global.u32 %r11, [%d5+128];
	ld.global.u32 %r12, [%d5+256];
	setp.ne.u32 %p1, %r1, 0;
	@%p1 mov.u32 %r10, 0;
	shr.u32 %r13, %r1, 2;
	and.b32 %r14, %r1, 3;
	setp.ne.u32 %p2, %r14, 0;
	@%p2 mov.u32 %r11, 0;
	mov.u32 %r15, 0;
	mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r10, %r15}, {%r11}, {%r12, %r12};
	st.global.u32 [%d4], %r20;
"""
    # row 0 of A is 1, 0, ...; row 0 of B is 3 everywhere: row 0 of D is 2048 + 3
    found = run_words(body, given, 32)
    assert [hex(v) for v in found[:5]] == [hex(half(2052.0) * 0x10001)] * 4 + [hex(half(2048.0) * 0x10001)]


def test_saturation() -> None:
    """127 * 127 * 16 more than the largest integer stays there with `.satfinite`, and wraps without."""
    given = np.array([0x7F7F7F7F, 0x7FFFFFFF], np.uint32).repeat(32)
    body = """
	ld.global.u32 %r10, [%d5];
	ld.global.u32 %r11, [%d5+128];
	mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r20, %r21}, {%r10}, {%r10}, {%r11, %r11};
	mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r22, %r23}, {%r10}, {%r10}, {%r11, %r11};
	st.global.u32 [%d4], %r21;
	st.global.u32 [%d4+128], %r23;
"""
    found = run_words(body, given, 64)
    assert set(found[:32].tolist()) == {0x7FFFFFFF}
    assert set(found[32:].tolist()) == {0x7FFFFFFF + 127 * 127 * 16}


def test_metadata_places_elements() -> None:
    """Row 0's first elements are at columns 1 and 3; B's column 0 is 10, 20, 30, 40 there: 2 * 20 + 3 * 40."""
    given = np.zeros((3, 32), np.uint32)
    given[0, 0] = half(2.0) | half(3.0) << 16
    given[1, 0] = half(10.0) | half(20.0) << 16
    given[1, 1] = half(30.0) | half(40.0) << 16
    given[2, :] = 0x44444444
    given[2, 0] = 0x4444444D
    body = """
	ld.global.u32 %r10, [%d5];
	ld.global.u32 %r12, [%d5+128];
	ld.global.u32 %r14, [%d5+256];
	mov.u32 %r11, 0; mov.u32 %r13, 0; mov.u32 %r15, 0;
	mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r20, %r21, %r22, %r23}, {%r10, %r11}, {%r12, %r13}, {%r15, %r15, %r15, %r15}, %r14, 0;
	st.global.u32 [%d4], %r20;
"""
    found = run_words(body, given, 32).view(np.float32)
    assert found[0] == 160.0
    assert not found[1:].any()


# ---- matrices between memory and registers

FILL = """
	mov.u32 %r30, tile;
	mul.lo.u32 %r31, %r1, 16;
	add.u32 %r31, %r31, %r30;
	ld.global.v4.u32 {%r32, %r33, %r34, %r35}, [%d6];
	st.shared.v4.u32 [%r31], {%r32, %r33, %r34, %r35};
	bar.sync 0;
"""
ADDRESS = "mul.wide.u32 %d6, %r1, 16; add.s64 %d6, %d6, %d2;"


def matrix_rows() -> np.ndarray:
    """32 rows of 16 bytes, all different."""
    return np.arange(32 * 4, dtype=np.uint32) * 0x01030509 + 7


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix(count: int, transposed: bool) -> None:
    trans = ".trans" if transposed else ""
    names = ", ".join(f"%r{20 + k}" for k in range(count))
    stores = "".join(f"st.global.u32 [%d4+{128 * k}], %r{20 + k};" for k in range(count))
    body = (
        ADDRESS
        + FILL
        + f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%r31];\n"
        + stores
    )
    given = matrix_rows()
    found = run_words(body, given, 32 * count)
    matrices = given.view(np.uint16).reshape(4, 8, 8)[:count]
    if transposed:
        matrices = matrices.transpose(0, 2, 1)
    assert (found.view(np.uint16) == matrices.ravel()).all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_stmatrix(count: int, transposed: bool) -> None:
    """Registers to shared memory, row addresses from the first lanes; then read back as it lies there."""
    trans = ".trans" if transposed else ""
    names = ", ".join(f"%r{20 + k}" for k in range(count))
    loads = "".join(f"ld.global.u32 %r{20 + k}, [%d5+{128 * k}];" for k in range(count))
    body = (
        loads
        + f"""
	mov.u32 %r30, tile;
	mad.lo.u32 %r31, %r1, 16, %r30;
	stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r31], {{{names}}};
	bar.sync 0;
	mad.lo.u32 %r31, %r1, 4, %r30;
"""
        + "".join(
            f"ld.shared.u32 %r7, [%r31+{128 * k}]; st.global.u32 [%d4+{128 * k}], %r7;" for k in range(count)
        )
    )
    given = matrix_rows()
    found = run_words(body, given, 32 * count)
    matrices = given.view(np.uint16).reshape(4, 8, 8)[:count]
    if transposed:
        matrices = matrices.transpose(0, 2, 1)
    assert (found.view(np.uint16) == matrices.ravel()).all()


def test_movmatrix() -> None:
    given = matrix_rows()[:32]
    body = "ld.global.u32 %r20, [%d5]; movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20; st.global.u32 [%d4], %r20;\n"
    found = run_words(body, given, 32)
    assert (found.view(np.uint16) == given.view(np.uint16).reshape(8, 8).T.ravel()).all()


@pytest.mark.parametrize("count", [1, 2])
def test_ldmatrix_of_bytes(count: int) -> None:
    """A lane has of a 16 by 16 matrix rows 4 t to 4 t + 3 of column g, and in the next register of column g + 8."""
    names = ", ".join(f"%r{20 + k}" for k in range(2 * count))
    stores = "".join(f"st.global.u32 [%d4+{128 * k}], %r{20 + k};" for k in range(2 * count))
    body = (
        ADDRESS
        + FILL
        + f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.b8 {{{names}}}, [%r31];\n"
        + stores
    )
    given = matrix_rows()
    found = run_words(body, given, 64 * count, "sm_100a").view(np.uint8).reshape(2 * count, 32, 4)
    rows = given.view(np.uint8).reshape(2, 16, 16)
    for lane in (0, 1, 14, 31):
        g, t = divmod(lane, 4)
        for k in range(2 * count):
            expected = rows[k // 2][4 * t : 4 * t + 4, g + 8 * (k % 2)]
            assert found[k, lane].tolist() == expected.tolist()


@pytest.mark.parametrize(("form", "width"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
def test_ldmatrix_unpacks(form: str, width: int) -> None:
    """Sixteen small elements of a row become bytes."""
    body = ADDRESS + FILL + f"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.{form} {{%r20, %r21}}, [%r31];\n"
    body += "st.global.u32 [%d4], %r20; st.global.u32 [%d4+128], %r21;"
    given = matrix_rows()
    found = run_words(body, given, 64, "sm_100a").view(np.uint8).reshape(2, 8, 16)
    for k in range(2):
        for row in range(8):
            bits = int.from_bytes(given.view(np.uint8).reshape(32, 16)[8 * k + row].tobytes(), "little")
            assert found[k, row].tolist() == [bits >> width * c & ((1 << width) - 1) for c in range(16)]
    tall = (
        ADDRESS
        + FILL
        + f"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.{form} {{%r20, %r21}}, [%r31];\n"
    )
    run_words(tall + "st.global.u32 [%d4], %r20; st.global.u32 [%d4+128], %r21;", given, 64, "sm_100a")


def test_stmatrix_of_bytes() -> None:
    """The four bytes of a lane are two rows and two columns of the result of a product: rows of memory are columns."""
    body = """
	ld.global.u32 %r20, [%d5]; ld.global.u32 %r21, [%d5+128];
	mov.u32 %r30, tile;
	mad.lo.u32 %r31, %r1, 16, %r30;
	stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r31], {%r20, %r21};
	bar.sync 0;
	mad.lo.u32 %r31, %r1, 4, %r30;
	ld.shared.u32 %r7, [%r31]; st.global.u32 [%d4], %r7;
	ld.shared.u32 %r7, [%r31+128]; st.global.u32 [%d4+128], %r7;
"""
    given = matrix_rows()[:64]
    found = run_words(body, given, 64, "sm_100a").view(np.uint8).reshape(2, 8, 16)
    for k in range(2):
        for lane in range(32):
            g, t = divmod(lane, 4)
            value = given.view(np.uint8).reshape(2, 32, 4)[k, lane].tolist()
            cells = [(2 * t, g), (2 * t + 1, g), (2 * t, g + 8), (2 * t + 1, g + 8)]
            assert [int(found[k, row, column]) for row, column in cells] == value


# ---- wmma


WMMA = [
    # shape, types of D A B C, registers of a fragment of A, B, C and D
    ("m16n16k16", "f16 f16 f16 f16", 8, 8, 4, 4),
    ("m8n32k16", "f32 f16 f16 f32", 8, 8, 8, 8),
    ("m32n8k16", "f32 f16 f16 f16", 8, 8, 4, 8),
    ("m16n16k16", "f16 f16 f16 f32", 8, 8, 8, 4),
    ("m16n16k16", "f32 bf16 bf16 f32", 4, 4, 8, 8),
    ("m8n32k16", "f32 bf16 bf16 f32", 2, 8, 8, 8),
    ("m32n8k16", "f32 bf16 bf16 f32", 8, 2, 8, 8),
    ("m16n16k8", "f32 tf32 tf32 f32", 4, 4, 8, 8),
    ("m16n16k16", "s32 s8 s8 s32", 2, 2, 8, 8),
    ("m8n32k16", "s32 u8 u8 s32", 1, 4, 8, 8),
    ("m32n8k16", "s32 s8 s8 s32", 4, 1, 8, 8),
    ("m8n8k32", "s32 s4 s4 s32", 1, 1, 2, 2),
    ("m8n8k128", "s32 b1 b1 s32", 1, 1, 2, 2),
    ("m8n8k4", "f64 f64 f64 f64", 1, 1, 2, 2),
]


def wmma_text(
    shape: str,
    names: list[str],
    counts: tuple[int, ...],
    layouts: str,
    given_stride: bool,
    pitches: list[int],
) -> str:
    """Load A, B and C from three places of `in`, multiply, store D."""
    d, a, b, c = names
    kind = {"f64": "%d"}.get(a, "%r")
    fragments, number = [], 10
    for count in counts:
        fragments.append("{" + ", ".join(f"{kind}{number + k}" for k in range(count)) + "}")
        number += count
    fa, fb, fc, fd = fragments
    stride = [f", {p}" if given_stride else "" for p in pitches]
    la, lb, lc, ld = (("row", "col")[int(x)] for x in layouts)
    rest = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{b}.{c}"
    operation = ".xor.popc" if a == "b1" else ""
    return (
        HEAD.replace("TILE", "16").replace("sm_90", "sm_80")
        + f"""
	add.s64 %d4, %d2, 8192;
	add.s64 %d5, %d2, 16384;
	mov.u32 %r7, {pitches[1]};
	wmma.load.a.sync.aligned.{la}.{shape}.global.{a} {fa}, [%d2]{stride[0]};
	wmma.load.b.sync.aligned.{lb}.{shape}.{b} {fb}, [%d4]{", %r7" if given_stride else ""};
	wmma.load.c.sync.aligned.{lc}.{shape}.global.{c} {fc}, [%d5]{stride[2]};
	wmma.mma{operation}.sync.aligned.{la}.{lb}.{shape}.{rest} {fd}, {fa}, {fb}, {fc};
	wmma.store.d.sync.aligned.{ld}.{shape}.global.{d} [%d1], {fd}{stride[3]};
	ret;
}}
"""
    )


def as_floats(data: np.ndarray, name: str) -> np.ndarray:
    """Whole numbers from their bytes."""
    if name == "f16":
        return data.view(np.float16).astype(np.float64)
    if name == "bf16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    dtype = {"f64": "f8", "f32": "f4", "tf32": "f4", "s32": "i4", "s8": "i1", "u8": "u1"}[name]
    return data.view(dtype).astype(np.float64)


@pytest.mark.parametrize("given_stride", [True, False])
@pytest.mark.parametrize(("shape", "types", "ca", "cb", "cc", "cd"), WMMA)
def test_wmma(shape: str, types: str, ca: int, cb: int, cc: int, cd: int, given_stride: bool) -> None:
    """D is A times B plus C whatever the layouts: by numpy for whole numbers, and in all runs alike."""
    names = types.split()
    d, a, b, c = names
    m, n, k = (int(v) for v in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    small = a in ("s4", "b1")
    for layouts in ("0100", "0111") if small else ("0000", "1101", "0110", "1011"):
        sizes = [(m, k), (k, n), (m, n), (m, n)]
        lines = [(r, s) if layout == "0" else (s, r) for (r, s), layout in zip(sizes, layouts, strict=True)]
        extra = 128 if a == "b1" else 32
        pitches = [line[1] + (extra if given_stride else 0) for line in lines]
        given = np.zeros(32768, np.uint8)
        tiles = [tile_bytes(name, *lines[j], pitches[j], "whole") for j, name in enumerate((a, b, c))]
        for j, tile in enumerate(tiles):
            given[8192 * j : 8192 * j + tile.size] = tile
        out_type = {"f16": np.float16, "f32": np.float32, "s32": np.int32, "f64": np.float64}[d]
        text = wmma_text(shape, names, (ca, cb, cc, cd), layouts, given_stride, pitches)

        def arguments(
            count: int = lines[3][0] * pitches[3], out_type: type = out_type, given: np.ndarray = given
        ) -> list[np.ndarray]:
            return [np.zeros(count, out_type), given.copy()]

        found = three_ways(text, 32, arguments)[0][0].reshape(lines[3][0], pitches[3])[:, : lines[3][1]]
        if small:
            continue
        matrices = [
            as_floats(tile, name).reshape(lines[j][0], pitches[j])[:, : lines[j][1]]
            for j, (tile, name) in enumerate(zip(tiles, (a, b, c), strict=True))
        ]
        left, right, more = (x if layouts[j] == "0" else x.T for j, x in enumerate(matrices))
        expected = left @ right + more
        assert ((found if layouts[3] == "0" else found.T) == expected.astype(out_type)).all()


@pytest.mark.parametrize(
    ("shape", "types", "ca", "cb", "cc", "cd"),
    [
        ("m16n16k16", "s32 u8 u8 s32", 2, 2, 8, 8),
        ("m8n32k16", "s32 s8 s8 s32", 1, 4, 8, 8),
        ("m32n8k16", "s32 u8 u8 s32", 4, 1, 8, 8),
        ("m8n8k32", "s32 u4 u4 s32", 1, 1, 2, 2),
        ("m16n16k16", "f16 f16 f16 f16", 8, 8, 4, 4),
        ("m8n32k16", "f16 f16 f16 f32", 8, 8, 8, 4),
        ("m32n8k16", "f32 f16 f16 f16", 8, 8, 4, 8),
        ("m16n16k16", "f32 f16 f16 f32", 8, 8, 8, 8),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_wmma_that_saturates(shape: str, types: str, ca: int, cb: int, cc: int, cd: int, old: bool) -> None:
    """`.satfinite`, and the first form of `wmma` without `.aligned`, on random bits: all runs alike."""
    names = types.split()
    if old and names[1] != "f16":
        return
    m, n, k = (int(v) for v in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    pitches = [k, k, n, n]
    given = np.frombuffer(random.Random(shape + types).randbytes(32768), np.uint8)
    text = wmma_text(shape, names, (ca, cb, cc, cd), "0100", True, pitches)
    kind = f"{names[0]}.{names[3]}" if names[1] == "f16" else ".".join(names)
    text = text.replace(f"{shape}.{kind} ", f"{shape}.{kind}.satfinite ")
    text = text.replace(".version 8.7", ".version 6.0" if old else ".version 6.4").replace("sm_80", "sm_75")
    if old:
        text = text.replace(".sync.aligned", ".sync")
    out_type = {"f16": np.uint16, "f32": np.uint32, "s32": np.uint32}[names[0]]
    found = three_ways(text, 32, lambda: [np.zeros(m * n, out_type), given.copy()])[0][0]
    infinite = {"f16": 0x7C00, "f32": 0x7F800000}.get(names[0])
    assert infinite is None or ((found & (0x7FFF if names[0] == "f16" else 0x7FFFFFFF)) < infinite).all()
