"""The table of the sectors that a cache waits for: against a dictionary."""

import random

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.timing.memory.mapping import on_their_way
from ptxsim.timing.memory.memory_state import MAX_ENTRIES, ON_THEIR_WAY

begin, end, entry_of = (for_python(getattr(on_their_way, name)) for name in ("begin", "end", "entry_of"))


def test_random_misses_and_arrivals_agree_with_a_dictionary() -> None:
    waits = np.zeros(1, ON_THEIR_WAY)[0]
    chosen = random.Random(5)
    free, expected = list(range(MAX_ENTRIES)), dict[int, int]()
    for _ in range(4000):
        sector = 32 * chosen.randrange(600)  # often two in one bucket, which are 512 sectors apart
        assert int(entry_of(waits, sector)) == expected.get(sector, -1)
        if sector not in expected and free:
            expected[sector] = free.pop(chosen.randrange(len(free)))
            begin(waits, expected[sector], sector)
        elif expected and chosen.random() < 0.7:
            gone = chosen.choice(list(expected))
            entry = expected.pop(gone)
            assert int(end(waits, entry)) == gone
            free.append(entry)
