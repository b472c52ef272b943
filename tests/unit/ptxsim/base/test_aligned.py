"""Bytes at multiples of a number."""

import numpy as np
import pytest

from ptxsim.base.aligned import aligned, in_small_pages
from ptxsim.base.jit import CACHE_LINE


@pytest.mark.parametrize("to", [64, 256])
@pytest.mark.parametrize("zeroed", [True, False])
def test_bytes_begin_at_a_multiple(to: int, zeroed: bool) -> None:
    for n_bytes in (0, 1, 63, 1000):
        found = aligned(n_bytes, to, zeroed)
        assert len(found) == n_bytes
        assert found.ctypes.data % to == 0 or n_bytes == 0
        assert not (zeroed and found.any())


def test_records_begin_with_a_line() -> None:
    records = in_small_pages(3, np.dtype([("at", "i8"), ("bytes", "u1", (1000,))]))
    assert (len(records), records.ctypes.data % CACHE_LINE, records["bytes"].any()) == (3, 0, False)
    records["at"] = range(3)
    assert records["at"].tolist() == [0, 1, 2]
