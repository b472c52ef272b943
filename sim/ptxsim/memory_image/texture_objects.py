"""Textures, samplers and surfaces: `Texture`, `Sampler`, `Surface`.

For `launch` and `run`: passed as arguments for the handles that CUDA calls texture and surface objects, or by name for
the variables of a module (texture_handles.py has the table). Arrays are not copied: a surface is written in place. Rows
may lie apart in memory, as cudaMallocPitch allocates them.

Not handled: mipmaps, cubes whose edges are filtered across faces, formats of packed channels.
Reference: PTX ISA, section 5.3 (texture, sampler and surface types); CUDA C++ Programming Guide, texture memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from ptxsim.execute.codes import FLOAT, SIGNED, UNSIGNED
from ptxsim.execute.texture import texture_table as columns
from ptxtool.base.diag import error

Address = Literal["wrap", "mirror", "clamp", "border"]
Filter = Literal["point", "linear"]
Read = Literal["element", "normalized"]
Compare = Literal["never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"]

_MODES = {
    "wrap": columns.WRAP,
    "mirror": columns.MIRROR,
    "clamp": columns.CLAMP_TO_EDGE,
    "border": columns.BORDER,
}
_COMPARISONS: dict[str, int] = {name: getattr(columns, name.upper()) for name in get_args(Compare)}
_TEXELS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")
# OpenCL's numbers (cl.h), which PTX uses
_DATA_TYPES = {
    **{f"int{8 << k}": 0x10D7 + k for k in range(3)},
    **{f"uint{8 << k}": 0x10DA + k for k in range(3)},
    "float16": 0x10DD,
    "float32": 0x10DE,
}
_FRACTION_TYPES = {"int8": 0x10D0, "int16": 0x10D1, "uint8": 0x10D2, "uint16": 0x10D3}
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}


def _of(value: Any, allowed: Sequence[str], what: str) -> None:
    if value not in allowed:
        raise error("E401", f"'{value}' as a texture's {what}", help=f"there are {', '.join(allowed)}")


def _modes(address: Any) -> tuple[int, int, int]:
    names = [address] * 3 if isinstance(address, str) else list(address)
    if not 1 <= len(names) <= 3:
        raise error("E401", f"{len(names)} address modes", help="give one, or one for each axis")
    for name in names:
        _of(name, tuple(_MODES), "address mode")
    modes = [_MODES[name] for name in names]
    x, y, z = modes + modes[-1:] * (3 - len(modes))
    return x, y, z


@dataclass(frozen=True)
class Sampler:
    """How coordinates select texels, for modules in which samplers are independent of textures."""

    address: Address | Sequence[Address] = "clamp"
    """How coordinates outside are mapped: one mode, or one for each of x, y, z."""
    filter: Filter = "point"
    unnormalized: bool = False
    """Coordinates count texels, even those of a normalized texture."""
    compare: Compare = "less_equal"
    """The relation of an instruction's depth to a texel that gives 1."""

    def __post_init__(self) -> None:
        _modes(self.address)
        _of(self.filter, get_args(Filter), "filter")
        _of(self.compare, get_args(Compare), "comparison")

    def row(self) -> Any:
        found = np.zeros(columns.ROW_WORDS, np.int64)
        found[columns.KIND] = columns.SAMPLER
        _set_sampling(found, self.address, self.filter, self.unnormalized, self.compare)
        return found


@dataclass(frozen=True)
class _Texels:
    """Texels of one to three axes in an array: x last, followed by the channels if there are several."""

    array: np.ndarray = field(repr=False)

    def shape(self, channels: int) -> tuple[int, int, int]:
        """Width, height, planes. Raises E401."""
        array: Any = self.array
        if not isinstance(array, np.ndarray) or array.dtype.name not in _TEXELS:
            given = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
            raise error("E401", f"{given} as texels", help=f"texels are numpy arrays of {', '.join(_TEXELS)}")
        if channels not in _ORDERS:
            raise error("E401", f"{channels} channels", help="there are 1, 2 or 4")
        extents = list(array.shape)
        if channels > 1 and extents.pop() != channels:
            what = f"texels of {channels} channels in an array of shape {array.shape}"
            raise error("E401", what, help=f"the last axis has the channels: shape (..., {channels})")
        if not 1 <= len(extents) <= 3 or not all(extents):
            what = f"an array of shape {array.shape} as texels of {channels} channels"
            advice = "there are one to three axes, (depth, height, width), none of them empty"
            raise error("E401", what, help=advice)
        _pitch(array, channels)
        width, height, planes = (*reversed(extents), 1, 1)[:3]
        return width, height, planes


