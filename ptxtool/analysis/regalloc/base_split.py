"""A base set and an extended set of registers: an assignment that names the extended set inside of held regions only.

For `split-registers`. Units below `base` are a thread's own, those from `base` on the extended set, which it has in
held regions (`held_regions.py`). A web that is live outside of regions needs a base unit there. Inside of a region it
keeps it, or it is *split*: a value of its own, which may be in the extended set, stands for it in the region,

    acquire;  mov extended, base;  ...  mov base, extended;  release;        (each move only where the web is live)

More webs are split until what has base units takes at most `base` of them at every point: at the point where most are
taken, the web whose moves cost least (8 to the power of the loop depth for each), of equal ones the one that lives
longest in the region. Most often this is a value that is computed inside and outlives the region. Then linear scan
allocates what needs base units, and after it, around that, everything else, from unit 0 on.

Webs in flight of asynchronous instructions are not split, nor those that no `mov` copies (8 and 128 bits).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from ptxtool.analysis.flow.accesses import Interval, Intervals
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.analysis.regalloc.assignment import Assignment, copies_of, values_of
from ptxtool.analysis.regalloc.held_regions import HeldRegions, RegionFinder
from ptxtool.analysis.regalloc.in_flight import in_flight_intervals
from ptxtool.analysis.regalloc.linear_scan import Allocation, RegisterTuple, Singles, linear_scan
from ptxtool.analysis.regalloc.live_ranges import Ranges
from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT
from ptxtool.analysis.regalloc.spills import SpillState, ValueTable

OUTSIDE = -1
"""In place of a region's number."""
_COPIED_BITS = (16, 32, 64)
_MOST_ROUNDS = 24
"""Rounds of splitting and scanning, where alignment leaves webs without base units."""


class BaseTooSmall(Exception):
    """What is live outside of regions does not fit into the base set, or both sets into a thread's registers."""


@dataclass(frozen=True)
class BaseSplit:
    """The assignment, with marks and moves as insertions, for a base set of so many units.

    `extended` units lie after it; 0 where the base set is enough, and there are no marks then.
    """

    assignment: Assignment = field(repr=False)
    regions: HeldRegions = field(repr=False)
    base: int
    extended: int
    n_moves: int


class BaseSplitter:
    """The splits of one function's registers, whatever the base; `gap` as in `RegionFinder`."""

    def __init__(self, ranges: Ranges, gap: int):
        self.ranges = ranges
        in_flight = in_flight_intervals(ranges)
        self._values = values_of(ranges, in_flight)
        self._state = SpillState(ranges.n_points, self._values)
        self.demand = self._state.demand("general")
        self._finder = RegionFinder(ranges.cfg, self.demand.tolist(), gap)
        registers = ranges.function.registers
        self._fixed = in_flight.keys() | ranges.at_entry
        self._can_move = [registers[k].bits in _COPIED_BITS for k in ranges.register]
        self._copies = [*copies_of(ranges)]
        depth = loops_of(ranges.cfg).depth
        self._weight = [8 ** depth(block) for block in ranges.cfg.block_of]

    @property
    def most(self) -> int:
        """The most units that are in use at a point."""
        return int(self.demand.max(initial=0))

    def split(self, base: int) -> BaseSplit:
        """Raises `MustNotHold` and `BaseTooSmall`, where only a larger base is possible."""
        regions = self._finder.regions(base)
        pieces = _Pieces(self, regions)
        pieces.relieve(base)
        for _ in range(_MOST_ROUNDS):
            tuples = pieces.base_tuples()
            found = linear_scan(tuples, self.ranges.n_points, base, self._copies)
            if not found.unallocated:
                return self._result(base, regions, pieces, tuples, found)
            if not pieces.split_more(one.members[0].web for one in found.unallocated):
                break
        raise BaseTooSmall

    def _result(
        self,
        base: int,
        regions: HeldRegions,
        pieces: "_Pieces",
        tuples: Sequence[RegisterTuple],
        in_base: Allocation,
    ) -> BaseSplit:
        n_points = self.ranges.n_points
        placed = [msgspec.structs.replace(one, fixed=in_base.unit[one.members[0].web]) for one in tuples]
        everything = [*placed, *pieces.inside_tuples()]
        found = linear_scan(everything, n_points, GENERAL_LIMIT, self._copies)
        if found.unallocated:
            raise BaseTooSmall
        predicates = self._state.in_file("predicate")
        widths, intervals = self._values.width[predicates], self._values.intervals.at(predicates)
        in_predicates = linear_scan(
            Singles(predicates, widths, intervals), n_points, len(predicates), self._copies
        )
        state = SpillState(n_points, self._values)
        moves = pieces.insert(state)
        if found.n_units > base:
            for i in regions.acquires:
                state.insert_one(0, i, "acquire", 0, 0)
            for i in regions.releases:
                state.insert_one(2, i, "release", 0, 0)
        registers = self.ranges.function.registers
        head = sum(registers[k].units for k in range(len(registers.head)))
        used = {"head": head, "general": found.n_units, "predicate": in_predicates.n_units, "address": 0}
        assignment = Assignment(self.ranges, state, {**found.unit, **in_predicates.unit}, used, {}, 0)
        return BaseSplit(assignment, regions, base, max(0, found.n_units - base), moves)


