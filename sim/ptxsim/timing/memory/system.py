"""The memory system beyond the L1 as the SMs see it: requests in, replies out, one call per cycle.

A cycle of the machine is `memory_cycle(m, now)` (nothing to do while `m.next > now`), then each SM, which may
`inject` requests, send its L1's misses with `l1_send` and take replies with `pop_reply`. A read is answered with its
data, a store or atomic once it is done; WRITEBACK is not answered. Where the L2 has sectors, each sector of a request
has a reply of its own. `reply_next` is the cycle in which the next reply can be taken, so that an SM can sleep.

Order within a cycle: DRAM, slices, networks; a request injected in cycle t asks for its output in t + 1. Everything is
deterministic: only the order of calls matters.
Reference: timing-model sections 1.1 and 3.4 to 3.6.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, inline, njit
from ptxsim.timing.memory.dram import channel_cycle, core_cycle, dram_cycles
from ptxsim.timing.memory.interconnect import due, first_of, has_room, network_cycle, push, take
from ptxsim.timing.memory.l2 import slice_cycle
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    FOREVER,
    MAX_PORTS,
    POOL,
    RING,
    SECTOR_MARGIN,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.requests import drop_request, flits_of, new_request, place_line

_ALL_WORDS = 0xFFFFFFFF


@njit
def inject(m: Any, sm: int, now: int, line: int, size: int, kind: int, tag: int) -> bool:
    """Send a request of `size` bytes into the network; False if there is no room: try again the next cycle."""
    return inject_words(m, sm, now, line, size, kind, tag, _ALL_WORDS)


@inline
def inject_words(m: Any, sm: int, now: int, line: int, size: int, kind: int, tag: int, words: int) -> bool:
    """The same for a store that writes only these words of its line of 128 bytes, one bit each."""
    flits = flits_of(m, size if kind in (WRITE, ATOMIC, WRITEBACK) else 0)
    if m.n_free < SECTOR_MARGIN or not has_room(m.requests, sm, flits):
        return False
    r = new_request(m)
    q = m.request[r]
    q.line = np.int64(line)
    q.kind = kind
    q.bytes = size
    q.tag = tag
    q.sm = sm
    q.words = words
    place_line(m, r, q.line)
    if m.quirk and kind == WRITE and size == 64 and q.line & 64:
        # its slice takes it for the upper half of the next line (timing-model-42 section 3.5)
        target = q.slice
        q.line += 64
        place_line(m, r, q.line)
        q.slice = target
        q.sector = 2
    push(m.requests, sm, q.slice, r, flits, now + 1)
    m.next = min(m.next, m.requests.next)
    return True


@inline
def l1_send(l1: Any, m: Any, sm: int, now: int) -> bool:
    """Send the head of an L1's miss queue, if there is one and the network has room: call it once a cycle."""
    if l1.miss_count == 0:
        return False
    head = l1.miss_head
    if not inject_words(
        m,
        sm,
        now,
        l1.miss_line[head],
        np.int64(l1.miss_bytes[head]),
        np.int64(l1.miss_kind[head]),
        np.int64(l1.miss_tag[head]),
        np.int64(l1.miss_words[head]),
    ):
        return False
    l1.miss_head = (head + 1) & (RING - 1)
    l1.miss_count -= 1
    return True


@inline
def nothing_sent(m: Any, sm: int) -> bool:
    """Whether no request of an SM waits before the network, and there is room for the requests of a cycle."""
    return m.requests.input[sm & (MAX_PORTS - 1)].flits == 0 and m.n_free > 2 * SECTOR_MARGIN


@inline
def reply_next(m: Any, sm: int) -> int:
    """The cycle in which `pop_reply` will have the next reply for an SM; FOREVER if none has passed the network."""
    return m.replies.out_due[sm & (MAX_PORTS - 1)]


@inline
def next_reply(m: Any, sm: int) -> int:
    """The request that `pop_reply` will take; there is one."""
    sm = sm & (MAX_PORTS - 1)
    r: Any = np.int64(m.replies.queue[sm, m.replies.output[sm].head])
    return r


@inline
def pop_reply(m: Any, sm: int, now: int) -> int:
    """Take a reply: an index into `m.request` (line, kind, tag, bytes), or -1. Read it before the next `inject`."""
    if reply_next(m, sm) > now:
        return -1
    r = take(m, m.replies, sm, now + 1)
    m.next = min(m.next, m.replies.next)
    drop_request(m, r)
    return r


@njit
def in_flight(m: Any) -> int:
    """Requests anywhere in the memory system, the L2's own included."""
    return POOL - m.n_free


@njit
def memory_cycle(m: Any, now: int) -> None:
    """Do everything that is due in cycle `now`, and note in `m.next` when there is more to do."""
    if m.next > now:
        return
    before, over = dram_cycles(m, now - 1), dram_cycles(m, now)
    left = due(m.channel_next, m.n_channels, now) | due(m.dram_next, m.n_channels, over)
    while left:
        channel_cycle(m, ctz(left), now, before, over)
        left &= left - 1
    left = due(m.slice_next, m.n_slices, now)
    while left:
        slice_cycle(m, ctz(left), now)
        left &= left - 1
    if m.requests.next <= now:
        network_cycle(m, m.requests, now)
    if m.replies.next <= now:
        network_cycle(m, m.replies, now)
    following = min(m.requests.next, m.replies.next)
    if following > now + 1:
        following = min(following, first_of(m.slice_next, m.n_slices))
        following = min(following, first_of(m.channel_next, m.n_channels))
        in_dram = first_of(m.dram_next, m.n_channels)
        if in_dram < FOREVER:
            following = min(following, core_cycle(m, in_dram))
    m.next = following
