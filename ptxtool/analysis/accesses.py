"""Where the webs of a function are read and written, for those who weigh all of them and those who change one.

For `ranges.py`, which knows the webs, and for spilling, which looks at every access of a large kernel to choose what
leaves: as arrays, ten times as fast as one web after the other (measured on Triton's largest kernel).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import overload

import numpy as np
import numpy.typing as npt

Segment = tuple[int, int]
"""Points from the first one on, to the second one."""
Access = tuple[int, bool, bool]
"""An instruction, whether it reads a web, and whether it writes it."""

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Accesses(Sequence[tuple[Access, ...]]):
    """Per web its accesses in textual order, and in the arrays all of them, web by web: `first[w]` is web w's first.

    A guarded or partial write that continues a value reads it; `names` is true of reads that are written as such.
    """

    instruction: Numbers
    names: Flags
    reads: Flags
    writes: Flags
    first: Sequence[int]

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, web: int) -> tuple[Access, ...]: ...
    @overload
    def __getitem__(self, web: slice) -> tuple[tuple[Access, ...], ...]: ...
    def __getitem__(self, web: int | slice) -> tuple[Access, ...] | tuple[tuple[Access, ...], ...]:
        if isinstance(web, slice):
            return tuple(self[w] for w in range(*web.indices(len(self))))
        here = slice(self.first[web], self.first[web + 1])
        return tuple(
            zip(
                self.instruction[here].tolist(),
                self.reads[here].tolist(),
                self.writes[here].tolist(),
                strict=True,
            )
        )

    def with_plain_writes(self, instructions: Sequence[int]) -> "Accesses":
        """The same where writes of these instructions read a web only if they name it."""
        plain = self.writes & np.isin(self.instruction, np.array(instructions, np.int64))
        return replace(self, reads=np.where(plain, self.names, self.reads))


def accesses_of(
    reads: Sequence[Sequence[int]], writes: Sequence[Sequence[int]], segments: Sequence[Sequence[Segment]]
) -> Accesses:
    """From the webs that every instruction reads and writes, each once, and the segments of every web."""
    n = len(reads)
    # web, instruction, whether it writes: reads come before writes
    keys = np.sort(np.concatenate((2 * _flat(reads), 2 * _flat(writes) + 1)))
    is_first = np.diff(keys >> 1, prepend=-1) != 0
    is_last = np.append(is_first[1:], True) if len(keys) else is_first
    names, is_written = keys[is_first] & 1 == 0, keys[is_last] & 1 == 1
    keys = keys[is_first] >> 1
    web, instruction = np.divmod(keys, max(n, 1))
    starts = np.fromiter((start for some in segments for start, _ in some), np.int64)
    starts += 2 * n * _owners(segments)  # ascending, as webs and their segments are
    written_at = 2 * keys + 1  # as points: 2 * n of them for every web
    found = np.append(starts, -1)[np.searchsorted(starts, written_at)]
    first = np.searchsorted(web, np.arange(len(segments) + 1))
    continues = is_written & (found != written_at)
    return Accesses(instruction, names, names | continues, is_written, first.tolist())


def _flat(side: Sequence[Sequence[int]]) -> Numbers:
    """A number for every web of every instruction: web * instructions + instruction."""
    webs = np.fromiter(chain.from_iterable(side), np.int64)
    return webs * len(side) + _owners(side)


def _owners(sides: Sequence[Sequence[object]]) -> Numbers:
    """Per element of all sequences, the number of its sequence."""
    return np.repeat(np.arange(len(sides)), np.array([len(one) for one in sides], np.int64))
