"""What copies between host and device leave in an L2, before a launch. For `drive.py`.

A copy enters its lines one after the other, each as the youngest of its set, older than all accesses of the launch
(`sectors.py`). Most launches copy the same bytes into an empty cache: what is there then is kept for the next one, by
machine and copies.
Reference: timing-model-42 section 3.6.
"""

from collections.abc import Sequence
from typing import Any

from ptxsim.base.identity_cache import IdentityCache
from ptxsim.timing.memory.memory_state import SECTORS
from ptxsim.timing.memory.sectors import LRU_START, copies_fill
from ptxtool.formats.gpu import Gpu

Copies = Sequence[tuple[int, int]]
"""Address and bytes of each."""

_left: IdentityCache[tuple[Any, ...]] = IdentityCache(8)
"""Of machines: what copies leave, as `_touched` lists it."""


def leave(memory: Any, copies: Copies) -> None:
    """Enter copies into the L2 of a `MEMORY` array."""
    clock = copies_clock(memory, copies)
    for start, size in copies:
        clock = copies_fill(memory, start, size, clock)


def leave_in_empty(memory: Any, gpu: Gpu, copies: Copies) -> None:
    """The same for a memory that nothing has happened in."""

    def make() -> tuple[Any, ...]:
        leave(memory, copies)
        return tuple(part.copy() for part in _touched(memory))

    for part, left in zip(_touched(memory), _left.get(gpu, tuple(copies), make), strict=True):
        part[...] = left


def _touched(memory: Any) -> tuple[Any, ...]:
    """What copies change: tags, states and times of lines, and the request that their addresses are worked out in."""
    m = memory[0]
    caches = m["slice"]["cache"][: m["n_slices"]]
    lines = int(caches["sets"][0] * caches["ways"][0])
    states = caches["state"][:, : lines * SECTORS]
    return caches["tag"][:, :lines], caches["used"][:, :lines], states, m["request"][:1]


def copies_clock(memory: Any, copies: Copies) -> int:
    """Make room in the past of an L2 for copies: the clock for the first of them.

    They are younger than all accesses so far, and older than those to come.
    """
    m = memory[0]
    cache = m["slice"]["cache"][: m["n_slices"]]
    line = int(cache["line_bytes"][0])
    n_lines = sum(-(-(start + size) // line) - start // line for start, size in copies)
    ages(cache)[...] -= n_lines
    return -LRU_START - n_lines


def ages(caches: Any) -> Any:
    """When the lines of caches of one size were used: of the records' many places those that the machine has."""
    return caches["used"][:, : int(caches["sets"][0] * caches["ways"][0])]
