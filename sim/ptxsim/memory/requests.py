"""Requests between L1, L2 and DRAM: their pool, their place in the machine, and how a slice answers them or asks DRAM.

For `system.py`, the slices (`l2.py`, `sectors.py`) and `dram.py`. A request is an index into `m.request`.
Reference: timing-model sections 3.4 and 3.5.
"""

from typing import Any

import numpy as np

from ptxsim.jit import inline, njit
from ptxsim.memory.cache import set_of
from ptxsim.memory.interconnect import push
from ptxsim.memory.state import FILL, RING, WRITE


@njit
def new_request(m: Any) -> int:
    """Take a request from the pool. The caller has seen that there is one."""
    m.n_free -= 1
    r: Any = np.int64(m.free[m.n_free])
    return r


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
    q.sector = (line & (c.line_bytes - 1)) >> 5
    q.bank = ((rest >> m.bank_shift) & m.bank_mask) << 1 | bit
    q.row = rest >> m.row_shift


@njit
def port_cycles(m: Any, size: int) -> int:
    """Cycles for which `size` bytes hold a port."""
    return (size + (1 << m.port_shift) - 1) >> m.port_shift


@njit
def flits_of(m: Any, size: int) -> int:
    """Flits of a packet with `size` bytes of data."""
    flits: Any = np.int64(m.flits[size])
    return flits


@inline
def reply_flits(m: Any, r: int) -> int:
    """A store is acknowledged with the header alone."""
    q = m.request[r]
    return flits_of(m, 0 if q.kind == WRITE else q.bytes)


@njit
def answer(m: Any, index: int, r: int, now: int) -> None:
    """Queue a reply, which asks for its way through the network in the next cycle."""
    push(m.replies, index, m.request[r].sm, r, reply_flits(m, r), now + 1)


@njit
def queue_miss(s: Any, r: int) -> None:
    s.miss[(s.miss_head + s.miss_count) & (RING - 1)] = r
    s.miss_count += 1


@njit
def own_request(m: Any, r: int, kind: int, line: int, size: int) -> int:
    """A request of the slice itself to DRAM: a FILL, or the WRITEBACK of another line of the set of request `r`."""
    new = new_request(m)
    q = m.request[new]
    q.line = line
    q.kind = kind
    q.bytes = size
    q.tag = -1
    q.sm = -1
    if kind == FILL:
        of = m.request[r]
        q.slice = of.slice
        q.set = of.set
        q.bank = of.bank
        q.row = of.row
        q.sector = of.sector
    else:
        place_line(m, new, line)
    return new
