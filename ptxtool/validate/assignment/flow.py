"""The fixed point of the check of register assignment: which places hold which values, and reads that do not.

The package states the lattice. Facts at a block's start are those of all predecessors' ends,

    in(b) = intersection over the predecessors p of  out(p) | {(place, v): no definition of v reaches the end of p}

Within a block the steps are walked one by one. Between blocks only facts about values that the old function still
reads are carried: a smaller set of facts can only refuse, never accept.

Within a block, places with the same values share one equivalence class: a copy then only adds a place to a class, and
a value that changes is removed from the few classes it is in.

A write under a guard leaves the new value in some lanes and the old one in the others. Where spills and reloads have
the same guard and stand beside their instruction, the facts that hold where the guard is true are followed up to there:
a place that had the old value and gets the new one in the other lanes has the value.

Reference: G. Kildall, "A unified approach to global program optimization", 1973; C. Fallin, regalloc2's checker, 2021,
whose facts these are; S. Rideau, X. Leroy, "Validating register allocation and spilling", 2010.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.base.bits import from_indices, indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import DefUse
from ptxtool.validate.assignment.align import NONE
from ptxtool.validate.assignment.steps import (
    Convert,
    Equal,
    Halves,
    Kept,
    Known,
    Move,
    Recompute,
    Step,
    StepGuard,
)

_NOTHING: frozenset[int] = frozenset()
_UNCHANGED, _NO, _YES = 0, 1, 2
_FEW_VALUES = 64
"""Of so many nothing is left out."""
S = TypeVar("S")


class Violation(NamedTuple):
    """A read of a value by an item through a place that may not hold it; what that holds, and where the value is."""

    item: int
    value: int
    place: int
    held: frozenset[int]
    found_in: tuple[int, ...]


class State(NamedTuple):
    """The facts at a block's edge, and the values that some definition reaches, in bits of `LiveValues.bit`."""

    facts: frozenset[int]
    defined: int


class Boundary(NamedTuple):
    """The facts at the function's start, and the reads at its end: (value, place) pairs."""

    at_start: tuple[tuple[int, int], ...]
    at_end: tuple[tuple[int, int], ...]


class LiveValues:
    """The values that are live around blocks in the old function, in bits of those that some block reads."""

    def __init__(
        self,
        cfg: Cfg,
        items: Sequence[tuple[int, int]],
        steps: Sequence[Step],
        def_uses: Sequence[DefUse],
        constants: frozenset[int],
        boundary: Boundary,
    ) -> None:
        self.cfg, self.steps, self.constants, self.boundary = cfg, steps, constants, boundary
        exposed: list[set[int]] = []
        killed: list[set[int]] = []
        needed: set[int] = {value for value, _ in boundary.at_end}
        for block in cfg.blocks:
            use: set[int] = set()
            kill: set[int] = set()
            span = slice(block.start, block.end)
            for (i, _), step in zip(items[span], steps[span], strict=True):
                if i == NONE:
                    if type(step) is Recompute:  # its sources may be read longer than the original did
                        sources = {source for _, sources in step.values for source, _ in sources}
                        use |= sources - kill
                    continue
                sets = def_uses[i]
                if not kill.issuperset(sets.uses):
                    use.update([value for value in sets.uses if value not in kill])
                # of a dropped constant the value may have been written again before
                if type(step) is Kept or not isinstance(step, Known | Equal) or step.value not in constants:
                    kill.update(sets.kills)
            exposed.append(use)
            killed.append(kill)
        self.crossing = sorted(needed.union(*exposed))
        self.bit = {value: n for n, value in enumerate(self.crossing)}
        self._sets: dict[int, frozenset[int]] = {}
        nothing = [0] * (cfg.n_nodes - len(cfg.blocks))
        live = solve(
            cfg.successors_by_node,
            [*(from_indices(self.bit[v] for v in use) for use in exposed), *nothing],
            [*(from_indices(self.bit[v] for v in kill if v in self.bit) for kill in killed), *nothing],
            direction="backward",
            boundaries={cfg.exit: from_indices(self.bit[v] for v in needed)},
        )
        self.live_in = [self._set(bits) for bits in live.entry]
        self.live_out = [self._set(bits) for bits in live.exit]

    def _set(self, bits: int) -> frozenset[int]:
        found = self._sets.get(bits)
        if found is None:
            found = self._sets[bits] = frozenset(self.crossing[n] for n in indices(bits))
        return found


_Class = set[int]
"""An equivalence class of places: the values that they hold. Only `Checker._forget` and `_equate` change one."""


class _Half(NamedTuple):
    """The result of a write under a guard: the value in a place where the guard is true, the old one elsewhere.

    `old` are the classes that the old value was in, None if there is none yet, so that any place holds it.
    """

    value: int
    old: list[_Class] | None


