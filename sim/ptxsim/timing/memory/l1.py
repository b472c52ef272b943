"""The L1 data cache of one SM, which serves one access of the LDST unit per cycle.

Loads: a hit is served at once; a miss allocates, waits in a miss entry and puts a line read into the miss queue, from
which `system.l1_send` sends one request per cycle into the network. Stores never allocate. A global store evicts the
line and is sent on; a local store that hits makes the line dirty, and is sent on otherwise. Local memory's dirty
lines are written back when they are replaced.

The LDST unit numbers the waiters (>= 0); `l1_next_waiter` returns them when the line has arrived. A refused access
changes only the count of reservation fails, and is tried again in the next cycle.

Before the tags there may be pipes (`l1_pipes.py`). A cache with sectors has its own rules (`l1_sectors.py`).

Reference: timing-model sections 3.2 and 3.3; timing-model-42 sections 3.2 and 3.3.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.cache import arrive, lookup, merge, reserve, wake
from ptxsim.timing.memory.mapping.hashes import set_of
from ptxsim.timing.memory.memory_state import (
    DIRTY,
    FAIL,
    HIT,
    INVALID,
    MISS,
    PENDING,
    READ,
    RESERVED,
    RING,
    VALID,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.replacement import victim

ALL_WORDS = 0xFFFFFFFF  # of a line of 128 bytes


@njit
def enqueue(l1: Any, line: int, size: int, kind: int, tag: int, words: int) -> None:
    """Put a request into the miss queue, which has room."""
    tail = (l1.miss_head + l1.miss_count) & (RING - 1)
    l1.miss_line[tail] = line
    l1.miss_bytes[tail] = size
    l1.miss_kind[tail] = kind
    l1.miss_tag[tail] = tag
    l1.miss_words[tail] = words
    l1.miss_count += 1


@inline
def l1_load(l1: Any, address: int, waiter: int, now: int) -> int:
    """Load from the line of `address`: HIT, MISS (a line read is in the miss queue), PENDING (merged) or FAIL."""
    c = l1.cache
    line = np.int64(address) & -c.line_bytes
    index = set_of(c, line >> c.line_shift)
    place = lookup(c, index, line)
    if place >= 0:
        if c.state[place] != RESERVED:
            c.used[place] = now
            c.accesses += 1
            c.hits += 1
            return HIT
        if (l1.merge_in_queue and l1.miss_count > l1.miss_read_max) or not merge(c, place, waiter, 0):
            c.reservation_fails += 1
            return FAIL
        c.used[place] = now
        c.accesses += 1
        c.pending_hits += 1
        return PENDING
    place = victim(c, index)
    if place < 0 or c.n_free == 0 or l1.miss_count > l1.miss_read_max:
        c.reservation_fails += 1
        return FAIL
    was_dirty, evicted = c.state[place] == DIRTY, c.tag[place]
    reserve(c, place, line, waiter, 0, now)
    enqueue(l1, line, c.line_bytes, READ, np.int64(c.entry[place]), ALL_WORDS)
    if was_dirty:
        enqueue(l1, evicted, c.line_bytes, WRITEBACK, -1, ALL_WORDS)
    c.accesses += 1
    c.misses += 1
    return MISS


@njit
def l1_store(l1: Any, address: int, size: int, local: int, tag: int, now: int, words: int = ALL_WORDS) -> int:
    """Store `size` bytes, these words of the line: HIT, MISS or FAIL. `tag` comes back with the acknowledgement.

    A local store that hits stays in the cache and is never acknowledged; all others are sent on.
    """
    c = l1.cache
    line = np.int64(address) & -c.line_bytes
    place = lookup(c, set_of(c, line >> c.line_shift), line)
    hit = place >= 0 and c.state[place] != RESERVED
    l1.kept = 1 if hit and local else 0
    if hit and local:
        c.state[place] = DIRTY
        c.used[place] = now
    else:
        if l1.miss_count >= l1.miss_capacity:
            c.reservation_fails += 1
            return FAIL
        if hit:
            c.state[place] = INVALID
        enqueue(l1, address, size, WRITE, tag, words)
    c.accesses += 1
    l1.stores += 1
    if hit:
        c.hits += 1
        l1.store_hits += 1
        return HIT
    if l1.merge_in_queue and place >= 0:  # the line is on its way, and that machine counts it so
        c.pending_hits += 1
    else:
        c.misses += 1
    return MISS


@inline
def l1_pass(l1: Any, line: int, kind: int, tag: int) -> bool:
    """Put a line that passes the cache by into the miss queue; False unless it leaves as many places as a load does."""
    if l1.miss_count > l1.miss_read_max:
        return False
    enqueue(l1, line, 128, kind, tag, ALL_WORDS)
    return True


@inline
def l1_fill(l1: Any, entry: int) -> None:
    """The line of a miss entry, the tag of its READ, or its next sector has arrived from the network."""
    miss = l1.cache.miss[entry]
    miss.n_here += 1
    if miss.n_here >= l1.replies_per_line:
        arrive(l1.cache, np.int64(miss.key), entry)


@inline
def l1_fill_part(l1: Any, entry: int) -> bool:
    """`l1_fill` if more sectors of the line are still to arrive; otherwise False, and nothing is done."""
    if l1.replies_per_line == 1:
        return False
    miss = l1.cache.miss[entry]
    if miss.n_here + 1 >= l1.replies_per_line:
        return False
    miss.n_here += 1
    return True


@inline
def l1_next_waiter(l1: Any) -> int:
    """Take one waiter whose line has arrived, or -1: call it once per cycle."""
    return wake(l1.cache) if l1.cache.n_ready else -1


@njit
def l1_forget(l1: Any) -> None:
    """Invalidate all lines that are not RESERVED, dirty ones too."""
    c = l1.cache
    if l1.flushed_at == c.accesses:
        return
    l1.flushed_at = c.accesses
    for place in range(c.sets * c.ways):
        if c.state[place] == VALID or c.state[place] == DIRTY:
            c.state[place] = INVALID
