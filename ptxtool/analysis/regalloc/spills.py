"""Who leaves the registers when there are too few: values, what they cost, and what stays of them.

For `assignment.py`. A *value* is what needs a place: at first every web is one. While more units of a file are live
somewhere than it has, the value that relieves most of these points at the least cost leaves:

* a constant one is computed anew before each of its reads, and its definition goes (`rematerialise.py`);
* a predicate becomes a word in the general file: saved behind its definitions, restored before its reads;
* any other goes to a slot in local memory: stored behind its definitions, loaded before its reads; in PTX under the
  guards of these, which keeps lanes from slots that they have not written.

What stays are *temporaries*, which never leave: of one instruction each, or of several of one block, where there is
room for the value between them, the shortest ways first. The cost of an access is 8 to the power of its loop depth; a
value whose only crowded points are its own accesses gains nothing and stays.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, chapter 4 (spill everywhere, costs).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Access, Accesses, Flags, Numbers, Segment, Segments, rows
from ptxtool.analysis.regalloc.linear_scan import units_in_use

FILES = ("general", "predicate", "address", "head")
"""The files that values are in. Registers of a function's head stand apart."""
Kind = Literal["slot", "word", "recipe"]
StepKind = Literal["load", "restore", "compute", "store", "save", "copy"]
_STEPS: tuple[StepKind, ...] = ("load", "restore", "compute", "store", "save", "copy")
_KINDS: tuple[Kind, ...] = ("slot", "word", "recipe")
_FETCH = {"slot": _STEPS.index("load"), "word": _STEPS.index("restore"), "recipe": _STEPS.index("compute")}
_STORE = {"slot": _STEPS.index("store"), "word": _STEPS.index("save"), "recipe": _STEPS.index("save")}
_RECIPE_COST = 0.5
_DEEPEST = 6
_ENOUGH = 0.8
_FEW = 64


class Values(NamedTuple):
    """What needs `width` units of a file (its place in `FILES`) at its segments, by number, in columns."""

    file: npt.NDArray[np.int8]
    width: Numbers
    segments: Segments


def words(segments: Segments) -> Values:
    """Values of one unit of the general file."""
    n = len(segments)
    return Values(np.full(n, FILES.index("general"), np.int8), np.ones(n, np.int64), segments)


class Webs(Protocol):
    """What spilling wants to know of the first values; nobody asks where everything fits."""

    @property
    def accesses(self) -> Accesses: ...

    @property
    def block_of(self) -> Numbers:
        """The block of every instruction."""
        ...

    @property
    def recipes(self) -> Mapping[int, tuple[int, ...]]:
        """How to compute the constant ones anew."""
        ...

    def shares_guard(self, instruction: Numbers, writes: Flags) -> Flags:
        """Per access whether a load in front of the instruction, and a store behind it if it writes, may stand under
        its guard."""
        ...


Step = tuple[int, bool, StepKind, int, int, bool]
"""An instruction to insert: between a temporary and a value that left, or what the value became.

In order: the instruction that it stands at, whether it stands behind it, its kind, the temporary, the value, and
whether it stands under the guard of the instruction. The kinds are "load" and "store" (of a slot), "restore" and "save"
(of a predicate's word), "compute" (by the recipe), "copy" (of a value that stays where it was for others that read it).
"""


