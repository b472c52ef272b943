"""Tags of an L2 slice with sectors: 32 bytes of a line, each with its state, its miss entry and its reply. For `l2.py`.

A request for a whole line is served one sector at a time, each like a request of its own: a hit, on its way, or a miss.
A missing sector of a present line replaces no other line. Stores never wait for DRAM: a sector that a store misses is
dirty at once, with the words that were written; reading it while words are missing is a miss. A victim is written back
with its dirty sectors; a line with a sector on its way cannot be replaced.

`copies_fill` enters the lines of copies between host and device, before a launch.

With `constant_line_quirk` the second sector of a constant line arrives late, as in GPGPU-Sim 4.2 (`_second_half`).

Handled simply: a write counts by words of 4 bytes; a store to a sector on its way makes it dirty when it comes.
Reference: timing-model-42 sections 3.5 and 3.6.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, entry, inline, njit, types
from ptxsim.timing.memory.cache import expect, join, merge
from ptxsim.timing.memory.mapping.address_map import place_line
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    CONSTANT,
    DIRTY,
    INVALID,
    MAX_LINES,
    MEMORY,
    PARTIAL,
    RESERVED,
    SECTORS,
    VALID,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.requests import (
    answer,
    drop_request,
    fill_request,
    first_free,
    new_request,
    port_cycles,
    queue_miss,
    write_back,
)

LRU_START = -(1 << 40)  # the time of copies, long before the first cycle


@njit
def find_line(c: Any, index: int, line: int) -> int:
    """The place of a line in set `index`, or -1; the sector of interest may be missing in it."""
    first = index * c.ways
    for place in range(first, first + c.ways):
        if c.tag[place] == line:
            return place
    return -1


@njit
def _victim(c: Any, index: int) -> int:
    """The place in set `index` that a new line would take, or -1 if all lines have sectors on their way."""
    first = index * c.ways
    best = -1
    for place in range(first, first + c.ways):
        if c.tag[place] < 0:
            return place
        if best < 0 or c.used[place] < c.used[best]:
            waits = False
            for sector in range(place * SECTORS, (place + 1) * SECTORS):
                if c.state[sector] == RESERVED:
                    waits = True
            if not waits:
                best = place
    return best


@njit
def _clear(c: Any, place: int, line: int) -> int:
    """Assign a place to a line none of whose sectors is present; returns the dirty sectors of the replaced line."""
    dirty = 0
    for sector in range(place * SECTORS, (place + 1) * SECTORS):
        if c.state[sector] == DIRTY or c.state[sector] == PARTIAL:
            dirty += 1
        c.state[sector] = INVALID
    c.tag[place] = line
    return dirty


@njit
def _reply(memory: Any, r: int, sector: int) -> int:
    """The request that answers for one sector of request r: r itself if it asks for one sector only."""
    if memory.request[r].bytes <= memory.sector_bytes:
        return r
    part = new_request(memory)
    q = memory.request[part]
    of = memory.request[r]
    q.line = (of.line & -(SECTORS * memory.sector_bytes)) + sector * memory.sector_bytes
    q.kind = of.kind
    q.bytes = memory.sector_bytes
    q.tag = of.tag
    q.sm = of.sm
    q.slice = of.slice
    return part


@njit
def _served(memory: Any, s: Any, index: int, r: int, sector: int, now: int) -> None:
    """Answer for a sector that was a hit, or was written."""
    s.port_free = now + 1
    if memory.request[r].kind != WRITEBACK:
        answer(memory, index, _reply(memory, r, sector), now)
    elif memory.request[r].bytes <= memory.sector_bytes:
        drop_request(memory, r)


@njit
def _write(s: Any, index: int, words: int) -> None:
    """Write into a sector that is not RESERVED."""
    c = s.cache
    if c.state[index] == INVALID:
        s.written[index] = 0
    if c.state[index] == INVALID or c.state[index] == PARTIAL:
        s.written[index] |= words
        c.state[index] = DIRTY if s.written[index] == 255 else PARTIAL
    else:
        c.state[index] = DIRTY


@njit
def _second_half(memory: Any, s: Any, r: int, place: int, now: int) -> bool:
    """GPGPU-Sim 4.2 requests both sectors of a constant line at the address of the first: the second waits in the
    first one's miss entry while there is one, but only the first sector arrives for it. The second is still missing
    then, and the next access without such an entry reads it. False if it must be tried again."""
    c = s.cache
    first = place * SECTORS + memory.request[r].sector
    second = first + s.sector
    entry = c.entry[first]
    miss = c.miss[entry]
    waits = miss.key == first and miss.n_woken < miss.n_waiters
    if s.miss_count > memory.miss_read_max or (not waits and c.n_free == 0):
        return False
    if waits and np.int64(miss.n_waiters) - np.int64(miss.n_woken) >= c.max_waiters:
        return False
    if c.state[second] == RESERVED:
        c.pending_hits += 1
    else:
        c.misses += 1
    c.accesses += 1
    c.used[place] = now
    part = _reply(memory, r, second & (SECTORS - 1))
    if waits:
        join(c, entry, part)
        c.state[second] = RESERVED
        c.entry[second] = entry
    else:
        expect(c, second, part, 0)
        c.miss[c.entry[second]].key = first
        c.entry[first] = c.entry[second]
        queue_miss(s, fill_request(memory, r, second, c.entry[second], memory.sector_bytes))
    return True


@inline
def access_sector(memory: Any, s: Any, index: int, r: int, now: int) -> bool:
    """One tag access, for the next sector of request r; False if it must be tried again."""
    c = s.cache
    q = memory.request[r]
    sector = np.int64(q.sector) + np.int64(s.sector)
    is_store = q.kind == WRITE or q.kind == WRITEBACK
    line = q.line & -c.line_bytes
    place = np.int64(s.place)
    if s.sector == 0 or c.tag[place & (MAX_LINES - 1)] != line:
        place = find_line(c, q.set, line)
        s.place = place
    at = place * SECTORS + sector
    state = c.state[at] if place >= 0 else INVALID
    if state == VALID or state == DIRTY or (state == PARTIAL and is_store):
        if is_store:
            _write(s, at, np.int64(q.words) >> (8 * sector) & 255)
        elif q.kind == ATOMIC:
            c.state[at] = DIRTY
        c.used[place] = now
        _served(memory, s, index, r, sector, now)
        c.accesses += 1
        c.hits += 1
        return True
    if s.sector and q.kind == CONSTANT and memory.constant_quirk:
        return _second_half(memory, s, r, place, now)
    if state == RESERVED and c.miss[c.entry[at]].key == at:
        if is_store:
            c.miss[c.entry[at]].dirty = 1
            _served(memory, s, index, r, sector, now)
        else:
            if s.miss_count > memory.miss_read_max or c.miss[c.entry[at]].n_waiters >= c.max_waiters:
                return False
            merge(c, at, _reply(memory, r, sector), 1 if q.kind == ATOMIC else 0)
        c.used[place] = now
        c.accesses += 1
        c.pending_hits += 1
        return True
    if s.miss_count > (memory.miss_write_max if is_store else memory.miss_read_max) or (
        not is_store and c.n_free == 0
    ):
        return False
    evicted = -1
    dirty = 0
    if place < 0:
        place = _victim(c, q.set)
        if place < 0:
            return False
        evicted = c.tag[place]
        dirty = _clear(c, place, line)
        s.place = place
        at = place * SECTORS + sector
    c.used[place] = now
    if is_store:
        _write(s, at, np.int64(q.words) >> (8 * sector) & 255)
        _served(memory, s, index, r, sector, now)
    else:
        part = _reply(memory, r, sector)
        expect(c, at, part, 1 if q.kind == ATOMIC or state == PARTIAL else 0)
        queue_miss(s, fill_request(memory, r, at, c.entry[at], memory.sector_bytes))
    if dirty:
        queue_miss(s, write_back(memory, evicted, dirty * memory.sector_bytes))
        s.port_free = now + port_cycles(memory, dirty * memory.sector_bytes)
    c.accesses += 1
    c.misses += 1
    return True


@inline
def _fill_line(memory: Any, line: int, first: int, last: int, clock: int) -> None:
    """Sectors first .. last of a line are present and clean; the line that they replace is dropped."""
    r = first_free(memory)
    place_line(memory, r, line)
    q = memory.request[r]
    c = memory.slice[q.slice].cache
    place = find_line(c, q.set, line)
    if place < 0:
        place = _victim(c, q.set)
        _clear(c, place, line)
    c.used[place] = clock
    for sector in range(place * SECTORS + first, place * SECTORS + last + 1):
        c.state[sector] = VALID


@entry(types.int64(array_of(MEMORY), types.int64, types.int64, types.int64))
def copies_fill(memories: Any, start: int, size: int, clock: int) -> int:
    """A copy of `size` bytes from or to address `start`, before the launch; the clock of the next copy, from 0 on."""
    memory = memories[0]
    c = memory.slice[0].cache
    end = start + size
    line = start & -c.line_bytes
    while line < end:
        first = max(start - line, 0) // memory.sector_bytes
        last = (min(end - line, c.line_bytes) - 1) // memory.sector_bytes
        _fill_line(memory, line, first, last, LRU_START + clock)
        clock += 1
        line += c.line_bytes
    return clock