def _check_order(array: Any) -> None:
    if array.dtype.byteorder == ">":
        raise error("E401", "an array in big-endian byte order as texels", help="convert it with .astype")


def _check_contiguous(array: Any) -> None:
    _check_order(array)
    if not array.flags.c_contiguous:
        raise error("E401", "an array that is not C-contiguous as texels", help="use numpy.ascontiguousarray")


def _pitch(array: Any, channels: int) -> int:
    """Bytes from a row of texels to the next one. Raises E401 unless the texels of a row are adjacent, and rows and
    planes at equal distances."""
    row_axes = 1 + (channels > 1)
    row_bytes = int(np.prod(array.shape[-row_axes:])) * int(array.dtype.itemsize)
    strides, shape = array.strides[:-row_axes], array.shape[:-row_axes]
    first = array[(0,) * len(shape)]
    is_pitched = bool(strides) and first.flags.c_contiguous and strides[-1] >= row_bytes
    if not is_pitched or any(strides[k] != strides[k + 1] * shape[k + 1] for k in range(len(shape) - 1)):
        _check_contiguous(array)
        return row_bytes
    _check_order(array)
    return int(strides[-1])


def _row(array: Any, shape: tuple[int, int, int], channels: int, layered: bool, kind: int) -> Any:
    found = np.zeros(columns.ROW_WORDS, np.int64)
    width, height, planes = shape
    if layered and array.ndim - (channels > 1) == 2:
        height, planes = 1, height
    dtype = array.dtype
    found[columns.KIND], found[columns.DATA] = kind, array.ctypes.data
    found[columns.PITCH] = _pitch(array, channels)
    found[[columns.WIDTH, columns.HEIGHT, columns.PLANES]] = width, height, planes
    found[columns.CHANNELS], found[columns.BITS] = channels, 8 * dtype.itemsize
    found[columns.SORT] = {"u": UNSIGNED, "i": SIGNED, "f": FLOAT}[dtype.kind]
    axes = array.ndim - (channels > 1) - layered
    _set_properties(
        found,
        width=width,
        height=height if axes > 1 else 0,
        depth=planes if axes > 2 else 0,
        array_size=planes if layered else 0,
        channel_data_type=_DATA_TYPES[dtype.name],
        channel_order=_ORDERS[channels],
        num_mipmap_levels=1,
        num_samples=1,
    )
    return found


def _set_properties(row: Any, **properties: int) -> None:
    """Set the results of `txq` and `suq`."""
    for name, value in properties.items():
        row[columns.PROPERTIES + columns.QUERIES.index(name)] = value


def _set_sampling(row: Any, address: Any, filter_: str, unnormalized: bool, compare: str) -> None:
    modes = _modes(address)
    row[columns.COMPARE] = _COMPARISONS[compare]
    row[columns.MODE : columns.MODE + 3] = modes
    row[columns.LINEAR], row[columns.FORCED] = filter_ == "linear", unnormalized
    _set_properties(
        row,
        filter_mode=int(filter_ == "linear"),
        force_unnormalized_coords=int(unnormalized),
        **{f"addr_mode_{k}": mode for k, mode in enumerate(modes)},
    )


