"""The pipes between the LDST unit and the tags of its L1: one for each bank, and the look-up at their end.

An access enters the pipe of its bank and is looked up `pipe_cycles` later. An access that the tags refuse stays at the
end and later ones close up, so the LDST unit is stopped when the pipe is full. In a cycle each bank takes one access
from the unit's instruction and looks one up: an instruction whose accesses lie in one bank needs a cycle for each.
Reference: timing-model-42 section 3.2; GPGPU-Sim 4.2, `L1_latency_queue_cycle`.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit
from ptxsim.timing.memory.l1 import l1_load, l1_store
from ptxsim.timing.memory.l1_sectors import sector_load, sector_store
from ptxsim.timing.memory.memory_state import BANKS, FOREVER, PIPE

# what an access in a pipe is
PIPE_LOAD, PIPE_GLOBAL_STORE, PIPE_LOCAL_STORE = range(3)


@inline
def bank_of(l1: Any, address: Any) -> int:
    """The bank of an address."""
    number: Any = np.int64(address) >> l1.bank_shift
    if l1.bank_hashed:
        number ^= number // l1.n_banks
    return number & (l1.n_banks - 1)


@inline
def pipe_enter(l1: Any, address: int, size: int, kind: int, tag: int, words: int, now: int) -> bool:
    """Put an access into its bank's pipe; False if every place is taken, or an access has entered in this cycle."""
    pipe = l1.pipe[bank_of(l1, address) & (BANKS - 1)]
    if pipe.count >= l1.pipe_cycles or pipe.entered > now:
        return False
    tail = (pipe.head + pipe.count) & (PIPE - 1)
    pipe.address[tail] = address
    pipe.bytes[tail] = size
    pipe.words[tail] = words
    pipe.kind[tail] = kind
    pipe.tag[tail] = tag
    pipe.due[tail] = now + l1.pipe_cycles
    pipe.entered = now + 1
    pipe.count += 1
    l1.pipe_count += 1
    return True


@inline
def is_full(l1: Any, address: int) -> bool:
    """Whether the pipe of an address stays closed until it has looked up an access."""
    return l1.pipe[bank_of(l1, address) & (BANKS - 1)].count >= l1.pipe_cycles


@inline
def pipe_look_up(l1: Any, bank: int, now: int) -> int:
    """Look up the first access of a bank's pipe, which is due: HIT, MISS, PENDING or FAIL. Leaves it where it is."""
    pipe = l1.pipe[bank]
    head = pipe.head
    address = pipe.address[head]
    tag = np.int64(pipe.tag[head])
    kind = pipe.kind[head]
    if kind == PIPE_LOAD:
        return sector_load(l1, address, tag) if l1.sectored else l1_load(l1, address, tag, now)
    local = 1 if kind == PIPE_LOCAL_STORE else 0
    size, words = np.int64(pipe.bytes[head]), np.int64(pipe.words[head])
    if l1.sectored:
        return sector_store(l1, address, local, tag, words)
    return l1_store(l1, address, size, local, tag, now, words)


@inline
def pipe_leave(l1: Any, bank: int) -> None:
    """The first access of a bank's pipe is served."""
    pipe = l1.pipe[bank]
    pipe.head = (pipe.head + 1) & (PIPE - 1)
    pipe.count -= 1
    l1.pipe_count -= 1


@inline
def next_look_up(l1: Any) -> int:
    """The cycle in which an access reaches the end of a pipe; FOREVER if none does or the tags refuse it."""
    return _first_due(l1) if l1.pipe_count else FOREVER


@njit
def _first_due(l1: Any) -> int:
    following = FOREVER
    for bank in range(l1.n_banks):
        pipe = l1.pipe[bank]
        if pipe.count and not pipe.stuck:
            following = min(following, pipe.due[pipe.head])
    return following


@njit
def stuck_banks(l1: Any) -> int:
    """How many banks' first accesses the tags refuse."""
    stuck: Any = np.int64(0)
    for bank in range(l1.n_banks):
        stuck += l1.pipe[bank].stuck
    return stuck


@njit
def try_again(l1: Any) -> None:
    """What the tags have refused may be looked up again."""
    for bank in range(l1.n_banks):
        l1.pipe[bank].stuck = 0
