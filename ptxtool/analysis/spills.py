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

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from ptxtool.analysis.accesses import Access, Accesses, Numbers, Segment

Kind = Literal["slot", "word", "recipe"]
_FETCH: dict[Kind, Literal["load", "restore", "compute"]] = {
    "slot": "load",
    "word": "restore",
    "recipe": "compute",
}
_STORE: dict[Kind, Literal["store", "save"]] = {"slot": "store", "word": "save", "recipe": "save"}
_RECIPE_COST = 0.5
_DEEPEST = 6
_ENOUGH = 0.8
_FEW = 64


class Value(msgspec.Struct, gc=False):
    """What needs `width` units of a file at its segments. `left` says how it left; a temporary cannot."""

    file: str
    width: int
    segments: Sequence[Segment]
    is_temporary: bool = False
    left: Kind | None = None


class Webs(Protocol):
    """What spilling wants to know of the first values; nobody asks where everything fits."""

    @property
    def accesses(self) -> Accesses: ...

    @property
    def recipes(self) -> Mapping[int, tuple[int, ...]]:
        """How to compute the constant ones anew."""
        ...

    def shares_guard(self, instruction: int, writes: bool) -> bool:
        """Whether a load in front of an instruction, and a store behind it if it writes, may stand under its guard."""
        ...