@dataclass(frozen=True)
class Texture(_Texels):
    """A texture: an array (..., height, width) of texels, and how it is sampled.

    `channels` of a texel are the array's last axis if there are 2 or 4. `layered`: the first axis is that of layers
    (for `.a1d`, `.a2d`; the faces of cubes are layers too). `normalized` coordinates run from 0 to 1.
    `read="normalized"` gives 8- and 16-bit whole numbers as fractions of the greatest; `filter="linear"` needs that, or
    floats. `samples` of a texel (for `.2dms`, `.a2dms`) are the axis before the height; layers come before them.
    `compare` is for instructions that give a depth: the result is 1 where the depth is so to the texel, otherwise 0.
    """

    address: Address | Sequence[Address] = "clamp"
    filter: Filter = "point"
    normalized: bool = False
    read: Read = "element"
    channels: int = 1
    layered: bool = False
    compare: Compare = "less_equal"
    samples: int = 1

    def __post_init__(self) -> None:
        _Texels(self._planes()).shape(self.channels)
        _modes(self.address)
        _of(self.filter, ("point", "linear"), "filter")
        _of(self.compare, tuple(_COMPARISONS), "comparison")
        _of(self.read, ("element", "normalized"), "read mode")
        _check_layers(self.array, self.channels, self.layered)
        whole = self.array.dtype.kind != "f"
        if self.read == "normalized" and (not whole or self.array.dtype.itemsize > 2):
            message = f"read='normalized' of {self.array.dtype.name}"
            raise error("E401", message, help="whole numbers of 8 and 16 bits are read so")
        if self.filter == "linear" and whole and self.read == "element":
            message = f"filter='linear' of {self.array.dtype.name}"
            raise error("E401", message, help="add read='normalized', or filter floats")

    def _planes(self) -> Any:
        """The array with layers and samples as one axis. Raises E401."""
        array: Any = self.array
        if self.samples == 1 or not isinstance(array, np.ndarray):
            return array
        axes = 2 + (self.channels > 1)
        before = array.shape[: max(array.ndim - axes, 0)]
        if self.samples < 1 or len(before) != 1 + self.layered or before[-1] != self.samples:
            shape = f"({'layers, ' * self.layered}{self.samples}, height, width{', channels' * (axes > 2)})"
            message = f"{self.samples} samples of a texel in an array of shape {array.shape}"
            raise error("E401", message, help=f"its shape must be {shape}")
        _check_contiguous(array)
        return array.reshape(-1, *array.shape[-axes:])

    def row(self) -> Any:
        planes = self._planes()
        layered = self.layered or self.samples > 1
        found = _row(planes, _Texels(planes).shape(self.channels), self.channels, layered, columns.TEXTURE)
        found[columns.NORMALIZED] = self.normalized
        _set_sampling(found, self.address, self.filter, False, self.compare)
        _set_properties(found, normalized_coords=int(self.normalized), num_samples=self.samples)
        if self.samples > 1:
            _set_properties(found, array_size=found[columns.PLANES] // self.samples if self.layered else 0)
        if self.read == "normalized":
            found[columns.READS_FLOAT] = 1
            _set_properties(found, channel_data_type=_FRACTION_TYPES[self.array.dtype.name])
        return found


@dataclass(frozen=True)
class Surface(_Texels):
    """A surface: an array (..., height, width), updated in place; `channels` and `layered` as those of a texture."""

    channels: int = 1
    layered: bool = False

    def __post_init__(self) -> None:
        self.shape(self.channels)
        _check_layers(self.array, self.channels, self.layered)
        if not self.array.flags.writeable:
            raise error("E401", "a surface that is read-only", help="pass a copy: it is updated in place")

    def row(self) -> Any:
        return _row(self.array, self.shape(self.channels), self.channels, self.layered, columns.SURFACE)


def _check_layers(array: np.ndarray, channels: int, layered: bool) -> None:
    if layered and array.ndim - (channels > 1) < 2:
        message = f"layers in an array of shape {array.shape}"
        raise error("E401", message, help="the first axis is that of the layers")


TextureObject = Texture | Sampler | Surface
_CLASSES = {"texref": Texture, "samplerref": Sampler, "surfref": Surface}


def class_of(kind: str) -> str:
    """The name of the class for a variable or parameter of an opaque type."""
    return f"ptxsim.{_CLASSES[kind].__name__}"


def fits(kind: str, value: Any) -> bool:
    """Whether a value can be passed for a variable or parameter of an opaque type."""
    return isinstance(value, _CLASSES[kind])


def bytes_of(value: Texture | Surface) -> int:
    """The bytes from the first texel to the last, gaps between rows included."""
    array = value.array
    return max(int(array.nbytes), int(array.strides[0] * array.shape[0]))
