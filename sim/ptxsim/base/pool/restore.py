"""Return records to the state in which they were created, as a `RestorePlan` says: for `record_pool.py`.

A plan lists ranges of bytes of a record: some are always restored, some where a test of others says that they were
used, and some entry by entry. It is run by compiled code: a machine has hundreds of such ranges, a few bytes each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, entry, flat_u8, flat_u32, inline, record, types

COPY, ZERO, TEST, CLEAR = range(4)
PIECE = record([("kind", "i8"), ("start", "i8"), ("end", "i8"), ("n", "i8"), ("to", "i8")])
"""Bytes of a record from `start` to `end`. COPY: from byte `to` of the initial ones. TEST: of the next n pieces;
unless a bit is set in them, piece `to` follows. CLEAR: n entries of the same size; one whose byte `to` is not 0 was
used."""
NUMBER = record([("number", "i8")])

Range = tuple[int, int]
"""Start and end of bytes of a record."""


@inline
def _is_used(words: Any) -> bool:
    found = np.uint32(0)
    for k in range(len(words)):
        found |= words[k]
    return found != 0


@inline
def _clear(data: Any) -> None:
    for k in range(len(data)):
        data[k] = 0


@entry(types.int64(array_of(NUMBER), array_of(PIECE), types.int64, types.int64, types.int64))
def restore_records(used: Any, pieces: Any, records: int, n_bytes: int, initial: int) -> int:
    """Restore the used ones of the records at an address, of `n_bytes` each."""
    for k in range(len(used)):
        at = records + used[k].number * n_bytes
        p = 0
        while p < len(pieces):
            piece = pieces[p]
            size = piece.end - piece.start
            data = flat_u8(at + piece.start, size)
            p += 1
            if piece.kind == COPY:
                values = flat_u8(initial + piece.to, size)
                for byte in range(size):
                    data[byte] = values[byte]
            elif piece.kind == ZERO:
                _clear(data)
            elif piece.kind == TEST:
                found = False
                for m in range(p, p + piece.n):
                    start = pieces[m].start
                    found |= _is_used(flat_u32(at + start, (pieces[m].end - start) >> 2))
                if not found:
                    p = piece.to
            else:
                entry_size = size // piece.n
                for first in range(0, size, entry_size):
                    if data[first + piece.to]:
                        _clear(flat_u8(at + piece.start + first, entry_size))
    return 0


class RestorePlan:
    """What is restored in each of some records, which are all alike and as they were created."""

    def __init__(self, records: Any):
        self.records = records
        self._rows = np.asarray(records).view(np.uint8).reshape(len(records), -1)
        self._pieces: list[tuple[int, ...]] = []
        self._initial = bytearray()
        self._prepared: tuple[Any, ...] = ()

    def restore_fields(self, fields: Mapping[str, int]) -> "RestorePlan":
        """Restore all fields; of those in `fields` (`name`, or `name.name` for a field of a field) only that many
        entries."""
        for start, end in _merged_ranges(self.records.dtype, tuple(fields.items())):
            self._pieces.append((COPY, start, end, 0, len(self._initial)))
            self._initial += self._rows[0, start:end].tobytes()
        return self

    def restore_while_used(self, steps: Iterable[tuple[Sequence[Range], Sequence[Range]]]) -> None:
        """Zero ranges in steps, up to the first one that was not used. A step has ranges of whole words of 32 bits, one
        of which is not 0 if the step was used, and others."""
        tests: list[int] = []
        for marks, others in steps:
            tests.append(len(self._pieces))
            self._pieces.append((TEST, 0, 0, len(marks), 0))
            self._pieces += [(ZERO, start, end, 0, 0) for start, end in (*marks, *others)]
        for k in tests:
            self._pieces[k] = *self._pieces[k][:-1], len(self._pieces)

    def clear_used(self, entries: str, n: int, mark: str) -> None:
        """Clear those of the first n entries of a field in which the byte of their field `mark` is not 0."""
        start, end = self.range_of(entries, 0, n)
        entry, _ = _field(self.records.dtype, entries)
        self._pieces.append((CLEAR, start, end, n, _field(entry, mark)[1]))

    def range_of(self, path: str, first: int, end: int) -> Range:
        """The range of entries first..end of a field."""
        field, at = _field(self.records.dtype, path)
        size = field.itemsize // (field.shape or (1,))[0]
        return at + size * first, at + size * end

    def run(self, used: Any) -> None:
        """Restore the records with these indices, int64; None: all."""
        if not self._prepared:
            initial = np.frombuffer(bytes(self._initial) or b"\0", np.uint8)
            pieces, every = np.array(self._pieces, PIECE), np.arange(len(self._rows))
            self._prepared = pieces, every, self._rows.ctypes.data, initial.ctypes.data, initial
        pieces, every, records, initial, _ = self._prepared
        numbers = every if used is None else used
        if len(numbers):
            restore_records(numbers.view(NUMBER), pieces, records, self._rows.strides[0], initial)

    def zero(self) -> None:
        """Write zeros to the fields that are restored."""
        for kind, start, end, *_ in self._pieces:
            if kind == COPY:
                self._rows[:, start:end] = 0


def _field(record: np.dtype[Any], path: str) -> tuple[np.dtype[Any], int]:
    """The type of a field and where it begins."""
    at = 0
    for name in path.split("."):
        assert record.base.fields is not None, path
        record, offset = record.base.fields[name][:2]
        at += offset
    return record, at


@lru_cache(maxsize=32)
def _merged_ranges(record: np.dtype[Any], used: tuple[tuple[str, int], ...]) -> list[Range]:
    pieces: list[Range] = []
    partly = {name[:at] for name, _ in used for at, c in enumerate(name) if c == "."}
    for start, end in _ranges(record, dict(used), partly, "", 0):
        if pieces and start - pieces[-1][1] < 8:
            pieces[-1] = pieces[-1][0], end
        elif end > start:
            pieces.append((start, end))
    return pieces


def _ranges(
    record: np.dtype[Any], used: Mapping[str, int], partly: Set[str], prefix: str, start: int
) -> Iterator[Range]:
    """The used ranges of a record; of the fields in `partly` some fields are not used as a whole."""
    assert record.fields is not None, prefix
    for name in record.names or ():
        field, offset = record.fields[name][:2]
        at, path = start + offset, prefix + name
        if path in used:
            yield at, at + field.itemsize // (field.shape or (1,))[0] * used[path]
        elif path in partly:
            yield from _ranges(field, used, partly, f"{path}.", at)
        else:
            yield at, at + field.itemsize
