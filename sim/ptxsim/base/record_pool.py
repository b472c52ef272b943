"""A pool of record arrays that launches reuse: allocating those of a machine takes longer than a short run.

`acquire` returns an array in its initial state. This depends on some parts of the machine's description; machines that
have these in common share the arrays (`RecordKind`). `release`, after the launch, restores what the launch can have
changed and returns the array to the pool. Records have room for the largest machine, so only the first few entries of
most of their arrays belong to this one (`restore_fields`), and a small grid uses few of the records (`marks`). Arrays
that fill up from one end are restored in steps until a step was not used (`restore_while_used`), others entry by entry
(`clear_marked`). An array that is not released (the run ended with an error, or the machine is kept) does not return
to the pool.

No two launches hold one array at the same time. The pool is small: enough for a few machines, or a few threads on one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import RLock
from typing import Any

import numpy as np

from ptxtool.formats.gpu import Gpu

_CAPACITY = 12
"""Arrays in the pool: a machine has three, of 6, 4 and 2 MB."""

RestoreStep = tuple[Sequence[Any], Sequence[tuple[Any, Any]]]
"""Arrays that are zero unless the step was used, and further arrays with their initial contents."""


class UsedRecords:
    """Which records of an array launches have used, as their marks say: arrays with a number for each record, 0 in
    one that was not used. Without marks: all."""

    def __init__(self, marks: Sequence[Any] = ()):
        self._marks = marks
        self._noted = np.zeros(len(marks[0]), np.bool_) if marks else np.ones(1, np.bool_)

    def note(self, records: Any = slice(0)) -> None:
        """Note the records that the marks show, before they are set to 0, and these, which others have written to."""
        for mark in self._marks:
            self._noted |= mark != 0
        if self._marks:
            self._noted[records] = True

    def indices(self) -> Any:
        """Those of the used records; a slice if they are all."""
        self.note()
        return slice(None) if self._noted.all() else np.flatnonzero(self._noted)

    def span(self) -> slice:
        """From the first to the last of the used records."""
        found = self.indices()
        if isinstance(found, slice):
            return found
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0)

    def clear(self) -> None:
        """None has been used."""
        if self._marks:
            self._noted[:] = False


class PooledRecords:
    """An array of a machine's records, and what has to be restored in it after a launch."""

    def __init__(self, gpu: Gpu, array: Any, marks: Sequence[Any] = ()):
        """`marks` are those of `UsedRecords`."""
        self.gpu, self.array = gpu, array
        self.kind: RecordKind | None = None
        self.used = UsedRecords(marks)
        self._of_used: list[tuple[Any, Any]] = []
        self._of_all: list[tuple[Any, Any]] = []
        self._steps: list[Callable[[slice], Iterable[RestoreStep]]] = []
        self._marked: list[tuple[Any, Any]] = []

    def restore_fields(self, records: Any, fields: Mapping[str, int], of_used: bool = False) -> None:
        """Restore each of these records, which are all alike, or those of them that were used; of the fields in
        `fields` (`name`, or `name.name` for a field of a field) only that many entries."""
        rows = np.asarray(records).view(np.uint8).reshape(len(records), -1)
        parts = self._of_used if of_used else self._of_all
        for start, end in _pieces(records.dtype, tuple(fields.items())):
            parts.append((rows[:, start:end], rows[:1, start:end].copy()))

    def restore_while_used(self, steps: Callable[[slice], Iterable[RestoreStep]]) -> None:
        """Restore the steps in order, up to the first one that was not used. `steps` is called with a slice of the
        records that includes the used ones."""
        self._steps.append(steps)

    def clear_marked(self, entries: Any, mark: str) -> None:
        """Clear the entries, an array [records][entries], in which the field `mark` is not 0: the used ones."""
        n_records, n_entries = entries.shape
        rows = np.asarray(entries).view(np.uint8).reshape(n_records, n_entries, -1)
        self._marked.append((rows, entries[mark]))

    def cleared(self) -> Any:
        """The array, whose records are restored, with zeros in all that is restored in records that were not used."""
        for part, _ in self._of_all:
            part[...] = 0
        return self.array

    def restore(self) -> None:
        """Return the array to its initial state."""
        used, span = self.used.indices(), self.used.span()
        for part, initial in self._of_used:
            part[used] = initial
        for part, initial in self._of_all:
            part[...] = initial
        for entries, marks in self._marked:
            entries[span][marks[span] != 0] = 0
        for steps in self._steps:
            _restore_while_used(steps(span))
        self.used.clear()


def _restore_while_used(steps: Iterable[RestoreStep]) -> None:
    for marks, others in steps:
        if not any(part.any() for part in marks):
            break
        for part in marks:
            part[...] = 0
        for part, initial in others:
            part[...] = initial


@lru_cache(maxsize=32)
def _pieces(record: np.dtype[Any], used: tuple[tuple[str, int], ...]) -> list[tuple[int, int]]:
    """Start and end of the bytes of a record that are restored; adjacent ranges are merged."""
    pieces: list[tuple[int, int]] = []
    for start, end in _fields(record, dict(used), "", 0):
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


_pool: list[PooledRecords] = []
_lock = RLock()  # the garbage collector may end a machine while it is held


class RecordKind:
    """Records of one kind: what creates those of a machine."""

    def __init__(
        self,
        create: Callable[..., PooledRecords],
        parts: Callable[[Gpu], Any],
        layout: Callable[[Gpu], Any] | None = None,
    ):
        """`create` makes the records of a machine, which depend on these `parts` of its description alone: in a new
        array, or in the `cleared` one of a machine with the same `layout`. (None: always in a new one.)"""
        self._create, self.parts, self.layout = create, parts, layout

    def __call__(self, gpu: Gpu, *array: Any) -> PooledRecords:
        records = self._create(gpu, *array)
        records.kind = self
        return records


def acquire(kind: RecordKind, gpu: Gpu) -> PooledRecords:
    """The records of a kind for this machine: from the pool, or new ones."""
    parts, spare = kind.parts(gpu), None
    with _lock:
        for records in tuple(reversed(_pool)):
            if records.kind is kind and kind.parts(records.gpu) == parts:
                _pool.remove(records)
                records.gpu = gpu
                return records
        if kind.layout is not None:
            layout = kind.layout(gpu)
            spare = next((r for r in _pool if r.kind is kind and kind.layout(r.gpu) == layout), None)
        if spare is not None:
            _pool.remove(spare)
    return kind(gpu) if spare is None else kind(gpu, spare.cleared())


def release(records: PooledRecords) -> None:
    """Restore records and put them into the pool; the caller does not use them any more."""
    records.restore()
    with _lock:
        _pool.append(records)
        del _pool[:-_CAPACITY]
