"""The memory system beyond the L1 as the SMs see it: requests in, replies out, one call per cycle.

A cycle of the machine is `memory_cycle(m, now)` (nothing to do while `memory.next > now`), then each SM, which may
`inject` requests, send its L1's misses with `l1_send` and take replies with `pop_reply`. A read is answered with its
data, a store or atomic once it is done; WRITEBACK and SAVE are not answered. Where the L2 has sectors, each sector of a
request has a reply of its own, except of RESTORE. `reply_next` is the cycle in which the next reply can be taken, so
that an SM can sleep.

Order within a cycle: DRAM, slices, networks (a crossbar of packets moves replies before the slices); a request injected
in cycle t asks for its output in t + 1. Everything is deterministic: only the order of calls matters.
Reference: timing-model sections 1.1 and 3.4 to 3.6.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import ctz, inline, njit
from ptxsim.timing.memory.dram import channel_cycle, core_cycle, dram_cycles
from ptxsim.timing.memory.l2 import slice_cycle
from ptxsim.timing.memory.mapping.address_map import place_line
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    FOREVER,
    MAX_PORTS,
    RING,
    SAVE,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.network.crossbar import crossbar_cycle, first_reply
from ptxsim.timing.memory.network.interconnect import due, first_of, has_room, network_cycle, push, take
from ptxsim.timing.memory.requests import drop_request, flits_of, new_request

_ALL_WORDS = 0xFFFFFFFF


@inline
def _port(memory: Any, sm: int) -> int:
    """The port of the network that an SM has, or shares with others."""
    return (sm >> memory.port_sms_shift) & (MAX_PORTS - 1)


@njit
def inject(memory: Any, sm: int, now: int, line: int, size: int, kind: int, tag: int) -> bool:
    """Send a request of `size` bytes into the network; False if there is no room: try again the next cycle."""
    return inject_words(memory, sm, now, line, size, kind, tag, _ALL_WORDS)


@inline
def inject_words(
    memory: Any, sm: int, now: int, line: int, size: int, kind: int, tag: int, words: int
) -> bool:
    """The same for a store that writes only these words of its line of 128 bytes, one bit each."""
    flits = flits_of(memory, size if kind in (WRITE, ATOMIC, WRITEBACK, SAVE) else 0)
    if memory.n_free < memory.sector_margin or not has_room(memory.requests, _port(memory, sm), flits):
        return False
    r = new_request(memory)
    q = memory.request[r]
    q.line = np.int64(line)
    q.kind = kind
    q.bytes = size
    q.tag = tag
    q.sm = sm
    q.words = words
    place_line(memory, r, q.line)
    if memory.quirk and kind == WRITE and size == 64 and q.line & 64:
        # its slice takes it for the upper half of the next line (timing-model-42 section 3.5)
        target = q.slice
        q.line += 64
        place_line(memory, r, q.line)
        q.slice = target
        q.sector = 2
    push(memory, memory.requests, _port(memory, sm), q.slice, r, flits, now + 1)
    memory.next = min(memory.next, memory.requests.next)
    return True


@inline
def l1_send(l1: Any, memory: Any, sm: int, now: int) -> bool:
    """Send the head of an L1's miss queue, if there is one and the network has room: call it once a cycle."""
    if l1.miss_count == 0:
        return False
    head = l1.miss_head
    if not inject_words(
        memory,
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
def nothing_sent(memory: Any, sm: int) -> bool:
    """Whether no request of an SM waits before the network, and there is room for the requests of a cycle."""
    return memory.requests.input[_port(memory, sm)].flits == 0 and memory.n_free > 2 * memory.sector_margin


@inline
def reply_next(memory: Any, sm: int) -> int:
    """The cycle in which `pop_reply` will have the next reply for an SM; FOREVER if none has passed the network, or one
    for another SM at its port is first."""
    due: Any = memory.replies.out_due[_port(memory, sm)]
    if memory.port_sms_shift and due < FOREVER and memory.request[next_reply(memory, sm)].sm != sm:
        return FOREVER
    return due


@inline
def next_reply(memory: Any, sm: int) -> int:
    """The request that `pop_reply` will take; there is one."""
    port = _port(memory, sm)
    if memory.replies.of_packets:
        return first_reply(memory.replies, port)
    r: Any = np.int64(memory.replies.queue[port, memory.replies.output[port].head])
    return r


@inline
def pop_reply(memory: Any, sm: int, now: int) -> int:
    """Take a reply: an index into `memory.request` (line, kind, tag, bytes), or -1. Read it before `inject`."""
    if reply_next(memory, sm) > now:
        return -1
    port = _port(memory, sm)
    r = take(memory, memory.replies, port, now + 1)
    memory.next = min(memory.next, memory.replies.next)
    if memory.port_sms_shift:  # another SM may have the next one, from the next cycle on
        memory.replies.out_due[port] = max(memory.replies.out_due[port], now + 1)
        memory.next = min(memory.next, now + 1)
    drop_request(memory, r)
    return r


@njit
def in_flight(memory: Any) -> int:
    """Requests anywhere in the memory system, the L2's own included."""
    return memory.pool - memory.n_free


@njit
def memory_cycle(memory: Any, now: int) -> None:
    """Do everything that is due in cycle `now`, and note in `memory.next` when there is more to do."""
    if memory.next > now:
        return
    before, over = dram_cycles(memory, now - 1), dram_cycles(memory, now)
    left = due(memory.channel_next, 0, memory.n_channels, now) | due(
        memory.dram_next, 0, memory.n_channels, over
    )
    while left:
        channel_cycle(memory, ctz(left), now, before, over)
        left &= left - 1
    if memory.replies.of_packets and memory.replies.next <= now:
        crossbar_cycle(memory, memory.replies, now)
    for first in range(0, memory.n_slices, 64):
        left = due(memory.slice_next, first, min(memory.n_slices, first + 64), now)
        while left:
            slice_cycle(memory, first + ctz(left), now)
            left &= left - 1
    if memory.requests.of_packets:
        if memory.requests.next <= now:
            crossbar_cycle(memory, memory.requests, now)
    else:
        if memory.requests.next <= now:
            network_cycle(memory, memory.requests, now)
        if memory.replies.next <= now:
            network_cycle(memory, memory.replies, now)
    following = min(memory.requests.next, memory.replies.next)
    if following > now + 1:
        following = min(following, first_of(memory.slice_next, memory.n_slices))
        following = min(following, first_of(memory.channel_next, memory.n_channels))
        in_dram = first_of(memory.dram_next, memory.n_channels)
        if in_dram < FOREVER:
            following = min(following, core_cycle(memory, in_dram))
    memory.next = following
