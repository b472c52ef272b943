"""Records that fill whole cache lines of the host, so that a part of one touches few of them."""

import numpy as np
import pytest
from memory_machine import Machine

from ptxsim.timing.memory.memory_state import CHANNEL, MEMORY, REQUEST, SLICE

LINE = 64


@pytest.mark.parametrize("record", [REQUEST, SLICE, CHANNEL], ids=["REQUEST", "SLICE", "CHANNEL"])
def test_records_are_whole_lines(record: np.dtype) -> None:  # type: ignore[type-arg]
    assert record.itemsize % LINE == 0


def test_arrays_of_them_begin_at_a_line() -> None:
    assert MEMORY.fields is not None
    start = Machine().array.ctypes.data
    for name in ("request", "slice", "channel"):
        assert (start + int(MEMORY.fields[name][1])) % LINE == 0, name
