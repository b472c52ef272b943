"""The replacement policy of the L1 and of the L2 slices: which way of its set a missing line takes.

The least recently used one of the ways that are not RESERVED: a reserved way waits for its line.
Reference: timing-model section 3.3.
"""

from typing import Any

from ptxsim.base.jit import njit
from ptxsim.timing.memory.memory_state import INVALID, RESERVED


@njit
def victim(c: Any, index: int) -> int:
    """The place in set `index` that a new line would take, or -1 if all ways wait for their lines."""
    first = index * c.ways
    best = -1
    oldest = 0
    for place in range(first, first + c.ways):
        state = c.state[place]
        if state == INVALID:
            return place
        if state != RESERVED and (best < 0 or c.used[place] < oldest):
            best = place
            oldest = c.used[place]
    return best
