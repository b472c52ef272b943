"""Who leaves the registers when there are too few: values, what they cost, and what stays of them.

For `assignment.py`. A *value* is what needs a place: at first every web is one. While more units of a file are live
somewhere than it has, the value that relieves most of these points at the least cost leaves:

* a constant one is computed anew before each of its reads, and its definition goes (`rematerialise.py`);
* a predicate becomes a word in the general file: saved behind its definitions, restored before its reads;
* any other goes to a slot in local memory: stored behind its definitions, loaded before its reads; in PTX under the
  guards of these, which keeps lanes from slots that they have not written.

What stays are *temporaries* of one instruction each, which never leave. The cost of an access is 8 to the power of
its loop depth; a value whose only crowded points are its own accesses gains nothing and stays.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, chapter 4 (spill everywhere, costs).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from ptxtool.analysis.ranges import Segment

Kind = Literal["slot", "word", "recipe"]
_FETCH: dict[Kind, Literal["load", "restore", "compute"]] = {
    "slot": "load",
    "word": "restore",
    "recipe": "compute",
}
_RECIPE_COST = 0.5
_DEEPEST = 6
_WEIGHTS = [8.0**depth for depth in range(_DEEPEST + 1)]
_ENOUGH = 0.8


Access = tuple[int, bool, bool]
"""An instruction, whether it reads a value, and whether it writes it."""


class Value(msgspec.Struct, gc=False):
    """What needs `width` units of a file at its segments. `left` says how it left; a temporary cannot."""

    file: str
    width: int
    segments: Sequence[Segment]
    is_temporary: bool = False
    left: Kind | None = None


class Webs(Protocol):
    """What spilling wants to know of the first values; nobody asks where everything fits."""

    def accesses(self, value: int) -> Sequence[Access]: ...

    def recipe(self, value: int) -> tuple[int, ...]: ...

    def shares_guard(self, instruction: int, writes: bool) -> bool:
        """Whether a load in front of an instruction, and a store behind it if it writes, may stand under its guard."""
        ...


@dataclass(frozen=True)
class Step:
    """One instruction to insert: between a temporary and a value that left, or what the value became.

    `kind` is "load", "store" (of a slot), "restore", "save" (of a predicate's word), "compute" (by the recipe), or
    "copy" (of a value that stays where it was for whoever reads it elsewhere). With `is_guarded` it stands under the
    guard of the instruction.
    """

    kind: Literal["load", "store", "restore", "save", "compute", "copy"]
    temporary: int
    value: int
    is_guarded: bool = False


@dataclass
class Tenancy:
    """The values of a function, and what must be inserted around its instructions.

    `temporary[v, i]` stands for a value that left at instruction i; `word[v]` is the general value of a predicate.
    """

    n_points: int
    values: list[Value]
    webs: Webs
    before: dict[int, list[Step]] = field(default_factory=dict)
    after: dict[int, list[Step]] = field(default_factory=dict)
    temporary: dict[tuple[int, int], int] = field(default_factory=dict)
    word: dict[int, int] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    _predicate: dict[int, int] = field(default_factory=dict)
    _numbers: dict[str, list[int]] = field(default_factory=dict)  # by file

    def __post_init__(self) -> None:
        for number, value in enumerate(self.values):
            self._numbers.setdefault(value.file, []).append(number)

    def at(self, value: int, instruction: int) -> int:
        """What stands for a value at an instruction."""
        return self.temporary.get((value, instruction), value) if self.temporary else value

    def accesses(self, value: int) -> Sequence[Access]:
        """The accesses of a value that is no temporary; a word's are its predicate's."""
        return self.webs.accesses(self._predicate.get(value, value))

    def recipe(self, value: int) -> tuple[int, ...]:
        """How to compute a value anew, () if it cannot be."""
        return () if value in self._predicate else self.webs.recipe(value)

    def in_file(self, file: str) -> Iterator[tuple[int, Value]]:
        """The values that need places in a file, with their numbers."""
        for number in self._numbers.get(file, ()):
            value = self.values[number]
            if value.left is None:
                yield number, value

    def demand(self, file: str) -> npt.NDArray[np.int64]:
        """The units of a file in use at every point."""
        change = [0] * (self.n_points + 1)
        for _, value in self.in_file(file):
            width = value.width
            for start, end in value.segments:
                change[start] += width
                change[end] -= width
        return np.cumsum(change, dtype=np.int64)[:-1]

    def _add(self, value: Value) -> int:
        self.values.append(value)
        self._numbers.setdefault(value.file, []).append(len(self.values) - 1)
        return len(self.values) - 1

    def leave(self, number: int) -> list[int]:
        """Take a value out of its file; the temporaries that stay of it."""
        value, accesses = self.values[number], self.accesses(number)
        value.left = "recipe" if self.recipe(number) else "word" if value.file == "predicate" else "slot"
        if value.left == "word":
            word = self.word[number] = self._add(Value("general", 1, value.segments))
            self._predicate[word] = number
        made: list[int] = []
        for i, reads, writes in accesses:
            if value.left == "recipe" and writes:
                self.dropped.add(i)
                continue
            span = (2 * i + (not reads), 2 * i + 1 + writes)
            temporary = self._add(Value(value.file, value.width, (span,), is_temporary=True))
            self.temporary[number, i] = temporary
            made.append(temporary)
            is_slot = value.left == "slot"
            is_guarded = is_slot and number not in self._predicate and self.webs.shares_guard(i, writes)
            if reads:
                # what a restored predicate's word needs comes before it, what stands under a predicate behind
                steps = self.before.setdefault(i, [])
                place = len(steps) if is_guarded else 0
                steps.insert(place, Step(_FETCH[value.left], temporary, number, is_guarded))
            if writes:
                kind: Literal["store", "save"] = "store" if is_slot else "save"
                self.after.setdefault(i, []).append(Step(kind, temporary, number, is_guarded))
        return made


def relieve(
    tenancy: Tenancy,
    file: str,
    limit: int,
    depth_at: Callable[[int], int],
    may_leave: Callable[[int], bool],
) -> npt.NDArray[np.int64] | None:
    """Let values leave a file until at most `limit` units are live everywhere; the demand then, None if it cannot be.

    The best by its score leaves, one after the other; all are ranked anew as soon as one gains less than it promised.
    """
    demand = tenancy.demand(file)
    candidates: _Candidates | None = None
    while demand.max(initial=0) > limit:
        candidates = candidates or _Candidates(tenancy, file, depth_at, may_leave)
        n_left = 0
        for candidate, promised in candidates.ranked(demand > limit):
            number = candidates.numbers[candidate]
            value = tenancy.values[number]
            gained = -np.count_nonzero(demand[_kept_points(tenancy, number)] > limit)
            gained += sum([np.count_nonzero(demand[start:end] > limit) for start, end in value.segments])
            if gained < _ENOUGH * promised:  # those behind it may be better now
                break
            candidates.leave(candidate)
            for start, end in value.segments:
                demand[start:end] -= value.width
            stay = [point for t in tenancy.leave(number) for point in range(*tenancy.values[t].segments[0])]
            demand[stay] += value.width  # they are of one instruction each, so no point is there twice
            n_left += 1
        if not n_left:
            return None
    return demand


def _kept_points(tenancy: Tenancy, number: int) -> list[int]:
    """The points at which a value takes a place even if it leaves."""
    points: list[int] = []
    recipe = tenancy.recipe(number)
    for i, reads, writes in tenancy.accesses(number):
        if reads:
            points.append(2 * i)
        if writes and not recipe:
            points.append(2 * i + 1)
    return points


class _Candidates:
    """The values that may leave a file, as arrays: what leaving costs, and how many crowded points it relieves."""

    def __init__(
        self,
        tenancy: Tenancy,
        file: str,
        depth_at: Callable[[int], int],
        may_leave: Callable[[int], bool],
    ):
        weights = [_WEIGHTS[min(depth_at(i), _DEEPEST)] for i in range(tenancy.n_points // 2)]
        self.numbers = [n for n, v in tenancy.in_file(file) if not v.is_temporary and may_leave(n)]
        segments: list[int] = []  # place among the candidates, start, end; one after the other
        kept: list[int] = []  # place, point
        costs: list[float] = []
        for place, n in enumerate(self.numbers):
            for start, end in tenancy.values[n].segments:
                segments += (place, start, end)
            n_computed = len(tenancy.recipe(n))
            cost = 0.0
            for i, reads, writes in tenancy.accesses(n):
                if reads:
                    kept += (place, 2 * i)
                if n_computed:
                    cost += n_computed * _RECIPE_COST * weights[i] * reads
                else:
                    if writes:
                        kept += (place, 2 * i + 1)
                    cost += (reads + writes) * weights[i]
            costs.append(cost)
        self._segments = np.array(segments, np.int64).reshape(-1, 3).T
        self._kept = np.array(kept, np.int64).reshape(-1, 2).T
        self._costs = np.array(costs)
        self._is_here = np.ones(len(costs), np.bool_)
        self._widths = np.array([tenancy.values[n].width for n in self.numbers])

    def ranked(self, crowded: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """The candidates that relieve crowded points, the cheapest per point first, and how many points it is."""
        before = np.concatenate(([0], np.cumsum(crowded)))
        n = len(self.numbers)
        place, start, end = self._segments
        relieved = np.bincount(place, before[end] - before[start], n)
        place, point = self._kept
        relieved -= np.bincount(place, crowded[point], n)
        useful = np.flatnonzero((relieved > 0) & self._is_here)
        score = self._costs[useful] / (relieved[useful] * self._widths[useful])
        for k in useful[np.argsort(score, kind="stable")]:
            yield int(k), int(relieved[k])

    def leave(self, place: int) -> None:
        self._is_here[place] = False
