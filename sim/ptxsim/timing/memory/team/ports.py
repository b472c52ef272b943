"""Between the SMs of the workers and the memory side, which are at cycles of their own.

An SM leaves its requests, and the replies that it takes, with their cycles in its worker's outbox; the memory side
drains it, and applies each entry when it has come so far. A reply that has passed the network lies in the inbox of its
SM, with the cycle of its arrival. An SM keeps what it has last seen of the memory side, and looks again only where that
is not enough.
"""

from typing import Any

import numpy as np

from ptxsim.base.atomics import load_acquire, store_release
from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.memory_state import FIFO, FOREVER
from ptxsim.timing.memory.team.team import (
    INBOX,
    MOST_SENT,
    OUTBOX,
    WAITING,
    offset,
    posted_of,
    team_at,
    word,
    word_of,
)

POP = 255  # kind of an entry: a reply was taken

_DELIVERED, _DRAINED = map(offset, ("delivered", "drained"))
_ARRIVED, _APPLIED, _LEFT_FLITS = map(offset, ("arrived", "applied", "left_flits"))
_FULL_UNTIL = offset("full_until")


# ---- the SM's side


@inline
def post(
    team: Any, sm: int, cycle: int, line: int, size: int, kind: int, tag: int, words: int, flits: int
) -> None:
    """Put an entry into the outbox; the caller has checked that there is room."""
    t = team_at(team, 0)
    worker = np.int64(t.worker_of[sm])
    at = t.own[worker].posted
    entry = t.outbox[worker, at & (OUTBOX - 1)]
    entry.cycle = cycle
    entry.line = line
    entry.bytes = size
    entry.kind = kind
    entry.tag = tag
    entry.words = words
    entry.flits = flits
    entry.sm = sm
    t.port[sm].sent += 1
    t.port[sm].sent_flits += flits
    t.own[worker].posted = at + 1


@inline
def outbox_has_room(team: Any, sm: int) -> bool:
    """Whether an SM can post all of a cycle."""
    t = team_at(team, 0)
    port = t.port[sm]
    if port.sent - port.applied > WAITING - MOST_SENT:
        port.applied = load_acquire(word(team, _APPLIED, sm))
        if port.sent - port.applied > WAITING - MOST_SENT:
            return False
    worker = np.int64(t.worker_of[sm])
    own = t.own[worker]
    if own.posted - own.drained > OUTBOX - MOST_SENT:
        own.drained = load_acquire(word_of(team, _DRAINED, worker))
        if own.posted - own.drained > OUTBOX - MOST_SENT:
            return False
    return True


@inline
def room_for(team: Any, network: Any, sm: int, flits: int) -> bool:
    """Whether the network is known to have room for what an SM sends: it has at least as much later."""
    port = team_at(team, 0).port[sm]
    if port.sent_flits + flits > port.room_until:
        port.room_until = network.input_flits + load_acquire(word(team, _LEFT_FLITS, sm))
    known: bool = port.sent_flits + flits <= port.room_until
    return known


@inline
def full_until(team: Any, sm: int) -> int:
    """The cycle before which an SM's input of the network gets no more room; read before `room_for`."""
    cycle: int = load_acquire(word(team, _FULL_UNTIL, sm))
    return cycle


@inline
def most_flits(team: Any) -> int:
    """The flits that an SM may send in a cycle."""
    flits: int = team_at(team, 0).most_flits
    return flits


@inline
def look_for_replies(team: Any, worker: int) -> None:
    """See which replies have passed the network, for the SMs of a worker."""
    t = team_at(team, 0)
    delivered = load_acquire(word(team, _DELIVERED, worker))
    if delivered == t.own[worker].delivered:
        return
    t.own[worker].delivered = delivered
    for sm in range(t.first_sm[worker], t.end_sm[worker]):
        port = t.port[sm]
        port.arrived = load_acquire(word(team, _ARRIVED, sm))
        if port.due == FOREVER and port.arrived != port.taken:
            port.due = t.inbox[sm, port.taken & (INBOX - 1)].due


@inline
def first_due(team: Any, sm: int) -> int:
    """The cycle of the first reply in an SM's inbox; FOREVER if none is known."""
    due: int = team_at(team, 0).port[sm].due
    return due


