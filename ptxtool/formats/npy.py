"""Arrays from .npy files. For launch files.

The file may come from elsewhere: nothing in it is executed, its size is compared with what its header claims before
memory is reserved, and no message quotes it, as the name may be that of any file.

Reference: the format in numpy.lib.format.
"""

import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ptxtool.formats.files import reason_of


class NpyError(Exception):
    """A file that cannot be read as an array of numbers."""


def read_npy(path: Path) -> np.ndarray:
    """The array of a file. Raises `NpyError` with the reason."""
    try:
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


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], Any]:
    """The shape and the element type that a file claims."""
    is_first = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype
