"""One L2 slice: ROP delay, tags, miss entries and the queues to the network and to DRAM. For `system.py`.

A request that arrives waits `rop_cycles` and then for the tags, in order, one access a cycle. A hit is answered at
once and holds the data port for its bytes. A read miss reserves a line and reads it from DRAM; a store miss sends the
store itself to DRAM, where it is acknowledged, and reads the line too (write-allocate); a dirty line that gives way is
written back. An access that finds no way, entry or place is tried again the next cycle, all behind it waiting.

`slice_cycle` does what the cycle allows, in the order response, fill, miss queue, tags, network, and then says
in `m.slice_next` when there is more to do; a slice that waits for another's room is woken by it.

Handled simply: the ROP queue and the queue before the tags are one FIFO of which at most `icnt_capacity` requests are
ripe; all requests pay the ROP delay, those for texture too.
Reference: timing-model section 3.5.
"""

from typing import Any

from ptxsim.jit import njit
from ptxsim.memory.cache import arrive, lookup, merge, reserve, set_of, tell, victim
from ptxsim.memory.interconnect import has_room, push, take
from ptxsim.memory.state import (
    ATOMIC,
    DIRTY,
    FILL,
    FOREVER,
    NOBODY,
    RESERVED,
    RING,
    ROP_RING,
    WRITE,
    WRITEBACK,
)


@njit
def new_request(m: Any) -> int:
    """Take a request from the pool. The caller has seen that there is one."""
    m.n_free -= 1
    return m.free[m.n_free]


@njit
def drop_request(m: Any, r: int) -> None:
    """Give a request back; its fields stay readable until the next one is taken."""
    m.free[m.n_free] = r
    m.n_free += 1


@njit
def place_line(m: Any, r: int, line: Any) -> None:
    """The address map: channel, slice, set, bank and row of a request's line."""
    q = m.request[r]
    chunk = line >> m.chunk_shift
    part = chunk // m.n_channels
    channel = chunk - part * m.n_channels
    low = line & ((1 << m.chunk_shift) - 1)
    rest = part << m.chunk_shift | low  # the address within the channel
    bit = (rest >> m.chunk_shift) & 1
    within = rest
    q.slice = channel
    if m.slices_per_channel == 2:
        q.slice = 2 * channel + bit
        within = (rest >> (m.chunk_shift + 1)) << m.chunk_shift | low
    c = m.slice[0].cache
    q.set = set_of(c, within >> c.line_shift)
    q.bank = ((rest >> m.bank_shift) & m.bank_mask) << 1 | bit
    q.row = rest >> m.row_shift


@njit
def port_cycles(m: Any, size: int) -> int:
    """Cycles for which `size` bytes hold a port."""
    return (size + (1 << m.port_shift) - 1) >> m.port_shift


@njit
def _reply_flits(m: Any, r: int) -> int:
    """A store is acknowledged with the header alone."""
    q = m.request[r]
    size = m.header_bytes
    if q.kind != WRITE:
        size += q.bytes
    return (size + (1 << m.flit_shift) - 1) >> m.flit_shift


@njit
def _answer(m: Any, index: int, r: int, now: int) -> None:
    """Queue a reply, which asks for its way through the network in the next cycle."""
    push(m.replies, index, m.request[r].sm, r, _reply_flits(m, r), now + 1)


@njit
def _queue_miss(s: Any, r: int) -> None:
    s.miss[(s.miss_head + s.miss_count) & (RING - 1)] = r
    s.miss_count += 1


@njit
def _own_request(m: Any, r: int, kind: int, line: int) -> int:
    """A request of the slice itself to DRAM: a FILL, or the WRITEBACK of another line of the set of request `r`."""
    new = new_request(m)
    q = m.request[new]
    q.line = line
    q.kind = kind
    q.bytes = m.slice[0].cache.line_bytes
    q.tag = -1
    q.sm = -1
    if kind == FILL:
        of = m.request[r]
        q.slice = of.slice
        q.set = of.set
        q.bank = of.bank
        q.row = of.row
    else:
        place_line(m, new, line)
    return new


@njit
def _read_line(m: Any, s: Any, r: int, place: int, waiter: int, dirty: int, now: int) -> None:
    """Reserve `place` for the line of `r`, ask DRAM for it and write back what it replaces."""
    c = s.cache
    line = m.request[r].line & -c.line_bytes
    evicted = c.tag[place]
    was_dirty = c.state[place] == DIRTY
    reserve(c, place, line, waiter, dirty, now)
    _queue_miss(s, _own_request(m, r, FILL, line))
    if was_dirty:
        _queue_miss(s, _own_request(m, r, WRITEBACK, evicted))
        s.port_free = now + port_cycles(m, c.line_bytes)


