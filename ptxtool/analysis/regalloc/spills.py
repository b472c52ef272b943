"""Spilling: values that leave a register file that is too small, and what is inserted for them.

For `assignment.py`. A *value* is what needs registers: at first every web is one. While more units of a file are live
somewhere than it has, the value with the least *spill weight*, its cost per crowded point that it relieves, is spilled:

* a constant is computed anew before each of its reads, and its definition goes (`rematerialisation.py`);
* a predicate becomes a *word* in the general file: saved after its definitions, restored before its reads;
* any other value gets a slot in memory: stored after its definitions, loaded before its reads; in PTX under their
  guards, which keeps lanes from slots that they have not written.

At its accesses a *temporary* stands for a spilled value, which is unspillable. It lives at one instruction, or at
several of one block where enough units are free between them, the shortest distances first. The cost of an access is 8
to the power of its loop depth. A value whose only crowded points are its own accesses is not spilled: it relieves none.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, chapter 4 (spill everywhere, costs).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Accesses, Flags, Interval, Intervals, Numbers, rows

FILES = ("general", "predicate", "address", "head")
"""The files that values are in. Registers of a function's head stand apart."""
_GENERAL, _PREDICATE = FILES.index("general"), FILES.index("predicate")
InsertionKind = Literal[
    "load", "restore", "compute", "store", "save", "copy", "copy-back", "acquire", "release"
]
_KINDS: tuple[InsertionKind, ...] = get_args(InsertionKind)
_SLOT, _WORD, _CONSTANT = range(3)
"""How a value is spilled: `_KINDS[how]` fetches it, `_KINDS[_STORE + how]` stores it."""
_STORE = 3
_COMPUTING_COST = 0.5
"""The cost of an instruction of a rematerialisation sequence, where a load or store costs 1."""
_ENOUGH = 0.8
"""The part of the promised relief below which all candidates are ranked anew."""
_FEW = 64
"""Candidates sorted at a time: seldom more are spilled before all are ranked anew."""


_LiveRange = tuple[Interval, ...]


class ValueTable(NamedTuple):
    """Values by number, in columns: the file (its place in `FILES`), the units of it, and the live intervals."""

    file: npt.NDArray[np.int8]
    width: Numbers
    intervals: Intervals


def words(intervals: Intervals) -> ValueTable:
    """Values of one unit of the general file."""
    n = len(intervals)
    return ValueTable(np.full(n, _GENERAL, np.int8), np.ones(n, np.int64), intervals)


class Insertion(NamedTuple):
    """An instruction to insert before or after another one, under its guard if `is_guarded`.

    "load" and "store" move between the temporary and the value's slot, "restore" and "save" between the temporary and
    the word of a predicate, "compute" rematerialises a constant, "copy" copies a value that is not spilled to its
    temporary, "copy-back" the temporary to it. "acquire" and "release" are marks around extended registers.
    """

    instruction: int
    is_after: bool
    kind: InsertionKind
    temporary: int
    value: int
    is_guarded: bool


