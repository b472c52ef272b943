"""Bulk copies and tensor maps, worked out by hand: in a run without time, by the reference, and timed."""

import numpy as np
import pytest
from bulk_kernels import WAIT, kernel, load
from reference.interpreter import run_reference

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError

EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n"
TO_SHARED = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
TO_CLUSTER = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
CANCEL = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
ACROSS = ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
TO_GLOBAL = "cp.async.bulk.global.shared::cta.bulk_group"
DONE = "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n"


def everywhere(body: str, arguments, words: int = 0, has_map: bool = False, grid: int = 1, **more) -> list:
    """The arguments after a run without time, early and late, by the reference, and timed: all the same."""
    k = kernel(body, words, has_map)
    results = []
    for run, options in (
        (functional.run, {}),
        (functional.run, {"asynchronous": "late"}),
        (run_reference, {}),
        (ptxsim.launch, {"gpu": "h100"}),
        (ptxsim.launch, {"gpu": "h100", "event_skip": False}),
    ):
        given = arguments()
        run(k, (grid,), (32,), given, **more, **options)
        results.append(given)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            if isinstance(a, np.ndarray):
                assert a.tobytes() == b.tobytes()
    return results[0]


def test_there_and_back() -> None:
    """96 bytes come to shared memory; 48 of them, 16 later, go to the end of the input, in two groups."""
    body = (
        EXPECT.format(96)
        + f"@%p1 {TO_SHARED} [tile], [%d2], 96, [bar];{WAIT}"
        + "fence.proxy.async.shared::cta;\n"
        + f"@%p1 {TO_GLOBAL} [%d2+96], [tile+16], 16;\n@%p1 cp.async.bulk.commit_group;\n"
        + f"mov.u32 %r2, 32;\n@%p1 {TO_GLOBAL} [%d2+112], [tile+32], %r2;\n{DONE}"
    )
    out, given = everywhere(body, lambda: [np.zeros(24, np.uint32), np.arange(36, dtype=np.uint32)], 24)
    assert out.tolist() == list(range(24))
    assert given.tolist() == [*range(24), 4, 5, 6, 7, *range(8, 16)]


def test_bytes_of_sixteen() -> None:
    """A mask of bytes: 0x00F1 takes bytes 0 and 4 to 7 of each 16."""
    body = f"""
	@%p1 st.shared.v4.u32 [tile], {{0x11111111, 0x22222222, 0x33333333, 0x44444444}};
	mov.u16 %h1, 0x00F1;
	fence.proxy.async;
	@%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2], [tile], 16, %h1;
	{DONE}"""
    _, given = everywhere(body, lambda: [np.zeros(4, np.uint32), np.full(4, 0xFFFFFFFF, np.uint32)])
    assert [hex(v) for v in given] == ["0xffffff11", "0x22222222", "0xffffffff", "0xffffffff"]


@pytest.mark.parametrize(
    ("how", "dtype", "values", "expected"),
    [
        ("add.u32", np.uint32, [1, 0xFFFFFFFF, 7, 0], [11, 9, 17, 10]),
        ("min.s32", np.int32, [-5, 11, 10, 0], [-5, 10, 10, 0]),
        ("max.u64", np.uint64, [1 << 63, 3], [1 << 63, 10]),
        ("inc.u32", np.uint32, [10, 11, 9, 0], [0, 11, 0, 0]),  # 10 >= value wraps to 0, 10 < 11 counts
        ("add.f32", np.float32, [0.5, -10, 1e30, 2**-140], [10.5, 0, 1e30, 10]),
        ("add.f64", np.float64, [0.25, -1], [10.25, 9]),
        ("add.noftz.f16", np.float16, [0.5, 2048, 1, 2, 3, 4, 5, 6], [10.5, 2058, 11, 12, 13, 14, 15, 16]),
        ("xor.b32", np.uint32, [10, 0, 1, 2], [0, 10, 11, 8]),
    ],
)
def test_reductions(how: str, dtype: type, values: list, expected: list) -> None:
    """10 lies in every element of global memory."""
    body = (
        EXPECT.format(16)
        + f"@%p1 {TO_SHARED} [tile], [%d2], 16, [bar];{WAIT}"
        + f"@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{how} [%d1], [tile], 16;\n{DONE}"
    )
    out, _ = everywhere(body, lambda: [np.full(len(values), 10, dtype), np.array(values, dtype)])
    assert out.tolist() == np.array(expected, dtype).tolist()