@njit
def _access(m: Any, s: Any, index: int, r: int, now: int) -> bool:
    """One tag access; False if it must be tried again."""
    c = s.cache
    q = m.request[r]
    is_store = q.kind == WRITE or q.kind == WRITEBACK
    dirty = 1 if q.kind == ATOMIC else 0
    line = q.line & -c.line_bytes
    place = lookup(c, q.set, line)
    if place >= 0 and c.state[place] != RESERVED:
        c.used[place] = now
        if is_store or dirty:
            c.state[place] = DIRTY
        s.port_free = now + port_cycles(m, q.bytes)
        if q.kind == WRITEBACK:
            drop_request(m, r)
        else:
            _answer(m, index, r, now)
        c.accesses += 1
        c.hits += 1
        return True
    waiter = NOBODY if is_store else r
    room = s.miss_count <= (m.miss_write_max if is_store else m.miss_read_max)
    if place >= 0:
        if (is_store and not room) or not merge(c, place, waiter, dirty, now):
            return False
        if is_store:
            _queue_miss(s, r)
        c.accesses += 1
        c.pending_hits += 1
        return True
    place = victim(c, q.set)
    if place < 0 or c.n_free == 0 or not room:
        return False
    if is_store:
        _queue_miss(s, r)
    _read_line(m, s, r, place, waiter, dirty, now)
    c.accesses += 1
    c.misses += 1
    return True


@njit
def _wake_channel(m: Any, index: int, when: int) -> None:
    channel = index >> 1 if m.slices_per_channel == 2 else index
    m.channel_next[channel] = min(m.channel_next[channel], when)


@njit
def _tags(m: Any, s: Any, index: int, now: int) -> None:
    """Try the tag access at the head; count a try for each cycle that went by since it failed."""
    c = s.cache
    if s.stuck:
        c.reservation_fails += now - s.stuck_since - 1
        s.stuck = 0
    if (
        s.rop_count == 0
        or s.port_free > now
        or not has_room(m.replies, index, m.replies.longest)
        or s.dram_count >= m.dram_capacity
        or m.request[s.rop[s.rop_head]].due > now
    ):
        return
    if _access(m, s, index, s.rop[s.rop_head], now):
        s.rop_head = (s.rop_head + 1) & (ROP_RING - 1)
        s.rop_count -= 1
    else:
        c.reservation_fails += 1
        s.stuck = 1
        s.stuck_since = now


@njit
def _fill(m: Any, s: Any, index: int, now: int) -> None:
    """Take what has come from DRAM: a line into the cache, or the acknowledgement of a store to the reply queue."""
    r = s.filling[s.fill_head]
    q = m.request[r]
    if q.kind == FILL:
        if s.fill_free > now:
            return
        c = s.cache
        arrive(c, lookup(c, q.set, q.line))
        s.fill_free = now + port_cycles(m, c.line_bytes)
        drop_request(m, r)
    elif has_room(m.replies, index, m.replies.longest):
        _answer(m, index, r, now)
    else:
        return
    if s.fill_count == m.fill_capacity:  # the channel may have waited for room
        _wake_channel(m, index, now + 1)
    s.fill_head = (s.fill_head + 1) & (RING - 1)
    s.fill_count -= 1


@njit
def _open(m: Any, s: Any, now: int) -> bool:
    """Whether a request may be taken from the network."""
    if s.rop_count >= ROP_RING - 1:
        return False
    if s.rop_count < m.icnt_capacity:
        return True
    ripe = s.rop[(s.rop_head + m.icnt_capacity - 1) & (ROP_RING - 1)]
    return m.request[ripe].due > now


@njit
def _wait(m: Any, s: Any, index: int, now: int) -> int:
    """When the slice has more to do, FOREVER if only others can help."""
    soon = now + 1
    replies = has_room(m.replies, index, m.replies.longest)
    if s.cache.n_ready > 0 and replies:
        return soon
    to_dram = s.dram_count < m.dram_capacity
    if s.miss_count > 0 and to_dram:
        return soon
    following = FOREVER
    if s.fill_count > 0:
        if m.request[s.filling[s.fill_head]].kind == FILL:
            following = s.fill_free
        elif replies:
            return soon
    if s.rop_count > 0 and not s.stuck and replies and to_dram:
        following = min(following, max(m.request[s.rop[s.rop_head]].due, s.port_free))
    if _open(m, s, soon):
        following = min(following, m.requests.out_due[index])
    return max(following, soon)


@njit
def slice_cycle(m: Any, index: int, now: int) -> None:
    """One cycle of a slice."""
    s = m.slice[index]
    if s.cache.n_ready > 0 and has_room(m.replies, index, m.replies.longest):
        waiter = tell(s.cache)
        if waiter != NOBODY:
            _answer(m, index, waiter, now)
    if s.fill_count > 0:
        _fill(m, s, index, now)
    if s.miss_count > 0 and s.dram_count < m.dram_capacity:
        s.dram[(s.dram_head + s.dram_count) & (RING - 1)] = s.miss[s.miss_head]
        s.dram_count += 1
        s.miss_head = (s.miss_head + 1) & (RING - 1)
        s.miss_count -= 1
        _wake_channel(m, index, now + 1)
    _tags(m, s, index, now)
    if m.requests.out_due[index] <= now and _open(m, s, now):
        r = take(m, m.requests, index, now)
        m.request[r].due = now + m.rop_cycles
        s.rop[(s.rop_head + s.rop_count) & (ROP_RING - 1)] = r
        s.rop_count += 1
    m.slice_next[index] = _wait(m, s, index, now)
