"""Tags and miss entries of one cache: what the L1 and the L2 slices have in common.

A set is searched for a line; a missing line takes a way (`replacement.py`), which becomes RESERVED
and holds a miss entry (MSHR) with its waiters. When the line arrives, the entry goes to a ring and its waiters are
woken one at a time; then the entry is free.

A cache of sectors keeps state and miss entry by sector: `index` is the place of a line, or of a sector.
The owners decide what hits, misses and stores do (`l1.py`, `l2.py`, `sectors.py`).
Reference: timing-model section 3.3.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit
from ptxsim.timing.memory.memory_state import DIRTY, INVALID, MAX_ENTRIES, RESERVED, VALID


@njit
def lookup(c: Any, index: int, line: int) -> int:
    """The place of a line in set `index`, or -1."""
    first = index * c.ways
    for place in range(first, first + c.ways):
        if c.tag[place] == line and c.state[place] != INVALID:
            return place
    return -1


@njit
def take_entry(c: Any, index: int, waiter: int, dirty: int) -> int:
    """Allocate a miss entry for the line or sector `index`, -1: for none. The caller has checked that one is free."""
    c.n_free -= 1
    entry: Any = np.int64(c.free[c.n_free & (MAX_ENTRIES - 1)])
    miss = c.miss[entry]
    miss.n_waiters = 1
    miss.n_woken = 0
    miss.n_here = 0
    miss.dirty = dirty
    miss.key = index
    miss.waiter[0] = waiter
    return entry


@njit
def expect(c: Any, index: int, waiter: int, dirty: int) -> None:
    """A line or sector that is there waits for its data, with a miss entry of its own."""
    c.entry[index] = take_entry(c, index, waiter, dirty)
    c.state[index] = RESERVED


@njit
def reserve(c: Any, place: int, line: int, waiter: int, dirty: int, now: int) -> None:
    """Allocate a place for a line that is requested. The caller has checked that a miss entry is free."""
    expect(c, place, waiter, dirty)
    c.tag[place] = line
    c.used[place] = now


@njit
def merge(c: Any, index: int, waiter: int, dirty: int) -> bool:
    """Wait for a line or sector on its way; False if its entry has no room for another waiter."""
    miss = c.miss[c.entry[index]]
    count = np.int64(miss.n_waiters)
    if count >= c.max_waiters:
        return False
    miss.waiter[count] = waiter
    miss.n_waiters = count + 1
    miss.dirty |= dirty
    return True


@njit
def join(c: Any, entry: int, waiter: int) -> bool:
    """Wait in an entry some of whose waiters may have been woken; False if it has no room for another one."""
    miss = c.miss[entry]
    woken = np.int64(miss.n_woken)
    count = np.int64(miss.n_waiters) - woken
    if count >= c.max_waiters:
        return False
    for k in range(count):
        miss.waiter[k] = miss.waiter[woken + k]
    miss.n_woken = 0
    miss.waiter[count] = waiter
    miss.n_waiters = count + 1
    return True


@njit
def arrive(c: Any, index: int, entry: int) -> None:
    """A RESERVED line or sector has arrived: its waiters can be woken. Index -1: it was replaced, and is not kept."""
    if index >= 0:
        c.state[index] = DIRTY if c.miss[entry].dirty else VALID
    c.ready[(c.ready_head + c.n_ready) & (MAX_ENTRIES - 1)] = entry
    c.n_ready += 1


@njit
def wake(c: Any) -> int:
    """Take the next waiter whose line has arrived. The caller has checked that `n_ready` is not 0."""
    entry = np.int64(c.ready[c.ready_head])
    miss = c.miss[entry]
    woken = np.int64(miss.n_woken)
    waiter: Any = np.int64(miss.waiter[woken])
    miss.n_woken = woken + 1
    if woken + 1 == miss.n_waiters:
        c.ready_head = (c.ready_head + 1) & (MAX_ENTRIES - 1)
        c.n_ready -= 1
        c.free[c.n_free & (MAX_ENTRIES - 1)] = entry
        c.n_free += 1
    return waiter