CLUSTER = """
	mov.u32 %r2, %cluster_ctarank;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""


@pytest.mark.parametrize(("width", "mask"), [("", "%h1"), ("::16b", "%h1"), ("::32b", "%r3")])
def test_every_cta_of_a_mask(width: str, mask: str) -> None:
    """Of 4 CTAs, rank 1 sends 16 bytes to ranks 0 and 3, whose mbarriers expect them."""
    body = f"""
	mov.u32 %r2, %cluster_ctarank;
	setp.ne.u32 %p4, %r2, 0;
	setp.ne.and.u32 %p4, %r2, 3, %p4;
	@%p4 bra SEND;
	{EXPECT.format(16)}
SEND:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	setp.eq.and.u32 %p5, %r2, 1, %p1;
	mov.u16 %h1, 9;
	mov.u32 %r3, 9;
	@%p5 {TO_CLUSTER}.multicast::cluster{width} [tile], [%d2], 16, [bar], {mask};
	@%p4 bra OUT;
	{WAIT}
OUT:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""
    out, _ = everywhere(
        body, lambda: [np.zeros(16, np.uint32), np.arange(1, 5, dtype=np.uint32)], 4, grid=4, cluster=(4,)
    )
    assert out.reshape(4, 4).tolist() == [[1, 2, 3, 4], [0] * 4, [0] * 4, [1, 2, 3, 4]]