class _Pieces:
    """The live intervals of every web, by region, and which of them are split off."""

    def __init__(self, splitter: BaseSplitter, regions: HeldRegions):
        self._of, self._regions = splitter, regions
        ranges, values = splitter.ranges, splitter._values
        self._region_at = np.repeat(np.array(regions.region, np.int64), 2)
        self._bounds = [0, *(np.flatnonzero(np.diff(self._region_at)) + 1).tolist(), ranges.n_points]
        self._webs = splitter._state.in_file("general").tolist()
        self._width = values.width.tolist()
        self.by_region: dict[int, dict[int, list[Interval]]] = {}
        for web, some in zip(self._webs, values.intervals.at(np.array(self._webs, np.int64)), strict=True):
            self.by_region[web] = self._divided(some)
        self.split: dict[tuple[int, int], int] = {}
        """By web and region, the number of the value that stands for it there."""

    def _divided(self, intervals: Sequence[Interval]) -> dict[int, list[Interval]]:
        """Live intervals by the region that they are in."""
        found: dict[int, list[Interval]] = {}
        for start, end in intervals:
            while start < end:
                stop = min(end, self._bounds[bisect_right(self._bounds, start)])
                found.setdefault(int(self._region_at[start]), []).append((start, stop))
                start = stop
        return found

    def _may_split(self, web: int) -> bool:
        pieces = self.by_region[web]
        of = self._of
        return OUTSIDE in pieces and len(pieces) > 1 and of._can_move[web] and web not in of._fixed

    def relieve(self, base: int) -> None:
        """Split webs until those with base units take no more than there are, or no other can be split."""
        demand = np.zeros(len(self._region_at) + 1, np.int64)
        for web, pieces in self.by_region.items():
            if OUTSIDE in pieces:
                for start, end in (pair for some in pieces.values() for pair in some):
                    demand[start:end] += self._width[web]
        stuck = np.zeros(len(demand), np.bool_)
        while True:
            crowded = np.where(stuck, 0, demand)
            point = int(crowded.argmax())
            if crowded[point] <= base:
                return
            region = int(self._region_at[point]) if point < len(self._region_at) else OUTSIDE
            candidates = [web for web in self._webs if self._is_candidate(web, region, point)]
            if not candidates:
                stuck[point] = True
                continue
            web = min(candidates, key=lambda w: (self._cost(w, region), -self._length(w, region), w))
            self._split(web, region)
            for start, end in self.by_region[web][region]:
                demand[start:end] -= self._width[web]

    def _is_candidate(self, web: int, region: int, point: int) -> bool:
        if region == OUTSIDE or (web, region) in self.split or not self._may_split(web):
            return False
        return any(start <= point < end for start, end in self.by_region[web].get(region, ()))

    def _length(self, web: int, region: int) -> int:
        return sum(end - start for start, end in self.by_region[web][region])

    def _cost(self, web: int, region: int) -> int:
        places = (*self._moves(web, region, True), *self._moves(web, region, False))
        return sum(self._of._weight[i] for i in places)

    def _moves(self, web: int, region: int, up: bool) -> Iterator[int]:
        """The marks of a region where a web is live: where it moves into the region's value, or out of it."""
        places = self._regions.acquires if up else self._regions.releases
        live = self.by_region[web].get(region if up else OUTSIDE, ())
        for i, at in places.items():
            if at == region and any(start <= 2 * i < end for start, end in live):
                yield i

    def _split(self, web: int, region: int) -> None:
        self.split[web, region] = len(self._of._values.width) + len(self.split)

    def split_more(self, webs: Iterator[int]) -> bool:
        """Split webs in all of their regions, where that is possible; whether it was for one."""
        n = len(self.split)
        for web in webs:
            if self._may_split(web):
                for region in self.by_region[web]:
                    if region != OUTSIDE and (web, region) not in self.split:
                        self._split(web, region)
        return len(self.split) > n

    def base_tuples(self) -> list[RegisterTuple]:
        """What needs base units: webs that are live outside of regions, without what is split off.

        The sources of all moves at an acquire mark are live together with their targets.
        """
        found: list[RegisterTuple] = []
        for web, pieces in self.by_region.items():
            if OUTSIDE not in pieces:
                continue
            kept = [
                pair for region, some in pieces.items() if (web, region) not in self.split for pair in some
            ]
            for region in pieces:
                if (web, region) in self.split:
                    kept += [(2 * i, 2 * i + 1) for i in self._moves(web, region, up=True)]
            found.append(self._tuple(web, web, kept))
        return found

    def inside_tuples(self) -> Iterator[RegisterTuple]:
        """What may be in the extended set: webs that live in regions only, and values that stand for others there."""
        for web, pieces in self.by_region.items():
            if OUTSIDE not in pieces and pieces:
                yield self._tuple(web, web, [pair for some in pieces.values() for pair in some])
        for (web, region), number in self.split.items():
            after = [(2 * i, 2 * i + 1) for i in self._moves(web, region, up=False)]
            yield self._tuple(number, web, [*self.by_region[web][region], *after])

    def _tuple(self, number: int, web: int, intervals: list[Interval]) -> RegisterTuple:
        width = self._width[web]
        (one,) = Singles(np.array([number]), np.array([width]), Intervals.of([_joined(intervals)]))
        return one

    def insert(self, state: SpillState) -> int:
        """Add the values and the moves; the number of moves."""
        n_moves = 0
        for (web, region), number in self.split.items():
            values = self._of._values
            intervals = Intervals.of([_joined(self.by_region[web][region])])
            state.add(ValueTable(values.file[[web]], values.width[[web]], intervals), np.ones(1, np.bool_))
            region_of = self._regions.region
            here = [i for i, _, _ in self._of.ranges.accesses[web] if region_of[i] == region]
            state.replace_at(web, here, number)
            places = [*self._moves(web, region, up=True)]
            for i in places:
                state.insert_one(1, i, "copy", number, web)
            back = [*self._moves(web, region, up=False)]
            for i in back:
                state.insert_one(1, i, "copy-back", number, web)
            n_moves += len(places) + len(back)
        return n_moves


def _joined(intervals: list[Interval]) -> list[Interval]:
    """Intervals in ascending order, those that touch as one."""
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
