"""A pool of record arrays that launches reuse: allocating those of a machine takes longer than a short run.

`release`, after the launch, puts an array into the pool; `acquire` restores what the launch can have changed, and
returns the array in its initial state. This depends on some parts of the machine's description; machines that have
these in common share the arrays (`RecordKind`). Records have room for the largest machine, and a small grid uses few of
them: only the used records (`UsedRecords`) and the used parts of them (`restore.py`) are restored. An array that is not
released (the run ended with an error, or the machine is kept) does not return to the pool.

No two launches hold one array at the same time. The pool is small: enough for a few machines, or a few threads on one.
"""

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

import numpy as np

from ptxsim.base.pool.restore import RestorePlan
from ptxtool.formats.gpu import Gpu

_CAPACITY = 12
"""Arrays in the pool: a machine has three, of 6, 4 and 2 MB."""


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
        self._of_used: list[RestorePlan] = []
        self._of_all: list[RestorePlan] = []

    def plan(self, records: Any, of_used: bool = False) -> RestorePlan:
        """A plan for these records, which are all alike, or for those of them that were used."""
        found = RestorePlan(records)
        (self._of_used if of_used else self._of_all).append(found)
        return found

    def cleared(self) -> Any:
        """The array, whose records are restored, with zeros in the fields that are restored in all of them."""
        for plan in self._of_all:
            plan.zero()
        return self.array

    def restore(self) -> None:
        """Return the array to its initial state."""
        used = self.used.indices()
        for plan in self._of_used:
            plan.run(None if isinstance(used, slice) else used)
        for plan in self._of_all:
            plan.run(None)
        self.used.clear()


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
    found = _taken(kind, kind.parts, gpu)
    if found is not None:
        found.restore()
        found.gpu = gpu
        return found
    found = _taken(kind, kind.layout, gpu) if kind.layout else None
    if found is None:
        return kind(gpu)
    found.restore()
    return kind(gpu, found.cleared())


def _taken(kind: RecordKind, told_by: Callable[[Gpu], Any], gpu: Gpu) -> PooledRecords | None:
    """Records from the pool, the last ones of a machine that is the same in what it is told by."""
    wanted = told_by(gpu)
    with _lock:
        for records in tuple(reversed(_pool)):
            if records.kind is kind and told_by(records.gpu) == wanted:
                _pool.remove(records)
                return records
    return None


def release(records: PooledRecords) -> None:
    """Put records into the pool; the caller does not use them any more."""
    with _lock:
        _pool.append(records)
        del _pool[:-_CAPACITY]
