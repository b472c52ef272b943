"""The memory system beyond the L1 as the SMs see it: requests in, replies out, one call per cycle.

A cycle of the machine is `memory_cycle(m, now)` (side/memory_cycle.py), then each SM, which may `inject` requests, send
its L1's misses with `l1_send` and take replies with `pop_reply`. A read is answered with its data, a store or atomic
once it is done; WRITEBACK and SAVE are not answered. Where the L2 has sectors, each sector of a request has a reply of
its own, except of RESTORE. `reply_next` is the cycle in which the next reply can be taken, so that an SM can sleep.
Where workers share a run, requests and replies go through `team/ports.py`.

Order within a cycle: DRAM, slices, networks (a crossbar of packets moves replies before the slices); a request injected
in cycle t asks for its output in t + 1. Everything is deterministic: only the order of calls matters.
Reference: timing-model sections 1.1 and 3.4 to 3.6.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.memory_state import (
    ATOMIC,
    FOREVER,
    RING,
    SAVE,
    WRITE,
    WRITEBACK,
)
from ptxsim.timing.memory.network.crossbar import first_reply
from ptxsim.timing.memory.network.interconnect import has_room, take
from ptxsim.timing.memory.requests import drop_request, enter_network, flits_of, port_of
from ptxsim.timing.memory.side.waits import wait_for_memory
from ptxsim.timing.memory.team.ports import (
    first_due,
    first_request,
    full_until,
    most_flits,
    outbox_has_room,
    post,
    room_for,
    take_first,
)
from ptxsim.timing.memory.team.team import team_at

_ALL_WORDS = 0xFFFFFFFF


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
    if memory.has_team:
        if not _has_room_ahead(memory, sm, now, flits):
            return False
        post(memory.team, sm, now, np.int64(line), size, kind, tag, words, flits)
        return True
    if memory.n_free < memory.sector_margin or not has_room(memory.requests, port_of(memory, sm), flits):
        return False
    enter_network(memory, sm, now, line, size, kind, tag, words, flits)
    return True


@njit
def _has_room_ahead(memory: Any, sm: int, now: int, flits: int) -> bool:
    """Whether the network has room for what an SM sends that may be ahead of it; where that is not known, the SM waits
    until the network has come so far."""
    full = full_until(memory.team, sm)
    if room_for(memory.team, memory.requests, sm, flits):
        return True
    if now < full:
        return False
    worker = np.int64(team_at(memory.team, 0).worker_of[sm])
    return wait_for_memory(memory.team, worker, now) and room_for(memory.team, memory.requests, sm, flits)


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
    """Whether no request of an SM waits before the network (of one that workers share: this does not matter), and there
    is room for the requests of a cycle."""
    if memory.has_team:
        team = memory.team
        return outbox_has_room(team, sm) and room_for(team, memory.requests, sm, most_flits(team))
    return memory.requests.input[port_of(memory, sm)].flits == 0 and memory.n_free > 2 * memory.sector_margin


@inline
def reply_next(memory: Any, sm: int) -> int:
    """The cycle in which `pop_reply` will have the next reply for an SM; FOREVER if none has passed the network, or one
    for another SM at its port is first."""
    if memory.has_team:
        return first_due(memory.team, sm)
    due: Any = memory.replies.out_due[port_of(memory, sm)]
    if memory.port_sms_shift and due < FOREVER and memory.request[next_reply(memory, sm)].sm != sm:
        return FOREVER
    return due


@inline
def next_reply(memory: Any, sm: int) -> int:
    """The request that `pop_reply` will take; there is one."""
    if memory.has_team:
        return first_request(memory.team, sm)
    port = port_of(memory, sm)
    if memory.replies.of_packets:
        return first_reply(memory.replies, port)
    r: Any = np.int64(memory.replies.queue[port, memory.replies.output[port].head])
    return r


@inline
def pop_reply(memory: Any, sm: int, now: int) -> int:
    """Take a reply: an index into `memory.request` (line, kind, tag, bytes), or -1. Read it before `inject`."""
    if reply_next(memory, sm) > now:
        return -1
    if memory.has_team:
        return take_first(memory.team, sm, now)
    port = port_of(memory, sm)
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
