"""Arrays from .npy files, and from those that zstd has compressed, .npy.zst. For launch files.

The file may come from elsewhere: nothing in it is executed, its size is compared with what its header claims before
memory is reserved, and no message quotes it, as the name may be that of any file.

Reference: the format in numpy.lib.format.
"""

import io
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.formats.files import reason_of

COMPRESSED = ".npy.zst"
_LEVEL = 3
"""Of compression: a few hundred MB/s."""
_FRAME_BYTES = 18
"""The most that the head of a zstd frame has."""


class NpyError(Exception):
    """A file that cannot be read as an array of numbers."""


def read_npy(path: Path) -> np.ndarray:
    """The array of a file. Raises `NpyError` with the reason."""
    try:
        if path.name.endswith(COMPRESSED):
            return _compressed(path)
        with open(path, "rb") as stream:
            shape, dtype = _header(stream)
            if dtype.hasobject:
                raise NpyError("it holds objects, not numbers")
            if math.prod(shape) * dtype.itemsize > os.fstat(stream.fileno()).st_size:
                raise NpyError("its header claims more elements than the file has")
            stream.seek(0)
            return np.lib.format.read_array(stream, allow_pickle=False)
    except OSError as problem:
        raise NpyError(reason_of(problem)) from None
    except NpyError:
        raise
    except Exception:  # numpy parses the header with Python's tokenizer and parser, whose errors are many
        raise NpyError("it is no .npy file") from None


def compressed(array: np.ndarray) -> bytes:
    """The contents of a .npy.zst file of an array."""
    import zstandard

    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return zstandard.ZstdCompressor(level=_LEVEL).compress(stream.getbuffer())


def _compressed(path: Path) -> np.ndarray:
    """The array of a compressed file, which says its size; that is compared with the size that the header claims."""
    import zstandard

    with open(path, "rb") as file:
        n_bytes = zstandard.frame_content_size(file.read(_FRAME_BYTES))
        file.seek(0)
        with zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as stream:
            shape, dtype = _header(stream)
            if dtype.hasobject:
                raise NpyError("it holds objects, not numbers")
            if math.prod(shape) * dtype.itemsize + stream.tell() != n_bytes:
                raise NpyError("its header claims another number of elements than the file has")
        file.seek(0)
        with zstandard.ZstdDecompressor().stream_reader(file) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def _header(stream: Any) -> tuple[tuple[int, ...], Any]:
    """The shape and the element type that a file claims."""
    is_first = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype
