"""Sums of counters over arrays of records, those of nested arrays included."""

import numpy as np
import pytest

from ptxsim.base.sums import Sums

INNER = np.dtype([("hits", "i8"), ("misses", "i8")])
RECORD = np.dtype([("count", "i8"), ("small", "i4", (2,)), ("slice", INNER, (3,)), ("stalls", "i8", (2,))])


def test_all_records_on_the_way_are_added_up() -> None:
    records = np.zeros(2, RECORD)
    records["count"] = [1, 10]
    records["slice"]["hits"] = [[1, 2, 3], [10, 20, 30]]
    records["slice"]["misses"] = 1000
    records["stalls"] = [[5, 6], [50, 60]]
    sums = Sums(RECORD, {"n": "count", "hits": "slice.hits", "stalls": "stalls", "misses": "slice.misses"})
    assert sums.of(records) == {"n": 11, "hits": 66, "stalls": 121, "misses": 6000}
    assert sums.of(records[1]) == {"n": 10, "hits": 60, "stalls": 110, "misses": 3000}


def test_only_words_of_64_bits_are_counters() -> None:
    with pytest.raises(AssertionError):
        Sums(RECORD, {"small": "small"})
