"""Device memory is put back as it was."""

import numpy as np

from ptxsim.memory_image.heap import BEFORE_FIRST, Heap
from ptxtool.applications.snapshot import Snapshot


def test_all_blocks_are_put_back() -> None:
    heap = Heap(np.zeros(BEFORE_FIRST + (1 << 16), np.uint8))
    blocks = [heap.malloc(n) for n in (5, 300, 1)]
    own = heap.reserve(8)
    snapshot = Snapshot(heap)
    for turn in (1, 2):
        for address, n_bytes in [(blocks[0], 5), (blocks[1], 300), (blocks[2], 1)]:
            heap.fill(address, turn, n_bytes)
        snapshot.take()
        before = heap.memory.copy()
        heap.fill(blocks[1], 9, 300)
        heap.memory[own - heap.end + len(heap.memory)] = 7
        assert (heap.memory != before).sum() == 301
        snapshot.restore()
        assert (heap.memory == before).all()
        blocks.append(heap.malloc(4000))  # the next snapshot is larger


def test_without_blocks() -> None:
    snapshot = Snapshot(Heap(np.zeros(BEFORE_FIRST + 256, np.uint8)))
    snapshot.take()
    snapshot.restore()