class SpillState:
    """The values of a function, which of them are spilled, and what is inserted for that.

    `at(v, i)` stands for value v at instruction i. `in_slot` are the values spilled to local memory, `word[v]`
    is the general value that holds predicate v, `rematerialised[v]` the sequence that computes constant v. `dropped`
    are instructions that are not needed any more.
    """

    def __init__(self, n_points: int, values: ValueTable):
        self.n_points, self._n_instructions = n_points, n_points // 2
        self.values = values
        """All of them; the webs come first."""
        # by value times the number of instructions, plus the instruction
        self._temporary: dict[int, int] = {}
        self.in_slot: list[int] = []
        self.word: dict[int, int] = {}
        self.rematerialised: dict[int, tuple[int, ...]] = {}
        self.dropped: set[int] = set()
        self._is_temporary, self._is_spilled = np.zeros((2, len(values.width)), np.bool_)
        # columns: the rank at its place, and an `Insertion`
        self._insertions: list[npt.NDArray[np.int64]] = []

    @property
    def spilled(self) -> set[int]:
        """All values that are in no register."""
        return {*self.in_slot, *self.word, *self.rematerialised}

    @property
    def insertions(self) -> Iterable[Insertion]:
        """By instruction, those before it first, in the order in which they stand in the text."""
        if not self._insertions:
            return ()
        columns = np.concatenate(self._insertions, axis=1)
        order = np.lexsort((columns[0], columns[2], columns[1]))
        instruction, is_after, kind, temporary, value, guarded = columns[1:, order]
        kinds = [_KINDS[k] for k in kind.tolist()]
        places, what = (instruction, is_after > 0), (temporary, value, guarded > 0)
        return map(Insertion, *(c.tolist() for c in places), kinds, *(c.tolist() for c in what))

    @property
    def n_insertions(self) -> int:
        """The number of inserted instructions."""
        return sum(some.shape[1] for some in self._insertions)

    def at(self, value: int, instruction: int) -> int:
        """What stands for a value at an instruction: a temporary, or the value itself."""
        known = self._temporary
        return known.get(value * self._n_instructions + instruction, value) if known else value

    @property
    def temporaries(self) -> Iterator[tuple[int, int, int]]:
        """Values, instructions that name them, and the temporaries that stand for them there."""
        return ((*divmod(key, self._n_instructions), found) for key, found in self._temporary.items())

    def replace_at(self, value: int, instructions: Iterable[int], temporary: int) -> None:
        """Let a temporary stand for a value at these instructions."""
        first = value * self._n_instructions
        self._temporary.update({first + i: temporary for i in instructions})

    def replace_all(self, values: Numbers, instructions: Numbers, temporaries: Numbers) -> None:
        """The same for many."""
        keys = values * self._n_instructions + instructions
        self._temporary.update(zip(keys.tolist(), temporaries.tolist(), strict=True))

    def file(self, value: int) -> str:
        """The file that a value is in, or was before it was spilled."""
        return FILES[self.values.file[value]]

    def in_file(self, file: str, temporaries: bool = True) -> Numbers:
        """The values that need units of a file."""
        is_here = (self.values.file == FILES.index(file)) & ~self._is_spilled
        return np.flatnonzero(is_here if temporaries else is_here & ~self._is_temporary)

    def demand(self, file: str) -> npt.NDArray[np.int32]:
        """The units of a file in use at every point."""
        numbers = self.in_file(file)
        return self.values.intervals.at(numbers).units_in_use(self.values.width[numbers], self.n_points)

    def copy(self, value: int, instruction: int, accesses: Iterable[int]) -> int:
        """Insert a copy of a value before an instruction, which stands for it at its accesses; the copy's number."""
        number = len(self.values.width)
        copied = ValueTable(self.values.file[[value]], self.values.width[[value]], Intervals.of([()]))
        self.add(copied, np.ones(1, np.bool_))
        self.replace_at(value, accesses, number)
        self.insert_one(0, instruction, "copy", number, value)
        return number

    def insert_one(
        self, rank: int, instruction: int, kind: InsertionKind, temporary: int, value: int
    ) -> None:
        """Insert before an instruction, without a guard; `rank` orders what is inserted there."""
        self.insert([rank], [instruction], [False], [_KINDS.index(kind)], [temporary], [value], [False])

    def add(self, more: ValueTable, is_temporary: Flags) -> None:
        """Append values."""
        old = self.values
        file, width = np.append(old.file, more.file), np.append(old.width, more.width)
        self.values = ValueTable(file, width, old.intervals.joined(more.intervals))
        self._is_spilled = np.append(self._is_spilled, np.zeros_like(is_temporary))
        self._is_temporary = np.append(self._is_temporary, is_temporary)

    def insert(self, *columns: npt.ArrayLike) -> None:
        """Add insertions, in columns: their rank among those at one place, then the fields of `Insertion`."""
        self._insertions.append(np.stack([np.asarray(column, np.int64) for column in columns]))

    def remove(self, numbers: Numbers) -> None:
        """Take values out of their files."""
        self._is_spilled[numbers] = True

    def webs_of(self, values: Numbers) -> Numbers:
        """The webs that have the accesses of values: a word is accessed where its predicate is."""
        webs = np.arange(len(self.values.width))
        webs[[*self.word.values()]] = [*self.word]
        return webs[values]


