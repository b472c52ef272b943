"""The record that the workers of a run share.

A position is a cycle and an SM, `cycle << 8 | index`. A worker's `turn` is the position before which its SMs do nothing
more whose order matters; all its SMs have done the cycles before that of its turn, some may have run ahead. The memory
side, which the first worker runs, is at a cycle of its own, `memory_cycle`: all cycles before it are done.

A write to a cache line that another core has read takes as long as the cycle of an SM, or longer. So what a thread
tells the others lies in one line, where it is written together, and nothing else does.
"""

from typing import Any

import numpy as np

from ptxsim.base.atomics import add_to, exchange, load_acquire, store_release
from ptxsim.base.jit import inline, record, record_at
from ptxsim.timing.memory.memory_state import FOREVER, MAX_SMS

MAX_WORKERS = 32  # as base/options.py has it
OUTBOX = 1024  # entries on their way from a worker to the memory side
WAITING = 64  # entries of an SM that the memory side has yet to apply
INBOX = 1024  # replies on their way to an SM
MOST_SENT = 16  # requests and taken replies of an SM in a cycle, at most
SMS_DONE, LAST = 254, 255  # in a position: after the SMs of its cycle; and at CTA dispatch
_LINE = 16  # words of two cache lines

GONE, STAYS, CALLED = range(3)
"""A thread of a worker is somewhere else, waits for the next slice, or is to begin it."""

SENT = record(
    [
        ("cycle", "i8"),
        ("line", "i8"),  # of a reply that was taken: the cycle from which its room can be used
        ("tag", "i4"),
        ("words", "u4"),
        ("bytes", "i2"),
        ("flits", "u1"),
        ("kind", "u1"),
        ("sm", "u1"),
    ]
)
REPLY = record([("due", "i8"), ("request", "i8")])

TOLD = record(
    [
        ("turn", "i8"),
        ("posted", "i8"),  # entries of its outbox that the memory side may take
        ("asleep", "i8"),  # its SMs do nothing unless a reply arrives
        ("ready", "i8"),  # the cycle for whose CTA dispatch its SMs are noted
        ("left", "i8"),  # it has stopped
        ("unused", "i8", (_LINE - 5,)),
    ]
)
"""What a worker tells the others."""

OWN = record(
    [
        ("posted", "i8"),  # entries of its outbox
        ("last_step", "i8"),  # last cycle of an SM
        # what was last seen of the memory side
        ("delivered", "i8"),  # replies
        ("drained", "i8"),  # entries
        # in ticks of the processor's clock
        ("waited", "i8"),  # time
        ("waited_to", "i8"),  # when this was counted last
        ("waited_long", "i8"),  # time in waits after they were long
        ("unused", "i8", (_LINE - 7,)),
    ]
)
"""What a worker keeps for itself."""

PORT = record(
    [
        ("sent", "i8"),  # entries
        ("sent_flits", "i8"),
        ("taken", "i8"),  # replies
        ("due", "i8"),  # of the next one; FOREVER: none is known
        # what was last seen of the memory side
        ("arrived", "i8"),  # replies
        ("applied", "i8"),  # entries
        ("room_until", "i8"),  # the network has room until this number of flits was sent
        ("unused", "i8", (_LINE - 7,)),
    ]
)
"""What an SM has sent and taken."""

