"""The contents of device memory before a launch, to run it twice."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ptxsim.memory_image.heap import Heap


class Snapshot:
    """A copy of all blocks of a heap. It keeps its room for the next one: fresh pages cost more than the copy."""

    def __init__(self, heap: "Heap"):
        self._heap = heap
        self._room: Any = np.empty(0, np.uint8)
        self._blocks: list[tuple[int, int]] = []

    def take(self) -> None:
        """Copy the contents as they are now."""
        self._blocks = self._heap.blocks()
        n_bytes = sum(size for _, size in self._blocks)
        if len(self._room) < n_bytes:
            self._room = np.empty(n_bytes, np.uint8)
        for copy, memory in self._parts():
            copy[:] = memory

    def restore(self) -> None:
        """Put back what `take` has copied; no block was allocated or freed since."""
        for copy, memory in self._parts():
            memory[:] = copy

    def _parts(self) -> list[tuple[Any, Any]]:
        """The copy of each block, and its memory."""
        found, at = [], 0
        for start, size in self._blocks:
            found.append((self._room[at : at + size], self._heap.view(start, size)))
            at += size
        return found
