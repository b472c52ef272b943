"""Places for live ranges in a register file of fixed size: who gets which unit.

For the allocating passes. An *item* is what must be placed as a whole: one web, or webs that an instruction wants in
adjacent registers, each at its offset. It takes `size` units from a base b with b = residue modulo alignment. Items are
placed one after the other, each where no range of an item placed before meets its own: exactly what is free, holes in
live ranges included, because the units taken are kept per point.

The order is that of first points; among webs of a program in SSA form that is a perfect elimination order of straight
code, so without alignment nothing is lost. What alignment loses is kept small: a single unit goes beside a taken one
before it opens a pair. Of several orders the one that needs the fewest units counts. A copy wants the place of what it
copies.

Measured against graph colouring with iterated register coalescing (`benchmarks/bench_allocate.py`).

Reference: M. Poletto, V. Sarkar, "Linear scan register allocation", 1999; C. Wimmer, H. Mössenböck,
"Optimized interval splitting in a linear scan register allocator", 2005 (holes, hints).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate

import msgspec
import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Numbers, Segment, Segments
from ptxtool.base.lazy import LazySequence

_COLUMN = 64


class Member(msgspec.Struct, frozen=True, gc=False):
    """One web of an item: its ranges, and the units it takes from the item's base on."""

    web: int
    segments: Sequence[Segment]
    offset: int
    width: int

    # by itself it is an item, as nearly all are, which may go wherever it stands aligned

    @property
    def members(self) -> "tuple[Member, ...]":
        return (self,)

    @property
    def size(self) -> int:
        return self.width

    alignment = size

    @property
    def residue(self) -> int:
        return 0

    @property
    def fixed(self) -> int:
        return -1

    avoid = residue


class Item(msgspec.Struct, frozen=True, gc=False):
    """Webs to place together. `fixed` is the only base allowed, -1 if there is none; `avoid` masks forbidden units."""

    members: tuple[Member, ...]
    size: int
    alignment: int = 1
    residue: int = 0
    fixed: int = -1
    avoid: int = 0


@dataclass(frozen=True, eq=False)
class Singles(LazySequence[Member]):
    """Webs that stand alone, in columns: no member is made of what finds its place without."""

    webs: Numbers
    widths: Numbers
    segments: Segments

    def __len__(self) -> int:
        return len(self.webs)

    def item(self, index: int) -> Member:
        return Member(int(self.webs[index]), self.segments[index], 0, int(self.widths[index]))

    def __iter__(self) -> Iterator[Member]:
        columns = self.webs.tolist(), self.segments, self.widths.tolist()
        return (Member(web, segments, 0, width) for web, segments, width in zip(*columns, strict=True))


@dataclass(frozen=True)
class Packing:
    """The first unit of every web that found one, the number of units needed, and the items that found none."""

    unit: Mapping[int, int]
    n_units: int
    homeless: tuple[Item | Member, ...]


def units_in_use(widths: Numbers, segments: Segments, n_points: int) -> npt.NDArray[np.int32]:
    """Per point the units that are in use where each of some values takes so many of them."""
    units = np.repeat(widths, segments.counts)
    change = np.bincount(segments.start, units, n_points + 1) - np.bincount(segments.end, units, n_points + 1)
    return np.cumsum(change)[:-1].astype(np.int32)


def least_units(items: Iterable[Item | Member], n_points: int) -> int:
    """The most units in use at one point: no packing can do with less."""
    if isinstance(items, Singles):
        return int(units_in_use(items.widths, items.segments, n_points).max(initial=0))
    change = [0] * (n_points + 1)
    for item in items:
        for member in item.members:
            for start, end in member.segments:
                change[start] += member.width
                change[end] -= member.width
    return max(accumulate(change))


def pack(
    items: Sequence[Item | Member],
    n_points: int,
    limit: int,
    copies: Iterable[tuple[int, int]] = (),
    least: int | None = None,
) -> Packing:
    """Place items in a file of `limit` units.

    `copies` are pairs of webs that should share a place; `least` is `least_units`, where the caller knows it.
    """
    if least is None:
        least = least_units(items, n_points)
    partners: dict[int, list[int]] = {}
    for a, b in copies:
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    fixed: list[Item | Member] = []
    if isinstance(items, Singles):
        starts = items.segments.start[items.segments.first[:-1]]
        free: Sequence[Item | Member] = items
    else:
        fixed = [item for item in items if item.fixed >= 0]
        free = [item for item in items if item.fixed < 0]
        starts = np.array([_start(item) for item in free], np.int64)
    order = np.argsort(starts, kind="stable")
    best = _pack(fixed, free, order, n_points, limit, partners)
    if best.homeless or best.n_units > least:
        by_size = sorted([free[k] for k in order.tolist()], key=lambda item: -item.size)
        other = _pack([*fixed, *by_size], (), order[:0], n_points, limit, partners)
        best = min(best, other, key=lambda packing: (len(packing.homeless), packing.n_units))
    return best