class Tenancy:
    """The values of a function, and what must be inserted around its instructions.

    `temporary[v, i]` stands for a value that left at instruction i; `word[v]` is the general value of a predicate,
    `left` are the values that left, by how they did, `dropped` instructions that are not needed any more.
    """

    def __init__(self, n_points: int, values: Values, webs: Webs):
        self.n_points = n_points
        self.webs = webs
        self.temporary: dict[tuple[int, int], int] = {}
        self.word: dict[int, int] = {}
        self.dropped: set[int] = set()
        self.left: dict[Kind, list[int]] = {kind: [] for kind in _KINDS}
        self._values = values
        self._is_temporary, self._has_left = np.zeros((2, len(values.width)), np.bool_)
        self._predicate: dict[int, int] = {}
        self._steps: list[npt.NDArray[np.int64]] = []  # as `Step`, behind the places that they are sorted by

    @property
    def values(self) -> Values:
        """All of them; the webs come first."""
        return self._values

    @property
    def steps(self) -> Iterable[Step]:
        """By instruction, those before it first, in the order in which they stand in the text."""
        if not self._steps:
            return ()
        rank, instruction, behind, kind, temporary, value, guarded = np.concatenate(self._steps, axis=1)
        order = np.lexsort((rank, behind, instruction))
        kinds = [_STEPS[k] for k in kind[order].tolist()]
        places, what = (instruction, behind > 0), (temporary, value, guarded > 0)
        return zip(
            *(c[order].tolist() for c in places), kinds, *(c[order].tolist() for c in what), strict=True
        )

    @property
    def n_steps(self) -> int:
        """How many there are."""
        return sum(some.shape[1] for some in self._steps)

    def at(self, value: int, instruction: int) -> int:
        """What stands for a value at an instruction."""
        return self.temporary.get((value, instruction), value) if self.temporary else value

    def file(self, value: int) -> str:
        """The file that a value is in, or was before it left."""
        return FILES[self._values.file[value]]

    def accesses(self, value: int) -> Sequence[Access]:
        """The accesses of a value that is no temporary; a word's are its predicate's."""
        return self.webs.accesses[self._predicate.get(value, value)]

    def webs_of(self, values: Numbers) -> Numbers:
        """The webs whose accesses are those of values; for each one at most."""
        webs = np.arange(len(self._values.width))
        webs[[*self._predicate]] = [*self._predicate.values()]
        return webs[values]

    def recipe(self, value: int) -> tuple[int, ...]:
        """How to compute a value anew, () if it cannot be."""
        return self.webs.recipes.get(value, ())

    def in_file(self, file: str, temporaries: bool = True) -> Numbers:
        """The values that need places in a file."""
        is_here = (self._values.file == FILES.index(file)) & ~self._has_left
        return np.flatnonzero(is_here if temporaries else is_here & ~self._is_temporary)

    def demand(self, file: str) -> npt.NDArray[np.int32]:
        """The units of a file in use at every point."""
        numbers = self.in_file(file)
        return units_in_use(self._values.width[numbers], self._values.segments.at(numbers), self.n_points)

    def copy(self, value: int, instruction: int, accesses: Iterable[int]) -> int:
        """Let a copy that is made before an instruction stand for a value where these access it; its number."""
        number = len(self._values.width)
        nothing = np.empty(0, np.int64)
        nowhere = Segments(nothing, nothing, np.zeros(2, np.int64))
        self._add(self._values.file[[value]], self._values.width[[value]], nowhere)
        self.temporary.update({(value, i): number for i in accesses})
        self._steps.append(
            np.array([[0], [instruction], [0], [_STEPS.index("copy")], [number], [value], [0]])
        )
        return number

    def _add(
        self,
        file: npt.NDArray[np.int8],
        width: Numbers,
        segments: Segments,
        is_temporary: Flags | bool = True,
    ) -> None:
        old, n = self._values, len(width)
        self._values = Values(
            np.append(old.file, file), np.append(old.width, width), old.segments.joined(segments)
        )
        self._has_left = np.append(self._has_left, np.zeros(n, np.bool_))
        self._is_temporary = np.append(self._is_temporary, np.broadcast_to(is_temporary, n))

    def leave(self, numbers: Sequence[int], room: "Room | None" = None) -> None:
        """Take values out of their file, one after the other.

        What stays are temporaries for all accesses but writes of constants, which are dropped, and the word of a
        predicate, which comes before its temporaries. An access needs none of its own where the one of the access
        before it finds `room` to stay.
        """
        values = self._values
        which, n_old = np.array(numbers, np.int64), len(values.width)
        is_recipe = np.array([number in self.webs.recipes for number in numbers], np.bool_)
        is_word = (values.file[which] == FILES.index("predicate")) & ~is_recipe
        kinds = np.where(is_recipe, _KINDS.index("recipe"), np.where(is_word, _KINDS.index("word"), 0))
        for number, kind in zip(numbers, kinds.tolist(), strict=True):
            self.left[_KINDS[kind]].append(number)
        self._has_left[which] = True
        may_be_guarded = (kinds == 0) & np.array([n not in self._predicate for n in numbers], np.bool_)
        left = self._accesses_of(which, is_recipe, may_be_guarded)
        is_first = ~self._joined(left, values.width[which], room)

        # the new values: of one that leaves perhaps a word, and its temporaries, one for every first access
        n_new = np.bincount(left.owner[is_first], minlength=len(which)) + is_word
        place_of_word = (np.cumsum(n_new) - n_new)[is_word]
        is_temporary = np.ones(int(n_new.sum()), np.bool_)
        is_temporary[place_of_word] = False
        source = np.repeat(which, n_new)
        file, width = values.file[source], values.width[source]
        file[place_of_word], width[place_of_word] = FILES.index("general"), 1
        is_last = np.append(is_first[1:], True)[: len(is_first)]
        start, end = left.start[is_first], left.end[is_last]
        segments = _in_turn(is_temporary, values.segments.at(which[is_word]), start, end)
        self._add(file, width, segments, is_temporary)
        self.word.update(zip(which[is_word].tolist(), (n_old + place_of_word).tolist(), strict=True))
        self._predicate = {word: predicate for predicate, word in self.word.items()}

        temporary = (n_old + np.flatnonzero(is_temporary))[np.cumsum(is_first) - 1]  # of every access
        gone = which[left.owner]
        pairs = zip(gone.tolist(), left.instruction.tolist(), strict=True)
        self.temporary.update(zip(pairs, temporary.tolist(), strict=True))
        # what a restored predicate's word needs comes before it, what stands under a predicate behind
        turn = np.arange(len(gone)) + self.n_steps
        before = np.where(left.guarded, turn, -1 - turn)
        sides = ((left.reads & is_first, before, _FETCH), (left.writes, turn, _STORE))
        for side, rank, steps in sides:
            kind = np.array([steps[kind] for kind in _KINDS])[kinds[left.owner]]
            behind = np.full(len(gone), steps is _STORE)
            columns = (rank, left.instruction, behind, kind, temporary, gone, left.guarded)
            self._steps.append(np.stack([column[side] for column in columns]).astype(np.int64))

    def _accesses_of(self, which: Numbers, is_recipe: Flags, may_be_guarded: Flags) -> "_Left":
        """The accesses of values that leave; writes of constants are dropped."""
        accesses = self.webs.accesses
        index, first = rows(accesses.first, self.webs_of(which))
        owner = np.repeat(np.arange(len(which)), np.diff(first))
        is_dropped = is_recipe[owner] & accesses.writes[index]
        self.dropped.update(accesses.instruction[index[is_dropped]].tolist())
        index, owner = index[~is_dropped], owner[~is_dropped]
        instruction, writes = accesses.instruction[index], accesses.writes[index]
        guarded = may_be_guarded[owner] & self.webs.shares_guard(instruction, writes)
        return _Left(owner, instruction, accesses.reads[index], writes, guarded)

    def _joined(self, left: "_Left", width: Numbers, room: "Room | None") -> Flags:
        """The accesses for which the temporary of the one before them stays.

        It has the value in all lanes if it was not loaded or stored under a guard. What defines a constant may go, with
        all that is inserted there.
        """
        joined = np.zeros(len(left.owner), np.bool_)
        if room is not None and len(joined):
            block = self.webs.block_of[left.instruction]
            may_join = (left.owner[1:] == left.owner[:-1]) & (block[1:] == block[:-1]) & left.reads[1:]
            may_go = np.isin(left.instruction, [recipe[-1] for recipe in self.webs.recipes.values()])
            pairs = np.flatnonzero(may_join & ~(left.guarded | may_go)[:-1])
            start, end = left.end[pairs], left.start[pairs + 1]
            order = np.argsort((end - start) / room.weights[left.instruction[pairs + 1]], kind="stable")
            columns = (pairs + 1, start, end, width[left.owner[pairs]])
            for place, first, last, units in zip(
                *(column[order].tolist() for column in columns), strict=True
            ):
                joined[place] = room.take(first, last, units)
        return joined


