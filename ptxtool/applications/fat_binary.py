"""The PTX texts of a fat binary, which is how nvcc stores device code in an executable.

A fat binary is a list of containers; each has entries, of which those of kind 1 are PTX, plain or compressed, and
those of kind 2 machine code, which nothing here can run. A module has one entry for each architecture it was compiled
for.

Layout (nvcc 8 to 13), little-endian. Container: u32 0xBA55ED50, u16 version 1, u16 bytes of the head, u64 bytes of the
entries. Entry: u16 kind, u16 version, u32 bytes of its head, u64 bytes of its data, and at offsets 16 the compressed
bytes, 28 the architecture (75: compute_75), 40 flags, 56 the bytes of the text.
"""

import struct
from dataclasses import dataclass

from ptxtool.base.diag import error

_CONTAINER = struct.Struct("<IHHQ")
_MAGIC = 0xBA55ED50
_ELF = b"\x7fELF"
_ENTRY = struct.Struct("<HHIQIIHHIQQQ")
_PTX = 1
_LZ4, _ZSTD = 0x2000, 0x8000
HELP = "compile with -gencode arch=compute_75,code=[sm_75,compute_75], or with -arch=compute_75 alone"
"""How to get an executable with PTX."""


@dataclass(frozen=True)
class PtxImage:
    """A PTX text of a fat binary: `target` is 75 for compute_75; `text` decompresses it."""

    target: int
    flags: int
    data: bytes
    text_bytes: int

    def text(self) -> bytes:
        """The PTX, without the zeros after it. Raises E501 where it cannot be decompressed."""
        try:
            if self.flags & _ZSTD:
                import zstandard

                plain = zstandard.ZstdDecompressor().decompress(self.data, max_output_size=self.text_bytes)
            elif self.flags & _LZ4:
                import lz4.block

                plain = lz4.block.decompress(self.data, uncompressed_size=self.text_bytes)
            else:
                plain = self.data
        except Exception as problem:  # each library has errors of its own
            what = f"the PTX for compute_{self.target} cannot be decompressed: {problem}"
            raise error("E501", what, help="compile with -no-compress, or again") from None
        return plain.rstrip(b"\0")


def ptx_images(data: bytes) -> list[PtxImage]:
    """The PTX texts of a fat binary, in its order. Raises E501 for what is none."""
    found: list[PtxImage] = []
    at = 0
    while at + _CONTAINER.size <= len(data):
        magic, _, head_bytes, n_bytes = _CONTAINER.unpack_from(data, at)
        if magic != _MAGIC or head_bytes < _CONTAINER.size or at + head_bytes + n_bytes > len(data):
            raise _broken(at)
        at += head_bytes
        found += _entries(data, at, at + n_bytes)
        at += n_bytes
    if not at:
        raise _broken(at)
    return found


def chosen(images: list[PtxImage], target: int) -> PtxImage | None:
    """The newest PTX that is not above a target; where all are, the oldest; None where there is none."""
    fitting = [image for image in images if image.target <= target]
    if fitting:
        return max(fitting, key=lambda image: image.target)
    return min(images, key=lambda image: image.target, default=None)


def module_text(data: bytes, target: int) -> tuple[bytes, str]:
    """The PTX of a module for a target, and ".sm_75" where it was compiled for several: of a fat binary, or PTX itself.

    Raises E501 for machine code, and for a fat binary that has nothing else.
    """
    if data.startswith(_ELF):
        what = "a module of the application is machine code, without PTX"
        raise error("E501", what, help="load PTX instead: compile with 'nvcc -ptx'")
    if not data.startswith(_MAGIC.to_bytes(4, "little")):
        return data.rstrip(b"\0"), ""
    image = chosen(ptx_images(data), target)
    if image is None:
        what = "a module of the application has no PTX, only machine code"
        raise error("E501", what, help=f"{HELP}; code compiled with -rdc=true has none either")
    return image.text(), f".sm_{image.target}"


def _entries(data: bytes, at: int, end: int) -> list[PtxImage]:
    found: list[PtxImage] = []
    while at + _ENTRY.size <= end:
        kind, _, head_bytes, n_bytes, packed, _, _, _, target, _, flags, _ = _ENTRY.unpack_from(data, at)
        if head_bytes < _ENTRY.size or at + head_bytes + n_bytes > end:
            raise _broken(at)
        if kind == _PTX:
            text_bytes = struct.unpack_from("<Q", data, at + 56)[0] if head_bytes >= 64 else 0
            body = data[at + head_bytes : at + head_bytes + n_bytes]
            is_packed = flags & (_LZ4 | _ZSTD)
            found.append(PtxImage(target, flags, body[:packed] if is_packed and packed else body, text_bytes))
        at += head_bytes + n_bytes
    return found


def _broken(at: int) -> Exception:
    return error("E501", f"not a fat binary of nvcc (at byte {at})", help=HELP)
