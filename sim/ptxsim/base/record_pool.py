"""Arrays of records that launches use one after the other: to make those of a machine anew takes long for a short run.

An array is handed out as it was made. When a launch has ended it is given back, and what the launch can have touched is
put back as it was: records have room for the largest machine, so of most arrays in them only the first few entries
belong to this one (`of_each`), and what grows from one end is looked through until nothing was touched (`while_used`).
An array that is not given back (the run ended with an error, or the machine is kept) is simply lost to the stock.

Two launches never have one array at the same time. The stock is small: a few machines, or a few threads on one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ptxtool.formats.gpu import Gpu

_KEPT = 12
"""Arrays in the stock: a machine has three, of 6, 4 and 2 MB."""

Step = tuple[Sequence[Any], Sequence[tuple[Any, Any]]]
"""Arrays that are zero as long as the step was not used, and others with what they are made of."""


class Records:
    """An array of a machine's records, as it was made, and what of it has to be put back after a launch."""

    def __init__(self, gpu: Gpu, array: Any):
        self.gpu, self.array = gpu, array
        self.make: Callable[[Gpu], Records] | None = None
        """What makes others like it."""
        self._parts: list[tuple[Any, Any]] = []
        self._steps: Callable[[], Iterable[Step]] = tuple

    def of_each(self, records: Any, used: Mapping[str, int]) -> None:
        """Put back each of these records, which are all alike; of the fields in `used` (`name`, or `name.name` within
        one) the first so many entries only."""
        rows = np.asarray(records).view(np.uint8).reshape(len(records), -1)
        for start, end in _pieces(records.dtype, used):
            self._parts.append((rows[:, start:end], rows[:1, start:end].copy()))

    def while_used(self, steps: Callable[[], Iterable[Step]]) -> None:
        """Put back what the steps have, one after the other, up to the first one that was not used."""
        self._steps = steps

    def restore(self) -> None:
        """Make the array as it was made."""
        for part, made in self._parts:
            part[...] = made
        for telling, others in self._steps():
            if not any(part.any() for part in telling):
                break
            for part in telling:
                part[...] = 0
            for part, made in others:
                part[...] = made


def _pieces(record: np.dtype[Any], used: Mapping[str, int]) -> list[tuple[int, int]]:
    """Start and end of the bytes that are put back of a record, neighbours as one."""
    pieces: list[tuple[int, int]] = []
    for start, end in _fields(record, used, "", 0):
        if pieces and start - pieces[-1][1] < 8:
            pieces[-1] = pieces[-1][0], end
        elif end > start:
            pieces.append((start, end))
    return pieces


def _fields(
    record: np.dtype[Any], used: Mapping[str, int], prefix: str, start: int
) -> Iterator[tuple[int, int]]:
    assert record.fields is not None, prefix
    for name in record.names or ():
        field, offset = record.fields[name][:2]
        at, path = start + offset, prefix + name
        if path in used:
            yield at, at + field.itemsize // (field.shape or (1,))[0] * used[path]
        elif any(other.startswith(f"{path}.") for other in used):
            yield from _fields(field, used, f"{path}.", at)
        else:
            yield at, at + field.itemsize


_stock: list[Records] = []
_lock = Lock()


def take(make: Callable[[Gpu], Records], gpu: Gpu) -> Records:
    """Records that `make` makes for this machine: from the stock, or new ones."""
    with _lock:
        for records in reversed(_stock):
            if records.make is make and records.gpu is gpu:
                _stock.remove(records)
                return records
    records = make(gpu)
    records.make = make
    return records


def give_back(records: Records) -> None:
    """Put records into the stock; the caller has no more to do with them."""
    records.restore()
    with _lock:
        _stock.append(records)
        del _stock[:-_KEPT]