def place_fixed(items: Sequence[Item | Member], n_points: int, limit: int) -> Packing:
    """Place items that all have a fixed base: whether they may stay there."""
    return _pack(items, (), np.zeros(0, np.int64), n_points, limit, {})


def _start(item: Item | Member) -> int:
    """Its first point."""
    return min([m.segments[0][0] for m in item.members])


def _pack(
    first: Iterable[Item | Member],
    then: Sequence[Item | Member],
    order: Numbers,
    n_points: int,
    limit: int,
    partners: Mapping[int, Sequence[int]],
) -> Packing:
    """Place items one after the other; those that come last by `order`, which is that of their first points."""
    placing = _Placing(n_points, limit, partners)
    placing.add(first)
    if isinstance(then, Singles) or all(len(item.members) == 1 for item in then):
        placing.add_in_order(then, order)
    else:  # members of one item may start at different points
        placing.add(then[k] for k in order.tolist())
    return Packing(placing.unit, placing.used, tuple(placing.homeless))


class _Placing:
    """A file of `limit` units that fills: the places of webs, the units used, the items that found no place."""

    def __init__(self, n_points: int, limit: int, partners: Mapping[int, Sequence[int]]):
        self.unit: dict[int, int] = {}
        self.used = 0
        self.homeless: list[Item | Member] = []
        self._n_points = n_points
        self._limit = limit
        self._partners = partners
        self._taken = _Taken(n_points, limit)
        self._coming: list[tuple[int, int, int]] = []  # what is in `_taken`: start, end, units
        self._even = int("01" * (limit // 2 + 1), 2)

    def add(self, items: Iterable[Item | Member]) -> None:
        """Place items that may start anywhere: every point of their ranges is looked at."""
        for item in items:
            blocked = item.avoid
            for member in item.members:
                blocked |= _blocked(member, self._taken.over(member.segments))
            base = self._base(item, blocked)
            if base < 0:
                self.homeless.append(item)
                continue
            for member in item.members:
                self._take(member.segments, ((1 << member.width) - 1) << (base + member.offset))
                self.unit[member.web] = base + member.offset
            self.used = max(self.used, base + item.size)

    def add_in_order(self, items: Sequence[Item | Member], order: Numbers) -> None:
        """Place items of one member each that have no fixed base, in the order of their first points.

        What is live when an item starts blocks it, and what starts before it ends: that can only be what `add` has
        placed, and ranges behind a hole. So hardly any item needs a look at all its points, which makes it four times
        as fast as `add` (measured on Triton's largest kernel).
        """
        unit, partners, limit = self.unit, self._partners, self._limit
        coming = self._coming
        heapify(coming)
        leaving = [0] * (self._n_points + 1)  # per point, the units that are live until there
        live = 0
        point = -1
        halves = self._halves()
        for k, web, start, end, last, offset, size, is_plain in _columns(items, order):
            while point < start:
                point += 1
                live ^= leaving[point]
            while coming and coming[0][0] <= start:
                _, until, mask = heappop(coming)
                if until > start:
                    live |= mask
                    leaving[until] |= mask
            blocked = live
            if coming and coming[0][0] < last:
                blocked |= self._taken.over(items[k].members[0].segments)
            if not is_plain or web in partners:
                item = items[k]
                base = self._base(item, _blocked(item.members[0], blocked) | item.avoid)
            elif half := (blocked ^ blocked >> 1) & halves:  # pairs with one unit taken
                base = (half & -half).bit_length() - 1
                base += blocked >> base & 1
            else:
                base = (blocked ^ blocked + 1).bit_length() - 1
                base = base if base < limit else -1
            if base < 0:
                self.homeless.append(items[k])
                continue
            unit[web] = base + offset
            mask = _UNITS[size] << (base + offset)
            if end != last:
                self._take(items[k].members[0].segments, mask)
            else:
                live |= mask
                leaving[end] |= mask
            if base + size > self.used:
                self.used = base + size
                halves = self._halves()

    def _halves(self) -> int:
        """The even units below `used`, as far as the unit above is below it too."""
        return self._even & ((1 << (self.used & ~1)) - 1)

    def _take(self, segments: Sequence[Segment], mask: int) -> None:
        self._taken.take(segments, mask)
        for start, end in segments:
            heappush(self._coming, (start, end, mask))

    def _base(self, item: Item | Member, blocked: int) -> int:
        """Where an item goes whose bases in `blocked` are taken, -1 if it finds no place."""
        limit, size = self._limit, item.size
        free = ~blocked & ((1 << limit) - 1 >> (size - 1) if size <= limit else 0)
        if item.fixed >= 0:
            free &= 1 << item.fixed
        elif item.alignment > 1:
            free &= _aligned(limit, item.alignment, item.residue)
        if not free:
            return -1
        base = _wanted(item, free, self.unit, self._partners) if self._partners else -1
        if base < 0:
            if size == 1 and item.fixed < 0:
                even = self._even
                beside = free & ((blocked & even) << 1 | (blocked >> 1) & even) & ((1 << self.used) - 1)
                free = beside or free
            base = (free & -free).bit_length() - 1
        return base


_UNITS = (0, 0b1, 0b11, 0b111, 0b1111)
"""Masks of so many units."""
_Column = tuple[int, int, int, int, int, int, int, bool]


def _columns(items: Sequence[Item | Member], order: Numbers) -> Iterable[_Column]:
    """Per item of one member, in that order: its index and web, the start and end of its first segment, the end of its
    last, offset, size, and whether it may go anywhere."""
    if isinstance(items, Singles):
        first, widths = items.segments.first, items.widths[order]
        start, end = (points[first[:-1][order]] for points in (items.segments.start, items.segments.end))
        last = items.segments.end[first[1:][order] - 1]
        columns = order, items.webs[order], start, end, last, np.zeros_like(order), widths, widths == 1
        return zip(*(column.tolist() for column in columns), strict=True)
    return [_column(k, items[k]) for k in order.tolist()]


def _column(k: int, item: Item | Member) -> _Column:
    member, is_plain = item.members[0], item.size == item.alignment == 1 and not item.avoid
    (start, end), last = member.segments[0], member.segments[-1][1]
    return k, member.web, start, end, last, member.offset, member.width, is_plain


def _blocked(member: Member, taken: int) -> int:
    """The bases of an item that bring a member onto taken units."""
    blocked = 0
    for place in range(member.offset, member.offset + member.width):
        blocked |= taken >> place
    return blocked


def _wanted(
    item: Item | Member, free: int, unit: Mapping[int, int], partners: Mapping[int, Sequence[int]]
) -> int:
    """The base that makes a copy superfluous, -1 if there is none."""
    for member in item.members:
        for partner in partners.get(member.web, ()):
            place = unit.get(partner, -1)
            base = place - member.offset
            if place >= 0 and base >= 0 and free >> base & 1:
                return base
    return -1


_aligned_masks: dict[tuple[int, int, int], int] = {}


def _aligned(limit: int, alignment: int, residue: int) -> int:
    """The units of a file that are congruent to the residue."""
    key = limit, alignment, residue
    if key not in _aligned_masks:
        _aligned_masks[key] = sum(1 << u for u in range(residue % alignment, limit, alignment))
    return _aligned_masks[key]


class _Taken:
    """The units taken at every point, 64 of them in a column."""

    def __init__(self, n_points: int, limit: int):
        self._n_points = n_points
        self._n_columns = -(-limit // _COLUMN)
        self._columns: dict[int, npt.NDArray[np.uint64]] = {}  # those in which something is taken,
        self._spans: dict[int, tuple[int, int]] = {}  # and between which points

    def over(self, segments: Sequence[Segment]) -> int:
        """The units taken somewhere in the segments, as a mask."""
        found = 0
        for number, column in self._columns.items():
            first, last = self._spans[number]
            for start, end in segments:
                if start < last and end > first:
                    some = column[start] if end == start + 1 else np.bitwise_or.reduce(column[start:end])
                    found |= int(some) << (_COLUMN * number)
        return found

    def take(self, segments: Sequence[Segment], mask: int) -> None:
        for number in range(self._n_columns):
            part = mask >> (_COLUMN * number) & ((1 << _COLUMN) - 1)
            if part:
                column = self._columns.get(number)
                if column is None:
                    column = self._columns[number] = np.zeros(self._n_points, np.uint64)
                first, last = self._spans.get(number, (self._n_points, 0))
                self._spans[number] = min(first, segments[0][0]), max(last, segments[-1][1])
                word = np.uint64(part)
                for start, end in segments:
                    column[start:end] |= word
