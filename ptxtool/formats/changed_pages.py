"""Changed pages of an array: what a file has of it where another file has the rest. For launch files.

Such a file is an array of uint32 with a row for every page: its number, then its 1024 words. A page is 4096 bytes of
the array in C order, the last one padded with zeros.
"""

from collections.abc import Sequence

import numpy as np

PAGE_BYTES = 4096
_ROW = 1 + PAGE_BYTES // 4


def n_pages(n_bytes: int) -> int:
    """The pages of so many bytes."""
    return -(-n_bytes // PAGE_BYTES)


def pages_of(data: np.ndarray, numbers: Sequence[int]) -> np.ndarray:
    """Pages of an array by number: uint32 (n, 1025)."""
    flat = data.reshape(-1).view(np.uint8)
    rows = np.zeros((len(numbers), _ROW), np.uint32)
    rows[:, 0] = numbers
    for row, number in zip(rows, numbers, strict=True):
        page = flat[number * PAGE_BYTES : (number + 1) * PAGE_BYTES]
        row[1:].view(np.uint8)[: len(page)] = page
    return rows


def replace_pages(array: np.ndarray, rows: np.ndarray) -> None:
    """Replace pages of a C-contiguous array. Raises `ValueError`, with the reason, for rows that are not its pages."""
    if rows.dtype != np.uint32 or rows.ndim != 2 or rows.shape[1] != _ROW:
        raise ValueError(f"it is no array of pages: uint32, {_ROW} columns")
    flat = array.reshape(-1).view(np.uint8)
    if len(rows) and int(rows[:, 0].max()) >= n_pages(len(flat)):
        raise ValueError(f"it has page {int(rows[:, 0].max())} of {n_pages(len(flat))}")
    for row in rows:
        start = int(row[0]) * PAGE_BYTES
        page = flat[start : start + PAGE_BYTES]
        page[:] = np.ascontiguousarray(row[1:]).view(np.uint8)[: len(page)]
