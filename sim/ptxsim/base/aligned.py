"""Bytes of numpy that begin where the host's caches, or a simulated machine, want them to."""

import mmap
from typing import Any

import numpy as np

from ptxsim.base.jit import CACHE_LINE


def aligned(n_bytes: int, to: int, zeroed: bool = True) -> Any:
    """Bytes, uint8, that begin at a multiple of `to` in the simulator's memory."""
    block = (np.zeros if zeroed else np.empty)(n_bytes + to, np.uint8)
    skip = -int(block.ctypes.data) % to
    return block[skip : skip + n_bytes]


def in_small_pages(n: int, dtype: np.dtype[Any]) -> Any:
    """An array of n records, all 0, that begins with a cache line of the host, or a page.

    Of the records of a machine a few kilobytes each are used. numpy's large arrays have pages of 2 MB, each of which is
    zeroed as a whole when it is touched; these are the system's, mostly of 4 KB.
    """
    size = n * dtype.itemsize
    if hasattr(mmap, "MAP_PRIVATE"):
        return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype)
    return aligned(size, CACHE_LINE).view(dtype)
