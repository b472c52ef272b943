"""Tensor maps: their bytes, by hand, and what is refused."""

from itertools import product

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

ROWS = np.zeros((5, 48), np.float32)


def words(tensor_map: ptxsim.TensorMap, address: int = 0x1_0000_0040) -> list[int]:
    return np.frombuffer(tensor_map.encode(address), np.uint32).tolist()


def test_a_matrix() -> None:
    """f32 is type 7, a rank of 2 is 1, a swizzle of 64 bytes 2, NaNs 1, 128 bytes of L2 promotion 2; rows are 192 bytes
    apart."""
    found = words(ptxsim.TensorMap(ROWS, (16, 4), steps=(1, 2), swizzle="64B", fill="nan", promotion="128B"))
    assert found[2] == 1 | 7 << 4 | 2 << 12 | 1 << 20 | 2 << 24
    assert found[0:2] == [0x40, 1]
    assert found[4:9] == [48, 5, 0, 0, 0]
    assert found[9:14] == [16, 4, 0, 0, 0]
    assert found[14:19] == [1, 2, 0, 0, 0]
    assert found[20:28] == [192, 0] + [0] * 6


def test_columns_of_pixels() -> None:
    images = np.zeros((2, 6, 7, 32), np.uint8)
    found = words(ptxsim.TensorMap(images, (32, 64), lower=(-1, -2), upper=(1, 0)))
    assert found[2] == 3 | 1 << 28
    assert found[9:11] == [32, 64]
    assert found[20:26] == [32, 0, 224, 0, 1344, 0]
    assert found[28:31] == [0x0001_FFFF, 0x0000_FFFE, 0]


def test_pixels_along_w() -> None:
    """Its corners are those of W, whatever the rank; 2 and 3 tell the modes."""
    images = np.zeros((2, 6, 7, 32), np.uint8)
    for wide, mode in (("W", 2), ("W128", 3)):
        at = ptxsim.TensorMap(images, (32, 64), lower=(-300,), upper=(300,), wide=wide, swizzle="64B")
        found = words(at)
        assert found[2] == 3 | 2 << 12 | mode << 28
        assert found[9:11] == [32, 64]
        assert found[28:31] == [300 << 16 | 0x10000 - 300, 0, 0]


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("swizzle 'none'", {"swizzle": "none"}),
        ("wide 'H'", {"wide": "H"}),
        ("no pixels between its corners", {"lower": (3,), "upper": (-4,)}),
        ("2 lower", {"lower": (0, 0)}),
    ],
)
def test_what_is_refused_along_w(what: str, options: dict) -> None:
    images = np.zeros((2, 6, 7, 32), np.uint8)
    given = {"lower": (0,), "upper": (0,), "wide": "W", "swizzle": "64B"} | options
    with pytest.raises(PtxError, match="E401") as caught:
        ptxsim.TensorMap(images, (32, 64), **given)
    assert what in str(caught.value)


def test_a_tensor_at_an_address() -> None:
    at = ptxsim.TensorMap(0x1000, (8,), sizes=(100,), type="bf16")
    assert words(at, 0x1000)[:5] == [0x1000, 0, 10 << 4, 0, 100]


@pytest.mark.parametrize(
    ("type_", "number", "sizes", "stride"),
    [("b4x16", 13, (512, 3), 256), ("b4x16_p64", 14, (512, 3), 256), ("b6x16_p32", 15, (256, 4), 192)],
)
def test_packed_elements(type_: str, number: int, sizes: tuple[int, ...], stride: int) -> None:
    """Of an array of bytes: 768, in rows of 256 or of 192."""
    array = np.zeros(768, np.uint8).reshape(-1, stride)
    found = words(ptxsim.TensorMap(array, (128, 2), type=type_, swizzle="128B"), 0x1000)
    assert found[:4] == [0x1000, 0, 1 | number << 4 | 3 << 12, 0]
    assert (found[4:6], found[9:11], found[20]) == ([*sizes], [128, 2], stride)


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("sizes (320,)", {"sizes": (320, 3), "strides": (256,)}),
        ("strides (240,)", {"sizes": (384, 3), "strides": (240,)}),
        ("a box of 64 elements", {"box": (64, 2)}),
        ("swizzle '64B'", {"swizzle": "64B"}),
        ("fill 'nan'", {"fill": "nan"}),
    ],
)
def test_what_is_refused_of_packed_elements(what: str, options: dict) -> None:
    array = np.zeros((3, 256), np.uint8)
    with pytest.raises(PtxError, match="E401") as caught:
        ptxsim.TensorMap(**({"array": array, "box": (128, 2), "type": "b4x16_p64"} | options))
    assert what in str(caught.value)


def test_packed_elements_begin_at_32_bytes() -> None:
    with pytest.raises(PtxError, match=r"E401.*0x1010"):
        ptxsim.TensorMap(np.zeros((3, 256), np.uint8), (128, 2), type="b4x16_p64").encode(0x1010)


def test_a_bit_that_cutlass_clears() -> None:
    """Bit 21 of the second 64-bit word, whatever the map describes."""
    for fill, promotion, swizzle in product(("zero", "nan"), ("none", "256B"), ("none", "128B-atom-64B")):
        at = ptxsim.TensorMap(
            0, (8, 4), (64, 4), (1 << 21,), fill=fill, promotion=promotion, swizzle=swizzle, type="f16"
        )
        assert words(at, 1 << 21 | 1 << 53)[2] >> 21 & 1 == 0


def test_all_planes_may_be_one() -> None:
    """As CUTLASS describes a tensor of a single plane."""
    at = ptxsim.TensorMap(0x1000, (8, 4, 1), sizes=(8, 4, 1), strides=(16, 0), type="f16")
    assert words(at, 0x1000)[20:24] == [16, 0, 0, 0]


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("strides", {"array": np.zeros((5, 6), np.float32)}),  # 24 bytes
        ("1 box", {"box": (16,)}),
        ("box", {"box": (16, 257)}),
        ("steps", {"steps": (1, 9)}),
        ("12 bytes in the box's first dimension", {"box": (3, 1)}),
        ("256 bytes in the box's first dimension", {"box": (64, 1), "swizzle": "128B"}),
        ("swizzle '96B'", {"swizzle": "96B"}),
        ("fill 'nan'", {"array": np.zeros((5, 48), np.int32), "fill": "nan"}),
        ("elements of type 'complex64'", {"array": np.zeros((5, 48), np.complex64)}),
        ("im2col mode of 2 dimensions", {"lower": (0,), "upper": (0,)}),
        ("without sizes", {"array": 4096}),
    ],
)
def test_what_is_refused(what: str, options: dict) -> None:
    with pytest.raises(PtxError, match="E401") as caught:
        ptxsim.TensorMap(**({"array": ROWS, "box": (16, 4)} | options))
    assert what in str(caught.value)


def test_an_address_that_is_not_aligned() -> None:
    with pytest.raises(PtxError, match="E401"):
        ptxsim.TensorMap(ROWS, (16, 4)).encode(0x1008)