class _Guarded(NamedTuple):
    """The facts where a guard is true, between an instruction and what is inserted beside it under its guard.

    `loaded` are the values in places that were loaded before it, `halves` its results.
    """

    guard: StepGuard
    loaded: dict[int, frozenset[int]]
    halves: dict[int, _Half]

    def without(self, gone: tuple[int, ...]) -> "_Guarded":
        """Without the facts about places that are overwritten."""
        return _Guarded(
            self.guard,
            {place: values for place, values in self.loaded.items() if place not in gone},
            {place: half for place, half in self.halves.items() if place not in gone},
        )

    def equated(self, value: int, other: int) -> "_Guarded":
        """With a value that becomes equal to another one."""
        return _Guarded(
            self.guard,
            {
                place: values | {value} if other in values else values - {value}
                for place, values in self.loaded.items()
            },
            {place: half for place, half in self.halves.items() if half.value != value},
        )


def fixed_point(
    cfg: Cfg, meet: Callable[[int, Mapping[int, S]], S], transfer: Callable[[int, S], S]
) -> dict[int, S]:
    """The states at the starts of blocks. Both functions get a block: `meet` the ends known so far, `transfer` a start.

    Forward, sweeps in reverse post-order; for facts that gen and kill sets do not describe (`analysis.flow.dataflow`).
    A block meets its predecessors once a sweep, not whenever one of them changes. Junctions are met like blocks, for
    which `meet` has to be associative, and pass on what they get.
    """
    rank = cfg.rank
    out: dict[int, S] = {}
    into: dict[int, S] = {}
    work = [(0, 0, cfg.entry)]  # by sweep, then by rank
    waiting = {cfg.entry}
    while work:
        sweep, place, block = heappop(work)
        waiting.discard(block)
        met = meet(block, out)
        if into.get(block) == met:
            continue
        into[block] = met
        left = transfer(block, met) if block < cfg.exit else met
        if out.get(block) == left:
            continue
        out[block] = left
        for successor in cfg.successors_by_node[block]:
            if successor != cfg.exit and successor not in waiting:
                waiting.add(successor)
                heappush(work, (sweep + (rank[successor] <= place), rank[successor], successor))
    return {block: start for block, start in into.items() if block < cfg.exit}