def test_from_cta_to_cta() -> None:
    """Each of 2 CTAs copies 16 bytes to the other one, and adds 16 more."""
    body = f"""
	mov.u32 %r2, %cluster_ctarank;
	{EXPECT.format(32)}
	@%p1 st.shared.v4.u32 [tile+64], {{%r2, 5, 6, 7}};
	mov.u32 %r5, 100;
	@%p1 st.shared.v4.u32 [tile+16], {{%r5, %r5, %r5, %r5}};
	fence.proxy.async;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	xor.b32 %r3, %r2, 1;
	mov.u32 %r4, tile;
	mapa.shared::cluster.u32 %r6, %r4, %r3;
	mov.u32 %r4, bar;
	mapa.shared::cluster.u32 %r7, %r4, %r3;
	@%p1 cp.async.bulk{ACROSS} [%r6], [tile+64], 16, [%r7];
	@%p1 cp.reduce.async.bulk{ACROSS}.add.u32 [%r6+16], [tile+64], 16, [%r7];
	{WAIT}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""
    out, _ = everywhere(
        body, lambda: [np.zeros(16, np.uint32), np.zeros(4, np.uint32)], 8, grid=2, cluster=(2,)
    )
    assert out.reshape(2, 8).tolist() == [[1, 5, 6, 7, 101, 105, 106, 107], [0, 5, 6, 7, 100, 105, 106, 107]]


def boxes(tensor, box, place, mode="", more="", n=0, **options) -> np.ndarray:
    """A box in shared memory, in every run the same."""
    of = ptxsim.TensorMap(tensor, box, **options)
    n_bytes = (n or int(np.prod(box))) * tensor.itemsize
    out = everywhere(
        load(of, place, n_bytes, mode, more),
        lambda: [of, np.zeros(n_bytes // 4, np.uint32), np.zeros(4, np.uint32)],
        n_bytes // 4,
        True,
    )[1]
    return out.view(tensor.dtype)


def test_three_dimensions_with_steps_and_edges() -> None:
    """A box of 8 x 4 x 2 at (-4, 3, 1), every second row: of rows 3 and 5 of the last layer and one outside of it."""
    tensor = np.arange(2 * 6 * 16, dtype=np.uint16).reshape(2, 6, 16)
    found = boxes(tensor, (8, 4, 2), (-4, 3, 1), n=8 * 2 * 2, steps=(1, 2, 1)).reshape(2, 2, 8)
    expected = np.zeros((2, 2, 8), np.uint16)
    expected[0, :, 4:] = tensor[1, 3::2, :4]
    assert found.tolist() == expected.tolist()


def test_gathered_rows() -> None:
    tensor = np.arange(10 * 8, dtype=np.uint32).reshape(10, 8)
    found = boxes(tensor, (4, 1), (2, 7, 0, 11, 7), ".tile::gather4", n=16).reshape(4, 4)
    assert found.tolist() == [
        tensor[7, 2:6].tolist(),
        tensor[0, 2:6].tolist(),
        [0] * 4,
        tensor[7, 2:6].tolist(),
    ]


def test_columns_of_pixels() -> None:
    """A convolution of 3 x 3 with padding 1: columns of an image's pixels at filter place (w, h) = (2, 0), so that all
    are moved one to the right and one up from the bounding box, whose corners are -1 and -1. From pixel (1, 2) of the
    box on, 8 pixels of 5 x 4: rows are 5 wide, the last row of the box is that of h = 2, then comes the next image."""
    tensor = np.arange(1, 2 * 4 * 5 * 8 + 1, dtype=np.uint16).reshape(2, 4, 5, 8)
    more = ", {2, 0}"
    found = boxes(tensor, (8, 8), (0, 1, 2, 0), ".im2col", more, lower=(-1, -1), upper=(-1, -1))
    padded = np.zeros((2, 6, 7, 8), np.uint16)
    padded[:, 1:5, 1:6] = tensor
    # places of the filter's first tap: w, h from -1; 3 more of row h = 2, then rows of 5 of image 1 from h = -1 on
    places = [(0, 2, w) for w in (1, 2, 3)] + [(1, -1, w) for w in range(-1, 4)]
    expected = [padded[n, h + 0 + 1, w + 2 + 1] for n, h, w in places]
    assert found.reshape(8, 8).tolist() == np.array(expected).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_128", [False, True])
def test_pixels_along_w(seed: int, is_128: bool) -> None:
    """Pixels of random images, corners, steps, moves and halos: those of a padded row of images, one after the other.
    Rows are 16 bytes; of eight of them, a line of 128 bytes, chunk j of every 4 lies at j ^ (line % 4)."""
    random = np.random.default_rng(seed)
    width, step, moved, halo = (int(random.integers(*span)) for span in ((3, 9), (1, 4), (0, 32), (0, 5)))
    low, high = int(random.integers(-3, 2)), int(random.integers(-2, 3))
    high = max(high, low + 1 - width)
    tensor = random.integers(1, 1 << 16, (60, 2, width, 8), np.uint16)
    first, n_pixels = int(random.integers(low - 2, width + high)), int(random.integers(1, 20))
    walk = [(w, 3) for w in range(first, width + high, step)]
    walk += [(w, n) for n in range(4, 200) for w in range(low, width + high, step)]
    chosen = [range(32 * g, 32 * g + 32 + halo) for g in range(4)] if is_128 else [range(n_pixels + halo)]
    places = [walk[k] for group in chosen for k in group]
    expected = np.zeros((len(places), 8), np.uint16)
    for row, (w, n) in enumerate(places):
        if 0 <= w + moved < width and n < 60:
            expected[row] = tensor[n, 1, w + moved]
    mode, more = (".im2col::w::128" if is_128 else ".im2col::w"), f", {{{halo}, {moved}}}"
    options = {"lower": (low,), "upper": (high,), "steps": (1, step, 1, 1), "swizzle": "64B"}
    wide = "W128" if is_128 else "W"
    found = boxes(
        tensor, (8, n_pixels), (0, first, 1, 3), mode, more, len(places) * 8, wide=wide, **options
    ).reshape(-1, 8)
    rows = [row & ~3 | (row ^ row // 8) & 3 for row in range(len(places))]
    inside = [row for row in range(len(places)) if rows[row] < len(places)]
    assert found[[rows[row] for row in inside]].tolist() == expected[inside].tolist()


def test_stores_and_reductions_of_boxes() -> None:
    """A box of 4 x 4, swizzled with 32 bytes, goes to a tensor of 6 x 3 at (2, 1): what is outside is not written; then
    it is added there."""
    tensor = np.full((3, 6), 1000, np.uint32)
    of = ptxsim.TensorMap(tensor, (4, 4), sizes=(6, 3), strides=(32,), swizzle="32B")
    rows = np.full((3, 8), 1000, np.uint32)

    def arguments() -> list:
        fresh = rows.copy()
        return [
            ptxsim.TensorMap(fresh, of.box, of.sizes, of.strides, swizzle="32B"),
            fresh,
            np.arange(16, dtype=np.uint32),
        ]

    body = (
        EXPECT.format(64)
        + f"@%p1 {TO_SHARED} [tile], [%d2], 64, [bar];{WAIT}"
        + "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d3, {2, 1}], [tile];\n"
        + DONE
        + "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d3, {2, 1}], [tile];\n"
        + DONE
    )
    found = everywhere(body, arguments, 0, True)[1]
    expected = rows.copy()
    expected[1:3, 2:6] = 2 * np.arange(8).reshape(2, 4)  # all in the first 128 bytes: not permuted
    assert found.tolist() == expected.tolist()


def test_elements_of_4_bits_without_gaps() -> None:
    """Rows 1 and 2 of a tensor of 80 x 3, from element 64 on: 16 elements are in the tensor, 16 are not."""
    rows = np.random.default_rng(1).integers(1, 256, (3, 48), np.uint8)  # 40 bytes, and 8 more

    def arguments() -> list:
        of = ptxsim.TensorMap(rows, (32, 2), (80, 3), (48,), type="b4x16")
        return [of, np.zeros(8, np.uint32), np.zeros(4, np.uint32)]

    body = load(arguments()[0], (64, 1), 32)
    out = everywhere(body, arguments, 8, True)[1]
    assert out.view(np.uint8).reshape(2, 16).tolist() == [
        [*rows[k, 32:40].tolist(), *[0] * 8] for k in (1, 2)
    ]


@pytest.mark.parametrize(("type_", "n"), [("b4x16_p64", 8), ("b6x16_p32", 12)])
def test_elements_of_4_and_6_bits_with_gaps(type_: str, n: int) -> None:
    """Elements 128 to 255 of rows 1 and 2, 16 in chunks of 16 bytes that are permuted: row 1 of the box has chunk j at
    j ^ 1. The mbarrier has the bytes of global memory. Row 3 is outside of the tensor."""
    rows = np.random.default_rng(2).integers(0, 256, (3, 32 * n), np.uint8)

    def arguments() -> list:
        of = ptxsim.TensorMap(rows, (128, 3), (512, 3), (32 * n,), type=type_, swizzle="128B")
        return [of, np.zeros(96, np.uint32), np.zeros(4, np.uint32)]

    out = everywhere(load(arguments()[0], (128, 1), 3 * 8 * n), arguments, 96, True)[1]
    found = out.view(np.uint8).reshape(3, 8, 16)
    for row in range(2):
        for chunk in range(8):
            expected = rows[1 + row, (8 + chunk) * n : (9 + chunk) * n]
            assert found[row, chunk ^ row, :n].tolist() == expected.tolist()
    assert not found[2].any()


def test_elements_of_6_bits_are_packed() -> None:
    """A store takes the lower 6 bits of each byte (b6p2x16): 0, 1, 2, 3 become 1 << 6 | 2 << 12 | 3 << 18, 0x0C2040."""
    values = np.arange(128, dtype=np.uint8) % 64

    def arguments() -> list:
        fresh = np.zeros(96, np.uint8)
        of = ptxsim.TensorMap(fresh, (128,), (128,), type="b6x16_p32")
        return [of, fresh, values | 0xC0]

    body = (
        EXPECT.format(128)
        + f"@%p1 {TO_SHARED} [tile], [%d2], 128, [bar];{WAIT}"
        + "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d3, {0}], [tile];\n"
        + DONE
    )
    found = everywhere(body, arguments, 0, True)[1]
    assert found[:3].tolist() == [0x40, 0x20, 0x0C]
    bits = np.unpackbits(found, bitorder="little").reshape(128, 6)
    assert (bits @ (1 << np.arange(6))).tolist() == values.tolist()


def test_elements_of_4_bits_are_not_stored_from_gaps() -> None:
    of = ptxsim.TensorMap(np.zeros(64, np.uint8), (128,), (128,), type="b4x16_p64")
    body = "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d3, {0}], [tile];\n" + DONE
    with pytest.raises(PtxError, match=r"E404.*a tensor map that describes no box"):
        functional.run(kernel(body, 0, True), 1, 32, [of, np.zeros(4, np.uint32), np.zeros(4, np.uint32)])


def pairs(copy: str, expected: str) -> list:
    """What 4 CTAs have after rank 1 of them has executed a copy of a row of 16 words, after `expected` of what they
    expect. An mbarrier's address without bit 24 is that of the even CTA of a pair."""
    tensor = np.arange(1, 17, dtype=np.uint32).reshape(1, 16)
    body = f"""
	mov.u32 %r2, %cluster_ctarank;
	{expected}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r5, bar;
	and.b32 %r6, %r5, 0xFEFFFFF8;
	mov.u32 %r7, tile;
	setp.eq.and.u32 %p5, %r2, 1, %p1;
	mov.u16 %h1, 13;
	@%p5 cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes{copy};
	and.b32 %r8, %r2, 1;
	setp.ne.u32 %p6, %r8, 0;
	@%p6 bra WAITED;
	{WAIT}
WAITED:
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r9, tile;
	cvta.shared.u64 %d8, tile;
	cvta.to.shared.u64 %d9, %d8;
	cvt.u32.u64 %r10, %d9;
	setp.ne.u32 %p7, %r9, %r10;
	@%p7 trap;
	isspacep.shared::cta %p7, %d8;
	@!%p7 trap;
	@%p1 st.u32 [%d8+64], %r2;
	@%p1 ld.shared.u32 %r11, [%r9+64];
	getctarank.shared::cluster.u32 %r12, %r10;
	@%p1 add.u32 %r11, %r11, %r12;
	@%p1 st.shared.u32 [tile+64], %r11;
	bar.sync 0;
"""

    def arguments() -> list:
        return [ptxsim.TensorMap(tensor, (16, 1)), np.zeros(4 * 17, np.uint32), np.zeros(4, np.uint32)]

    out = everywhere(body, arguments, 17, True, grid=4, cluster=(4,))[1].reshape(4, 17)
    assert out[:, 16].tolist() == [0, 2, 4, 6]  # twice the rank, through generic and shared addresses
    return [cta[:16].any() for cta in out]


