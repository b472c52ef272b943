"""Textures, samplers and surfaces: what makes none, and what their rows say."""

from typing import Any

import numpy as np
import pytest

from ptxsim import Sampler, Surface, Texture
from ptxsim.execute.texture import texture_table as columns
from ptxsim.memory_image.texture_objects import bytes_of, fits
from ptxtool.base.diag import PtxError

LINE = np.arange(4, dtype=np.float32)


def extents(row: Any) -> list[int]:
    return [int(row[column]) for column in (columns.WIDTH, columns.HEIGHT, columns.PLANES)]


def properties(row: Any, *names: str) -> list[int]:
    return [int(row[columns.PROPERTIES + columns.QUERIES.index(name)]) for name in names]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Texture([1, 2]), "list as texels"),  # type: ignore[arg-type]
        (lambda: Texture(np.zeros(3)), "array of float64"),
        (lambda: Texture(np.zeros((2, 3), np.float32), channels=3), "3 channels"),
        (lambda: Texture(np.zeros((2, 3), np.float32), channels=2), "2 channels"),
        (lambda: Texture(np.zeros((2, 2, 2, 2), np.float32)), "shape"),
        (lambda: Texture(np.zeros((2, 4), np.float32)[:, ::2]), "C-contiguous"),
        (lambda: Texture(LINE, address="repeat"), "'repeat'"),  # type: ignore[arg-type]
        (lambda: Texture(LINE, filter="cubic"), "'cubic'"),  # type: ignore[arg-type]
        (lambda: Texture(LINE, read="normalized"), "read='normalized'"),
        (lambda: Texture(np.zeros(3, np.int32), filter="linear"), "filter='linear'"),
        (lambda: Texture(LINE, layered=True), "layers"),
        (lambda: Texture(LINE, compare="below"), "'below' as a texture's comparison"),  # type: ignore[arg-type]
        (lambda: Sampler(compare="lequal"), "'lequal'"),  # type: ignore[arg-type]
        (lambda: Texture(LINE, samples=2), "2 samples of a texel"),
        (lambda: Texture(np.zeros((3, 4, 4), np.float32), samples=2), "2 samples of a texel"),
        (lambda: Texture(np.zeros((2, 3, 4, 4), np.float32), samples=3), "3 samples of a texel"),
        (lambda: Texture(np.zeros((2, 4, 4), np.float32), samples=0), "0 samples of a texel"),
        (lambda: Texture(np.zeros((4, 4, 2), np.float32).T, samples=2), "C-contiguous"),
        (lambda: Surface(np.broadcast_to(LINE, (2, 4))), "C-contiguous"),
        (lambda: Texture(np.zeros((2, 3, 4), np.float32)[:, :2, :3]), "C-contiguous"),  # planes further apart
        (lambda: Texture(np.zeros((2, 4), ">f4")), "big-endian"),
    ],
)
def test_what_no_texture_is_made_of(make: Any, words: str) -> None:
    with pytest.raises(PtxError) as caught:
        make()
    assert words in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].help


@pytest.mark.parametrize(
    ("shape", "more", "expected", "asked"),
    [
        ((5,), {}, [5, 1, 1], [5, 0, 0, 0]),
        ((3, 5), {}, [5, 3, 1], [5, 3, 0, 0]),
        ((2, 3, 5), {}, [5, 3, 2], [5, 3, 2, 0]),
        ((3, 5, 4), {"channels": 4}, [5, 3, 1], [5, 3, 0, 0]),
        ((3, 5), {"layered": True}, [5, 1, 3], [5, 0, 0, 3]),
        ((2, 3, 5), {"layered": True}, [5, 3, 2], [5, 3, 0, 2]),
    ],
)
def test_axes_of_an_array(shape: tuple[int, ...], more: Any, expected: list[int], asked: list[int]) -> None:
    """The last axis is the width; the first one of a layered texture is that of layers, which `txq` knows apart."""
    row = Texture(np.zeros(shape, np.float32), **more).row()
    assert extents(row) == expected
    assert properties(row, "width", "height", "depth", "array_size") == asked


def test_the_last_address_mode_counts_for_the_other_axes() -> None:
    row = Sampler(address=("wrap", "mirror")).row()
    assert list(row[columns.MODE : columns.MODE + 3]) == [columns.WRAP, columns.MIRROR, columns.MIRROR]
    with pytest.raises(PtxError, match="4 address modes"):
        Sampler(address=["wrap"] * 4)


def test_only_objects_of_a_variable_s_kind_fit() -> None:
    assert fits("texref", Texture(LINE))
    assert not fits("surfref", Texture(LINE))
    assert not fits("samplerref", None)


def test_rows_of_texels_may_lie_apart() -> None:
    """The first 3 of 8 texels of every row, of one and of two channels; planes that follow at equal distances."""
    whole = np.arange(2 * 4 * 8, dtype=np.float32).reshape(2, 4, 8)
    for array, channels, expected in (
        (whole[0, :, :3], 1, [3, 4, 1]),
        (whole[:, :, :3], 1, [3, 4, 2]),
        (whole.reshape(8, 4, 2)[:, :3], 2, [3, 8, 1]),
        (whole, 1, [8, 4, 2]),
    ):
        row = Texture(array, channels=channels).row()
        assert extents(row) == expected
        assert row[columns.PITCH] == 32
        assert row[columns.DATA] == whole.ctypes.data
    assert bytes_of(Texture(whole[0, :, :3])) == 4 * 32
    assert bytes_of(Texture(LINE)) == 16