class SpillInputs(msgspec.Struct, frozen=True, eq=False):
    """What spilling needs to know of a function.

    Per web its accesses; per instruction its block, the weight of an access there, and whether a load before it and a
    store after it may stand under its guard; the rematerialisation sequences of constant webs; webs that may not be
    spilled. `by_words`: a slot is accessed 32 bits at a time, so that storing a wide value overwrites its temporary.
    """

    accesses: Accesses
    block_of: Numbers
    weights: npt.NDArray[np.float64]
    may_guard_load: Flags
    may_guard_store: Flags
    sequences: Mapping[int, tuple[int, ...]]
    unspillable: Collection[int]
    by_words: bool = False


class FreeUnits:
    """The units of a file that are free at every point, up to a limit."""

    def __init__(self, demand: npt.NDArray[np.int32], limit: int):
        self._demand = demand
        self._units = demand.data  # faster than the array for single points
        self._limit = limit

    def take(self, start: int, end: int, width: int) -> bool:
        """Take units from one point to another, if there are enough."""
        if end - start == 1:
            is_free = self._units[start] + width <= self._limit
            self._units[start] += width * is_free
            return is_free
        part = self._demand[start:end]
        if part.max(initial=0) + width > self._limit:
            return False
        part += width
        return True


class _SpilledAccesses(NamedTuple):
    """The accesses of spilled values, in columns: the value's place among them, the instruction, whether it reads and
    writes, and whether what is inserted for it stands under its guard."""

    owner: Numbers
    instruction: Numbers
    reads: Flags
    writes: Flags
    guarded: Flags

    @property
    def start(self) -> Numbers:
        """The first point at which a temporary for the access lives."""
        return 2 * self.instruction + ~self.reads

    @property
    def end(self) -> Numbers:
        """The point at which it ceases to live."""
        return 2 * self.instruction + 1 + self.writes


def spill(
    state: SpillState, numbers: Sequence[int], inputs: SpillInputs, free: FreeUnits | None = None
) -> None:
    """Spill values, in this order.

    Each leaves temporaries for all accesses, but for definitions of constants, which are dropped; that of a predicate
    also a word, numbered before its temporaries. An access shares the temporary of the one before it where `free` has
    units between the two.
    """
    values, which = state.values, np.array(numbers, np.int64)
    is_constant = np.array([number in inputs.sequences for number in numbers], np.bool_)
    is_word = (values.file[which] == _PREDICATE) & ~is_constant
    how = np.where(is_constant, _CONSTANT, np.where(is_word, _WORD, _SLOT))
    accesses = _accesses_of(state, which, how, inputs)
    is_first = ~_joined(accesses, values.width[which], inputs, free)

    # the new values: the words, and a temporary for every first access, in the order of their owners
    is_last = np.append(is_first[1:], True)[: len(is_first)]
    intervals = values.intervals.at(which[is_word]).joined(
        Intervals(accesses.start[is_first], accesses.end[is_last], np.arange(np.count_nonzero(is_first) + 1))
    )
    n_words = np.count_nonzero(is_word)
    owner = np.concatenate((np.flatnonzero(is_word), accesses.owner[is_first]))
    file, width = values.file[which[owner]], values.width[which[owner]]
    file[:n_words], width[:n_words] = _GENERAL, 1
    order = np.argsort(2 * owner + (np.arange(len(owner)) >= n_words), kind="stable")
    number = np.empty_like(order)
    number[order] = len(values.width) + np.arange(len(order))
    state.add(ValueTable(file[order], width[order], intervals.at(order)), order >= n_words)

    state.remove(which)
    state.in_slot += which[how == _SLOT].tolist()
    state.word.update(zip(which[is_word].tolist(), number[:n_words].tolist(), strict=True))
    state.rematerialised.update({n: inputs.sequences[n] for n in which[is_constant].tolist()})
    temporary = number[n_words:][np.cumsum(is_first) - 1]  # of every access
    value = which[accesses.owner]
    state.replace_all(value, accesses.instruction, temporary)

    # the word of a restored predicate is loaded before it is restored; what stands under a predicate comes after that
    rank = np.arange(len(value)) + state.n_insertions
    kind = how[accesses.owner]
    for side, is_after, columns in (
        (accesses.reads & is_first, False, (np.where(accesses.guarded, rank, -1 - rank), kind)),
        (accesses.writes, True, (rank, _STORE + kind)),
    ):
        place = accesses.instruction, np.full(len(value), is_after)
        all_columns = (columns[0], *place, columns[1], temporary, value, accesses.guarded)
        state.insert(*(column[side] for column in all_columns))


