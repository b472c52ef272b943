"""The scheduler queues of a DRAM channel, and which request leaves them next (FR-FCFS). For `dram.py`.

Requests wait in the order of arrival, those of a bank in a list. An idle bank takes the oldest request to its open row,
else its oldest, of the `window` oldest of the queue. Of several idle banks the one with the oldest request is first or,
with `dram.bank_choice = "in-turn"`, the first from the bank on that commands are given to first, which then moves on by
one bank.

With `dram.write_queue` writes wait in a queue of their own, and one queue is served at a time, so that the data bus
seldom turns round: reads, until `write_high` writes wait; then writes, until fewer than `write_low` do. While no read
waits, writes are served (choice: GPGPU-Sim leaves them until there are more, but its stores are acknowledged earlier).

Reference: timing-model section 3.5; GPGPU-Sim 4.2, `dram_sched.cc`.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import bit, ctz, inline, njit
from ptxsim.timing.memory.memory_state import PLACE_WORDS, RESTORE, WINDOW

READS, WRITES = 0, 1
"""The queues of a channel. Without a write queue all requests wait in READS."""


@inline
def has_room(memory: Any, ch: Any, r: int) -> bool:
    """Whether a request can enter its queue."""
    which = _queue_of(memory, r)
    return ch.queue[which].count < memory.queue_capacity[which]


@inline
def _queue_of(memory: Any, r: int) -> int:
    return WRITES if memory.queue_capacity[WRITES] and memory.request[r].kind < RESTORE else READS


@inline
def enter(memory: Any, ch: Any, r: int) -> None:
    """Put a request into its queue, after those of its bank. There is room."""
    q = memory.request[r]
    queue = ch.queue[_queue_of(memory, r)]
    number = np.int64(q.bank) & 31
    word = 0
    while queue.used[word] == -1:
        word += 1
    at = (64 * word + ctz(~queue.used[word])) & (WINDOW - 1)
    queue.used[word] |= bit(at & 63)
    place = queue.place[at]
    place.request = r
    place.age = ch.requests
    place.row = q.row
    place.following = 0
    if queue.first[number] == 0:
        queue.first[number] = at + 1
    else:
        queue.place[queue.last[number] - 1].following = at + 1
    queue.last[number] = at + 1
    queue.queued |= bit(number)
    queue.count += 1
    ch.requests += 1
    _turn(memory, ch)


@inline
def _turn(memory: Any, ch: Any) -> None:
    """Serve the other queue, if it is time. A number of waiting requests has changed."""
    if memory.queue_capacity[WRITES] == 0:
        return
    reads, writes = ch.queue[READS].count, ch.queue[WRITES].count
    if ch.served == READS:
        if writes >= memory.write_high or (reads == 0 and writes > 0):
            ch.served = WRITES
    elif writes == 0 or (reads > 0 and writes < memory.write_low):
        ch.served = READS


@njit
def _is_recent(memory: Any, queue: Any, place: int) -> bool:
    """Whether at least `window` requests are older than the one at a place."""
    older = 0
    for word in range(PLACE_WORDS):
        left = queue.used[word]
        while left:
            if queue.place[64 * word + ctz(left)].age < queue.place[place].age:
                older += 1
            left &= left - 1
    return older >= memory.window


@inline
def _in_window(memory: Any, queue: Any, place: int) -> bool:
    """Whether a request is one of the `window` oldest, which the scheduler considers."""
    return queue.count <= memory.window or not _is_recent(memory, queue, place)


@inline
def idle_banks(ch: Any) -> int:
    """The banks without a request that the served queue has requests for, one bit each."""
    return ch.queue[ch.served].queued & ~ch.busy


@inline
def _in_turn(ch: Any, left: Any) -> int:
    """The first of these banks from the one on that commands are given to first."""
    later = left & -bit(ch.bank_turn)
    return ctz(later) if later else ctz(left)


@inline
def take_request(memory: Any, ch: Any) -> int:
    """Take the next request for one of the idle banks, of which there is one; -1 if it is outside the window."""
    queue = ch.queue[ch.served]
    left = queue.queued & ~ch.busy
    number = _in_turn(ch, left) if memory.choice_in_turn else ctz(left)
    if not memory.choice_in_turn or not _in_window(memory, queue, np.int64(queue.first[number]) - 1):
        left &= ~bit(number)
        while left:
            other = ctz(left)
            left &= left - 1
            if queue.place[queue.first[other] - 1].age < queue.place[queue.first[number] - 1].age:
                number = other
    row = ch.bank[number].row
    chosen = np.int64(queue.first[number]) - 1
    if not _in_window(memory, queue, chosen):
        return -1
    before = np.int64(-1)
    if row >= 0:
        previous = np.int64(-1)
        place = chosen
        while place >= 0 and _in_window(memory, queue, place):
            if queue.place[place].row == row:
                chosen = place
                before = previous
                break
            previous = place
            place = np.int64(queue.place[place].following) - 1
    if memory.choice_in_turn:
        ch.bank_turn = (ch.bank_turn + 1) & (memory.banks - 1)
    _leave(queue, number, chosen, before)
    _turn(memory, ch)
    r: Any = np.int64(queue.place[chosen].request)
    return r


@inline
def _leave(queue: Any, number: int, place: int, before: int) -> None:
    """Take a request out; `before` is the place of the bank's request before it, -1 if there is none."""
    following = queue.place[place].following
    if before >= 0:
        queue.place[before].following = following
    else:
        queue.first[number] = following
        if following == 0:
            queue.queued &= ~bit(number)
    if following == 0:
        queue.last[number] = before + 1
    queue.used[place >> 6] &= ~bit(place & 63)
    queue.count -= 1
