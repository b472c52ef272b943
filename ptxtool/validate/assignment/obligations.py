"""The check of register assignment backwards, from reads to what they need: quicker than the facts of `flow.py`.

An *obligation* (value, place) at a point: the place must hold the value there, unless no definition of it reaches the
point. A read is one before its instruction. Backwards through a step (`steps.py`) an obligation is met, lost, or
becomes one or two others:

    a kept instruction that writes v to p       (v, p) is met; those of v elsewhere and of what overlaps p are lost
    a guarded or partial write of v to p        (v, p) stays; the others likewise
    a move from q to p                          (w, p) becomes (w, q); those of what overlaps p are lost
    a dropped copy of v to w                    (w, q) becomes (v, q)
    a constant computed again                   is met if its sources are, which are obligations
    halves                                      (v, p) becomes (low of v, q) and (high of v, r); the other way likewise

At a block's end are the obligations at the starts of its successors: the union, to the least fixed point, where every
obligation passes a block once. A text is right if none is lost and those at the entry hold there. This is the dual of
the forward problem, its weakest precondition, and finds the same where steps are these.

`is_right` is never true where `flow.py` finds a violation; where it is false, that decides, and says what is where.
Left to it: spills and reloads under guards, a constant that is written again in several ways.

Reference: E. Dijkstra, "Guarded commands, nondeterminacy and formal derivation of programs", 1975 (weakest
preconditions).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.base.bits import from_indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.validate.assignment.flow import Boundary
from ptxtool.validate.assignment.steps import Convert, Equal, Halves, Kept, Known, Move, Recompute, Step

Obligation = tuple[int, int]
"""A value, and the place that must hold it."""
_NONE: frozenset[int] = frozenset()


class _Lost(Exception):
    """An obligation that nothing meets."""


class Obligations:
    """The backward problem of one function: its graph, its steps, the values that are constants, its boundary, per
    place what a write overwrites, and the number of values."""

    def __init__(
        self,
        cfg: Cfg,
        steps: Sequence[Step],
        constants: frozenset[int],
        boundary: Boundary,
        overlaps: Mapping[int, tuple[int, ...]],
        n_values: int,
    ) -> None:
        self._cfg, self._steps, self._constants, self._boundary = cfg, steps, constants, boundary
        self._overlaps, self._n = overlaps, n_values
        kinds = {type(step) for step in steps}
        # what is added to a value that some place may hold as a word, or half of
        self._forms = (0, *[n_values] * (Convert in kinds), *[2 * n_values, 3 * n_values] * (Halves in kinds))
        # the state, while a block is walked
        self._at: dict[int, set[int]] = {}  # by place, the values that it must hold
        self._times: dict[int, int] = {}  # by value, in how many places it must be

    def is_right(self) -> bool:
        """Whether every read finds its value, as far as this problem can tell."""
        if any(type(step) is Move and step.guard is not None for step in self._steps):
            return False
        try:
            self._solve()
        except _Lost:
            return False
        return True

    def _solve(self) -> None:
        """The fixed point. Raises `_Lost`."""
        cfg, rank = self._cfg, self._cfg.rank
        pending = {node: {*self._boundary.at_end} for node in cfg.before_exit if node in rank}
        passed: dict[int, tuple[Obligation, ...]] = {}  # smaller than sets, and few blocks are walked again
        work = sorted((-place, node) for node, place in rank.items() if node != cfg.exit)
        waiting = {node for _, node in work}
        while work:
            _, node = heappop(work)
            waiting.discard(node)
            is_first = node not in passed
            fresh = pending.pop(node, set()).difference(passed.get(node, ()))
            if not fresh and not is_first:
                continue
            passed[node] = (*passed.get(node, ()), *fresh)
            before = self._before(node, fresh, is_first) if node < cfg.exit else fresh
            if node == cfg.entry:
                self._check_start(before)
            for other in cfg.predecessors_by_node[node] if before else ():
                if other in rank:
                    pending.setdefault(other, set()).update(before)
                    if other not in waiting:
                        waiting.add(other)
                        heappush(work, (-rank[other], other))

    def _check_start(self, some: Collection[Obligation]) -> None:
        """Obligations at the function's start: a value that is there is in its place, any other is undefined."""
        at_start = {*self._boundary.at_start}
        for value, place in some:
            has_value = value in self._constants or any(value % self._n == v for v, _ in at_start)
            if has_value and (value, place) not in at_start:
                raise _Lost

    def _before(self, block: int, after: set[Obligation], reads: bool) -> set[Obligation]:
        """The obligations before a block for some after it; with `reads`, those of its own reads too."""
        values, places = self._changed(block)
        n = self._n
        stopped = {one for one in after if one[1] in places or one[0] % n in values}
        if not stopped and not reads:
            return after
        before = self._walk(block, stopped, reads)
        before |= after - stopped
        return before

    def _changed(self, block: int) -> tuple[set[int], set[int]]:
        """The values and the places that the steps of a block change: obligations of others pass it."""
        values: set[int] = set()
        places: set[int] = set()
        for step in self._steps[self._cfg.blocks[block].start : self._cfg.blocks[block].end]:
            if type(step) is Kept:
                for value, place in step.writes:
                    values.add(value)
                    places.add(place)
            elif isinstance(step, Equal):
                values.update((step.value, *step.lost))
            elif isinstance(step, Halves):
                places.update((step.whole,) if step.is_whole else (step.low, step.high))
            elif not isinstance(step, Kept | Known):
                places.add(step.to)
        return values, places.union(*[self._overlaps[place] for place in places])

    def _walk(self, block: int, after: Collection[Obligation], reads: bool) -> set[Obligation]:
        """The obligations before the steps of a block. Raises `_Lost`."""
        at = self._at = {}
        times = self._times = {}
        self._oblige(after)
        overlaps, steps, has_forms = self._overlaps, self._steps, len(self._forms) > 1
        for item in reversed(self._cfg.blocks[block].instructions):
            step = steps[item]
            if type(step) is not Kept:
                self._through(step, item)
                continue
            writes = step.writes
            if len(writes) == 1 and not step.partial and not step.alike:  # nearly all
                value, place = writes[0]
                for other in overlaps[place]:
                    if other in at:
                        self._overwrite(other, item, (value,) if other == place else ())
                if times.get(value) or (has_forms and self._is_owed(value)):
                    raise _Lost
            elif writes:
                self._through_writes(step, item)
            if reads:
                for value, place in step.reads:
                    held = at.get(place)
                    if held is None:
                        at[place] = {value}
                        times[value] = times.get(value, 0) + 1
                    elif value not in held:
                        held.add(value)
                        times[value] = times.get(value, 0) + 1
        return {(value, place) for place, values in at.items() for value in values}

    def _oblige(self, some: Collection[Obligation]) -> None:
        at, times = self._at, self._times
        for value, place in some:
            held = at.setdefault(place, set())
            if value not in held:
                held.add(value)
                times[value] = times.get(value, 0) + 1

    def _overwrite(self, place: int, item: int, met: Collection[int] = ()) -> None:
        """A place gets these values: obligations of others are lost, unless they have no value after the item."""
        for value in self._at.pop(place, _NONE):
            self._times[value] -= 1
            if value not in met and (value % self._n in self._constants or self._may_be_defined(value, item)):
                raise _Lost

    def _is_owed(self, value: int) -> bool:
        """Whether some place must hold a value, in any form."""
        return any(self._times.get(value + form) for form in self._forms)

    def _through_writes(self, step: Kept, item: int) -> None:
        """Writes of several values, of parts, under a guard, or of constants."""
        more: list[Obligation] = []
        for value, place in reversed(step.writes):
            met = step.alike or (value,)
            if (value, place) in step.partial and not self._at.get(place, _NONE).isdisjoint(met):
                more.append((value, place))
            for other in self._overlaps[place]:
                self._overwrite(other, item, met if other == place else ())
        for value, _ in step.writes:
            if value not in self._constants and self._is_owed(value):
                raise _Lost
        self._oblige(more)

    def _through(self, step: Step, item: int) -> None:
        """Any step but a kept instruction."""
        n = self._n
        match step:
            case Move(to, source):
                self._replace((to,), item, [(v, source) for v in self._at.get(to, _NONE)])
            case Convert(to, source, is_to_word):
                first, shift = (n, -n) if is_to_word else (0, n)
                self._require(to, range(first, first + n))
                self._replace((to,), item, [(v + shift, source) for v in self._at.get(to, _NONE)])
            case Halves(low, high, whole, True):
                self._require(whole, range(n))
                both = [((v + 2 * n, low), (v + 3 * n, high)) for v in self._at.get(whole, _NONE)]
                self._replace((whole,), item, [one for pair in both for one in pair])
            case Halves(low, high, whole):
                self._require(low, range(2 * n, 3 * n))
                self._require(high, range(3 * n, 4 * n))
                lows = [(v - 2 * n, whole) for v in self._at.get(low, _NONE)]
                highs = [(v - 3 * n, whole) for v in self._at.get(high, _NONE)]
                self._replace((high, low), item, [*lows, *highs])
            case Recompute(to, values):
                known = dict(values)
                self._require(to, known if len(known) == len(values) else ())
                self._replace((to,), item, [one for v in self._at.get(to, _NONE) for one in known[v]])
            case Equal(value, other, lost):
                if any(map(self._is_owed, lost)):
                    raise _Lost
                if value != other:
                    self._equate(value, other)
            case _:  # a dropped constant, which is written again where it is read
                pass

    def _require(self, place: int, possible: Collection[int]) -> None:
        """Raise `_Lost` where a place must hold other values than these."""
        if any(value not in possible for value in self._at.get(place, _NONE)):
            raise _Lost

    def _replace(self, places: Sequence[int], item: int, by: Collection[Obligation]) -> None:
        """Obligations of places that are overwritten, the last one first, become others."""
        for place in places:
            for other in self._overlaps[place]:
                self._overwrite(other, item, self._at.get(other, _NONE) if other == place else ())
        self._oblige(by)

    def _equate(self, value: int, other: int) -> None:
        """A dropped copy: where the value must be, the other one must be before."""
        for form in self._forms:
            if self._times.get(value + form):
                places = [place for place, held in self._at.items() if value + form in held]
                for place in places:
                    self._at[place].discard(value + form)
                self._times[value + form] = 0
                self._oblige([(other + form, place) for place in places])

    # ---- definitions

    @cached_property
    def _defined(self) -> Sequence[int]:
        """Per block, the values that some definition reaches at its start."""
        cfg = self._cfg
        written = [from_indices(self._changed(block.index)[0]) for block in cfg.blocks]
        at_start = from_indices(value for value, _ in self._boundary.at_start)
        gen = [*written, 0]
        found = solve(
            cfg.successors_by_node, gen, [0] * len(gen), direction="forward", boundaries={cfg.entry: at_start}
        )
        return found.entry

    def _may_be_defined(self, value: int, item: int) -> bool:
        """Whether a definition of a value may reach the point after an item."""
        block, value = self._cfg.block_of[item], value % self._n
        if self._defined[block] >> value & 1:
            return True
        for step in self._steps[self._cfg.blocks[block].start : item + 1]:
            if isinstance(step, Kept) and any(value == v for v, _ in step.writes):
                return True
            if isinstance(step, Equal) and value in (step.value, *step.lost):
                return True
        return False