def _accesses_of(state: SpillState, which: Numbers, how: Numbers, inputs: SpillInputs) -> _SpilledAccesses:
    """The accesses of spilled values. Definitions of constants are dropped."""
    accesses = inputs.accesses
    index, first = rows(accesses.first, state.webs_of(which))
    owner = np.repeat(np.arange(len(which)), np.diff(first))
    is_dropped = (how == _CONSTANT)[owner] & accesses.writes[index]
    state.dropped.update(accesses.instruction[index[is_dropped]].tolist())
    index, owner = index[~is_dropped], owner[~is_dropped]
    instruction, writes = accesses.instruction[index], accesses.writes[index]
    may_guard = np.where(writes, inputs.may_guard_store[instruction], inputs.may_guard_load[instruction])
    in_slot = (how == _SLOT) & ~np.isin(which, [*state.word.values()])
    return _SpilledAccesses(owner, instruction, accesses.reads[index], writes, in_slot[owner] & may_guard)


def _joined(accesses: _SpilledAccesses, width: Numbers, inputs: SpillInputs, free: FreeUnits | None) -> Flags:
    """The accesses that share the temporary of the one before them.

    That one must have the value in all lanes, so it is not loaded or stored under a guard; nor may it be at the
    definition of a constant, which may be dropped with what is inserted there, or be overwritten by its own store.
    """
    joined = np.zeros(len(accesses.owner), np.bool_)
    if free is None or not len(joined):
        return joined
    owner, block = accesses.owner, inputs.block_of[accesses.instruction]
    may_join = (owner[1:] == owner[:-1]) & (block[1:] == block[:-1]) & accesses.reads[1:]
    may_drop = np.isin(accesses.instruction, [sequence[-1] for sequence in inputs.sequences.values()])
    is_overwritten = accesses.writes & (width[owner] > 1) & inputs.by_words
    pairs = np.flatnonzero(may_join & ~(accesses.guarded | may_drop | is_overwritten)[:-1])
    start, end = accesses.end[pairs], accesses.start[pairs + 1]
    order = np.argsort((end - start) / inputs.weights[accesses.instruction[pairs + 1]], kind="stable")
    columns = (pairs + 1, start, end, width[owner[pairs]])
    for place, first, last, units in zip(*(column[order].tolist() for column in columns), strict=True):
        joined[place] = free.take(first, last, units)
    return joined


def reduce_demand(
    state: SpillState,
    file: str,
    demand: npt.NDArray[np.int32],
    limit: int,
    inputs: SpillInputs,
    may_join: bool = True,
) -> bool:
    """Spill values of a file until at most `limit` units are live everywhere; False if that is impossible.

    `demand`, the units in use at every point, is updated. With `may_join` temporaries may live at several instructions.
    The best by its spill weight is next; all are ranked anew as soon as one relieves much less than promised.
    """
    units = demand.data  # faster than the array for single points
    candidates = _Candidates(state, file, inputs)
    chosen: list[int] = []
    while demand.max(initial=0) > limit:
        crowded = demand > limit
        is_crowded = crowded.data
        n_chosen = len(chosen)
        for place, promised, intervals, temporaries in candidates.ranked(crowded):
            parts = [(demand[start:end], crowded[start:end]) for start, end in intervals]
            kept = [point for start, end in temporaries for point in range(start, end)]
            relieved = sum([int(np.count_nonzero(crowd)) for _, crowd in parts])
            relieved -= sum([is_crowded[point] for point in kept])
            if relieved < _ENOUGH * promised:
                break
            chosen.append(candidates.take(place))
            width = int(candidates.widths[place])
            for part, _ in parts:
                part -= width
            for point in kept:
                units[point] += width
            for part, crowd in parts:
                np.greater(part, limit, out=crowd)
        if len(chosen) == n_chosen:
            break
    if chosen:
        spill(state, chosen, inputs, FreeUnits(demand, limit) if may_join else None)
    return bool(demand.max(initial=0) <= limit)


