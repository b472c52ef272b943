"""Tensor maps as arguments: `TensorMap`, which describes an array to tensor copies.

The terms and their order are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col: dimensions innermost first. A
launch passes the map by value, as the 128 bytes (execute/bulk/tensor_maps.py) of a parameter `.align 64 .b8 [128]`.

Reference: CUDA driver API, "Tensor Map Object Management", for what a map may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from ptxsim.base.program import TENSOR_MAP_BYTES
from ptxsim.execute.bulk import tensor_maps as words
from ptxtool.base.diag import error

Swizzle = Literal["none", "32B", "64B", "128B", "128B-atom-32B", "128B-atom-64B"]
_SWIZZLES: dict[str, tuple[int, int, int]] = {
    "none": (0, 0, 256),
    "32B": (1, 0, 32),
    "64B": (2, 0, 64),
    "128B": (3, 0, 128),
    "128B-atom-32B": (3, 1, 128),
    "128B-atom-64B": (3, 3, 128),
}
"""Mode and atomicity of `tensormap.replace`, and the most bytes of a box's innermost dimension."""
_TYPES = {
    "uint8": "u8",
    "int8": "u8",
    "uint16": "u16",
    "int16": "u16",
    "uint32": "u32",
    "int32": "s32",
    "uint64": "u64",
    "int64": "s64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
}
"""Element types by numpy's names."""
_MAX_BOX, _MAX_STEP, _MAX_PIXELS = 256, 8, 1024
_WIDE = {"W": 2, "W128": 3}
_SWIZZLES_ALONG_W = ("64B", "128B", "128B-atom-32B")