TEAM = record(
    [
        ("n", "i8"),  # workers
        ("n_sms", "i8"),
        ("memory", "u8"),  # address of the MEMORY record
        ("yield_cpu", "u8"),  # address of a C function; 0: none
        # in ticks of the processor's clock
        ("long_wait", "i8"),  # after which another thread may have the core
        ("patience", "i8"),  # time in longer waits of a worker after which all stop
        ("lookahead", "i8"),  # cycles from the network to an SM, at the least
        ("response_hops", "i8"),
        ("most_flits", "i8"),  # that an SM may send in a cycle
        ("reserve", "i8"),  # free requests below which the workers stop
        ("ahead", "i8"),  # as RUN.ahead
        ("first_sm", "i8", (MAX_WORKERS,)),  # a worker's SMs are side by side
        ("end_sm", "i8", (MAX_WORKERS,)),
        ("worker_of", "u1", (MAX_SMS,)),
        ("unused", "i8", (_LINE + 1,)),  # all that follows begins with a line
        # words that all read
        ("memory_cycle", "i8"),
        ("delivered", "i8", (MAX_WORKERS,)),  # replies to a worker's SMs
        ("unused_too", "i8", (2 * _LINE - 1,)),
        ("stop", "i8", (_LINE,)),  # the cycle at which the workers stop
        ("stops_soon", "i8", (_LINE,)),  # as soon as all can
        ("fault_at", "i8", (_LINE,)),  # position of the first fault; FOREVER: none
        ("end_at", "i8", (_LINE,)),  # position after the cycle in which the last CTA ended
        ("ctas_done", "i8", (_LINE,)),
        ("idle", "i8", (_LINE,)),  # nothing will happen any more
        ("thread", "i8", (MAX_WORKERS, _LINE)),  # of a worker: GONE, STAYS or CALLED
        # by worker, what it writes
        ("told", TOLD, (MAX_WORKERS,)),
        ("own", OWN, (MAX_WORKERS,)),
        ("ordered", "u1", (MAX_WORKERS, MAX_SMS)),  # SMs of a worker whose order matters in a cycle
        ("others", "u1", (MAX_WORKERS, MAX_SMS)),  # the others that are due
        ("late", "u1", (MAX_WORKERS, MAX_SMS)),  # and those that others were waiting for
        ("port", PORT, (MAX_SMS,)),
        ("outbox", SENT, (MAX_WORKERS, OUTBOX)),
        # what the memory side writes
        ("drained", "i8", (MAX_WORKERS, _LINE)),  # entries of a worker's outbox
        ("arrived", "i8", (MAX_SMS,)),  # replies in the inbox
        ("applied", "i8", (MAX_SMS,)),  # entries that the network has
        ("left_flits", "i8", (MAX_SMS,)),  # that have left an input, less those in it at first
        ("full_until", "i8", (MAX_SMS,)),  # cycle before which no packet leaves an input
        ("inbox", REPLY, (MAX_SMS, INBOX)),
        # what it alone reads and writes
        ("entered", "i8", (MAX_SMS,)),  # entries
        ("first_cycle", "i8", (MAX_SMS,)),  # of the first that is not applied; FOREVER: none
        ("last_memory", "i8"),  # the last cycle in which the memory side did something
        ("waiting", SENT, (MAX_SMS, WAITING)),
    ]
)
team_at = record_at(TEAM)
"""`team_at(address, 0)`"""


def offset(name: str) -> int:
    assert TEAM.fields is not None
    return int(TEAM.fields[name][1])


def _offset_told(name: str) -> int:
    assert TOLD.fields is not None
    return offset("told") + int(TOLD.fields[name][1])


_MEMORY_CYCLE, _STOP, _FAULT_AT, _END_AT = map(offset, ("memory_cycle", "stop", "fault_at", "end_at"))
_TURN, _POSTED, _ASLEEP, _READY, _LEFT = map(_offset_told, ("turn", "posted", "asleep", "ready", "left"))
_IDLE, _CTAS_DONE, _STOPS_SOON = map(offset, ("idle", "ctas_done", "stops_soon"))
_THREAD = offset("thread")


@inline
def word(team: Any, offset: int, k: int) -> Any:
    """The address of word k of a field."""
    return np.uint64(team) + np.uint64(offset) + np.uint64(8 * k)


@inline
def word_of(team: Any, offset: int, worker: int) -> Any:
    """The address of a worker's word."""
    return word(team, offset, _LINE * worker)


@inline
def memory_cycle_of(team: Any) -> int:
    value: int = load_acquire(word(team, _MEMORY_CYCLE, 0))
    return value


