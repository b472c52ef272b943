"""Tensor maps: their bytes, by hand, and what is refused."""

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
    assert found[0] == 1 | 7 << 4 | 2 << 12 | 1 << 20 | 2 << 24
    assert found[2:4] == [0x40, 1]
    assert found[4:9] == [48, 5, 0, 0, 0]
    assert found[9:14] == [16, 4, 0, 0, 0]
    assert found[14:19] == [1, 2, 0, 0, 0]
    assert found[20:28] == [192, 0] + [0] * 6


def test_columns_of_pixels() -> None:
    images = np.zeros((2, 6, 7, 32), np.uint8)
    found = words(ptxsim.TensorMap(images, (32, 64), lower=(-1, -2), upper=(1, 0)))
    assert found[0] == 3 | 1 << 28
    assert found[9:11] == [32, 64]
    assert found[20:26] == [32, 0, 224, 0, 1344, 0]
    assert found[28:31] == [0x0001_FFFF, 0x0000_FFFE, 0]


def test_a_tensor_at_an_address() -> None:
    at = ptxsim.TensorMap(0x1000, (8,), sizes=(100,), type="bf16")
    assert words(at, 0x1000)[:5] == [10 << 4, 0, 0x1000, 0, 100]


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