@dataclass(frozen=True)
class TensorMap:
    """A tensor, and the boxes that tensor copies move of it. Dimensions are innermost first, as in CUDA.

    Raises E401 for what cuTensorMapEncodeTiled, ...Im2col or ...Im2colWide refuses, and for interleaved tensors, which
    are not simulated. Elements of 4 or 6 bits are packed in an array of bytes.
    """

    array: Any
    """A C-contiguous numpy array, a buffer of the launch; or the address of one, an int."""
    box: Sequence[int]
    """Elements of a box in each dimension; in im2col mode its channels and pixels."""
    sizes: Sequence[int] = ()
    """Elements of the tensor in each dimension; by default the array's."""
    strides: Sequence[int] = ()
    """Bytes from one index to the next, in every dimension but the first; by default the tensor is dense."""
    steps: Sequence[int] = ()
    """From element to element of a box; by default 1."""
    type: str = ""
    """u8 u16 u32 s32 u64 s64 f16 bf16 f32 f32.ftz tf32 tf32.ftz f64 b4x16 b4x16_p64 b6x16_p32; by default the array's.
    """
    swizzle: Swizzle = "none"
    fill: Literal["zero", "nan"] = "zero"
    """What elements outside of the tensor are in shared memory."""
    promotion: Literal["none", "64B", "128B", "256B"] = "none"
    """Bytes that L2 fetches; without effect."""
    lower: Sequence[int] = ()
    """im2col mode: where pixels of a box begin, in dimensions 1 to the last but one."""
    upper: Sequence[int] = ()
    """And where they end, counted from the tensor's end."""
    wide: Literal["", "W", "W128"] = ""
    """im2col mode along W alone, as of cuTensorMapEncodeIm2colWide: `lower` and `upper` have one number each."""

    def __post_init__(self) -> None:
        self._words(0)

    def encode(self, address: int) -> bytes:
        """The 128 bytes of the map, for a tensor at a global address."""
        alignment = 32 if self._element() >= words.B4X16_P64 else 16
        if address % alignment:
            _wrong(f"the tensor's address {address:#x}", f"align it to {alignment} bytes")
        return self._words(address).tobytes()

    def _words(self, address: int) -> Any:
        if not self.sizes and not isinstance(self.array, np.ndarray):
            _wrong("a tensor at an address, without sizes", "give sizes, strides and type")
        number = self._element()
        unit, is_padded = int(words.UNIT_ELEMENTS[number]), number >= words.B4X16_P64
        bits = 8 * int(words.GLOBAL_BYTES[number]) // unit
        sizes = self._sizes(bits)
        rank, is_im2col = len(sizes), bool(self.lower or self.upper or self.wide)
        if not 1 <= rank <= 5:
            _wrong(f"{rank} dimensions", "a tensor has 1 to 5")
        strides = tuple(self.strides) or tuple(int(n) for n in np.cumprod(sizes[:-1]) * bits // 8)
        steps = tuple(self.steps) or (1,) * rank
        _check("sizes", sizes, rank, 1, (1 << 32) - 1)
        _check("sizes", sizes[:1], 1, 1, (1 << 32) - 1, 128 if is_padded else unit)
        _check("strides", strides, rank - 1, 0, (1 << 40) - 1, 32 if is_padded else 16)
        _check("steps", steps, rank, 1, _MAX_STEP)
        if is_im2col:
            if rank < 3:
                _wrong(f"im2col mode of {rank} dimensions", "it needs 3 to 5: channels, pixels, batch")
            _check("box", self.box, 2, 1, _MAX_PIXELS)
            bound = 1 << 15 if self.wide else {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}[rank]
            for name in ("lower", "upper"):
                _check(name, getattr(self, name), 1 if self.wide else rank - 2, -bound, bound - 1)
        else:
            _check("box", self.box, rank, 1, _MAX_BOX)
        self._check_wide(sizes)
        mode, atomicity, most = _SWIZZLES.get(self.swizzle, (0, 0, 0))
        if is_padded and (self.box[0] != 128 or self.swizzle not in ("none", "128B", "128B-atom-32B")):
            _wrong(
                f"a box of {self.box[0]} elements, swizzle {self.swizzle!r}",
                "128, none, 128B or 128B-atom-32B",
            )
        inner = self.box[0] * int(words.ELEMENT_BYTES[number]) // unit
        if most == 0:
            _wrong(f"swizzle {self.swizzle!r}", f"give one of {', '.join(_SWIZZLES)}")
        if inner % 16 or (mode and inner > most):
            _wrong(
                f"{inner} bytes in the box's first dimension",
                f"a multiple of 16, at most {most} with this swizzle" if mode else "it is a multiple of 16",
            )
        if self.fill not in ("zero", "nan") or (self.fill == "nan" and not words.NANS[number]):
            _wrong(f"fill {self.fill!r}", 'give "zero", or "nan" for floating-point elements')
        promotions = ("none", "64B", "128B", "256B")
        if self.promotion not in promotions:
            _wrong(f"promotion {self.promotion!r}", f"give one of {', '.join(promotions)}")
        made = np.zeros(TENSOR_MAP_BYTES // 4, np.uint32)
        made[words.PROPERTIES] = (
            rank - 1 << words.RANK_SHIFT
            | number << words.TYPE_SHIFT
            | mode << words.SWIZZLE_SHIFT
            | atomicity << words.ATOMICITY_SHIFT
            | (self.fill == "nan") << words.FILL_SHIFT
            | promotions.index(self.promotion) << words.PROMOTION_SHIFT
            | (_WIDE[self.wide] if self.wide else int(is_im2col)) << words.IM2COL_SHIFT
        )
        made[words.ADDRESS : words.ADDRESS + 2] = address & 0xFFFF_FFFF, address >> 32
        made[words.SIZES : words.SIZES + rank] = sizes
        made[words.BOX : words.BOX + len(self.box)] = self.box
        made[words.STEPS : words.STEPS + rank] = steps
        for k, stride in enumerate(strides):
            at = words.STRIDES + 2 * k
            made[at : at + 2] = stride & 0xFFFF_FFFF, stride >> 32
        for k, (low, high) in enumerate(zip(self.lower, self.upper, strict=False)):
            made[words.CORNERS + k] = low & 0xFFFF | (high & 0xFFFF) << 16
        return made

    def _check_wide(self, sizes: tuple[int, ...]) -> None:
        if self.wide == "":
            return
        if self.wide not in _WIDE:
            _wrong(f"wide {self.wide!r}", f"give one of {', '.join(_WIDE)}")
        if self.swizzle not in _SWIZZLES_ALONG_W:
            _wrong(f"wide, and swizzle {self.swizzle!r}", f"give one of {', '.join(_SWIZZLES_ALONG_W)}")
        if self.lower[0] >= sizes[1] + self.upper[0]:
            _wrong("no pixels between its corners", "lower is less than the width + upper")

    def _sizes(self, bits: int) -> tuple[int, ...]:
        if self.sizes:
            return tuple(self.sizes)
        inner, *others = self.array.shape[::-1]
        return inner * 8 // bits if bits < 8 else inner, *others

    def _element(self) -> int:
        """The number of the element type."""
        name = self.type
        if not name and isinstance(self.array, np.ndarray):
            name = _TYPES.get(self.array.dtype.name, self.array.dtype.name)
        if name not in words.TYPE_NAMES:
            _wrong(f"elements of type '{name}'", f"give type as one of {', '.join(words.TYPE_NAMES)}")
        return words.TYPE_NAMES.index(name)


def _check(name: str, values: Sequence[int], n: int, least: int, most: int, multiple: int = 1) -> None:
    if len(values) != n:
        _wrong(f"{len(values)} {name}", f"there are {n} here")
    for value in values:
        if not least <= value <= most or value % multiple:
            of = f", multiples of {multiple}" if multiple > 1 else ""
            _wrong(f"{name} {tuple(values)}", f"they are {least} to {most}{of}")


def _wrong(what: str, help: str) -> NoReturn:
    raise error("E401", f"a tensor map with {what}", help=help)
