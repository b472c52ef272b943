"""Which way of a set a missing line takes: sets of three ways, worked out by hand."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.timing.memory.memory_state import CACHE, DIRTY, INVALID, RESERVED, VALID
from ptxsim.timing.memory.replacement import victim

choose = for_python(victim)


def set_1(states: tuple[int, int, int], used: tuple[int, int, int]) -> Any:
    """A cache whose set 1 (places 3 to 5) has these states and cycles of last use; set 0 is empty."""
    cache = np.zeros(1, CACHE)[0]
    cache["sets"], cache["ways"] = 2, 3
    cache["state"][3:6], cache["used"][3:6] = states, used
    return cache


@pytest.mark.parametrize(
    ("states", "used", "place"),
    [
        ((VALID, VALID, VALID), (30, 10, 20), 4),  # the least recently used
        ((VALID, DIRTY, VALID), (30, 10, 20), 4),  # a dirty one is written back by the caller
        ((VALID, RESERVED, VALID), (30, 10, 20), 5),  # not one that waits for its line
        ((VALID, VALID, INVALID), (30, 10, 40), 5),  # an empty one before any other
        ((VALID, VALID, VALID), (10, 10, 10), 3),  # the first of equals
        ((RESERVED, RESERVED, RESERVED), (30, 10, 20), -1),
    ],
)
def test_the_way_that_a_line_takes(
    states: tuple[int, int, int], used: tuple[int, int, int], place: int
) -> None:
    assert choose(set_1(states, used), 1) == place
