"""The texture cache of one SM: a queue of accesses in order, which hides the latency of those that miss.

An access looks up the tags once, when it enters the queue (the fragment FIFO). A miss replaces the least recently used
line at once and puts a request into a short FIFO; later accesses then hit the line although its data are still to
arrive. The head of the queue moves to the results when its data have arrived (a hit: at once), one per cycle; results
go to the LDST unit's writeback. Misses are neither merged nor retried: an access is refused only where the queue, the
request FIFO or the reorder buffer, in which each miss of the queue has a place, is full.

A reply carries its access's place in the queue, so replacing a line whose data are on their way is harmless.
For `timing/core/ldst.py`, which sends the requests, one per cycle, and numbers the waiters (>= 0).
Reference: timing-model sections 0 and 3.2; H. Igehy, M. Eldridge and K. Proudfoot, "Prefetching in a Texture Cache
Architecture" (1998).
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import njit, record
from ptxsim.timing.memory.readonly import LINES, SIZES

QUEUE = 512  # most accesses in the queue; a power of two
RESULTS = 16

TEXTURES = record(
    [
        *SIZES,
        ("queue_capacity", "i8"),
        ("request_capacity", "i8"),
        ("reorder_capacity", "i8"),
        ("result_capacity", "i8"),
        *LINES,
        ("head", "i8"),  # of the queue
        ("count", "i8"),
        ("missing", "i8"),  # of its accesses
        ("waiter", "i4", (QUEUE,)),
        ("missed", "u1", (QUEUE,)),
        ("left", "i4", (QUEUE,)),  # bytes still to arrive
        ("request_head", "i8"),
        ("request_count", "i8"),
        ("request", "i4", (QUEUE,)),  # places in the queue
        ("line", "i8", (QUEUE,)),  # and the lines to read
        ("result_head", "i8"),
        ("result_count", "i8"),
        ("result", "i4", (RESULTS,)),
    ]
)


@njit
def read(c: Any, address: int, waiter: int, now: int) -> bool:
    """Put an access to the line of `address` into the queue; False if it must be tried again."""
    full = c.count >= c.queue_capacity or c.request_count >= c.request_capacity
    if full or c.missing >= c.reorder_capacity:
        c.reservation_fails += 1
        return False
    line = np.int64(address) // c.line_bytes
    tag = line * c.line_bytes + 1
    first = line % c.sets * c.ways
    tail = (c.head + c.count) & (QUEUE - 1)
    c.count += 1
    c.waiter[tail] = waiter
    c.left[tail] = c.missed[tail] = 0
    c.accesses += 1
    place = first
    for way in range(first, first + c.ways):
        if c.tag[way] == tag:
            c.used[way] = now
            return True
        if c.used[way] < c.used[place]:
            place = way
    c.tag[place] = tag
    c.used[place] = now
    c.misses += 1
    c.missing += 1
    c.missed[tail] = 1
    c.left[tail] = c.line_bytes
    request = (c.request_head + c.request_count) & (QUEUE - 1)
    c.request[request] = tail
    c.line[request] = tag - 1
    c.request_count += 1
    return True


@njit
def sent(c: Any) -> None:
    """The first request has been sent."""
    c.request_head = (c.request_head + 1) & (QUEUE - 1)
    c.request_count -= 1


@njit
def fill(c: Any, place: int, size: int) -> None:
    """`size` bytes have arrived for the access at a place of the queue."""
    c.left[place] -= size


@njit
def is_ready(c: Any) -> bool:
    """Whether the head of the queue can move to the results."""
    return c.count > 0 and c.left[c.head] <= 0 and c.result_count < c.result_capacity


@njit
def step(c: Any) -> bool:
    """Move the head of the queue to the results, if it can: call it once per cycle."""
    if not is_ready(c):
        return False
    c.result[(c.result_head + c.result_count) & (RESULTS - 1)] = c.waiter[c.head]
    c.result_count += 1
    c.missing -= c.missed[c.head]
    c.head = (c.head + 1) & (QUEUE - 1)
    c.count -= 1
    return True


@njit
def result(c: Any) -> int:
    """Take the waiter of the first result, or -1."""
    if c.result_count == 0:
        return -1
    waiter = c.result[c.result_head]
    c.result_head = (c.result_head + 1) & (RESULTS - 1)
    c.result_count -= 1
    return waiter