@inline
def first_request(team: Any, sm: int) -> int:
    """The request of that reply; there is one."""
    t = team_at(team, 0)
    request: int = t.inbox[sm, t.port[sm].taken & (INBOX - 1)].request
    return request


@inline
def take_first(team: Any, sm: int, now: int) -> int:
    """Take the first reply in an SM's inbox, in cycle `now` of the network."""
    t = team_at(team, 0)
    port = t.port[sm]
    request: int = first_request(team, sm)
    port.taken += 1
    port.due = t.inbox[sm, port.taken & (INBOX - 1)].due if port.taken != port.arrived else FOREVER
    post(team, sm, now + t.response_hops, now + 1, 0, POP, 0, 0, 0)
    return request


@njit
def set_up(memory: Any, team: Any) -> None:
    """The ports before workers start: the replies that wait in the network's outputs have arrived."""
    t = team_at(team, 0)
    replies = memory.replies
    for worker in range(t.n):
        own = t.own[worker]
        own.posted = own.drained = own.delivered = 0
        t.told[worker].posted = t.drained[worker, 0] = t.delivered[worker] = 0
    for sm in range(t.n_sms):
        port = t.port[sm]
        port.sent = port.sent_flits = port.taken = port.arrived = port.applied = port.room_until = 0
        port.due = FOREVER
        t.applied[sm] = t.entered[sm] = t.full_until[sm] = 0
        t.first_cycle[sm] = FOREVER
        t.left_flits[sm] = -np.int64(memory.requests.input[sm].flits)
        output = replies.output[sm]
        r = np.int64(output.first)
        for k in range(output.count):
            if not replies.of_packets:
                r = np.int64(replies.queue[sm, (output.head + k) & (FIFO - 1)])
            t.inbox[sm, k].request = r
            t.inbox[sm, k].due = memory.request[r].due
            r = np.int64(memory.request[r].following)
        t.arrived[sm] = output.count
        t.delivered[t.worker_of[sm]] += output.count


# ---- the memory side


@inline
def drain(team: Any) -> None:
    """Take all entries out of the outboxes."""
    t = team_at(team, 0)
    for worker in range(t.n):
        posted = posted_of(team, worker)
        at = t.drained[worker, 0]
        if at == posted:
            continue
        while at < posted:
            entry = t.outbox[worker, at & (OUTBOX - 1)]
            sm = np.int64(entry.sm)
            mine = t.waiting[sm, t.entered[sm] & (WAITING - 1)]
            mine.cycle = entry.cycle
            mine.line = entry.line
            mine.bytes = entry.bytes
            mine.kind = entry.kind
            mine.tag = entry.tag
            mine.words = entry.words
            mine.flits = entry.flits
            t.entered[sm] += 1
            if t.first_cycle[sm] == FOREVER:
                t.first_cycle[sm] = entry.cycle
            at += 1
        store_release(word_of(team, _DRAINED, worker), at)


@inline
def set_applied(team: Any, sm: int, entries: int) -> None:
    store_release(word(team, _APPLIED, sm), entries)


@inline
def note_passed(
    memory: Any, is_reply: Any, source: int, target: int, packet: int, flits: int, due: int
) -> None:
    """A packet has passed a network: a reply arrives at an SM, or the input of one gets room."""
    if memory.has_team:
        if is_reply:
            deliver(memory.team, target, packet, due)
        else:
            leave_input(memory.team, source, flits)


@inline
def leave_input(team: Any, sm: int, flits: int) -> None:
    """A request of an SM has left its input of the network."""
    store_release(word(team, _LEFT_FLITS, sm), team_at(team, 0).left_flits[sm] + flits)


@inline
def set_full(team: Any, sm: int, cycle: int) -> None:
    """An SM's input gets no more room before this cycle."""
    if cycle > team_at(team, 0).full_until[sm]:
        store_release(word(team, _FULL_UNTIL, sm), cycle)


@inline
def deliver(team: Any, sm: int, request: int, due: int) -> None:
    """A reply has left the network: it arrives at the SM in cycle `due`."""
    t = team_at(team, 0)
    at = t.arrived[sm]
    reply = t.inbox[sm, at & (INBOX - 1)]
    reply.request = request
    reply.due = due
    store_release(word(team, _ARRIVED, sm), at + 1)
    worker = np.int64(t.worker_of[sm])
    store_release(word(team, _DELIVERED, worker), t.delivered[worker] + 1)
