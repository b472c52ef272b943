"""What boxes hold: fills and swizzles, and maps that describe nothing."""

import numpy as np
import pytest
from bulk_kernels import kernel, load, loaded

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError

HALVES = np.arange(16 * 64, dtype=np.float16).reshape(16, 64)


def test_what_is_outside_is_zero_or_no_number() -> None:
    """8 of 16 elements and one of two rows are inside."""
    for fill, outside in (("zero", 0), ("nan", 0x7FFF)):
        found = loaded(HALVES, (16, 2), (56, 15), fill=fill).view(np.uint16).reshape(2, 16)
        assert found[0, :8].tolist() == HALVES[15, 56:].view(np.uint16).tolist()
        assert set(found[0, 8:].tolist()) == set(found[1].tolist()) == {outside}


def test_a_box_far_outside() -> None:
    assert not loaded(HALVES, (8, 2), (-8, 3)).any()
    assert not loaded(HALVES, (8, 2), (0, -2)).any()
    assert not loaded(HALVES, (8, 2), (64, 3)).any()


def test_rows_of_64_bytes_swizzled() -> None:
    """Rows 2 i and 2 i + 1 are line i of shared memory, whose chunks j lie at j ^ (i % 4)."""
    found = loaded(HALVES, (32, 8), (16, 4), swizzle="64B").reshape(8, 4, 8)
    for row in range(8):
        for chunk in range(4):
            expected = HALVES[4 + row, 16 + 8 * chunk : 24 + 8 * chunk]
            assert found[row, chunk ^ (row // 2 % 4)].tolist() == expected.tolist()


def test_a_tensor_outside_of_memory_is_a_fault() -> None:
    of = ptxsim.TensorMap(HALVES, (8, 2), sizes=(64, 17))
    arguments = [of, np.zeros(8, np.uint32), np.zeros(4, np.uint32)]
    with pytest.raises(PtxError, match=r"E404.*access out of bounds"):
        functional.run(kernel(load(of, (0, 15), 32), 8, True), 1, 32, arguments)


@pytest.mark.parametrize(
    ("wide", "mode", "more"),
    [
        ("W", ".im2col::w", ", {512, 0}"),
        ("W", ".im2col::w", ", {0, 32}"),
        ("W128", ".im2col::w::128", ", {32, 0}"),
        ("W128", ".im2col::w", ", {0, 0}"),
        ("W", ".im2col::w::128", ", {0, 0}"),
        ("W", ".im2col", ", {0}"),
        ("W", "", ""),
    ],
)
def test_copies_along_w_that_are_none(wide: str, mode: str, more: str) -> None:
    """Halos and moves that are too large, and maps of another mode."""
    of = ptxsim.TensorMap(
        np.zeros((2, 4, 8), np.uint16), (8, 4), lower=(0,), upper=(0,), wide=wide, swizzle="64B"
    )
    arguments = [of, np.zeros(16, np.uint32), np.zeros(4, np.uint32)]
    with pytest.raises(PtxError, match=r"E404.*a tensor map that describes no box"):
        functional.run(kernel(load(of, (0, 0, 0), 64, mode, more), 16, True), 1, 32, arguments)


@pytest.mark.parametrize(
    "spoilt",
    [
        "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d1], 1;",
        "tensormap.replace.tile.rank.global.b1024.b32 [%d1], 2;",
        "tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 14;",
        "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 0, 7;",
        "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 1;",
    ],
)
def test_a_map_that_describes_no_box(spoilt: str) -> None:
    """Interleaved, of another rank, 8 of 16 elements that are copied together, rows of 14 bytes, atomicity without a
    swizzle of 128 bytes."""
    data = np.frombuffer(ptxsim.TensorMap(HALVES, (8, 2)).encode(1 << 20), np.uint8).copy()
    body = f"@%p1 {spoilt}\n" + load(ptxsim.TensorMap(HALVES, (8, 2)), (0, 0), 32).replace("%d3", "%d1")
    with pytest.raises(PtxError, match=r"E404.*a tensor map that describes no box"):
        functional.run(kernel(body), 1, 32, [data, np.zeros(4, np.uint32)])
