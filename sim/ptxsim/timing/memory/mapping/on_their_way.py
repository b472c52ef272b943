"""The sectors on their way to an L1 that allocates on a fill: found by their address, since none has a line yet.

A hash table of miss entries: each is in the chain of its sector's bucket from the miss until the sector arrives.
For `l1_sectors.py`.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.memory_state import MAX_ENTRIES


@inline
def _bucket(sector: Any) -> int:
    number: Any = sector >> 5
    return (number ^ number >> 9) & (MAX_ENTRIES - 1)


@njit
def entry_of(waits: Any, sector: int) -> int:
    """The miss entry of a sector on its way, or -1."""
    entry: Any = np.int64(waits.bucket[_bucket(sector)]) - 1
    while entry >= 0 and waits.sector[entry] != sector:
        entry = np.int64(waits.chain[entry]) - 1
    return entry


@njit
def begin(waits: Any, entry: int, sector: int) -> None:
    """A sector has been requested with a miss entry."""
    bucket = _bucket(sector)
    waits.sector[entry] = sector
    waits.chain[entry] = waits.bucket[bucket]
    waits.bucket[bucket] = entry + 1


@njit
def end(waits: Any, entry: int) -> int:
    """The sector of a miss entry has arrived; returns its address."""
    sector: Any = np.int64(waits.sector[entry])
    bucket = _bucket(sector)
    if waits.bucket[bucket] == entry + 1:
        waits.bucket[bucket] = waits.chain[entry]
        return sector
    before = np.int64(waits.bucket[bucket]) - 1
    while waits.chain[before] != entry + 1:
        before = np.int64(waits.chain[before]) - 1
    waits.chain[before] = waits.chain[entry]
    return sector
