"""Requests between L1, L2 and DRAM: their pool, their place in the machine, and how a slice answers them or asks DRAM.

For `system.py`, the slices (`l2.py`, `sectors.py`) and `dram.py`. A request is an index into `m.request`.
Reference: timing-model sections 3.4 and 3.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.cache import set_of
from ptxsim.timing.memory.interconnect import push
from ptxsim.timing.memory.memory_state import FILL, POOL, RING, WRITE, WRITEBACK


@inline
def new_request(m: Any) -> int:
    """Take a request from the pool. The caller has checked that there is one."""
    m.n_free -= 1
    r: Any = np.int64(m.free[m.n_free & (POOL - 1)])
    return r


@inline
def drop_request(m: Any, r: int) -> None:
    """Return a request to the pool; its fields stay readable until the next one is taken."""
    m.free[m.n_free & (POOL - 1)] = r
    m.n_free += 1


@inline
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
    index = channel
    if m.slices_per_channel == 2:
        index = 2 * channel + bit
        within = (rest >> (m.chunk_shift + 1)) << m.chunk_shift | low
    q.slice = index
    c = m.slice[0].cache
    q.set = set_of(c, within >> c.line_shift)
    q.sector = (line & (c.line_bytes - 1)) >> 5
    q.bank = ((rest >> m.bank_shift) & m.bank_mask) << 1 | bit
    q.row = rest >> m.row_shift


@inline
def port_cycles(m: Any, size: int) -> int:
    """Cycles for which `size` bytes hold a port."""
    return (size + (1 << m.port_shift) - 1) >> m.port_shift


@inline
def flits_of(m: Any, size: int) -> int:
    """Flits of a packet with `size` bytes of data."""
    flits: Any = np.int64(m.flits[size])
    return flits


@njit
def answer(m: Any, index: int, r: int, now: int) -> None:
    """Queue a reply, which asks the network for its output in the next cycle; a store's is the header alone."""
    q = m.request[r]
    push(m.replies, index, q.sm, r, flits_of(m, 0 if q.kind == WRITE else q.bytes), now + 1)


@inline
def queue_miss(s: Any, r: int) -> None:
    """Put a request into the miss queue of a slice."""
    s.miss[(s.miss_head + s.miss_count) & (RING - 1)] = r
    s.miss_count += 1


@inline
def fill_request(m: Any, r: int, at: int, entry: int, size: int) -> int:
    """The request of a slice to DRAM for the line or sector of request `r`, which will be entered at place `at`."""
    new = new_request(m)
    q = m.request[new]
    of = m.request[r]
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
def write_back(m: Any, line: int, size: int) -> int:
    """The request of a slice to DRAM that writes back `size` bytes of a line."""
    new = new_request(m)
    q = m.request[new]
    q.line = line
    q.kind = WRITEBACK
    q.bytes = size
    place_line(m, new, line)
    return new