class Checker:
    """The fixed point, and the violations there."""

    def __init__(
        self,
        values: LiveValues,
        overlaps: dict[int, tuple[int, ...]],
        n_values: int,
        lost: Mapping[int, tuple[int, ...]],
    ) -> None:
        """`lost`: by item, the places that hold nothing any more before it."""
        self._values, self._overlaps, self._n, self._lost = values, overlaps, n_values, lost
        self._cfg, self._steps = values.cfg, values.steps
        self._constants, self._boundary = values.constants, values.boundary
        self._width = 4 * n_values  # a fact is place * width + value
        kinds = {type(step) for step in values.steps}
        # what is added to a value that some place may hold as a word, or half of
        self._forms = (0, *[n_values] * (Convert in kinds), *[2 * n_values, 3 * n_values] * (Halves in kinds))
        # the state, while a block is walked
        self._holds: dict[int, _Class] = {}  # by place
        self._within: dict[int, list[_Class]] = {}  # by value: its classes, also of places overwritten since
        self._most_within = 0  # values there, before those that no place holds any more are left out
        # by value, whether it has one since this block's start: unchanged, no, yes
        self._has_value = bytearray()
        self._changed: set[int] = set()  # those in `LiveValues.bit` that changed there
        self._defined = 0
        self._guarded: _Guarded | None = None

    def run(self) -> list[Violation]:
        """Every violation, in order."""
        violations: dict[int, list[Violation]] = {}

        def transfer(block: int, state: State) -> State:
            violations[block] = self._walk(block, state)
            return self._left(block)

        fixed_point(self._cfg, self._meet, transfer)
        return [one for block in sorted(violations) for one in violations[block]]

    def _meet(self, block: int, out: Mapping[int, State]) -> State:
        """The state at a block's start, as far as the ends of its predecessors are known."""
        bit, width, n = (
            self._values.bit,
            self._width,
            self._n,
        )  # `fact % n`: the register, `width` is four times n
        ends = [out[p] for p in self._cfg.predecessors_by_node[block] if p in out]
        if block == self._cfg.entry:
            start = [(value, place) for value, place in self._boundary.at_start if value in bit]
            facts = frozenset(place * width + value for value, place in start)
            ends.append(State(facts, from_indices(bit[value] for value, _ in start)))
        live = self._values.live_in[block]
        if len(ends) == 1:
            ((only, defined),) = ends
            return State(frozenset([f for f in only if f % n in live]), defined)
        found = set[int]().union(*(end.facts for end in ends))
        defined = 0
        for end in ends:
            defined |= end.defined
            missing = found - end.facts
            if missing:
                found -= {f for f in missing if end.defined >> bit[f % n] & 1}
        return State(frozenset([f for f in found if f % n in live]), defined)

    def _left(self, block: int) -> State:
        """The state at the end of the block that was walked last, for the values that are live there."""
        width, n, bit = self._width, self._n, self._values.bit
        live = self._values.live_out[block]
        holds = self._holds.items()
        if len(self._forms) > 1:
            facts = [place * width + v for place, held in holds for v in held if v % n in live]
        else:
            facts = [place * width + v for place, held in holds for v in held if v in live]
        gained = from_indices([bit[v] for v in self._changed if self._has_value[v] == _YES])
        lost = from_indices([bit[v] for v in self._changed if self._has_value[v] == _NO])
        return State(frozenset(facts), (self._defined | gained) & ~lost)

    def _walk(self, block: int, state: State) -> list[Violation]:
        """Apply the steps of a block; the violations."""
        width = self._width
        holds: dict[int, _Class] = {}
        within: dict[int, list[_Class]] = {}
        for fact in state.facts:
            place, value = divmod(fact, width)
            holds.setdefault(place, set()).add(value)
        for held in holds.values():
            for value in held:
                within.setdefault(value, []).append(held)
        self._holds, self._within, self._defined = holds, within, state.defined
        self._has_value, self._changed = bytearray(self._n), set()
        self._guarded, self._most_within = None, 2 * len(within) + _FEW_VALUES
        violations: list[Violation] = []
        steps, lost = self._steps, self._lost
        item = 0
        for item in self._cfg.blocks[block].instructions:
            step = steps[item]
            if item in lost:
                self._guarded = None
                for place in lost[item]:
                    holds.pop(place, None)
            if type(step) is Kept:
                for value, place in step.reads:
                    found = value in holds.get(place, _NOTHING) or self._is_loaded(value, place, step)
                    if not found and self._may_have_value(value):
                        violations.append(self._violation(item, value, place))
                self._write(step)
            elif type(step) is Move:
                if step.guard is None:
                    self._guarded = None
                    self._copy(step.to, step.source)
                else:
                    self._move_under_guard(step.to, step.source, step.guard)
            else:
                if not isinstance(step, Known | Equal):  # these write no place
                    self._guarded = None
                self._other(step)
        if block in self._cfg.before_exit:
            for value, place in self._boundary.at_end:
                if value not in holds.get(place, _NOTHING) and self._may_have_value(value):
                    violations.append(self._violation(item, value, place))
        return violations

    def _violation(self, item: int, value: int, place: int) -> Violation:
        found_in = sorted(p for p, held in self._holds.items() if value in held)
        return Violation(item, value, place, frozenset(self._holds.get(place, _NOTHING)), tuple(found_in))

    def _may_have_value(self, value: int) -> bool:
        """Whether some definition reaches this point."""
        known = self._has_value[value]
        if known == _UNCHANGED:
            bit = self._values.bit.get(value)
            return bit is not None and bool(self._defined >> bit & 1)
        return known == _YES

    def _set_has_value(self, value: int, has_value: bool) -> None:
        self._has_value[value] = _YES if has_value else _NO
        if value in self._values.bit:
            self._changed.add(value)

    def _write(self, step: Kept) -> None:
        writes, alike, guard = step.writes, step.alike, step.guard
        self._guarded = None
        if not writes:
            return
        if len(writes) == 1 and guard is None and not alike and not step.partial:  # nearly all
            self._write_wholly(*writes[0])
            return
        holds = self._holds
        guarded = self._written_under(guard, step) if guard is not None else None
        # a guarded or partial write leaves the old value, which must be there
        kept = [
            one not in step.partial
            or one[0] in holds.get(one[1], _NOTHING)
            or not self._may_have_value(one[0])
            for one in writes
        ]
        for value, _ in writes:
            if value not in self._constants:
                self._forget(value)
            self._set_has_value(value, True)
        for (value, place), is_whole in zip(writes, kept, strict=True):
            self._put(place, (alike or (value,)) if is_whole else ())
        self._guarded = guarded

    def _write_wholly(self, value: int, place: int) -> None:
        """The new value of a register is in that place alone."""
        holds, within = self._holds, self._within
        if len(self._forms) > 1:
            self._forget(value)
        else:
            for held in within.pop(value, ()):
                held.discard(value)
        self._set_has_value(value, True)
        for other in self._overlaps[place]:
            holds.pop(other, None)
        fresh = holds[place] = {value}
        within[value] = [fresh]
        if len(within) > self._most_within:
            self._drop_overwritten()

    def _drop_overwritten(self) -> None:
        """Leave out the classes of places overwritten since: in a long block there are many."""
        self._within.clear()
        for held in {id(held): held for held in self._holds.values()}.values():
            for value in held:
                self._within.setdefault(value, []).append(held)
        self._most_within = 2 * len(self._within) + _FEW_VALUES

    def _is_loaded(self, value: int, place: int, step: Kept) -> bool:
        """Whether a value was loaded under the guard of the instruction that reads it."""
        guarded = self._guarded
        return (
            guarded is not None
            and guarded.guard == step.guard
            and value in guarded.loaded.get(place, _NOTHING)
        )

    def _written_under(self, guard: StepGuard, step: Kept) -> _Guarded | None:
        """The results of the write to come; None where it may overwrite its guard, or parts of registers."""
        if step.merges or any(guard.place in self._overlaps[place] for _, place in step.writes):
            return None
        halves: dict[int, _Half] = {}
        for value, place in step.writes:
            has_old = self._may_have_value(value)
            halves[place] = _Half(value, [*self._within.get(value, ())] if has_old else None)
        return _Guarded(guard, {}, halves)

    def _move_under_guard(self, to: int, source: int, guard: StepGuard) -> None:
        """A spill or reload: where its guard is false the place keeps its values."""
        source_holds = frozenset(self._holds.get(source, _NOTHING))
        was = self._holds.get(to)
        values = source_holds.intersection(was or ())
        guarded = self._guarded
        if guarded is None or guarded.guard != guard:
            guarded = _Guarded(guard, {}, {})
        half = guarded.halves.get(source)
        if half is not None and (half.old is None or any(held is was for held in half.old)):
            values |= {half.value}
        self._put(to, values)
        guarded = guarded.without(self._overlaps[to])
        guarded.loaded[to] = source_holds
        self._guarded = None if guard.place in self._overlaps[to] else guarded

    def _other(self, step: Step) -> None:
        holds, n = self._holds, self._n
        match step:
            case Convert(to, source, True):
                self._put(to, [v + n for v in holds.get(source, _NOTHING) if v < n])
            case Convert(to, source):
                self._put(to, [v - n for v in holds.get(source, _NOTHING) if n <= v < 2 * n])
            case Halves(low, high, whole, True):
                lows = {v - 2 * n for v in holds.get(low, _NOTHING)}
                highs = {v - 3 * n for v in holds.get(high, _NOTHING)}
                self._put(whole, [v for v in lows & highs if 0 <= v < n])
            case Halves(low, high, whole):
                held = [v for v in holds.get(whole, _NOTHING) if v < n]
                self._put(low, [v + 2 * n for v in held])
                self._put(high, [v + 3 * n for v in held])
            case Recompute(to, values):
                self._put(
                    to,
                    [v for v, sources in values if all(s in holds.get(p, _NOTHING) for s, p in sources)],
                )
            case Equal(value, other, lost):
                if value != other:
                    self._equate(value, other)
                for gone in lost:
                    self._forget(gone)
                    self._set_has_value(gone, True)
            case Known(value):
                self._set_has_value(value, True)
            case _:  # kept, and moves
                pass

    def _equate(self, value: int, other: int) -> None:
        """A dropped copy: the value is in every place of the other one, in every form."""
        self._set_has_value(value, self._may_have_value(other))
        if self._guarded is not None:
            self._guarded = self._guarded.equated(value, other)
        if value not in self._constants:
            self._forget(value)
        for offset in self._forms:
            for held in self._within.get(other + offset, ()):
                held.add(value + offset)
                self._within.setdefault(value + offset, []).append(held)

    def _forget(self, value: int) -> None:
        """The value changes: no place holds the new one."""
        for changed in [value + offset for offset in self._forms]:
            for held in self._within.pop(changed, ()):
                held.discard(changed)

    def _put(self, place: int, values: Collection[int]) -> None:
        """Overwrite a place, and those that overlap it, with values."""
        holds, within = self._holds, self._within
        for other in self._overlaps[place]:
            holds.pop(other, None)
        if values:
            new = {*values}
            # constants do not change: without the look-up, equal classes would pile up
            known = within.get(next(iter(new)))
            held = next((each for each in known if each == new), None) if known else None
            if held is None:
                held = new
                for value in new:
                    within.setdefault(value, []).append(held)
            holds[place] = held

    def _copy(self, place: int, source: int) -> None:
        """Overwrite a place, and those that overlap it, with the values of another place."""
        holds = self._holds
        held = holds.get(source)
        for other in self._overlaps[place]:
            holds.pop(other, None)
        if held is not None:
            holds[place] = held
