"""Requests between L1, L2 and DRAM: their pool, and how a slice answers them or asks DRAM.

For `system.py`, the slices (`l2.py`, `sectors.py`) and `dram.py`. A request is an index into `memory.request`.
Reference: timing-model sections 3.4 and 3.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.mapping.address_map import place_line
from ptxsim.timing.memory.memory_state import FILL, MAX_PORTS, POOL, RING, WRITE, WRITEBACK
from ptxsim.timing.memory.network.interconnect import push


@inline
def first_free(memory: Any) -> int:
    """The request that is taken from the pool next. The caller has checked that there is one."""
    place = (memory.n_free - 1) & (POOL - 1)
    r: Any = memory.pool - 1 - place + np.int64(memory.free[place])
    return r


@inline
def new_request(memory: Any) -> int:
    """Take a request from the pool. The caller has checked that there is one."""
    r: Any = first_free(memory)
    memory.n_free -= 1
    return r


@inline
def drop_request(memory: Any, r: int) -> None:
    """Return a request to the pool; its fields stay readable until the next one is taken."""
    place = memory.n_free & (POOL - 1)
    memory.free[place] = r - (memory.pool - 1 - place)
    memory.n_free += 1


@inline
def port_of(memory: Any, sm: int) -> int:
    """The port of the network that an SM has, or shares with others."""
    return (sm >> memory.port_sms_shift) & (MAX_PORTS - 1)


@inline
def port_cycles(memory: Any, size: int) -> int:
    """Cycles for which `size` bytes hold a port."""
    return (size + (1 << memory.port_shift) - 1) >> memory.port_shift


@inline
def flits_of(memory: Any, size: int) -> int:
    """Flits of a packet with `size` bytes of data."""
    flits: Any = np.int64(memory.flits[size])
    return flits


@njit
def answer(memory: Any, index: int, r: int, now: int) -> None:
    """Queue a reply, which asks the network for its output in the next cycle; a store's is the header alone."""
    q = memory.request[r]
    push(
        memory,
        memory.replies,
        index,
        q.sm >> memory.port_sms_shift,
        r,
        flits_of(memory, 0 if q.kind == WRITE else q.bytes),
        now + 1,
    )


@inline
def queue_miss(s: Any, r: int) -> None:
    """Put a request into the miss queue of a slice."""
    s.miss[(s.miss_head + s.miss_count) & (RING - 1)] = r
    s.miss_count += 1


@inline
def fill_request(memory: Any, r: int, at: int, entry: int, size: int) -> int:
    """The request of a slice to DRAM for the line or sector of request `r`, which will be entered at place `at`."""
    new = new_request(memory)
    q = memory.request[new]
    of = memory.request[r]
    q.line = of.line
    q.set = of.set
    q.kind = FILL
    q.bytes = size
    q.tag = entry
    q.at = at
    q.slice = of.slice
    q.bank = of.bank
    q.row = of.row
    return new


@inline
def write_back(memory: Any, line: int, size: int) -> int:
    """The request of a slice to DRAM that writes back `size` bytes of a line."""
    new = new_request(memory)
    q = memory.request[new]
    q.line = line
    q.kind = WRITEBACK
    q.bytes = size
    place_line(memory, new, line)
    return new


@inline
def enter_network(
    memory: Any, sm: int, now: int, line: int, size: int, kind: int, tag: int, words: int, flits: int
) -> None:
    """A request enters the network, which has room for it."""
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
    push(memory, memory.requests, port_of(memory, sm), q.slice, r, flits, now + 1)
    memory.next = min(memory.next, memory.requests.next)