class _Left(NamedTuple):
    """Accesses of values that leave, in columns: of which of them, where, how, and whether under a guard."""

    owner: Numbers
    instruction: Numbers
    reads: Flags
    writes: Flags
    guarded: Flags

    @property
    def start(self) -> Numbers:
        """The points from which on, and to which, they need a place."""
        return 2 * self.instruction + ~self.reads

    @property
    def end(self) -> Numbers:
        return 2 * self.instruction + 1 + self.writes


def _in_turn(is_single: Flags, others: Segments, start: Numbers, end: Numbers) -> Segments:
    """Segments of values of which some have one, with that start and end, and the `others` theirs."""
    counts = np.ones(len(is_single), np.int64)
    counts[~is_single] = others.counts
    of_single = np.repeat(is_single, counts)
    starts, ends = np.empty((2, len(of_single)), np.int64)
    starts[of_single], ends[of_single] = start, end
    starts[~of_single], ends[~of_single] = others.start, others.end
    return Segments(starts, ends, np.append(0, np.cumsum(counts)))


class Room:
    """Where a file has units left, up to a limit. `weights` says how dear an access of every instruction is."""

    def __init__(self, demand: npt.NDArray[np.int32], limit: int, weights: npt.NDArray[np.float64]):
        self.weights = weights
        self._demand = demand
        self._units = demand.data  # for single points, where it is quicker
        self._limit = limit

    def take(self, start: int, end: int, width: int) -> bool:
        """Use units from one point to another, if there are enough."""
        if end - start == 1:
            has_room = self._units[start] + width <= self._limit
            self._units[start] += width * has_room
            return has_room
        part = self._demand[start:end]
        if part.max(initial=0) + width > self._limit:
            return False
        part += width
        return True