class Step(msgspec.Struct, frozen=True, gc=False):
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

    `temporary[v, i]` stands for a value that left at instruction i; `word[v]` is the general value of a predicate,
    `left` are the values that left, by how they did.
    """

    n_points: int
    values: list[Value]
    webs: Webs
    before: dict[int, list[Step]] = field(default_factory=dict)
    after: dict[int, list[Step]] = field(default_factory=dict)
    temporary: dict[tuple[int, int], int] = field(default_factory=dict)
    word: dict[int, int] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    left: dict[Kind, list[int]] = field(default_factory=lambda: {"slot": [], "word": [], "recipe": []})
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
        return self.webs.accesses[self._predicate.get(value, value)]

    def webs_of(self, values: Sequence[int]) -> Numbers:
        """The webs whose accesses are those of values; for each one at most."""
        return np.array([self._predicate.get(value, value) for value in values], np.int64)

    def recipe(self, value: int) -> tuple[int, ...]:
        """How to compute a value anew, () if it cannot be."""
        return self.webs.recipes.get(value, ())

    def in_file(self, file: str) -> Iterator[tuple[int, Value]]:
        """The values that need places in a file, with their numbers."""
        for number in self._numbers.get(file, ()):
            value = self.values[number]
            if value.left is None:
                yield number, value

    def demand(self, file: str) -> npt.NDArray[np.int32]:
        """The units of a file in use at every point."""
        change = [0] * (self.n_points + 1)
        for _, value in self.in_file(file):
            width = value.width
            for start, end in value.segments:
                change[start] += width
                change[end] -= width
        return np.cumsum(change, dtype=np.int32)[:-1]

    def _add(self, value: Value) -> int:
        self.values.append(value)
        self._numbers.setdefault(value.file, []).append(len(self.values) - 1)
        return len(self.values) - 1

    def leave(self, number: int) -> list[int]:
        """Take a value out of its file; the temporaries that stay of it."""
        value, accesses = self.values[number], self.accesses(number)
        is_recipe = bool(self.recipe(number))
        kind: Kind = "recipe" if is_recipe else "word" if value.file == "predicate" else "slot"
        value.left = kind
        self.left[kind].append(number)
        if kind == "word":
            word = self.word[number] = self._add(Value("general", 1, value.segments))
            self._predicate[word] = number
        may_be_guarded = kind == "slot" and number not in self._predicate
        fetch, store = _FETCH[kind], _STORE[kind]
        values, before, after, shares_guard = self.values, self.before, self.after, self.webs.shares_guard
        made: list[int] = []
        for i, reads, writes in accesses:
            if is_recipe and writes:
                self.dropped.add(i)
                continue
            span = (2 * i + (not reads), 2 * i + 1 + writes)
            temporary = len(values)
            values.append(Value(value.file, value.width, (span,), is_temporary=True))
            self.temporary[number, i] = temporary
            made.append(temporary)
            is_guarded = may_be_guarded and shares_guard(i, writes)
            if reads:
                step = Step(fetch, temporary, number, is_guarded)
                steps = before.get(i)
                if steps is None:
                    before[i] = [step]
                else:
                    # what a restored predicate's word needs comes before it, what stands under a predicate behind
                    steps.insert(len(steps) if is_guarded else 0, step)
            if writes:
                after.setdefault(i, []).append(Step(store, temporary, number, is_guarded))
        self._numbers[value.file] += made
        return made


class Relief:
    """Lets values leave a file, until what is live fits.

    `demand` are the units in use at every point. The values of `staying` may not leave; `depths` makes the loop depths
    of all instructions, for which nobody asks where everything fits.
    """

    def __init__(
        self, tenancy: Tenancy, file: str, depths: Callable[[], Sequence[int]], staying: Container[int]
    ):
        self.demand = tenancy.demand(file)
        self._tenancy = tenancy
        self._file = file
        self._depths = depths
        self._staying = staying

    def most(self) -> int:
        """The most units in use at a point."""
        return int(self.demand.max(initial=0))

    def to(self, limit: int) -> bool:
        """Let values leave until at most `limit` units are live everywhere; False if it cannot be.

        The best by its score leaves, one after the other; all are ranked anew as soon as one gains less than promised.
        """
        tenancy, demand = self._tenancy, self.demand
        while demand.max(initial=0) > limit:
            crowded, candidates = demand > limit, self._candidates
            n_left = 0
            for candidate, promised in candidates.ranked(crowded):
                number = candidates.numbers[candidate]
                value, kept = tenancy.values[number], candidates.kept(candidate)
                parts = [(demand[start:end], crowded[start:end]) for start, end in value.segments]
                gained = -np.count_nonzero(crowded[kept])
                for _, crowd in parts:
                    gained += np.count_nonzero(crowd)
                if gained < _ENOUGH * promised:  # those behind it may be better now
                    break
                candidates.leave(candidate)
                tenancy.leave(number)
                for part, _ in parts:
                    part -= value.width
                demand[kept] += value.width
                for part, crowd in parts:
                    np.greater(part, limit, out=crowd)
                n_left += 1
            if not n_left:
                return False
        return True

    @cached_property
    def _candidates(self) -> "_Candidates":
        return _Candidates(self._tenancy, self._file, self._depths(), self._staying)


class _Candidates:
    """The values that may leave a file, as arrays: what leaving costs, and how many crowded points it relieves."""

    def __init__(self, tenancy: Tenancy, file: str, depths: Sequence[int], staying: Container[int]):
        self.numbers = [n for n, v in tenancy.in_file(file) if not v.is_temporary and n not in staying]
        values, n = tenancy.values, len(self.numbers)
        segments = [values[number].segments for number in self.numbers]
        points = np.fromiter(chain.from_iterable(chain.from_iterable(segments)), np.int64)
        self._start, self._end = points[::2], points[1::2]
        n_segments = np.array([len(some) for some in segments], np.int64)
        self._place = np.repeat(np.arange(n), n_segments)  # of segments, a candidate's
        self._widths = np.array([values[number].width for number in self.numbers], np.int64)
        self._is_here = np.ones(n, np.bool_)

        accesses = tenancy.webs.accesses
        first = np.array(accesses.first)
        webs = tenancy.webs_of(self.numbers)
        counts = first[webs + 1] - first[webs]
        place = np.repeat(np.arange(n), counts)
        # the accesses of the first candidate, of the second one, ...
        index = np.arange(len(place)) + (first[webs] - np.cumsum(counts) + counts)[place]
        instruction, reads, writes = (
            a[index] for a in (accesses.instruction, accesses.reads, accesses.writes)
        )
        recipes = tenancy.webs.recipes
        n_computed = np.array([len(recipes.get(number, ())) for number in self.numbers], np.int64)[place]
        weights = 8.0 ** np.minimum(np.array(depths, np.int64), _DEEPEST)
        per_access = np.where(n_computed > 0, n_computed * _RECIPE_COST * reads, reads + 1.0 * writes)
        self._costs = np.bincount(place, per_access * weights[instruction], n)
        # the points at which a candidate takes a place even if it leaves
        stays = np.stack((reads, writes & (n_computed == 0)), axis=1)
        self._kept: Numbers = (2 * instruction[:, None] + (0, 1))[stays]
        self._kept_place = np.stack((place, place), axis=1)[stays]
        self._first_kept = np.searchsorted(self._kept_place, np.arange(n + 1)).tolist()

    def kept(self, place: int) -> Numbers:
        """The points at which a candidate takes a place even if it leaves."""
        return self._kept[self._first_kept[place] : self._first_kept[place + 1]]

    def ranked(self, crowded: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """The candidates that relieve crowded points, the cheapest per point first, and how many points it is."""
        before = np.concatenate(([0], np.cumsum(crowded)))
        n = len(self.numbers)
        relieved = np.bincount(self._place, before[self._end] - before[self._start], n)
        relieved -= np.bincount(self._kept_place[crowded[self._kept]], None, n)
        useful = np.flatnonzero((relieved > 0) & self._is_here)
        score = self._costs[useful] / (relieved[useful] * self._widths[useful])
        while len(useful):  # a few at a time: seldom more are wanted before all are ranked anew
            bound = np.partition(score, min(_FEW, len(score)) - 1)[min(_FEW, len(score)) - 1]
            is_next = score <= bound
            best = useful[is_next][np.argsort(score[is_next], kind="stable")]
            yield from zip(best.tolist(), relieved[best].tolist(), strict=True)
            useful, score = useful[~is_next], score[~is_next]

    def leave(self, place: int) -> None:
        self._is_here[place] = False
