"""Sums of the 64-bit counters of records, many at a time: one by one they take long for a short run."""

from collections.abc import Mapping
from typing import Any

import numpy as np


class Sums:
    """Sums over an array of records, by name. `counters` has the path of each, such as `slice.cache.hits`; those of all
    records in an array on the way are added up."""

    def __init__(self, record: np.dtype[Any], counters: Mapping[str, str]):
        self._names = list(counters)
        places = [_words(record, path.split("."), 0) for path in counters.values()]
        self._words = np.array([word for each in places for word in each])
        self._starts = np.cumsum([0, *map(len, places[:-1])])

    def of(self, records: Any) -> dict[str, int]:
        """The sums over an array of records, or of one."""
        words = np.asarray(records).reshape(-1).view(np.int64).reshape(np.size(records), -1)
        sums = np.add.reduceat(words[:, self._words].sum(axis=0), self._starts)
        return dict(zip(self._names, sums.tolist(), strict=True))


def _words(record: np.dtype[Any], path: list[str], at: int) -> list[int]:
    """Where the counters of a path lie in a record that begins at byte `at`, in words of 64 bits."""
    assert record.fields is not None, path
    field, offset = record.fields[path[0]][:2]
    starts = range(at + offset, at + offset + field.itemsize, field.base.itemsize)
    if len(path) > 1:
        return [word for start in starts for word in _words(field.base, path[1:], start)]
    assert field.base == np.int64, path
    return [start // 8 for start in starts]