class Relief:
    """Lets values leave a file, until what is live fits.

    `demand` are the units in use at every point. The values of `staying` may not leave; `depths` makes the loop depths
    of all instructions, for which nobody asks where everything fits. With `may_join` temporaries may stay from one
    instruction to another.
    """

    def __init__(
        self,
        tenancy: Tenancy,
        file: str,
        depths: Callable[[], Sequence[int]],
        staying: Collection[int],
        may_join: bool = True,
    ):
        self.demand = tenancy.demand(file)
        self._may_join = may_join
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
        demand = self.demand
        candidates: _Candidates | None = None
        gone: list[int] = []
        units = demand.data  # for single points, where it is quicker
        while demand.max(initial=0) > limit:
            if candidates is None:
                candidates = _Candidates(self._tenancy, self._file, self._weights, self._staying)
            crowded = demand > limit
            is_crowded = crowded.data
            n_gone = len(gone)
            for candidate, promised in candidates.ranked(crowded):
                kept = candidates.kept(candidate)
                parts = [
                    (demand[start:end], crowded[start:end]) for start, end in candidates.spans(candidate)
                ]
                gained = sum([int(np.count_nonzero(crowd)) for _, crowd in parts])
                gained -= sum([is_crowded[point] for point in kept])
                if gained < _ENOUGH * promised:  # those behind it may be better now
                    break
                gone.append(candidates.leave(candidate))
                width = candidates.widths[candidate]
                for part, _ in parts:
                    part -= width
                for point in kept:
                    units[point] += width
                for part, crowd in parts:
                    np.greater(part, limit, out=crowd)
            if len(gone) == n_gone:
                break
        if gone:
            room = Room(demand, limit, self._weights) if self._may_join else None
            self._tenancy.leave(gone, room)
        return bool(demand.max(initial=0) <= limit)

    @cached_property
    def _weights(self) -> npt.NDArray[np.float64]:
        """By instruction."""
        weights: npt.NDArray[np.float64] = 8.0 ** np.minimum(np.array(self._depths(), np.int64), _DEEPEST)
        return weights