def test_the_mbarrier_of_the_even_cta_of_a_pair() -> None:
    expected = EXPECT.format(64).replace("@%p1", "setp.eq.and.u32 %p5, %r2, 0, %p1;\n\t@%p5")
    expected += "setp.eq.and.u32 %p5, %r2, 2, %p1;\n\t@%p5 mbarrier.arrive.shared.b64 _, [bar];"
    assert pairs(" [%r7], [%d3, {0, 0}], [%r6]", expected) == [False, True, False, False]


def test_a_multicast_to_pairs() -> None:
    """To ranks 0, 2 and 3: rank 0's mbarrier has 64 bytes, and rank 2's those of both CTAs of its pair."""
    expected = "shr.u32 %r3, %r2, 1;\nmad.lo.u32 %r3, %r3, 64, 64;\n" + EXPECT.format("%r3")
    copy = ".multicast::cluster [%r7], [%d3, {0, 0}], [%r6], %h1"
    assert pairs(copy, expected) == [True, False, True, True]


def test_a_request_that_all_ctas_of_a_cluster_hear_of() -> None:
    """Rank 1 of 2 CTAs asks; both are answered, by zeros, and both mbarriers have 16 bytes."""
    body = f"""
	@%p1 st.shared.v4.u32 [tile], {{1, 2, 3, 4}};
	@%p1 st.shared.v4.u32 [tile+16], {{5, 6, 7, 8}};
	{EXPECT.format(16)}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r2, %cluster_ctarank;
	setp.eq.and.u32 %p5, %r2, 1, %p1;
	@%p5 {CANCEL}.multicast::cluster::all.b128 [tile+16], [bar];
	{WAIT}
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
"""
    out = everywhere(
        body, lambda: [np.zeros(16, np.uint32), np.zeros(4, np.uint32)], 8, grid=2, cluster=(2,)
    )[0]
    assert out.tolist() == [1, 2, 3, 4, 0, 0, 0, 0] * 2


