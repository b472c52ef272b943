"""Textures and surfaces: values worked out by hand, and CUDA programs (tests/cuda/textures.cu) against numpy.

The hand-worked ones follow the CUDA C++ Programming Guide, "Texture Fetching": a filtered coordinate is x - 0.5, its
fraction kept to 8 bits.
"""

from typing import Any

import numpy as np
import pytest
from checkout import TESTS
from three_ways import three_ways

import ptxsim
from ptxsim import Sampler, Surface, Texture
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

CUDA = TESTS / "cuda" / "textures.ptx"
LINE = np.array([10, 20, 40, 80], np.float32)


def cuda(name: str) -> Function:
    return parse(CUDA.read_text(encoding="utf-8"), str(CUDA)).kernels[name]


def fetched(name: str, texture: Texture, coordinates: Any, width: int = 1, dtype: Any = np.float32) -> Any:
    """What kernel `name` fetches at coordinates: the same in both runs."""
    given = np.ascontiguousarray(coordinates, np.int32 if name == "element" else np.float32)
    n = len(given)
    found = []
    for run in (functional.run, ptxsim.launch):
        out = np.zeros((n, width), dtype)
        run(cuda(name), (-(-n // 32),), (32,), [texture, given, out, n])  # type: ignore[operator]
        found.append(out)
    assert found[0].tobytes() == found[1].tobytes()
    return found[0][:, 0] if width == 1 else found[0]


# ---- by hand


def test_a_filtered_line() -> None:
    # 1.3: 0.8 between texels 0 and 1; 0.8 * 256 = 204.8, so 205/256: 10 + 10 * 205/256
    # 2.5: texel 2; 3.25: 0.75 between 2 and 3: 40 + 40 * 0.75; 0.3, -5: clamped to texel 0; 3.9: to texel 3
    # 1.501953125 - 0.5 = 1 + 1/512: halves round up to 1/256: 20 + 20/256
    expected = [10 + 10 * 205 / 256, 40, 70, 10, 10, 80, 20 + 20 / 256]
    texture = Texture(LINE, filter="linear")
    assert fetched("line", texture, [1.3, 2.5, 3.25, 0.3, -5, 3.9, 1.501953125]).tolist() == expected


def test_a_border_weighs_as_zero() -> None:
    texture = Texture(LINE, address="border", filter="linear")
    # 0.25: 0.75 between the border (-1) and texel 0; 4: half of texel 3; 4.5: the border
    assert fetched("line", texture, [0.25, 4.0, 4.5]).tolist() == [7.5, 40, 0]


def test_points() -> None:
    at = [0.0, 0.999, 1.0, 3.99, 4.0, -0.001, np.nan, np.inf, -np.inf]
    assert fetched("line", Texture(LINE), at).tolist() == [10, 10, 20, 80, 80, 10, 10, 80, 10]
    assert fetched("line", Texture(LINE, address="border"), at).tolist() == [10, 10, 20, 80, 0, 0, 10, 0, 0]


def test_repeated_texels() -> None:
    at = [0.1, 0.3, 0.6, 0.9, 1.1, 1.3, -0.1, 2.1]
    wrap = Texture(LINE, address="wrap", normalized=True)
    assert fetched("line", wrap, at).tolist() == [10, 20, 40, 80, 10, 20, 80, 10]
    mirror = Texture(LINE, address="mirror", normalized=True)
    assert fetched("line", mirror, at).tolist() == [10, 20, 40, 80, 80, 40, 10, 10]
    # filtered across the seam: 1.0 lies half way between texels 3 and 0
    seam = Texture(LINE, address="wrap", filter="linear", normalized=True)
    assert fetched("line", seam, [1.0, 0.0]).tolist() == [45, 45]
    # without normalized coordinates nothing repeats
    assert fetched("line", Texture(LINE, address="wrap"), [5.0, -2.0]).tolist() == [80, 10]


def test_an_image() -> None:
    array = np.array([[0, 8], [16, 32]], np.float32)
    texture = Texture(array, filter="linear")
    # (1, 1): the mean of all; (1.25, 1): x 3/4, y 1/2: (0 + 3 * 8 + 16 + 3 * 32) / 8; (0.5, 1.5): texel of row 1
    assert fetched("image", texture, [[1, 1], [1.25, 1], [0.5, 1.5]]).tolist() == [14, 17, 16]


def test_a_volume() -> None:
    array = np.arange(8, dtype=np.float32).reshape(2, 2, 2)  # value = x + 2 y + 4 z
    texture = Texture(array, filter="linear")
    assert fetched("volume", texture, [[1, 1, 1, 0], [0.75, 1.5, 1.25, 0]]).tolist() == [3.5, 0.25 + 2 + 3]


def test_fractions_of_bytes() -> None:
    array = np.array([0, 51, 255, 1], np.uint8)
    texture = Texture(array, read="normalized", filter="linear")
    found = fetched("line", texture, [0.5, 1.5, 2.5, 2.0])
    expected = [0, np.float32(51 / 255), 1, np.float32((float(np.float32(0.2)) + 1) / 2)]
    assert found.tolist() == expected
    signed = Texture(np.array([-128, -127, 127], np.int8), read="normalized")
    assert fetched("line", signed, [0, 1, 2]).tolist() == [-1, -1, 1]


def test_elements_and_missing_channels() -> None:
    two = Texture(np.array([[1, 2], [3, 4]], np.float32), channels=2, address="border")
    assert fetched("element", two, [0, 1, 2, -1], 4).tolist() == [
        [1, 2, 0, 1],
        [3, 4, 0, 1],
        [0] * 4,
        [0] * 4,
    ]
    assert fetched("element", Texture(LINE), [1, 9], 4).tolist() == [[20, 0, 0, 1], [80, 0, 0, 1]]


def test_a_gather() -> None:
    array = np.zeros((3, 3, 2), np.float32)
    array[..., 1] = np.arange(9).reshape(3, 3)
    # around (1, 1): texels (0, 1), (1, 1), (1, 0), (0, 0), as (x, y); value = x + 3 y
    assert fetched("gather", Texture(array, channels=2), [[1, 1], [0, 0]], 4).tolist() == [
        [3, 4, 1, 0],
        [0] * 4,
    ]


def test_layers() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    texture = Texture(array, layered=True)
    assert fetched("layers", texture, [[0, 1, 1, 0], [1, 0, 2, 0], [1, 1, 7, 0]]).tolist() == [6, 9, 11]


def test_a_cube() -> None:
    faces = np.arange(6, dtype=np.float32).reshape(6, 1, 1)
    directions = [
        [1, 0.5, 0, 0],
        [-2, 1, 1, 0],
        [0, 3, 1, 0],
        [0.5, -1, 0, 0],
        [0, 0, 1, 0],
        [0.1, 0.2, -0.3, 0],
    ]
    assert fetched("cube", Texture(faces, layered=True), directions).tolist() == [0, 1, 2, 3, 4, 5]
    # +x: s = -z, t = -y; (1, 0.5, 0.5) lies at (0.25, 0.25) of the face: the texel of row 0, column 0
    corners = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    assert fetched(
        "cube", Texture(corners, layered=True), [[1, 0.5, 0.5, 0], [1, -0.5, -0.5, 0]]
    ).tolist() == [0, 3]


# ---- CUDA programs


def test_a_rotation() -> None:
    width, height, angle = 40, 24, 0.5
    array = np.random.default_rng(3).random((height, width)).astype(np.float32)
    out = np.zeros_like(array)
    texture = Texture(array, address="wrap", filter="linear", normalized=True)
    ptxsim.run(cuda("transform"), (5, 3), (8, 8), [texture, out, width, height, angle])
    x, y = np.meshgrid((np.arange(width) + 0.5) / width - 0.5, (np.arange(height) + 0.5) / height - 0.5)
    u = (x * np.cos(angle) - y * np.sin(angle) + 0.5) * width - 0.5
    v = (y * np.cos(angle) + x * np.sin(angle) + 0.5) * height - 0.5
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    a, b = u - i, v - j

    def texel(di: int, dj: int) -> Any:
        return array[(j + dj) % height, (i + di) % width]

    expected = (1 - a) * (1 - b) * texel(0, 0) + a * (1 - b) * texel(1, 0)
    expected += (1 - a) * b * texel(0, 1) + a * b * texel(1, 1)
    assert np.abs(out - expected).max() < 2 / 256  # weights have 8 bits


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
def test_surfaces(run: Any) -> None:
    array = np.random.default_rng(1).random((5, 7)).astype(np.float32)
    out = np.zeros_like(array)
    run(cuda("blur"), (1, 1), (8, 8), [Surface(array), Surface(out), 7, 5])
    wide = np.pad(array, ((0, 0), (1, 1)), "edge")
    assert (out == (wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]) * np.float32(0.25)).all()
    colours = np.random.default_rng(2).integers(0, 255, (2, 3, 4, 4), np.uint8)
    moved = np.zeros_like(colours)
    run(cuda("shift"), (2,), (4, 3), [Surface(colours, 4), Surface(moved, 4)])
    expected = np.zeros_like(colours)
    expected[:, :, 1:] = colours[:, :, :-1]
    expected[..., 0] += 1
    assert (moved == expected).all()


def test_bytes_of_a_texture() -> None:
    array = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)
    found = fetched("bytes", Texture(array, channels=4), [[2.5, 1.5], [9, 9]], 4, np.uint8)
    assert (found == array[[1, 2], [2, 3]]).all()


# ---- a depth, or an offset: either may stand alone

SHAPES = {
    "1d": ((4,), "{%x}"),
    "a1d": ((1, 4), "{%i, %x}"),
    "2d": ((2, 2), "{%x, %z}"),
    "a2d": ((1, 2, 2), "{%i, %x, %z, %z}"),
    "3d": ((2, 2, 2), "{%x, %z, %z, %z}"),
    "cube": ((6, 2, 2), "{%x, %z, %z, %z}"),
    "acube": ((6, 2, 2), "{%i, %x, %z, %z}"),
}
LAST_OPERAND = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 out)
{
	.reg .b32 %i;
	.reg .f32 %x, %z, %a, %b, %c, %d;
	.reg .TYPE %last;
	.reg .b64 %t, %out;
	ld.param.u64 %t, [t];
	ld.param.u64 %out, [out];
	mov.b32 %i, 0;
	mov.f32 %x, 1.0;
	mov.f32 %z, 0.0;
	mov.b32 %last, 0;
	FETCH, LAST;
	st.global.f32 [%out], %a;
	ret;
}
"""


@pytest.mark.parametrize(
    ("type_", "last", "compares"),
    [
        ("f32", "%last", True),
        ("b32", "%last", True),
        ("s32", "%last", False),
        ("u32", "%last", False),
        ("b32", "0.0", True),
        ("b32", "0", False),
    ],
)
def test_a_scalar_that_is_no_integer_is_a_depth(type_: str, last: str, compares: bool) -> None:
    """ptxas 13.0 makes the same code for `.b32` as for `.f32`, and for `.s32`, `.u32` and 0 as for no offset at all; to
    `.3d` it allows integers only. All texels are 0.25; the depth 0 is less."""
    for shape, (extent, coordinates) in SHAPES.items():
        fetches = [f"tex.{shape}.v4.f32.f32 {{%a, %b, %c, %d}}, [%t, {coordinates}]"]
        if shape != "3d":
            fetches.append(fetches[0].replace("tex", "tex.level", 1) + ", %z")
            if "1d" not in shape:
                fetches.append(fetches[0].replace("tex", "tld4.r", 1))
        elif last == "0.0" or (last == "%last" and compares):
            continue
        texture = Texture(np.full(extent, 0.25, np.float32), layered=shape not in ("1d", "2d", "3d"))
        for fetch in fetches:
            text = LAST_OPERAND.replace("TYPE", type_).replace("FETCH", fetch).replace("LAST", last)
            given = three_ways(text, 1, lambda texture=texture: [texture, np.zeros(1, np.float32)])
            assert given[0][1][0] == (1 if compares else 0.25), fetch


# ---- names, handles, mistakes

NAMED = """.version 8.0
.target sm_75
.address_size 64
.global .texref image;
.global .surfref result;
.visible .entry k(.param .u64 q)
{
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %d<4>;
	mov.u32 %r1, %tid.x;
	cvt.rn.f32.u32 %f5, %r1;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5}];
	shl.b32 %r2, %r1, 2;
	sust.b.1d.b32.trap [result, {%r2}], {%f1};
	ret;
}
"""


def named() -> Function:
    return parse(NAMED, "k.ptx").kernels["k"]


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
def test_by_name(run: Any) -> None:
    out = np.zeros(4, np.float32)
    run(named(), 1, 4, [0], textures={"image": Texture(LINE), "result": Surface(out)})
    assert (out == LINE).all()


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
@pytest.mark.parametrize(
    ("textures", "code", "words"),
    [
        ({}, "E401", "nothing given for '.texref image'"),
        ({"image": Surface(LINE.copy())}, "E401", "Surface for '.texref image'"),
        ({"image": Texture(LINE), "img": Texture(LINE)}, "E401", "named 'img'"),
        (
            {"image": Texture(LINE), "result": Surface(np.zeros(3, np.float32))},
            "E404",
            "outside of a surface",
        ),
    ],
)
def test_wrong_names(run: Any, textures: Any, code: str, words: str) -> None:
    with pytest.raises(PtxError) as caught:
        run(named(), 1, 4, [0], textures=textures)
    assert caught.value.diagnostics[0].code == code
    assert words in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].help


@pytest.mark.parametrize("run", [ptxsim.run, ptxsim.launch])
@pytest.mark.parametrize("handle", [0, 12345, Surface(LINE.copy()), Sampler()])
def test_wrong_handles(run: Any, handle: Any) -> None:
    with pytest.raises(PtxError, match="no texture, sampler or surface of this kind") as caught:
        run(cuda("line"), 1, 4, [handle, LINE.copy(), np.zeros(4, np.float32), 4])
    assert caught.value.diagnostics[0].code == "E404"


def test_a_texture_for_a_number() -> None:
    with pytest.raises(PtxError, match="a texture") as caught:
        ptxsim.run(cuda("line"), 1, 4, [1, LINE.copy(), LINE.copy(), Texture(LINE)])
    assert caught.value.diagnostics[0].code == "E401"


def test_time() -> None:
    """A fetch reads a line of its own cache: one access for 32 texels in a line."""
    out = np.zeros(32, np.float32)
    at = np.arange(32, dtype=np.float32)
    texture = Texture(np.arange(32, dtype=np.float32))
    counts = ptxsim.launch(cuda("line"), 1, 32, [texture, at, out, 32])
    assert (out == at).all()
    assert counts.core["texture_fetches"] == counts.core["l1t_accesses"] == counts.core["l1t_misses"] == 1
    assert counts.core["global_loads"] == 1  # the coordinate
    assert counts.l1["misses"] == 2  # that, and the store
    assert counts.core["global_stores"] == 1
