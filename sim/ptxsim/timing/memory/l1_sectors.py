"""Tags of an L1 data cache with sectors of 32 bytes: state and miss entry by sector, replacement by line.

Loads: a sector that is there hits. A sector on its way takes one more waiter; any other is read alone, and takes a line
(the least recently used of its set) only if no line of it is there. Stores, by the policy of the GPU file:

* those that are kept (`keeps_global`; local memory always) write into the cache: their sector is dirty, and cannot be
  read while words of it are missing (PARTIAL). With `sends` they go on to the L2 as well. A store that misses takes a
  sector without reading it, if the cache `allocates` on stores; else it passes.
* all others make the sector invalid and pass.

A cache that allocates `on_fill` takes a line when its first sector arrives: no line waits, and an access to a sector on
its way counts as a miss. It drops the dirty lines that it replaces.

A line with a sector on its way cannot be replaced, nor a dirty one while less than `dirty_percent` of the lines are
dirty. A cache that `sends` drops dirty lines; others write their dirty sectors back in one request.

Lines are found by a hash table and kept in the order of their use: a set may have 512 ways.
Handled simply: writes are known by words of 4 bytes.
Reference: timing-model-42 section 3.3; GPGPU-Sim 4.2, gpu-cache.cc
(`sector_cache_block`, `wr_hit_wt`, `wr_miss_wa_lazy_fetch_on_read`).
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.cache import arrive, expect, join, merge, take_entry
from ptxsim.timing.memory.l1 import ALL_WORDS, enqueue, l1_forget
from ptxsim.timing.memory.mapping.hashes import set_of
from ptxsim.timing.memory.mapping.on_their_way import begin, end, entry_of
from ptxsim.timing.memory.memory_state import (
    DIRTY,
    FAIL,
    HIT,
    INVALID,
    MISS,
    PARTIAL,
    PENDING,
    READ,
    RESERVED,
    SECTOR_LINES,
    SECTORS,
    VALID,
    WRITE,
    WRITEBACK,
)

_SECTOR_BYTES = 32
_NEVER = -1  # the key of a miss entry whose sector has been replaced


@inline
def _bucket(c: Any, line: Any) -> int:
    number: Any = line >> c.line_shift
    return (number ^ number >> 11) & (SECTOR_LINES - 1)


@inline
def _find(l1: Any, line: Any) -> int:
    """The place of a line, or -1; the sector of interest may be missing in it."""
    c, order = l1.cache, l1.line_order
    place: Any = np.int64(order.bucket[_bucket(c, line)]) - 1
    while place >= 0 and c.tag[place] != line:
        place = np.int64(order.chain[place]) - 1
    return place


@inline
def _remove(l1: Any, place: int) -> None:
    """A place has no line any more."""
    c, order = l1.cache, l1.line_order
    bucket = _bucket(c, c.tag[place])
    if order.bucket[bucket] == place + 1:
        order.bucket[bucket] = order.chain[place]
    else:
        before = np.int64(order.bucket[bucket]) - 1
        while order.chain[before] != place + 1:
            before = np.int64(order.chain[before]) - 1
        order.chain[before] = order.chain[place]
    c.tag[place] = -1


@inline
def _enter(l1: Any, place: int, line: Any) -> None:
    """A place has a line."""
    c, order = l1.cache, l1.line_order
    bucket = _bucket(c, line)
    order.chain[place] = order.bucket[bucket]
    order.bucket[bucket] = place + 1
    c.tag[place] = line


@inline
def _unlink(order: Any, index: int, place: int) -> None:
    """Take a place out of the order of use of set `index`."""
    newer, older = np.int64(order.newer[place]), np.int64(order.older[place])
    if newer:
        order.older[newer - 1] = older
    else:
        order.newest[index] = older
    if older:
        order.newer[older - 1] = newer
    else:
        order.oldest[index] = newer


@inline
def _append(order: Any, index: int, place: int) -> None:
    """A place is the most recently used one of set `index`."""
    newest = np.int64(order.newest[index])
    order.older[place] = newest
    order.newer[place] = 0
    order.newest[index] = place + 1
    if newest:
        order.newer[newest - 1] = place + 1
    else:
        order.oldest[index] = place + 1


@inline
def _use(l1: Any, index: int, place: int) -> None:
    """A line of set `index` is accessed."""
    order = l1.line_order
    if order.newest[index] != place + 1:
        _unlink(order, index, place)
        _append(order, index, place)


@inline
def _dirty_sectors(c: Any, place: int) -> int:
    dirty = 0
    for at in range(place * SECTORS, (place + 1) * SECTORS):
        if c.state[at] == DIRTY or c.state[at] == PARTIAL:
            dirty += 1
    return dirty


@inline
def _on_its_way(c: Any, at: int) -> bool:
    """Whether a sector has been requested and has not come."""
    miss = c.miss[c.entry[at]]
    return miss.key == at and miss.n_here == 0 and miss.n_woken < miss.n_waiters


@njit
def _victim(l1: Any, index: int) -> int:
    """The place that a new line of set `index` would take, or -1."""
    c, order = l1.cache, l1.line_order
    if order.filled[index] < c.ways:
        return index * c.ways + order.filled[index]
    dirty_too = 100 * l1.n_dirty >= l1.dirty_percent * c.sets * c.ways
    place: Any = np.int64(order.oldest[index]) - 1
    while place >= 0:
        candidate = True
        for at in range(place * SECTORS, (place + 1) * SECTORS):
            state = c.state[at]
            if state == RESERVED or (not dirty_too and (state == DIRTY or state == PARTIAL)):
                candidate = False
        if candidate:
            return place
        place = np.int64(order.newer[place]) - 1
    return -1


@njit
def _replace(l1: Any, index: int, place: int, line: int) -> None:
    """Give a place, which `_victim` has found, to a line none of whose sectors is there."""
    c, order = l1.cache, l1.line_order
    if order.filled[index] < c.ways:
        order.filled[index] += 1
        _append(order, index, place)
        _enter(l1, place, line)
        return
    dirty = _dirty_sectors(c, place)
    if dirty:
        l1.n_dirty -= 1
        if not (l1.sends or l1.on_fill):
            enqueue(l1, c.tag[place], dirty * _SECTOR_BYTES, WRITEBACK, -1, ALL_WORDS)
    for at in range(place * SECTORS, (place + 1) * SECTORS):
        if _on_its_way(c, at):
            c.miss[c.entry[at]].key = _NEVER
        c.state[at] = INVALID
    if c.tag[place] >= 0:
        _remove(l1, place)
    _enter(l1, place, line)
    _use(l1, index, place)


@njit
def _miss_on_fill(l1: Any, sector: int, waiter: int) -> int:
    """A load misses in a cache that allocates on a fill; there is room in the miss queue."""
    c, waits = l1.cache, l1.waits
    entry = entry_of(waits, sector)
    if entry >= 0:
        if not join(c, entry, waiter):
            c.reservation_fails += 1
            return FAIL
        outcome = PENDING
    elif c.n_free == 0:
        c.reservation_fails += 1
        return FAIL
    else:
        entry = take_entry(c, _NEVER, waiter, 0)
        begin(waits, entry, sector)
        enqueue(l1, sector, _SECTOR_BYTES, READ, entry, ALL_WORDS)
        outcome = MISS
    c.accesses += 1
    c.misses += 1
    return outcome


@njit
def _fill_line(l1: Any, entry: int) -> None:
    """The sector of a miss entry takes its place, and its line one if it has none; if all are dirty it is not kept."""
    c = l1.cache
    address = end(l1.waits, entry)
    line = address & -c.line_bytes
    index = set_of(c, line >> c.line_shift)
    place = _find(l1, line)
    if place < 0:
        place = _victim(l1, index)
        if place < 0:
            return
        _replace(l1, index, place, line)
    _use(l1, index, place)
    c.state[place * SECTORS + ((address & (c.line_bytes - 1)) >> 5)] = VALID


@njit
def sector_load(l1: Any, address: int, waiter: int) -> int:
    """Load from the sector of `address`: HIT, MISS (a read is in the miss queue), PENDING (merged) or FAIL."""
    c = l1.cache
    line = np.int64(address) & -c.line_bytes
    index = set_of(c, line >> c.line_shift)
    place = _find(l1, line)
    sector = (np.int64(address) & (c.line_bytes - 1)) >> 5
    at = place * SECTORS + sector
    state = np.int64(INVALID)
    if place >= 0:
        state = np.int64(c.state[at])
        if state == VALID or state == DIRTY:
            _use(l1, index, place)
            c.accesses += 1
            c.hits += 1
            return HIT
    if l1.miss_count > l1.miss_read_max:
        c.reservation_fails += 1
        return FAIL
    if l1.on_fill:
        return _miss_on_fill(l1, line + sector * _SECTOR_BYTES, waiter)
    if place >= 0 and _on_its_way(c, at):
        if not merge(c, at, waiter, 0):
            c.reservation_fails += 1
            return FAIL
        _use(l1, index, place)
        c.accesses += 1
        if state == RESERVED:
            c.pending_hits += 1
        else:
            c.misses += 1
        return PENDING
    if c.n_free == 0:
        c.reservation_fails += 1
        return FAIL
    if place < 0:
        place = _victim(l1, index)
        if place < 0:
            c.reservation_fails += 1
            return FAIL
        _replace(l1, index, place, line)
        at = place * SECTORS + sector
    else:
        _use(l1, index, place)
    if state == PARTIAL and _dirty_sectors(c, place) == 1:
        l1.n_dirty -= 1
    expect(c, at, waiter, 1 if state == PARTIAL else 0)
    enqueue(l1, line + sector * _SECTOR_BYTES, _SECTOR_BYTES, READ, np.int64(c.entry[at]), ALL_WORDS)
    c.accesses += 1
    c.misses += 1
    return MISS


@njit
def _write(l1: Any, place: int, at: int, words: int) -> None:
    """Write these words into a sector: it is dirty, and can be read once all its words are known."""
    c, order = l1.cache, l1.line_order
    if _dirty_sectors(c, place) == 0:
        l1.n_dirty += 1
    state = c.state[at]
    if state == VALID or state == DIRTY:
        c.state[at] = DIRTY
        return
    order.written[at] = words | (np.int64(order.written[at]) if state == PARTIAL else np.int64(0))
    c.state[at] = DIRTY if order.written[at] == 255 else PARTIAL


@njit
def sector_store(l1: Any, address: int, local: int, tag: int, words: int) -> int:
    """Store these words of the line into a sector: HIT, MISS, PENDING or FAIL. `l1.kept`: it is not sent on, and is
    done; otherwise `tag` comes back with the acknowledgement."""
    c = l1.cache
    line = np.int64(address) & -c.line_bytes
    index = set_of(c, line >> c.line_shift)
    place = _find(l1, line)
    sector = (np.int64(address) & (c.line_bytes - 1)) >> 5
    at = place * SECTORS + sector
    state = np.int64(c.state[at]) if place >= 0 else np.int64(INVALID)
    hit = state == VALID or state == DIRTY or state == PARTIAL
    keeps = (local or l1.keeps_global) and (hit or l1.allocates)
    sent = not keeps or l1.sends
    if l1.miss_count >= l1.miss_capacity and (sent or not hit):
        c.reservation_fails += 1
        return FAIL
    if keeps:
        if place < 0:
            place = _victim(l1, index)
            if place < 0:
                c.reservation_fails += 1
                return FAIL
            _replace(l1, index, place, line)
            at = place * SECTORS + sector
        else:
            _use(l1, index, place)
        _write(l1, place, at, words >> (8 * sector) & 255)
    elif hit:
        if state != VALID and _dirty_sectors(c, place) == 1:
            l1.n_dirty -= 1
        c.state[at] = INVALID
    if sent:
        enqueue(l1, address, _SECTOR_BYTES, WRITE, tag, words)
    l1.kept = 0 if sent else 1
    c.accesses += 1
    l1.stores += 1
    if hit:
        c.hits += 1
        l1.store_hits += 1
        return HIT
    if state == RESERVED:
        c.pending_hits += 1
        return PENDING
    c.misses += 1
    return MISS


@njit
def sector_fill(l1: Any, entry: int) -> None:
    """The sector of a miss entry has arrived from the network (a READ reply): its waiters can be woken."""
    c = l1.cache
    miss = c.miss[entry]
    miss.n_here = 1
    if l1.on_fill:
        _fill_line(l1, entry)
        arrive(c, -1, entry)
        return
    at = np.int64(miss.key)
    place = at // SECTORS
    if at >= 0 and c.state[at] == RESERVED:
        if miss.dirty and _dirty_sectors(c, place) == 0:
            l1.n_dirty += 1
        arrive(c, at, entry)
        return
    if at >= 0 and c.state[at] == PARTIAL:  # written meanwhile
        c.state[at] = DIRTY
    arrive(c, -1, entry)


@njit
def forget(l1: Any) -> None:
    """Invalidate all of an L1 that is not RESERVED, dirty lines too; whether it has sectors or not."""
    if l1.sectored:
        sector_forget(l1)
    else:
        l1_forget(l1)


@njit
def sector_forget(l1: Any) -> None:
    """Invalidate all sectors that are not RESERVED, dirty ones too; lines without such ones are replaced first."""
    c, order = l1.cache, l1.line_order
    if l1.flushed_at == c.accesses:
        return
    l1.flushed_at = c.accesses
    l1.n_dirty = 0
    for index in range(c.sets):
        for place in range(index * c.ways, index * c.ways + order.filled[index]):
            reserved = False
            for at in range(place * SECTORS, (place + 1) * SECTORS):
                if c.state[at] == RESERVED:
                    reserved = True
                else:
                    c.state[at] = INVALID
            if reserved or c.tag[place] < 0:
                continue
            _remove(l1, place)
            _unlink(order, index, place)
            oldest = np.int64(order.oldest[index])
            order.newer[place] = oldest
            order.older[place] = 0
            order.oldest[index] = place + 1
            if oldest:
                order.older[oldest - 1] = place + 1
            else:
                order.newest[index] = place + 1
