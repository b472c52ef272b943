"""Requests between L1, L2 and DRAM: their pool, their place in the machine, and how a slice answers them or asks DRAM.

For `system.py`, the slices (`l2.py`, `sectors.py`) and `dram.py`. A request is an index into `memory.request`.
Reference: timing-model sections 3.4 and 3.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.cache import set_of
from ptxsim.timing.memory.interconnect import push
from ptxsim.timing.memory.memory_state import FILL, POOL, RING, WRITE, WRITEBACK


@inline
def new_request(memory: Any) -> int:
    """Take a request from the pool. The caller has checked that there is one."""
    memory.n_free -= 1
    r: Any = np.int64(memory.free[memory.n_free & (POOL - 1)])
    return r


@inline
def drop_request(memory: Any, r: int) -> None:
    """Return a request to the pool; its fields stay readable until the next one is taken."""
    memory.free[memory.n_free & (POOL - 1)] = r
    memory.n_free += 1


@inline
def place_line(memory: Any, r: int, line: Any) -> None:
    """The address map: channel, slice, set, bank and row of a request's line."""
    q = memory.request[r]
    chunk = line >> memory.chunk_shift
    part = chunk // memory.n_channels
    channel = chunk - part * memory.n_channels
    low = line & ((1 << memory.chunk_shift) - 1)
    rest = part << memory.chunk_shift | low  # the address within the channel
    bit = (rest >> memory.chunk_shift) & 1
    within = rest
    index = channel
    if memory.slices_per_channel == 2:
        index = 2 * channel + bit
        within = (rest >> (memory.chunk_shift + 1)) << memory.chunk_shift | low
    q.slice = index
    c = memory.slice[0].cache
    q.set = set_of(c, within >> c.line_shift)
    q.sector = (line & (c.line_bytes - 1)) >> 5
    q.bank = ((rest >> memory.bank_shift) & memory.bank_mask) << 1 | bit
    q.row = rest >> memory.row_shift


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
    push(memory.replies, index, q.sm, r, flits_of(memory, 0 if q.kind == WRITE else q.bytes), now + 1)


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
