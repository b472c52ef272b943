"""Registers that trade places: pairs of operands in one bank, by hand and against every exchange."""

from itertools import combinations
from random import Random

import numpy as np
import pytest

from ptxtool.analysis.regalloc.bank_swaps import traded

Read = list[tuple[int, ...]]
"""The units that each instruction reads."""


def trade(reads: Read, units: dict[int, int], pinned: frozenset[int] = frozenset()) -> dict[int, int]:
    pairs = [(i, unit) for i, some in enumerate(reads) for unit in some]
    instruction, unit = np.array(pairs, np.int64).reshape(-1, 2).T
    return traded((instruction, unit), units, 4, pinned)


def conflicts(reads: Read, places: dict[int, int], units: dict[int, int]) -> int:
    """Pairs of units that an instruction reads from one of four banks."""
    where = {first + k: place + k for first, place in places.items() for k in range(units[first])}
    return sum((where[a] - where[b]) % 4 == 0 for some in reads for a, b in combinations(some, 2))


@pytest.mark.parametrize(
    ("reads", "units", "expected"),
    [
        ([(0, 1)], {0: 1, 1: 1}, {0: 0, 1: 1}),  # nothing to save
        ([(0, 4)], dict.fromkeys(range(5), 1), {0: 1, 1: 0, 2: 2, 3: 3, 4: 4}),  # the first that saves it
        ([(0, 4), (0, 4), (1, 4)], dict.fromkeys(range(5), 1), {0: 2, 1: 1, 2: 0, 3: 3, 4: 4}),  # 1 is taken
        ([(0, 1, 4, 5)], {0: 2, 2: 2, 4: 2}, {0: 2, 2: 0, 4: 4}),  # pairs trade places with pairs
        ([(0, 1, 4, 5)], {0: 2, 2: 1, 3: 1, 4: 2}, {0: 0, 2: 2, 3: 3, 4: 4}),  # and with nothing else
        ([(0, 1, 2, 3, 4, 5, 6, 7)], {0: 4, 4: 4}, {0: 0, 4: 4}),  # in all banks anywhere
    ],
)
def test_exchanges(reads: Read, units: dict[int, int], expected: dict[int, int]) -> None:
    assert trade(reads, units) == expected


def test_a_pinned_register_stays() -> None:
    assert trade([(0, 4)], dict.fromkeys(range(5), 1), frozenset({0})) == {0: 0, 1: 4, 2: 2, 3: 3, 4: 1}


def test_no_registers() -> None:
    assert trade([], {}) == {}


def test_in_the_end_no_exchange_saves_a_conflict() -> None:
    random = Random(3)
    for _ in range(40):
        units = {0: 2, 2: 1, 3: 1, 4: 2, 6: 1, 7: 1, 8: 4, 12: 1, 13: 1, 14: 2, 16: 1}
        of = {first + k: first for first, n in units.items() for k in range(n)}
        reads = [tuple(sorted(random.sample(sorted(of), 3))) for _ in range(12)]
        places = trade(reads, units)
        left = conflicts(reads, places, units)
        assert left <= conflicts(reads, {first: first for first in units}, units)
        assert all(place % units[first] == 0 for first, place in places.items())
        assert sorted(place + k for first, place in places.items() for k in range(units[first])) == sorted(of)
        for a, b in combinations(units, 2):
            if units[a] == units[b]:
                assert conflicts(reads, places | {a: places[b], b: places[a]}, units) >= left
