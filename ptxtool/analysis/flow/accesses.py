"""Live intervals of the webs of a function, and the instructions that access every web.

For `live_ranges.py`, which builds the webs, and for spilling, which weighs every access of a large kernel. Both are
kept in arrays, web by web: ten times as fast as a Python object for every web (measured on Triton's largest kernel).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

Interval = tuple[int, int]
"""A live interval: the points from the first one on, up to but without the second one."""
Access = tuple[int, bool, bool]
"""An instruction, whether it reads a web, and whether it writes it."""

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Accesses(msgspec.Struct, frozen=True, eq=False):
    """Per web its accesses in textual order: those of web w are `first[w]` to `first[w + 1]` in the other arrays.

    A guarded or partial write that continues a value reads it; `names` is true of reads that are written as such.
    """

    instruction: Numbers
    names: Flags
    reads: Flags
    writes: Flags
    first: Numbers

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, web: int) -> tuple[Access, ...]:
        here = slice(self.first[web], self.first[web + 1])
        columns = self.instruction[here], self.reads[here], self.writes[here]
        return tuple(zip(*(column.tolist() for column in columns), strict=True))

    def with_plain_writes(self, instructions: Sequence[int]) -> "Accesses":
        """The same where writes of these instructions read a web only if they name it."""
        if not instructions:
            return self
        plain = self.writes & np.isin(self.instruction, np.array(instructions, np.int64))
        return replace(self, reads=np.where(plain, self.names, self.reads))


def accesses_of(
    web: Numbers, instruction: Numbers, is_written: Flags, intervals: "Intervals", n: int
) -> Accesses:
    """The accesses of webs with these live intervals, from all webs that `n` instructions name, in any order."""
    # web, instruction, whether it writes: reads come before writes
    keys = np.sort(2 * (web * n + instruction) + is_written)
    is_first = np.diff(keys >> 1, prepend=-1) != 0
    is_last = np.append(is_first[1:], True) if len(keys) else is_first
    names, is_written = keys[is_first] & 1 == 0, keys[is_last] & 1 == 1
    keys = keys[is_first] >> 1
    web, instruction = np.divmod(keys, max(n, 1))
    starts = intervals.start + 2 * n * intervals.owner  # ascending, as webs and their intervals are
    written_at = 2 * keys + 1  # as points: 2 * n of them for every web
    found = np.append(starts, -1)[np.searchsorted(starts, written_at)]
    first = np.searchsorted(web, np.arange(len(intervals) + 1))
    continues = is_written & (found != written_at)
    return Accesses(instruction, names, names | continues, is_written, first)


class Intervals(msgspec.Struct, frozen=True, eq=False):
    """Per web or value its live range: its live intervals in ascending order.

    Those of web w are `first[w]` to `first[w + 1]` in `start` and `end`.
    """

    start: Numbers
    end: Numbers
    first: Numbers

    @classmethod
    def of(cls, ranges: Sequence[Sequence[Interval]]) -> "Intervals":
        """From one sequence of pairs per web."""
        pairs = np.array([pair for some in ranges for pair in some], np.int64).reshape(-1, 2)
        first = np.concatenate(([0], np.cumsum([len(some) for some in ranges], dtype=np.int64)))
        return cls(pairs[:, 0], pairs[:, 1], first)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, web: int) -> tuple[Interval, ...]:
        here = slice(self.first[web], self.first[web + 1])
        return tuple(zip(self.start[here].tolist(), self.end[here].tolist(), strict=True))

    def __iter__(self) -> Iterator[tuple[Interval, ...]]:
        pairs = [*zip(self.start.tolist(), self.end.tolist(), strict=True)]
        return (tuple(pairs[a:b]) for a, b in pairwise(self.first.tolist()))

    @property
    def owner(self) -> Numbers:
        """Per interval the number of its web."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def counts(self) -> Numbers:
        """Per web the number of its intervals."""
        return np.diff(self.first)

    def at(self, webs: Numbers) -> "Intervals":
        """Those of some webs."""
        index, first = rows(self.first, webs)
        return Intervals(self.start[index], self.end[index], first)

    def joined(self, more: "Intervals") -> "Intervals":
        """These, followed by those of further webs."""
        first = np.concatenate((self.first, more.first[1:] + self.first[-1]))
        return Intervals(
            np.concatenate((self.start, more.start)), np.concatenate((self.end, more.end)), first
        )

    def units_in_use(self, widths: Numbers, n_points: int) -> npt.NDArray[np.int32]:
        """Per point the units in use where every web takes as many as `widths` says."""
        units = np.repeat(widths, self.counts)
        change = np.bincount(self.start, units, n_points + 1) - np.bincount(self.end, units, n_points + 1)
        return np.cumsum(change)[:-1].astype(np.int32)


def rows(first: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Some rows of arrays that hold one row after the other: the indices of their elements, and where each row begins
    among these."""
    counts = first[numbers + 1] - first[numbers]
    begins = np.concatenate(([0], np.cumsum(counts)))
    return np.arange(begins[-1]) + np.repeat(first[numbers] - begins[:-1], counts), begins
