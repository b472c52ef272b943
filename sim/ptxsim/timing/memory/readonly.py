"""The read-only L1 caches of instructions and of constants: a line is entered when it arrives.

A miss takes one of a few entries (MSHRs) and puts a request for its line into the miss queue; later accesses to the
line wait in the same entry until it arrives, and count as misses too. A line that arrives replaces the least recently
used one of its set and wakes its waiters one at a time; then the entry is free.

The owner of the cache sends the miss queue's requests, one per cycle (`timing/core/fetch.py`, `timing/core/ldst.py`),
and numbers the waiters (>= 0). Reference: timing-model section 1.2; timing-model-42 sections 1.2 and 1.10.
"""

from typing import Any

from ptxsim.base.jit import inline, njit, record

MAX_LINES = 1024
MAX_ENTRIES = 8  # a power of two, as the miss queue's size
MAX_WAITERS = 64

HIT, MISS, FAIL = range(3)

SIZES = [("sets", "i8"), ("ways", "i8"), ("line_bytes", "i8")]
LINES = [
    # counters: a refused access counts only as a reservation fail, once per try
    ("accesses", "i8"),
    ("misses", "i8"),
    ("reservation_fails", "i8"),
    ("tag", "i8", (MAX_LINES,)),  # set * ways + way: 1 + the address of its line, 0 none
    ("used", "i8", (MAX_LINES,)),  # cycle of the last access
]
"""Fields of all read-only caches: those of instructions, of constants, and of textures (`texture_cache.py`)."""

READONLY = record(
    [
        *SIZES,
        ("line_shift", "i8"),
        ("set_mask", "i8"),  # sets - 1; -1 when the number of sets is no power of two
        ("n_entries", "i8"),
        ("max_waiters", "i8"),
        ("miss_capacity", "i8"),
        *LINES,
        ("entry_tag", "i8", (MAX_ENTRIES,)),  # 1 + the address of the line; 0: the entry is free
        ("entry_left", "i8", (MAX_ENTRIES,)),  # bytes still to arrive
        ("n_waiters", "i8", (MAX_ENTRIES,)),
        ("n_woken", "i8", (MAX_ENTRIES,)),
        ("waiter", "i4", (MAX_ENTRIES, MAX_WAITERS)),
        ("ready_head", "i8"),  # ring of entries whose line has arrived
        ("n_ready", "i8"),
        ("ready", "i8", (MAX_ENTRIES,)),
        ("miss_head", "i8"),
        ("miss_count", "i8"),
        ("miss", "i8", (MAX_ENTRIES,)),  # addresses of lines
    ]
)


@inline
def _set_of(c: Any, line: int) -> int:
    return line % c.sets if c.set_mask < 0 else line & c.set_mask


@inline
def read(c: Any, address: int, waiter: int, now: int) -> int:
    """Read the line of `address`: HIT, MISS (the waiter will be woken) or FAIL (to be tried again)."""
    line = address >> c.line_shift
    tag = (line << c.line_shift) + 1
    first = _set_of(c, line) * c.ways
    for place in range(first, first + c.ways):
        if c.tag[place] == tag:
            c.used[place] = now
            c.accesses += 1
            return HIT
    entry = -1
    for k in range(c.n_entries):
        if c.entry_tag[k] == tag:
            entry = k
            break
        if c.entry_tag[k] == 0 and entry < 0:
            entry = k
    full = entry < 0 or (c.entry_tag[entry] and c.n_waiters[entry] >= c.max_waiters)
    if full or c.miss_count >= c.miss_capacity:
        c.reservation_fails += 1
        return FAIL
    if c.entry_tag[entry] == 0:
        c.entry_tag[entry] = tag
        c.entry_left[entry] = c.line_bytes
        c.n_waiters[entry] = c.n_woken[entry] = 0
        c.miss[(c.miss_head + c.miss_count) & (MAX_ENTRIES - 1)] = tag - 1
        c.miss_count += 1
    c.waiter[entry, c.n_waiters[entry]] = waiter
    c.n_waiters[entry] += 1
    c.accesses += 1
    c.misses += 1
    return MISS


@njit
def sent(c: Any) -> None:
    """The head of the miss queue has been sent."""
    c.miss_head = (c.miss_head + 1) & (MAX_ENTRIES - 1)
    c.miss_count -= 1


@njit
def fill(c: Any, address: int, size: int, now: int) -> None:
    """`size` bytes of the line of `address` have arrived; with the last ones the line is complete."""
    line = address >> c.line_shift
    tag = (line << c.line_shift) + 1
    for entry in range(c.n_entries):
        if c.entry_tag[entry] == tag and c.entry_left[entry] > 0:
            c.entry_left[entry] -= size
            if c.entry_left[entry] > 0:
                return
            c.ready[(c.ready_head + c.n_ready) & (MAX_ENTRIES - 1)] = entry
            c.n_ready += 1
            first = _set_of(c, line) * c.ways
            oldest = first
            for place in range(first, first + c.ways):
                if c.used[place] < c.used[oldest]:
                    oldest = place
            c.tag[oldest] = tag
            c.used[oldest] = now
            return


@njit
def next_waiter(c: Any) -> int:
    """Take one waiter whose line has arrived, or -1: call it once per cycle."""
    if c.n_ready == 0:
        return -1
    entry = c.ready[c.ready_head]
    woken = c.n_woken[entry]
    c.n_woken[entry] = woken + 1
    if woken + 1 == c.n_waiters[entry]:
        c.entry_tag[entry] = 0
        c.ready_head = (c.ready_head + 1) & (MAX_ENTRIES - 1)
        c.n_ready -= 1
    return c.waiter[entry, woken]
