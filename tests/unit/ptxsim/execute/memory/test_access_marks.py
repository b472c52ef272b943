"""Marks of accesses, against a plain loop over lanes and bytes."""

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.base.program import CONTEXT
from ptxsim.execute.memory.access_marks import READ, WRITTEN, mark

ALL = 0xFFFF_FFFF
SIZE = 8192
mark_in_python = for_python(mark)


def plain(offsets: list[int], mask: int, n_bytes: int, what: int) -> list[int]:
    marks = [0] * (SIZE // 4 + 64)
    for lane, offset in enumerate(offsets):
        if mask >> lane & 1 and 0 <= offset < SIZE:
            for byte in range(offset, offset + n_bytes):
                marks[byte // 4] |= what
    return marks


@pytest.mark.parametrize("n_bytes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("stride", [-1, 0, 1, 2, 4, 8, 16, 64])
@pytest.mark.parametrize("mask", [ALL, 0x8000_0001, 0x0FF0])
@pytest.mark.parametrize("start", [0, 1024, SIZE - 2048, -8192, SIZE])
def test_words(n_bytes: int, stride: int, mask: int, start: int) -> None:
    memory, marks = np.zeros(SIZE, np.uint8), np.zeros(SIZE // 4 + 64, np.uint8)
    context = np.zeros(1, CONTEXT)
    scattered = np.random.default_rng(n_bytes).permutation(256)[:32] * 16
    offsets = [start + n * stride if stride >= 0 else start + int(scattered[n]) for n in range(32)]
    offsets = [offset & -n_bytes for offset in offsets]
    is_even = stride >= 0 and stride % n_bytes == 0 and mask == ALL
    for name, value in {
        "global_memory": memory.ctypes.data,
        "global_bytes": SIZE,
        "marks": marks.ctypes.data,
        "stride": stride if is_even else -1,
        "lane_pointer": [memory.ctypes.data + offset for offset in offsets],
    }.items():
        context[name] = value
    mark_in_python(context[0], mask, np.uint64(n_bytes), READ)
    expected = plain(offsets, mask, n_bytes, READ)
    assert marks.tolist() == expected
    mark_in_python(context[0], mask & -mask, np.uint64(n_bytes), WRITTEN)
    if not is_even:  # as a warp whose lanes are not all active
        second = plain(offsets, mask & -mask, n_bytes, WRITTEN)
        assert marks.tolist() == [a | b for a, b in zip(expected, second, strict=True)]