class _Candidates:
    """The values of a file that may be spilled: their live intervals, those of their temporaries, and their costs.

    Points only become less crowded: a candidate that relieves none is forgotten.
    """

    def __init__(self, state: SpillState, file: str, inputs: SpillInputs):
        numbers = state.in_file(file, temporaries=False)
        numbers = numbers[~np.isin(numbers, np.array([*inputs.unspillable], np.int64))]
        accesses = inputs.accesses
        index, first = rows(accesses.first, state.webs_of(numbers))
        owner = np.repeat(np.arange(len(numbers)), np.diff(first))
        instruction, reads, writes = (
            column[index] for column in (accesses.instruction, accesses.reads, accesses.writes)
        )
        length = np.zeros(len(state.values.width), np.int64)
        for number, sequence in inputs.sequences.items():
            length[number] = len(sequence)
        n_computed = length[numbers][owner]
        is_stored = writes & (n_computed == 0)
        per_access = np.where(n_computed > 0, n_computed * _COMPUTING_COST * reads, reads + 1.0 * writes)
        self._numbers = numbers
        self._is_here = np.ones(len(numbers), np.bool_)
        self._costs = np.bincount(owner, per_access * inputs.weights[instruction], len(numbers))
        self.widths = state.values.width[numbers]
        self._intervals = state.values.intervals.at(numbers)
        # empty ones at definitions of constants
        self._temporaries = Intervals(2 * instruction + ~reads, 2 * instruction + 1 + is_stored, first)

    def ranked(self, crowded: Flags) -> Iterator[tuple[int, int, _LiveRange, _LiveRange]]:
        """The candidates that relieve crowded points, the least spill weight first: the place of each, how many points
        it relieves, its live intervals, and those of its temporaries."""
        before = np.append(0, np.cumsum(crowded))
        relieved = (_points(before, self._intervals) - _points(before, self._temporaries)) * self._is_here
        useful = np.flatnonzero(relieved > 0)
        if 2 * len(useful) < len(relieved):
            self._keep(useful)
            relieved, useful = relieved[useful], np.arange(len(useful))
        weight = self._costs[useful] / (relieved[useful] * self.widths[useful])
        while len(useful):
            bound = np.partition(weight, min(_FEW, len(weight)) - 1)[min(_FEW, len(weight)) - 1]
            is_next = weight <= bound
            best = useful[is_next][np.argsort(weight[is_next], kind="stable")]
            intervals, temporaries = self._intervals.at(best), self._temporaries.at(best)
            yield from zip(best.tolist(), relieved[best].tolist(), intervals, temporaries, strict=True)
            useful, weight = useful[~is_next], weight[~is_next]

    def _keep(self, places: Numbers) -> None:
        """Forget all other candidates."""
        self._numbers, self._is_here = self._numbers[places], self._is_here[places]
        self._costs, self.widths = self._costs[places], self.widths[places]
        self._intervals, self._temporaries = self._intervals.at(places), self._temporaries.at(places)

    def take(self, place: int) -> int:
        """Take a candidate out; its number as a value."""
        self._is_here[place] = False
        return int(self._numbers[place])


def _points(before: Numbers, intervals: Intervals) -> Numbers:
    """Per value, the points of a set in its live intervals; `before` counts those before every point."""
    crossed = np.append(0, np.cumsum(before[intervals.end] - before[intervals.start]))
    return np.diff(crossed[intervals.first])
