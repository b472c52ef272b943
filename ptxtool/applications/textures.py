"""Texture and surface objects of an application: the texels in device memory, and how they are sampled."""

from math import prod
from typing import TYPE_CHECKING, Any

from ptxtool.applications.protocol import TEXTURE

if TYPE_CHECKING:
    from ptxsim.memory_image.heap import Heap
    from ptxsim.memory_image.texture_objects import Address, Surface, Texture

_MODES: "tuple[Address, ...]" = ("wrap", "clamp", "mirror", "border")
"""By the numbers of cudaTextureAddressMode."""
_SORTS = "iuf"
"""By the numbers of cudaChannelFormatKind: the letter of numpy."""


def texture_object(data: bytes, heap: "Heap") -> "Texture | Surface":
    """The texture or surface of a `TEXTURE` record, a view of device memory. Raises E401 and E404."""
    from ptxsim.memory_image.texture_objects import Surface, Texture

    address, pitch, width, height, depth, is_surface, layered, bits, channels, sort, *rest = TEXTURE.unpack(
        data
    )
    *modes, linear, fraction, normalized = rest
    texels = _texels(heap, address, pitch, (depth, height, width), f"{_SORTS[sort]}{bits // 8}", channels)
    shape: dict[str, Any] = {"channels": channels, "layered": bool(layered)}
    if is_surface:
        return Surface(texels, **shape)
    return Texture(
        texels,
        address=[_MODES[mode] for mode in modes],
        filter="linear" if linear else "point",
        normalized=bool(normalized),
        # a fraction is of 8 or 16 bits: CUDA reads floats the same either way
        read="normalized" if fraction and _SORTS[sort] != "f" else "element",
        **shape,
    )


def _texels(
    heap: "Heap", address: int, pitch: int, extents: tuple[int, ...], dtype: str, channels: int
) -> Any:
    """The texels as an array (..., height, width[, channels]), axes of 0 left out. Raises E404."""
    import numpy as np

    item = np.dtype(dtype).itemsize
    shape = [n for n in extents if n]
    height = extents[1] or 1
    row = extents[-1] * channels * item
    rows = prod(shape[:-1])
    strides = [channels * item]
    if len(shape) > 1:
        strides.insert(0, pitch)
    if len(shape) > 2:
        strides.insert(0, pitch * height)
    if channels > 1:
        shape.append(channels)
        strides.append(item)
    memory = heap.view(address, (rows - 1) * pitch + row)
    return np.ndarray(tuple(shape), np.dtype(dtype), memory, 0, tuple(strides))
