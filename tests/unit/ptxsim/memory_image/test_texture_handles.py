"""The handles of a launch's textures, and of those that a machine keeps."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from small_lowering import kernel

from ptxsim import Sampler, Surface, Texture
from ptxsim.execute.texture import texture_table as columns
from ptxsim.lowering.variable_layout import lay_out
from ptxsim.memory_image.texture_handles import TEXTURE_BASE, KeptTextures, TextureHandles
from ptxtool.base.diag import PtxError

LINE = np.arange(4, dtype=np.float32)


def handles() -> TextureHandles:
    function = kernel("ret;")
    return TextureHandles(lay_out(function), function, {})


def test_an_object_has_one_handle_and_its_texels_one_address() -> None:
    table = handles()
    one, other = Texture(LINE), Texture(LINE, filter="linear")
    surface = Surface(np.zeros(200, np.float32))
    first = table.handle(one)
    assert table.handle(one) == first
    assert table.handle(other) == first + columns.HANDLE_STEP
    table.handle(surface)
    last = Texture(np.zeros(1, np.uint8))
    table.handle(last)
    addresses = [int(row[columns.ADDRESS]) for row in table.array()[1:]]
    # 16 bytes, then 800, each from a multiple of 512 on
    assert addresses == [TEXTURE_BASE, TEXTURE_BASE, TEXTURE_BASE + 512, TEXTURE_BASE + 512 + 1024]


def row_of(table: Any, handle: int) -> Any:
    return table[(handle - columns.HANDLE_BASE) // columns.HANDLE_STEP]


def test_handles_of_a_machine_follow_those_of_all_launches() -> None:
    function, kept = kernel("ret;"), KeptTextures()
    one, sampler = kept.add(Texture(LINE)), kept.add(Sampler())
    assert one == columns.HANDLE_BASE + columns.HANDLE_STEP * KeptTextures.FIRST
    assert sampler == one + columns.HANDLE_STEP
    for n in (2, 0, 1):  # rows of an earlier launch are gone
        launch = TextureHandles(lay_out(function), function, {}, kept)
        for _ in range(n):
            launch.handle(Texture(LINE.copy()))
        table = launch.array()
        assert [int(row[columns.KIND]) for row in table[1:4]] == [columns.TEXTURE] * n + [0] * (3 - n)
        assert row_of(table, one)[columns.DATA] == LINE.ctypes.data
        assert row_of(table, sampler)[columns.KIND] == columns.SAMPLER


def test_a_freed_handle_is_none_and_is_used_again() -> None:
    kept = KeptTextures()
    handles = [
        kept.add(Surface(np.zeros(200, np.float32))) for _ in range(3000)
    ]  # more than the table begins with
    assert len(set(handles)) == 3000
    table = kept.table_after([np.zeros(columns.ROW_WORDS, np.int64)])
    addresses = [int(row_of(table, handle)[columns.ADDRESS]) for handle in handles]
    assert [b - a for a, b in pairwise(addresses)] == [1024] * 2999
    kept.remove(handles[7])
    assert row_of(table, handles[7])[columns.KIND] == 0
    assert kept.add(Sampler()) == handles[7]
    for wrong in (handles[8] + 1, 0, columns.HANDLE_BASE + columns.HANDLE_STEP):
        with pytest.raises(PtxError, match=r"E401.*is no handle of a texture"):
            kept.remove(wrong)


def test_what_has_no_handle() -> None:
    kept = KeptTextures()
    with pytest.raises(PtxError, match=r"E401.*ndarray as a texture"):
        kept.add(LINE)  # type: ignore[arg-type]
    with pytest.raises(PtxError, match=r"E401.*1024 textures, samplers and surfaces of one launch"):
        kept.table_after([np.zeros(columns.ROW_WORDS, np.int64)] * 1025)