class _Candidates:
    """The values that may leave a file, as arrays: what leaving costs, and how many crowded points it relieves.

    Points only become less crowded while values leave: who relieves none of them is forgotten.
    """

    def __init__(
        self, tenancy: Tenancy, file: str, weights: npt.NDArray[np.float64], staying: Collection[int]
    ):
        numbers = tenancy.in_file(file, temporaries=False)
        numbers = numbers[~np.isin(numbers, np.array([*staying], np.int64))]
        n = len(numbers)
        accesses = tenancy.webs.accesses
        index, first = rows(accesses.first, tenancy.webs_of(numbers))
        place = np.repeat(np.arange(n), np.diff(first))
        instruction, reads, writes = (
            column[index] for column in (accesses.instruction, accesses.reads, accesses.writes)
        )
        length = np.zeros(len(tenancy.values.width), np.int64)
        for number, recipe in tenancy.webs.recipes.items():
            length[number] = len(recipe)
        n_computed = length[numbers][place]
        per_access = np.where(n_computed > 0, n_computed * _RECIPE_COST * reads, reads + 1.0 * writes)
        costs = np.bincount(place, per_access * weights[instruction], n).astype(np.float64)
        # the points at which a candidate takes a place even if it leaves
        stays = np.stack((reads, writes & (n_computed == 0)), axis=1)
        kept: Numbers = (2 * instruction[:, None] + (0, 1))[stays]
        kept_place = np.stack((place, place), axis=1)[stays]
        first_kept = np.searchsorted(kept_place, np.arange(n + 1))
        self._set(
            numbers,
            tenancy.values.segments.at(numbers),
            tenancy.values.width[numbers],
            costs,
            kept,
            first_kept,
        )

    def _set(
        self,
        numbers: Numbers,
        segments: Segments,
        widths: Numbers,
        costs: npt.NDArray[np.float64],
        kept: Numbers,
        first_kept: Numbers,
    ) -> None:
        self._columns = numbers, segments, widths, costs, kept, first_kept
        self._is_here = np.ones(len(numbers), np.bool_)
        # the same as lists, for one after the other
        self._numbers: list[int] = numbers.tolist()
        self.widths: list[int] = widths.tolist()
        self._spans = [*zip(segments.start.tolist(), segments.end.tolist(), strict=True)]
        self._first_span: list[int] = segments.first.tolist()
        self._kept: list[int] = kept.tolist()
        self._first_kept: list[int] = first_kept.tolist()

    def _keep(self, places: Numbers) -> None:
        """Forget all others."""
        numbers, segments, widths, costs, kept, first_kept = self._columns
        index, first = rows(first_kept, places)
        self._set(numbers[places], segments.at(places), widths[places], costs[places], kept[index], first)

    def spans(self, place: int) -> list[Segment]:
        """The segments of a candidate."""
        return self._spans[self._first_span[place] : self._first_span[place + 1]]

    def kept(self, place: int) -> list[int]:
        """The points at which a candidate takes a place even if it leaves."""
        return self._kept[self._first_kept[place] : self._first_kept[place + 1]]

    def _relieved(self, crowded: npt.NDArray[np.bool_]) -> Numbers:
        """How many crowded points each of those that are here relieves."""
        _, segments, *_, kept, first_kept = self._columns
        before = np.append(0, np.cumsum(crowded))
        crossed = np.append(0, np.cumsum(before[segments.end] - before[segments.start]))
        staying = np.append(0, np.cumsum(crowded.take(kept).astype(np.int64)))
        relieved: Numbers = np.diff(crossed[segments.first]) - np.diff(staying[first_kept])
        return relieved * self._is_here

    def ranked(self, crowded: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """The candidates that relieve crowded points, the cheapest per point first, and how many points it is."""
        relieved = self._relieved(crowded)
        useful = np.flatnonzero(relieved > 0)
        if 2 * len(useful) < len(relieved):
            self._keep(useful)
            relieved, useful = relieved[useful], np.arange(len(useful))
        _, _, widths, costs, *_ = self._columns
        score = costs[useful] / (relieved[useful] * widths[useful])
        while len(useful):  # a few at a time: seldom more are wanted before all are ranked anew
            bound = np.partition(score, min(_FEW, len(score)) - 1)[min(_FEW, len(score)) - 1]
            is_next = score <= bound
            best = useful[is_next][np.argsort(score[is_next], kind="stable")]
            yield from zip(best.tolist(), relieved[best].tolist(), strict=True)
            useful, score = useful[~is_next], score[~is_next]

    def leave(self, place: int) -> int:
        """Take a candidate out; its number as a value."""
        self._is_here[place] = False
        return self._numbers[place]
