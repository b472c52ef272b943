"""The lines that copies between host and device enter into an L2 before a launch. For `build.py`.

A copy enters its lines one after the other, each as the youngest of its set, older than all accesses of the launch
(`sectors.py`). Most launches copy the same bytes into an empty cache: the resulting tags are cached by machine and
copies.
Reference: timing-model-42 section 3.6.
"""

from collections.abc import Sequence
from typing import Any

from ptxsim.timing.memory.memory_state import SECTORS
from ptxsim.timing.memory.sectors import LRU_START, copies_fill
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu

Copies = Sequence[tuple[int, int]]
"""Address and bytes of each."""

_left: IdentityCache[tuple[Any, ...]] = IdentityCache(8)
"""Of machines: the arrays that `_touched` lists after the copies."""


def leave(memory: Any, copies: Copies) -> None:
    """Enter copies into the L2 of a `MEMORY` array."""
    clock = copies_clock(memory, copies)
    for start, size in copies:
        clock = copies_fill(memory, start, size, clock)


def leave_in_empty(memory: Any, gpu: Gpu, copies: Copies) -> None:
    """The same for a memory that is as new."""

    def make() -> tuple[Any, ...]:
        leave(memory, copies)
        return tuple(part.copy() for part in _touched(memory))

    for part, left in zip(_touched(memory), _left.get(gpu, tuple(copies), make), strict=True):
        part[...] = left


def _touched(memory: Any) -> tuple[Any, ...]:
    """What copies change: tags, states and times of lines, the request that serves to map their addresses, and slices
    that are drawn by lot."""
    m = memory[0]
    caches = m["slice"]["cache"][: m["n_slices"]]
    lines = int(caches["sets"][0] * caches["ways"][0])
    states = caches["state"][:, : lines * SECTORS]
    drawn = ("chunk", "chunk_slice", "random_word") if m["scatter_shift"] else ()
    scalars = [memory[name] for name in ("n_chunks", "random_at")]
    return (
        caches["tag"][:, :lines],
        caches["used"][:, :lines],
        states,
        m["request"][:1],
        *scalars,
        *(m[name] for name in drawn),
    )


def copies_clock(memory: Any, copies: Copies) -> int:
    """Move the accesses of an L2 into the past to make room for copies; returns the clock of the first copy.

    Copies are younger than all earlier accesses and older than all later ones.
    """
    m = memory[0]
    cache = m["slice"]["cache"][: m["n_slices"]]
    line = int(cache["line_bytes"][0])
    n_lines = sum(-(-(start + size) // line) - start // line for start, size in copies)
    ages(cache)[...] -= n_lines
    return -LRU_START - n_lines


def ages(caches: Any) -> Any:
    """The times at which the lines of caches of one size were used: only the places that the machine has."""
    return caches["used"][:, : int(caches["sets"][0] * caches["ways"][0])]