def test_a_map_that_the_kernel_makes() -> None:
    """Every field replaced in a zeroed map in shared memory, copied to global memory: the map that TensorMap makes."""
    body = (
        """
	mov.u32 %r2, tile;
	mad.lo.u32 %r2, %r1, 4, %r2;
	mov.u32 %r3, 0;
	st.shared.u32 [%r2], %r3;
	bar.warp.sync -1;
	mov.u32 %r4, 48;
	mov.u64 %d5, 192;
	@%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile], %d2;
	@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [tile], 1;
	@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [tile], 0, %r4;
	@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [tile], 1, 5;
	@%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 0, 8;
	@%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 1, 2;
	@%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [tile], 0, 1;
	@%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [tile], 1, 1;
	@%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [tile], 0, %d5;
	@%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [tile], 2;
	@%p1 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [tile], 0;
	@%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [tile], 1;
	@%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [tile], 0;
	bar.warp.sync -1;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [tile], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
	@%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile+1024], [%d1, {4, 3}], [bar];
"""
        + WAIT
        + """
	mov.u32 %r5, 128;
	@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1+128], [tile+1024], 64;
"""
        + DONE
    )
    tensor = np.arange(5 * 48, dtype=np.uint32).reshape(5, 48)
    out, _ = everywhere_but_addresses(body, lambda: [np.zeros(48, np.uint32), tensor])
    assert out[32:].reshape(2, 8).tolist() == tensor[3:, 4:12].tolist()
    address = int(out[0]) | int(out[1]) << 32
    made = ptxsim.TensorMap(tensor, (8, 2), swizzle="32B").encode(address)
    assert out[:32].tobytes() == made


