"""Linear scan: units of a register file of fixed size for live ranges.

For `assignment.py`. What is allocated as a whole is a *register tuple*: one web, or webs that an instruction names as
adjacent registers, each at its offset. A tuple takes `size` units from a base b, with b = residue modulo alignment,
such that none of its live intervals meets one of a tuple that has those units. Holes in live ranges are used.

Two orders are tried, and the one that needs fewer units counts:

* by first points, the linear scan proper. For SSA form that is a perfect elimination order of straight code, so nothing
  is lost but what alignment costs. A single unit prefers one beside a taken unit to opening a new aligned pair.
* by size, the widest first, where the linear scan needs more units than are live at once.

The destination of a copy prefers the unit of its source. Tuples with a fixed base come before all others.

Measured against graph colouring with iterated register coalescing (`benchmarks/bench_allocate.py`).

Reference: M. Poletto, V. Sarkar, "Linear scan register allocation", 1999; C. Wimmer, H. Mössenböck,
"Optimized interval splitting in a linear scan register allocator", 2005 (holes, hints).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, chain

import msgspec
import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Interval, Intervals, Numbers

_COLUMN = 64
_ROWS = 1024
"""Of columns, so many at a time are Python's numbers, which take five times the memory."""


class Member(msgspec.Struct, frozen=True, gc=False):
    """One web of a register tuple: its live intervals, and the `width` units it takes from base + offset on."""

    web: int
    intervals: Sequence[Interval]
    offset: int
    width: int


class RegisterTuple(msgspec.Struct, frozen=True, gc=False):
    """Webs allocated together. `fixed` is the only base allowed, -1 for any; `avoid` masks forbidden bases."""

    members: tuple[Member, ...]
    size: int
    alignment: int = 1
    residue: int = 0
    fixed: int = -1
    avoid: int = 0


class Singles(msgspec.Struct, frozen=True, eq=False):
    """Tuples of one web each, aligned to their widths, in columns: an object is made only of those that need one."""

    webs: Numbers
    widths: Numbers
    intervals: Intervals

    def __len__(self) -> int:
        return len(self.webs)

    def __getitem__(self, index: int) -> RegisterTuple:
        return _single(int(self.webs[index]), self.intervals[index], int(self.widths[index]))

    def __iter__(self) -> Iterator[RegisterTuple]:
        return map(_single, self.webs.tolist(), self.intervals, self.widths.tolist())


def _single(web: int, intervals: Sequence[Interval], width: int) -> RegisterTuple:
    return RegisterTuple((Member(web, intervals, 0, width),), width, width)


Tuples = Sequence[RegisterTuple] | Singles


class Allocation(msgspec.Struct, frozen=True):
    """The first unit of every web that has one, the number of units needed, and the tuples that found none."""

    unit: Mapping[int, int]
    n_units: int
    unallocated: tuple[RegisterTuple, ...]


def least_units(tuples: Tuples, n_points: int) -> int:
    """The most units in use at one point: no allocation needs fewer."""
    if isinstance(tuples, Singles):
        return int(tuples.intervals.units_in_use(tuples.widths, n_points).max(initial=0))
    change = [0] * (n_points + 1)
    for one in tuples:
        for member in one.members:
            for start, end in member.intervals:
                change[start] += member.width
                change[end] -= member.width
    return max(accumulate(change))


def linear_scan(
    tuples: Tuples,
    n_points: int,
    limit: int,
    copies: Iterable[tuple[int, int]] = (),
    least: int | None = None,
) -> Allocation:
    """Allocate tuples in a file of `limit` units.

    `copies` are pairs of webs that should share a unit; `least` is `least_units`, where the caller knows it.
    """
    if least is None:
        least = least_units(tuples, n_points)
    partners: dict[int, list[int]] = {}
    for a, b in copies:
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    if isinstance(tuples, Singles):
        fixed: list[RegisterTuple] = []
        free: Tuples = tuples
        starts = tuples.intervals.start[tuples.intervals.first[:-1]]
    else:
        fixed = [one for one in tuples if one.fixed >= 0]
        free = [one for one in tuples if one.fixed < 0]
        starts = np.array([min([m.intervals[0][0] for m in one.members]) for one in free], np.int64)
    order = np.argsort(starts, kind="stable")
    by_start = _RegisterFile(n_points, limit, partners)
    by_start.first_fit(fixed)
    if isinstance(free, Singles) or all(len(one.members) == 1 for one in free):
        by_start.scan(free, order)
    else:  # the members of one tuple may start at different points
        by_start.first_fit(free[k] for k in order.tolist())
    if not by_start.unallocated and by_start.n_units <= least:
        return by_start.allocation()
    by_size = _RegisterFile(n_points, limit, partners)
    by_size.first_fit(fixed)
    by_size.first_fit(sorted([free[k] for k in order.tolist()], key=lambda one: -one.size))
    best = min(by_start, by_size, key=lambda file: (len(file.unallocated), file.n_units))
    return best.allocation()


