"""Tags and miss entries of one cache: sets, waiters of a line on its way, and the order in which they are woken."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.memory import cache
from ptxsim.timing.memory.mapping import hashes
from ptxsim.timing.memory.memory_state import CACHE, DIRTY, INVALID, MAX_ENTRIES, RESERVED, VALID

set_of, lookup, reserve, merge, join, arrive, wake = map(
    for_python,
    (hashes.set_of, cache.lookup, cache.reserve, cache.merge, cache.join, cache.arrive, cache.wake),
)


def empty(sets: int = 2, ways: int = 2, entries: int = 2, waiters: int = 3) -> Any:
    c = np.zeros(1, CACHE)[0]
    c["sets"], c["ways"], c["max_waiters"], c["n_free"] = sets, ways, waiters, entries
    c["set_mask"] = -1 if sets & (sets - 1) else sets - 1
    c["free"] = np.arange(MAX_ENTRIES)
    return c


@pytest.mark.parametrize(
    ("sets", "hashed", "line", "expected"),
    [
        (4, 0, 7, 3),
        (3, 0, 7, 1),  # no power of two: the remainder
        (32, 0, 1 << 6, 0),
        (32, 1, 1 << 6, 1),  # address bit 13 is bit 6 of the line's number: xor into bit 7 of the address
        (32, 1, 1 << 10 | 8, 0),  # address bits 17 and 10 are the same bit of the set
        (32, 1, 1 << 9, 0),  # address bit 16 is not mixed in
    ],
)
def test_the_set_of_a_line(sets: int, hashed: int, line: int, expected: int) -> None:
    c = empty(sets)
    c["hashed"] = hashed
    assert set_of(c, line) == expected


def test_a_line_is_found_in_its_set_unless_it_is_invalid() -> None:
    c = empty()
    c["tag"][:4], c["state"][:4] = [0x100, 0x200, 0x300, 0x100], [VALID, RESERVED, DIRTY, INVALID]
    assert [lookup(c, 0, 0x100), lookup(c, 0, 0x200), lookup(c, 1, 0x300)] == [0, 1, 2]
    assert [lookup(c, 0, 0x300), lookup(c, 1, 0x100)] == [-1, -1]


def test_waiters_are_woken_in_their_order_and_the_entry_is_free_after_the_last() -> None:
    c = empty()
    reserve(c, 1, 0x200, 7, 0, 50)
    assert (int(c["state"][1]), int(c["tag"][1]), int(c["used"][1]), int(c["n_free"])) == (
        RESERVED,
        0x200,
        50,
        1,
    )
    assert [merge(c, 1, waiter, 0) for waiter in (8, 9, 10)] == [True, True, False]  # room for three
    arrive(c, 1, int(c["entry"][1]))
    assert int(c["state"][1]) == VALID
    assert [wake(c), wake(c)] == [7, 8]
    assert (int(c["n_free"]), int(c["n_ready"])) == (1, 1)
    assert wake(c) == 9
    assert (int(c["n_free"]), int(c["n_ready"])) == (2, 0)


def test_a_line_that_one_of_its_waiters_writes_arrives_dirty() -> None:
    c = empty()
    reserve(c, 0, 0x100, 1, 0, 0)
    merge(c, 0, 2, 1)
    merge(c, 0, 3, 0)
    arrive(c, 0, int(c["entry"][0]))
    assert int(c["state"][0]) == DIRTY


def test_lines_are_woken_in_the_order_of_their_arrival() -> None:
    c = empty()
    reserve(c, 0, 0x100, 1, 0, 0)
    reserve(c, 1, 0x200, 2, 0, 0)
    arrive(c, 1, int(c["entry"][1]))
    arrive(c, -1, int(c["entry"][0]))  # its place was taken by another line meanwhile
    assert int(c["state"][0]) == RESERVED
    assert [wake(c), wake(c)] == [2, 1]


def test_a_waiter_joins_those_that_are_left() -> None:
    c = empty()
    reserve(c, 0, 0x100, 1, 0, 0)
    merge(c, 0, 2, 0)
    merge(c, 0, 3, 0)
    entry = int(c["entry"][0])
    assert not join(c, entry, 4)
    arrive(c, 0, entry)
    assert wake(c) == 1
    assert join(c, entry, 4)
    assert [wake(c), wake(c), wake(c)] == [2, 3, 4]