def everywhere_but_addresses(body: str, arguments) -> list:
    """`everywhere`, for an `out` that begins with an address."""
    k, results = kernel(body), []
    for run in (functional.run, run_reference, ptxsim.launch):
        given = arguments()
        run(k, (1,), (32,), given)
        results.append(given)
    assert all(r[0][2:].tolist() == results[0][0][2:].tolist() for r in results)
    return results[0]


def test_zeros_and_a_refused_request() -> None:
    """st.bulk zeroes 16 bytes of 32; a request to cancel a CTA is answered, by no, with 16 bytes."""
    body = f"""
	@%p1 st.shared.v4.u32 [tile], {{1, 2, 3, 4}};
	@%p1 st.shared.v4.u32 [tile+16], {{5, 6, 7, 8}};
	@%p1 st.bulk.weak.shared::cta [tile], 16, 0;
	{EXPECT.format(16)}
	@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile+64], [bar];
	{WAIT}
	.reg .b128 %q1;
	ld.shared.b128 %q1, [tile+64];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q1;
	@%p4 bra DONE;
"""
    out, _ = everywhere(body, lambda: [np.full(8, 9, np.uint32), np.zeros(4, np.uint32)], 8)
    assert out.tolist() == [0, 0, 0, 0, 5, 6, 7, 8]