def allocate_fixed(tuples: Sequence[RegisterTuple], n_points: int, limit: int) -> Allocation:
    """Allocate tuples that all have a fixed base; those that meet another one stay unallocated."""
    file = _RegisterFile(n_points, limit, {})
    file.first_fit(tuples)
    return file.allocation()


class _RegisterFile:
    """A file of `limit` units, and what has been allocated in it so far."""

    def __init__(self, n_points: int, limit: int, partners: Mapping[int, Sequence[int]]):
        self.unit: dict[int, int] = {}
        self.n_units = 0
        self.unallocated: list[RegisterTuple] = []
        self._n_points = n_points
        self._limit = limit
        self._partners = partners
        self._occupied = _Occupied(n_points, limit)
        self._ahead: list[tuple[int, int, int]] = []  # a heap of what is in `_occupied`: start, end, units
        self._even = int("01" * (limit // 2 + 1), 2)

    def allocation(self) -> Allocation:
        return Allocation(self.unit, self.n_units, tuple(self.unallocated))

    def first_fit(self, tuples: Iterable[RegisterTuple]) -> None:
        """Allocate tuples in any order: every point of their live intervals is examined."""
        for one in tuples:
            blocked = one.avoid
            for member in one.members:
                blocked |= _blocked(member, self._occupied.over(member.intervals))
            base = self._base(one, blocked)
            if base < 0:
                self.unallocated.append(one)
                continue
            for member in one.members:
                self._occupy(member.intervals, ((1 << member.width) - 1) << (base + member.offset))
                self.unit[member.web] = base + member.offset
            self.n_units = max(self.n_units, base + one.size)

    def scan(self, tuples: Tuples, order: Numbers) -> None:
        """Allocate tuples of one member each without a fixed base, in the order of their first points.

        What is live when a tuple starts blocks it, and what starts before its end: only intervals after a hole, and
        what `first_fit` allocated. So few tuples need all their points examined: four times as fast as `first_fit`
        (measured on Triton's largest kernel).
        """
        unit, partners, limit, ahead = self.unit, self._partners, self._limit, self._ahead
        expiring = [0] * (self._n_points + 1)  # per point, the units that are live until there
        live = 0
        point = -1
        halves = self._halves()
        for k, web, start, end, last, offset, size, is_plain in _columns(tuples, order):
            while point < start:
                point += 1
                live ^= expiring[point]
            while ahead and ahead[0][0] <= start:
                _, until, mask = heappop(ahead)
                if until > start:
                    live |= mask
                    expiring[until] |= mask
            blocked = live
            if ahead and ahead[0][0] < last:
                blocked |= self._occupied.over(tuples[k].members[0].intervals)
            if not is_plain or web in partners:
                one = tuples[k]
                base = self._base(one, _blocked(one.members[0], blocked) | one.avoid)
            elif half := (blocked ^ blocked >> 1) & halves:  # pairs with one unit taken
                base = (half & -half).bit_length() - 1
                base += blocked >> base & 1
            else:
                base = (blocked ^ blocked + 1).bit_length() - 1
                base = base if base < limit else -1
            if base < 0:
                self.unallocated.append(tuples[k])
                continue
            unit[web] = base + offset
            mask = _UNITS[size] << (base + offset)
            if end != last:
                self._occupy(tuples[k].members[0].intervals, mask)
            else:
                live |= mask
                expiring[end] |= mask
            if base + size > self.n_units:
                self.n_units = base + size
                halves = self._halves()

    def _halves(self) -> int:
        """The lower units of the aligned pairs in use."""
        return self._even & ((1 << (self.n_units & ~1)) - 1)

    def _occupy(self, intervals: Sequence[Interval], mask: int) -> None:
        self._occupied.add(intervals, mask)
        for start, end in intervals:
            heappush(self._ahead, (start, end, mask))

    def _base(self, one: RegisterTuple, blocked: int) -> int:
        """The base for a tuple if those in `blocked` are taken, -1 if there is none."""
        limit, size = self._limit, one.size
        free = ~blocked & ((1 << limit) - 1 >> (size - 1) if size <= limit else 0)
        if one.fixed >= 0:
            free &= 1 << one.fixed
        elif one.alignment > 1:
            free &= _aligned(limit, one.alignment, one.residue)
        if not free:
            return -1
        base = self._partners_base(one, free) if self._partners else -1
        if base < 0:
            if size == 1 and one.fixed < 0:
                even = self._even
                beside = free & ((blocked & even) << 1 | (blocked >> 1) & even) & ((1 << self.n_units) - 1)
                free = beside or free
            base = (free & -free).bit_length() - 1
        return base

    def _partners_base(self, one: RegisterTuple, free: int) -> int:
        """The free base that makes a copy superfluous, -1 if there is none."""
        for member in one.members:
            for partner in self._partners.get(member.web, ()):
                base = self.unit.get(partner, -1) - member.offset
                if base >= 0 and free >> base & 1:
                    return base
        return -1


_UNITS = (0, 0b1, 0b11, 0b111, 0b1111)
"""Masks of so many units."""


def _columns(tuples: Tuples, order: Numbers) -> Iterable[tuple[int, int, int, int, int, int, int, bool]]:
    """Tuples of one member in that order: index, web, start and end of its first interval, end of its last one, offset,
    size, and whether any base is allowed."""
    if isinstance(tuples, Singles):
        first, widths = tuples.intervals.first, tuples.widths[order]
        start, end = (points[first[:-1][order]] for points in (tuples.intervals.start, tuples.intervals.end))
        last = tuples.intervals.end[first[1:][order] - 1]
        columns = order, tuples.webs[order], start, end, last, np.zeros_like(order), widths, widths == 1
        parts = (slice(k, k + _ROWS) for k in range(0, len(order), _ROWS))
        return chain.from_iterable(
            zip(*(column[part].tolist() for column in columns), strict=True) for part in parts
        )
    return [_row(k, tuples[k]) for k in order.tolist()]


def _row(k: int, one: RegisterTuple) -> tuple[int, int, int, int, int, int, int, bool]:
    member, is_plain = one.members[0], one.size == one.alignment == 1 and not one.avoid
    (start, end), last = member.intervals[0], member.intervals[-1][1]
    return k, member.web, start, end, last, member.offset, member.width, is_plain


def _blocked(member: Member, taken: int) -> int:
    """The bases of a tuple at which a member meets taken units."""
    blocked = 0
    for place in range(member.offset, member.offset + member.width):
        blocked |= taken >> place
    return blocked


@cache
def _aligned(limit: int, alignment: int, residue: int) -> int:
    """The units of a file that are congruent to the residue."""
    return sum(1 << u for u in range(residue % alignment, limit, alignment))


class _Occupied:
    """The units taken at every point: an array of 64-bit masks for every 64 units of which some are taken."""

    def __init__(self, n_points: int, limit: int):
        self._n_points = n_points
        self._n_columns = -(-limit // _COLUMN)
        self._columns: dict[int, npt.NDArray[np.uint64]] = {}
        self._spans: dict[int, tuple[int, int]] = {}  # the points between which there are any

    def over(self, intervals: Sequence[Interval]) -> int:
        """The units taken at some point of the intervals, as a mask."""
        found = 0
        for number, column in self._columns.items():
            first, last = self._spans[number]
            for start, end in intervals:
                if start < last and end > first:
                    some = column[start] if end == start + 1 else np.bitwise_or.reduce(column[start:end])
                    found |= int(some) << (_COLUMN * number)
        return found

    def add(self, intervals: Sequence[Interval], mask: int) -> None:
        """Take units at all points of the intervals."""
        for number in range(self._n_columns):
            part = mask >> (_COLUMN * number) & ((1 << _COLUMN) - 1)
            if part:
                column = self._columns.get(number)
                if column is None:
                    column = self._columns[number] = np.zeros(self._n_points, np.uint64)
                first, last = self._spans.get(number, (self._n_points, 0))
                self._spans[number] = min(first, intervals[0][0]), max(last, intervals[-1][1])
                word = np.uint64(part)
                for start, end in intervals:
                    column[start:end] |= word
