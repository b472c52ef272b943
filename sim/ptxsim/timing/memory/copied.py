"""The lines that copies between host and device enter into an L2 before a launch. For `build.py`.

A copy enters its lines one after the other, each as the youngest of its set, older than all accesses of the launch
(`sectors.py`). Most launches copy the same bytes into an empty cache: the resulting tags are cached by machine and
copies.
Reference: timing-model-42 section 3.6.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxsim.base.pool.record_pool import UsedRecords
from ptxsim.timing.memory.memory_state import SECTORS
from ptxsim.timing.memory.sectors import LRU_START, copies_fill
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu

Copies = Sequence[tuple[int, int]]
"""Address and bytes of each."""

_left: IdentityCache[tuple[Any, list[Any]]] = IdentityCache(8)
"""Of machines: the slices that have lines after the copies, and what `_touched` lists of them."""


def leave(memory: Any, copies: Copies, used: UsedRecords) -> None:
    """Enter copies into the L2 of a `MEMORY` array, of whose slices those that may have lines are `used`."""
    clock = copies_clock(memory, copies, used)
    for start, size in copies:
        clock = copies_fill(memory, start, size, clock)
    if copies:
        used.note(np.flatnonzero((_of_lines(_caches(memory), "tag") >= 0).any(axis=1)))


def leave_in_empty(memory: Any, gpu: Gpu, copies: Copies, used: UsedRecords) -> None:
    """The same for a memory that is as new."""

    def make() -> tuple[Any, list[Any]]:
        leave(memory, copies, used)
        slices = used.indices()
        return slices, [part[at].copy() for part, at in _touched(memory, slices)]

    slices, left = _left.get(gpu, tuple(copies), make)
    for (part, at), values in zip(_touched(memory, slices), left, strict=True):
        part[at] = values
    used.note(slices)


def _touched(memory: Any, slices: Any) -> list[tuple[Any, Any]]:
    """What copies change, as arrays and indices: tags, times and states of the lines of slices, the request that serves
    to map their addresses, and slices that are drawn by lot."""
    m, caches = memory[0], _caches(memory)
    drawn = ("chunk", "chunk_slice", "random_word") if m["scatter_shift"] else ()
    return [
        *((_of_lines(caches, name), slices) for name in ("tag", "used")),
        (_of_lines(caches, "state", SECTORS), slices),
        (m["request"][:1], ...),
        *((memory[name], ...) for name in ("n_chunks", "random_at")),
        *((m[name], ...) for name in drawn),
    ]


def copies_clock(memory: Any, copies: Copies, used: UsedRecords) -> int:
    """Move the accesses of an L2 into the past to make room for copies; returns the clock of the first copy.

    Copies are younger than all earlier accesses and older than all later ones.
    """
    caches = _caches(memory)
    line = int(caches["line_bytes"][0])
    n_lines = sum(-(-(start + size) // line) - start // line for start, size in copies)
    ages(caches)[used.indices()] -= n_lines
    return -LRU_START - n_lines


def _caches(memory: Any) -> Any:
    """The caches of the slices that a machine has."""
    m = memory[0]
    return m["slice"]["cache"][: m["n_slices"]]


def ages(caches: Any) -> Any:
    """The times at which the lines of caches of one size were used."""
    return _of_lines(caches, "used")


def _of_lines(caches: Any, name: str, n: int = 1) -> Any:
    """An array of caches of one size that has n entries for each line: only the places that the machine has."""
    return caches[name][:, : n * int(caches["sets"][0] * caches["ways"][0])]
