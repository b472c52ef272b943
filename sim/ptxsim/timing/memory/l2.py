"""One L2 slice: ROP delay, tags, miss entries and the queues to the network and to DRAM. For `system.py`.

A request that arrives waits `rop_cycles` and then for the tags, in order, one access per cycle. A hit is answered at
once and holds the data port for its bytes. A read miss reserves a line and reads it from DRAM; a store miss sends the
store itself to DRAM, where it is acknowledged, and reads the line too (write-allocate); a dirty victim is written back.
An access that finds no way, miss entry or queue place is tried again in the next cycle, and all later ones wait.

`slice_cycle` does what the cycle allows, in the order response, fill, miss queue, tags, network, and then notes in
`memory.slice_next` when there is more to do; a full queue that a slice waits for wakes the slice.

In a slice with sectors the first request is served one sector per cycle (`sectors.py`); no store is sent to DRAM.
Registers that move to DRAM and back (`timing/residency/dram_areas.py`) pass the cache by, in the order of the queues.

Handled simply: the ROP queue and the queue before the tags are one FIFO. At most `icnt_capacity` requests in it are
ripe (have passed their delay); with sectors, the sectors that have left the ROP queue, one per cycle, are counted.
Requests for texels have no ROP delay and overtake those that wait for theirs.
Reference: timing-model section 3.5, timing-model-42 section 3.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.cache import arrive, lookup, merge, reserve, wake
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    DIRTY,
    FILL,
    FOREVER,
    NO_WAITER,
    RESERVED,
    RESTORE,
    RING,
    ROP_RING,
    SAVE,
    SECTORS,
    TEXTURE,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.network.interconnect import has_room, take
from ptxsim.timing.memory.replacement import victim
from ptxsim.timing.memory.requests import (
    answer,
    drop_request,
    fill_request,
    flits_of,
    port_cycles,
    queue_miss,
    write_back,
)
from ptxsim.timing.memory.sectors import access_sector, find_line


@inline
def _read_line(memory: Any, s: Any, r: int, place: int, waiter: int, dirty: int, now: int) -> None:
    """Reserve `place` for the line of `r`, request it from DRAM and write back the line that it replaces."""
    c = s.cache
    line = memory.request[r].line & -c.line_bytes
    evicted = c.tag[place]
    was_dirty = c.state[place] == DIRTY
    reserve(c, place, line, waiter, dirty, now)
    queue_miss(s, fill_request(memory, r, place, c.entry[place], c.line_bytes))
    if was_dirty:
        queue_miss(s, write_back(memory, evicted, c.line_bytes))
        s.port_free = now + port_cycles(memory, c.line_bytes)


@inline
def _access(memory: Any, s: Any, index: int, r: int, now: int) -> bool:
    """One tag access; False if it must be tried again."""
    c = s.cache
    q = memory.request[r]
    is_store = q.kind == WRITE or q.kind == WRITEBACK
    dirty = 1 if q.kind == ATOMIC else 0
    line = q.line & -c.line_bytes
    place = lookup(c, q.set, line)
    if place >= 0 and c.state[place] != RESERVED:
        c.used[place] = now
        if is_store or dirty:
            c.state[place] = DIRTY
        s.port_free = now + port_cycles(memory, q.bytes)
        if q.kind == WRITEBACK:
            drop_request(memory, r)
        else:
            answer(memory, index, r, now)
        c.accesses += 1
        c.hits += 1
        return True
    waiter = NO_WAITER if is_store else r
    room = s.miss_count <= (memory.miss_write_max if is_store else memory.miss_read_max)
    if place >= 0:
        if (is_store and not room) or not merge(c, place, waiter, dirty):
            return False
        c.used[place] = now
        if is_store:
            queue_miss(s, r)
        c.accesses += 1
        c.pending_hits += 1
        return True
    place = victim(c, q.set)
    if place < 0 or c.n_free == 0 or not room:
        return False
    if is_store:
        queue_miss(s, r)
    _read_line(memory, s, r, place, waiter, dirty, now)
    c.accesses += 1
    c.misses += 1
    return True


@njit
def _pass_by(memory: Any, s: Any, r: int) -> bool:
    """A register that moves to DRAM or back passes the cache by. A request takes the tags' time of each of its sectors,
    with the last one it enters the miss queue; False if it must be tried again."""
    q = memory.request[r]
    if memory.sector_bytes and (s.sector + 1) * memory.sector_bytes < q.bytes:
        return True
    if s.miss_count > (memory.miss_write_max if q.kind == SAVE else memory.miss_read_max):
        return False
    queue_miss(s, r)
    return True


@inline
def channel_of(memory: Any, index: int) -> int:
    """The channel of a slice."""
    return index >> 1 if memory.slices_per_channel == 2 else index


@njit
def _wake_channel(memory: Any, index: int, when: int) -> None:
    channel = channel_of(memory, index)
    memory.channel_next[channel] = min(memory.channel_next[channel], when)


@inline
def _tags(memory: Any, s: Any, index: int, now: int) -> None:
    """Try the tag access at the head; count one failed try for each cycle since it last failed."""
    c = s.cache
    if s.stuck:
        c.reservation_fails += now - s.stuck_since - 1
        s.stuck = 0
    if (
        s.rop_count == 0
        or s.port_free > now
        or not has_room(memory.replies, index, memory.replies.longest)
        or s.dram_count >= memory.dram_capacity
        or memory.request[s.rop[s.rop_head]].due > now
        or memory.n_free < memory.margin
    ):
        return
    r = np.int64(s.rop[s.rop_head])
    passes = memory.request[r].kind >= SAVE
    if memory.sector_bytes:
        done = _pass_by(memory, s, r) if passes else access_sector(memory, s, index, r, now)
        if done:
            s.ripe = _ripe(memory, s, now) - 1
            s.sector += 1
            if s.sector * memory.sector_bytes < memory.request[r].bytes:
                return
            if s.sector > 1 and not passes:  # its sectors were answered with requests of their own
                drop_request(memory, r)
            s.sector = 0
            s.ripened -= 1
    else:
        done = _pass_by(memory, s, r) if passes else _access(memory, s, index, r, now)
    if done:
        s.rop_head = (s.rop_head + 1) & (ROP_RING - 1)
        s.rop_count -= 1
    else:
        c.reservation_fails += 1
        s.stuck = 1
        s.stuck_since = now


@njit
def _ripe(memory: Any, s: Any, now: int) -> int:
    """Sectors that wait for the tags in cycle `now`: one per cycle joins them, of requests past their ROP delay."""
    while s.ripened < s.rop_count:
        q = memory.request[s.rop[(s.rop_head + s.ripened) & (ROP_RING - 1)]]
        when = max(q.due, s.ripe_next)
        if when > now:
            break
        sectors = (q.bytes + 31) >> 5
        n = min(sectors - s.ripe_sector, now - when + 1)
        s.ripe += n
        s.ripe_sector += n
        s.ripe_next = when + n
        if s.ripe_sector == sectors:
            s.ripened += 1
            s.ripe_sector = 0
    ripe: Any = np.int64(s.ripe)
    return ripe


@njit
def _overtake(memory: Any, s: Any, r: int, now: int) -> None:
    """The last request is for texels, which have no ROP delay: it goes before all that still wait for theirs."""
    memory.request[r].due = now
    k = s.rop_count - 1
    while k > 0:
        before = s.rop[(s.rop_head + k - 1) & (ROP_RING - 1)]
        if memory.request[before].due <= now:
            break
        s.rop[(s.rop_head + k) & (ROP_RING - 1)] = before
        k -= 1
    s.rop[(s.rop_head + k) & (ROP_RING - 1)] = r


@inline
def _has_room_for(memory: Any, index: int, q: Any) -> bool:
    """Whether a reply to a request can enter the network: a register from DRAM is longer than a sector."""
    flits = memory.replies.longest
    if q.kind == RESTORE:
        flits = min(max(flits, flits_of(memory, q.bytes)), memory.replies.input_flits)
    return has_room(memory.replies, index, flits)


@inline
def _fill(memory: Any, s: Any, index: int, now: int) -> None:
    """Take a request back from DRAM: a line into the cache, or the acknowledgement of a store to the reply queue."""
    r = np.int64(s.filling[s.fill_head])
    q = memory.request[r]
    if q.kind == FILL:
        if s.fill_free > now:
            return
        c = s.cache
        at = np.int64(q.at)
        if memory.sector_bytes:
            line = q.line & -c.line_bytes
            if c.tag[at // SECTORS] != line:  # read twice: it lies elsewhere now
                place = find_line(c, q.set, line)
                at = place * SECTORS + at % SECTORS if place >= 0 else np.int64(-1)
        arrive(c, at, q.tag)
        s.fill_free = now + port_cycles(memory, q.bytes)
        drop_request(memory, r)
    elif _has_room_for(memory, index, q):
        answer(memory, index, r, now)
    else:
        return
    if s.fill_count == memory.fill_capacity:  # the channel may have waited for room
        _wake_channel(memory, index, now + 1)
    s.fill_head = (s.fill_head + 1) & (RING - 1)
    s.fill_count -= 1


@njit
def _open(memory: Any, s: Any, now: int) -> bool:
    """Whether a request may be taken from the network."""
    if s.rop_count >= ROP_RING - 1:
        return False
    if memory.sector_bytes:
        return _ripe(memory, s, now) < memory.icnt_capacity
    if s.rop_count < memory.icnt_capacity:
        return True
    ripe = s.rop[(s.rop_head + memory.icnt_capacity - 1) & (ROP_RING - 1)]
    return memory.request[ripe].due > now


@inline
def _wait(memory: Any, s: Any, index: int, now: int) -> int:
    """The next cycle in which the slice has something to do; FOREVER if it waits for the network or DRAM."""
    soon = now + 1
    replies = has_room(memory.replies, index, memory.replies.longest)
    if s.cache.n_ready > 0 and replies:
        return soon
    to_dram = s.dram_count < memory.dram_capacity
    if s.miss_count > 0 and to_dram:
        return soon
    following = FOREVER
    if s.fill_count > 0:
        if memory.request[s.filling[s.fill_head]].kind == FILL:
            following = s.fill_free
        elif replies:
            return soon
    if s.rop_count > 0 and not s.stuck and replies and to_dram:
        following = min(following, max(memory.request[s.rop[s.rop_head]].due, s.port_free))
    arrival = memory.requests.out_due[index]
    if arrival < following and _open(memory, s, soon):
        following = arrival
    return max(following, soon)


@inline
def slice_cycle(memory: Any, index: int, now: int) -> None:
    """One cycle of a slice."""
    s = memory.slice[index]
    if s.cache.n_ready > 0 and has_room(memory.replies, index, memory.replies.longest):
        waiter = wake(s.cache)
        if waiter != NO_WAITER:
            answer(memory, index, waiter, now)
    if s.fill_count > 0:
        _fill(memory, s, index, now)
    if s.miss_count > 0 and s.dram_count < memory.dram_capacity:
        s.dram[(s.dram_head + s.dram_count) & (RING - 1)] = s.miss[s.miss_head]
        s.dram_count += 1
        s.miss_head = (s.miss_head + 1) & (RING - 1)
        s.miss_count -= 1
        memory.channel_asked[channel_of(memory, index)] |= 1 << (index & (memory.slices_per_channel - 1))
        _wake_channel(memory, index, now + 1)
    _tags(memory, s, index, now)
    if memory.requests.out_due[index] <= now and _open(memory, s, now):
        r = take(memory, memory.requests, index, now)
        memory.request[r].due = now + memory.rop_cycles
        if s.rop_count == 0:
            s.rop_head = 0
        s.rop[(s.rop_head + s.rop_count) & (ROP_RING - 1)] = r
        s.rop_count += 1
        if memory.request[r].kind == TEXTURE:
            _overtake(memory, s, r, now)
    memory.slice_next[index] = _wait(memory, s, index, now)
