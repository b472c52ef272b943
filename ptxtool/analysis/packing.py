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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ptxtool.analysis.ranges import Segment

_COLUMN = 64


class Member(NamedTuple):
    """One web of an item: its ranges, and the units it takes from the item's base on."""

    web: int
    segments: Sequence[Segment]
    offset: int
    width: int


class Item(NamedTuple):
    """Webs to place together. `fixed` is the only base allowed, -1 if there is none; `avoid` masks forbidden units."""

    members: tuple[Member, ...]
    size: int
    alignment: int = 1
    residue: int = 0
    fixed: int = -1
    avoid: int = 0

    @property
    def start(self) -> int:
        """Its first point."""
        return min(m.segments[0][0] for m in self.members)

    @property
    def is_simple(self) -> bool:
        """One web without holes that may be anywhere: while it is placed in order, only who is live then matters."""
        return len(self.members) == 1 and len(self.members[0].segments) == 1 and self.fixed < 0


@dataclass(frozen=True)
class Packing:
    """The first unit of every web that found one, the number of units needed, and the items that found none."""

    unit: Mapping[int, int]
    n_units: int
    homeless: tuple[Item, ...]


def least_units(items: Iterable[Item], n_points: int) -> int:
    """The most units in use at one point: no packing can do with less."""
    change = [0] * (n_points + 1)
    for item in items:
        for member in item.members:
            for start, end in member.segments:
                change[start] += member.width
                change[end] -= member.width
    return max(accumulate(change))


def pack(
    items: Sequence[Item],
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
    fixed = [item for item in items if item.fixed >= 0]
    free = sorted((item for item in items if item.fixed < 0), key=lambda item: item.start)
    alone = all(len(item.members) == 1 for item in items)  # members of one item may start at different points
    best = _pack([*fixed, *free], n_points, limit, partners, in_order=alone)
    if best.homeless or best.n_units > least:
        free.sort(key=lambda item: -item.size)
        other = _pack([*fixed, *free], n_points, limit, partners, in_order=False)
        best = min(best, other, key=lambda packing: (len(packing.homeless), packing.n_units))
    return best


def place_fixed(items: Sequence[Item], n_points: int, limit: int) -> Packing:
    """Place items that all have a fixed base: whether they may stay there."""
    return _pack(items, n_points, limit, {}, in_order=False)


def _pack(
    items: Iterable[Item],
    n_points: int,
    limit: int,
    partners: Mapping[int, Sequence[int]],
    in_order: bool,
) -> Packing:
    """Place the items one after the other. `in_order`: of their first points.

    Then items without holes need no look at every point: those that are live when another one starts are at hand.
    """
    taken = _Taken(n_points, limit)
    even = int("01" * (limit // 2 + 1), 2)
    every = (1 << limit) - 1
    live: list[tuple[int, int]] = []  # the items without holes that are: their ends and units
    live_units = 0
    unit: dict[int, int] = {}
    homeless: list[Item] = []
    used = 0
    for item in items:
        members, size, alignment, residue, fixed, avoid = item
        is_simple = in_order and item.is_simple
        if in_order and fixed < 0:
            start = members[0].segments[0][0] if is_simple else item.start
            while live and live[0][0] <= start:
                live_units ^= heappop(live)[1]
        if is_simple:
            blocked = live_units | taken.over(members[0].segments) | avoid
            if size > 1:
                blocked |= blocked >> 1
                if size > 2:
                    blocked |= blocked >> 2
        else:
            blocked = avoid
            for member in members:
                busy = taken.over(member.segments) | live_units
                for place in range(member.offset, member.offset + member.width):
                    blocked |= busy >> place
        free = ~blocked & (every >> (size - 1) if size <= limit else 0)
        if fixed >= 0:
            free &= 1 << fixed
        elif alignment > 1:
            free &= _aligned(limit, alignment, residue)
        if not free:
            homeless.append(item)
            continue
        base = _wanted(item, free, unit, partners) if partners else -1
        if base < 0:
            choice = free
            if size == 1 and fixed < 0:
                beside = free & ((blocked & even) << 1 | (blocked >> 1) & even) & ((1 << used) - 1)
                choice = beside or free
            base = (choice & -choice).bit_length() - 1
        if is_simple:
            mask = ((1 << size) - 1) << base
            heappush(live, (members[0].segments[0][1], mask))
            live_units |= mask
            unit[members[0].web] = base
        else:
            for member in members:
                taken.take(member.segments, ((1 << member.width) - 1) << (base + member.offset))
                unit[member.web] = base + member.offset
        used = max(used, base + size)
    return Packing(unit, used, tuple(homeless))


def _wanted(item: Item, free: int, unit: Mapping[int, int], partners: Mapping[int, Sequence[int]]) -> int:
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