@inline
def set_memory_cycle(team: Any, cycle: int) -> None:
    store_release(word(team, _MEMORY_CYCLE, 0), cycle)


@inline
def stop_of(team: Any) -> int:
    value: int = load_acquire(word(team, _STOP, 0))
    return value


@inline
def set_stop(team: Any, cycle: int) -> None:
    store_release(word(team, _STOP, 0), cycle)


@inline
def stops_soon(team: Any) -> int:
    value: int = load_acquire(word(team, _STOPS_SOON, 0))
    return value


@inline
def stop_soon(team: Any) -> None:
    store_release(word(team, _STOPS_SOON, 0), np.int64(1))


@inline
def limit_of(team: Any) -> int:
    """The position from which on nothing happens: after a fault, or after the end of the last CTA."""
    value: int = min(load_acquire(word(team, _FAULT_AT, 0)), load_acquire(word(team, _END_AT, 0)))
    return value


@inline
def set_end(team: Any, position: int) -> None:
    store_release(word(team, _END_AT, 0), position)


@inline
def note_fault(team: Any, position: int) -> None:
    """A worker has met a fault; each notes its first."""
    while True:
        first = exchange(word(team, _FAULT_AT, 0), position)
        if first >= position:
            return
        position = first  # an earlier one: put it back


@inline
def add_done(team: Any, ctas: int) -> int:
    """Count CTAs that have ended; returns how many have in all."""
    before: int = add_to(word(team, _CTAS_DONE, 0), ctas)
    return before + ctas


@inline
def turn_of(team: Any, worker: int) -> int:
    value: int = load_acquire(word_of(team, _TURN, worker))
    return value


@inline
def set_turn(team: Any, worker: int, position: int) -> None:
    """Tell the others of a worker's turn, after what it has posted."""
    tell_posted(team, worker)
    if team_at(team, 0).told[worker].turn != position:
        store_release(word_of(team, _TURN, worker), position)


@inline
def tell_posted(team: Any, worker: int) -> None:
    """Let the memory side take what a worker has posted."""
    t = team_at(team, 0)
    if t.told[worker].posted != t.own[worker].posted:
        store_release(word_of(team, _POSTED, worker), t.own[worker].posted)


@inline
def posted_of(team: Any, worker: int) -> int:
    value: int = load_acquire(word_of(team, _POSTED, worker))
    return value


@inline
def ready_of(team: Any, worker: int) -> int:
    value: int = load_acquire(word_of(team, _READY, worker))
    return value


@inline
def set_ready(team: Any, worker: int, cycle: int) -> None:
    store_release(word_of(team, _READY, worker), cycle)


@inline
def is_asleep(team: Any, worker: int) -> int:
    value: int = load_acquire(word_of(team, _ASLEEP, worker))
    return value


@inline
def set_asleep(team: Any, worker: int, asleep: int) -> None:
    tell_posted(team, worker)
    if team_at(team, 0).told[worker].asleep != asleep:
        store_release(word_of(team, _ASLEEP, worker), asleep)


@inline
def set_left(team: Any, worker: int) -> None:
    tell_posted(team, worker)
    store_release(word_of(team, _LEFT, worker), np.int64(1))


@inline
def set_thread(team: Any, worker: int, state: int) -> None:
    store_release(word_of(team, _THREAD, worker), np.int64(state))


@inline
def thread_of(team: Any, worker: int) -> int:
    state: int = load_acquire(word_of(team, _THREAD, worker))
    return state


@inline
def all_left(team: Any) -> bool:
    """Whether all workers but the first have stopped."""
    for worker in range(1, team_at(team, 0).n):
        if not load_acquire(word_of(team, _LEFT, worker)):
            return False
    return True


@inline
def first_cycle(team: Any) -> int:
    """The first cycle that is not done by all SMs."""
    first: int = FOREVER
    for worker in range(team_at(team, 0).n):
        first = min(first, turn_of(team, worker))
    return first >> 8


@inline
def set_idle(team: Any) -> None:
    store_release(word(team, _IDLE, 0), np.int64(1))
