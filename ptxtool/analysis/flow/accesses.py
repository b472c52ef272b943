"""Where the webs of a function are read and written, for those who weigh all of them and those who change one.

For `ranges.py`, which knows the webs, and for spilling, which looks at every access of a large kernel to choose what
leaves: as arrays, ten times as fast as one web after the other (measured on Triton's largest kernel).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ptxtool.base.lazy import LazySequence

Segment = tuple[int, int]
"""Points from the first one on, to the second one."""
Access = tuple[int, bool, bool]
"""An instruction, whether it reads a web, and whether it writes it."""

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Accesses(LazySequence[tuple[Access, ...]]):
    """Per web its accesses in textual order, and in the arrays all of them, web by web: `first[w]` is web w's first.

    A guarded or partial write that continues a value reads it; `names` is true of reads that are written as such.
    """

    instruction: Numbers
    names: Flags
    reads: Flags
    writes: Flags
    first: Numbers

    def __len__(self) -> int:
        return len(self.first) - 1

    def item(self, index: int) -> tuple[Access, ...]:
        here = slice(self.first[index], self.first[index + 1])
        columns = self.instruction[here], self.reads[here], self.writes[here]
        return tuple(zip(*(column.tolist() for column in columns), strict=True))

    def with_plain_writes(self, instructions: Sequence[int]) -> "Accesses":
        """The same where writes of these instructions read a web only if they name it."""
        if not instructions:
            return self
        plain = self.writes & np.isin(self.instruction, np.array(instructions, np.int64))
        return replace(self, reads=np.where(plain, self.names, self.reads))


def accesses_of(
    web: Numbers, instruction: Numbers, is_written: Flags, segments: "Segments", n: int
) -> Accesses:
    """From where `n` instructions name webs, one after the other in any order, and the segments of every web."""
    # web, instruction, whether it writes: reads come before writes
    keys = np.sort(2 * (web * n + instruction) + is_written)
    is_first = np.diff(keys >> 1, prepend=-1) != 0
    is_last = np.append(is_first[1:], True) if len(keys) else is_first
    names, is_written = keys[is_first] & 1 == 0, keys[is_last] & 1 == 1
    keys = keys[is_first] >> 1
    web, instruction = np.divmod(keys, max(n, 1))
    starts = segments.start + 2 * n * segments.owner  # ascending, as webs and their segments are
    written_at = 2 * keys + 1  # as points: 2 * n of them for every web
    found = np.append(starts, -1)[np.searchsorted(starts, written_at)]
    first = np.searchsorted(web, np.arange(len(segments) + 1))
    continues = is_written & (found != written_at)
    return Accesses(instruction, names, names | continues, is_written, first)


@dataclass(frozen=True, eq=False)
class Segments(LazySequence[tuple[Segment, ...]]):
    """Per web or value its ranges of points in ascending order; in the arrays all of them, one after the other."""

    start: Numbers
    end: Numbers
    first: Numbers
    """Of every one the number of its first segment, and how many there are."""

    def __len__(self) -> int:
        return len(self.first) - 1

    def item(self, index: int) -> tuple[Segment, ...]:
        here = slice(self.first[index], self.first[index + 1])
        return tuple(zip(self.start[here].tolist(), self.end[here].tolist(), strict=True))

    def __iter__(self) -> Iterator[tuple[Segment, ...]]:
        pairs = [*zip(self.start.tolist(), self.end.tolist(), strict=True)]
        return (tuple(pairs[a:b]) for a, b in pairwise(self.first.tolist()))

    @property
    def owner(self) -> Numbers:
        """Per segment the number of what it belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def counts(self) -> Numbers:
        return np.diff(self.first)

    def at(self, numbers: Numbers) -> "Segments":
        """Those of some."""
        index, first = rows(self.first, numbers)
        return Segments(self.start[index], self.end[index], first)

    def joined(self, more: "Segments") -> "Segments":
        """These, and others behind them."""
        first = np.concatenate((self.first, more.first[1:] + self.first[-1]))
        return Segments(np.concatenate((self.start, more.start)), np.concatenate((self.end, more.end)), first)


def segments_of(each: Sequence[Sequence[Segment]]) -> Segments:
    """Segments from tuples of pairs."""
    pairs = np.array([pair for some in each for pair in some], np.int64).reshape(-1, 2)
    first = np.concatenate(([0], np.cumsum([len(some) for some in each], dtype=np.int64)))
    return Segments(pairs[:, 0], pairs[:, 1], first)


def rows(first: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Of rows that stand one after the other, some: the indices of what is in them, and where each begins."""
    counts = first[numbers + 1] - first[numbers]
    begins = np.concatenate(([0], np.cumsum(counts)))
    return np.arange(begins[-1]) + np.repeat(first[numbers] - begins[:-1], counts), begins
