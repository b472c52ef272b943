"""Texels in device memory as arrays: axes, pitches, types, and how they are sampled."""

import struct

import numpy as np
import pytest

from ptxsim.machine import Machine
from ptxsim.memory_image.heap import Heap
from ptxsim.memory_image.texture_objects import Surface, Texture
from ptxtool.applications.protocol import TEXTURE
from ptxtool.applications.textures import texture_object
from ptxtool.base.diag import PtxError


@pytest.fixture
def heap() -> Heap:
    return Machine(memory=1 << 20).heap


def record(
    address: int,
    pitch: int,
    extents: tuple[int, int, int],
    *,
    kind: tuple[int, int, int] = (32, 1, 2),
    **more: int,
) -> bytes:
    """A record for (width, height, depth) and (bits, channels, sort)."""
    names = (
        ("is_surface", "is_layered"),
        ("mode_x", "mode_y", "mode_z", "is_linear", "reads_fraction", "is_normalized"),
    )
    first, rest = ([more.get(name, 0) for name in group] for group in names)
    return TEXTURE.pack(address, pitch, *extents, *first, *kind, *rest)


def test_rows_lie_a_pitch_apart(heap: Heap) -> None:
    address = heap.malloc(2 * 64)
    heap.write(address + 64, struct.pack("<3f", 1, 2, 3))
    found = texture_object(record(address, 64, (3, 2, 0), mode_x=0, mode_y=3, mode_z=1, is_linear=1), heap)
    assert isinstance(found, Texture)
    assert (found.array.shape, found.array.strides, found.array.dtype) == ((2, 3), (64, 4), np.float32)
    assert found.array[1].tolist() == [1, 2, 3]
    assert (found.address, found.filter, found.normalized, found.read) == (
        ["wrap", "border", "clamp"],
        "linear",
        False,
        "element",
    )


@pytest.mark.parametrize(
    ("extents", "kind", "shape"),
    [
        ((8, 0, 0), (32, 1, 0), (8,)),
        ((8, 4, 0), (8, 4, 1), (4, 8, 4)),
        ((8, 4, 2), (16, 2, 0), (2, 4, 8, 2)),
        ((8, 0, 3), (32, 1, 2), (3, 8)),
    ],
)
def test_axes_and_channels(
    extents: tuple[int, int, int], kind: tuple[int, int, int], shape: tuple[int, ...], heap: Heap
) -> None:
    address = heap.malloc(1024)
    data = record(address, 32, extents, kind=kind, is_layered=int(extents[1] == 0 and extents[2] > 0))
    found = texture_object(data, heap)
    assert found.array.shape == shape
    assert found.array.dtype.kind == "iuf"[kind[2]]
    assert found.channels == kind[1]


def test_whole_numbers_as_fractions_and_floats_as_they_are(heap: Heap) -> None:
    address = heap.malloc(64)
    whole = texture_object(record(address, 8, (8, 0, 0), kind=(8, 1, 1), reads_fraction=1), heap)
    real = texture_object(record(address, 32, (8, 0, 0), reads_fraction=1), heap)
    assert isinstance(whole, Texture)
    assert isinstance(real, Texture)
    assert (whole.read, real.read) == ("normalized", "element")


def test_a_surface_is_written_in_place(heap: Heap) -> None:
    address = heap.malloc(64)
    found = texture_object(record(address, 32, (8, 2, 0), kind=(32, 1, 1), is_surface=1), heap)
    assert isinstance(found, Surface)
    found.array[1, 7] = 9
    assert heap.read(address + 32 + 28, 4) == struct.pack("<I", 9)


def test_texels_beyond_an_allocation(heap: Heap) -> None:
    address = heap.malloc(64)
    with pytest.raises(PtxError, match="E404"):
        texture_object(record(address, 32, (8, 3, 0)), heap)
