"""Guarded instructions as a branch around them, for the check of kernels that have slots of threads already.

Where both texts access slots, loads and stores under a guard are spills and reloads in both, for some lanes only.
A *run* is a sequence of items with one guard, which none but the last may change. For every lane it is the same as

    @!p bra end;   items without guard;   end:

so the check follows both ways and meets the facts at the end. The branch is an item of its own, which reads the guard
in both texts: it must have the same value.

Between two kept instructions the order of items of one text is free against those of the other. The runs of both with
the same guard are put side by side there, so that they share a branch.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ptxtool.ir.nodes import Function
from ptxtool.validate.assignment.align import NONE, Alignment

BRANCH = (NONE, NONE)
"""The item of a branch around a run."""
Item = tuple[int, int]


class Guard(NamedTuple):
    """The register of a guard, by its index, its name, its negation, its condition in PTXPlus."""

    register: int
    name: str
    negated: bool
    condition: str


class Run(NamedTuple):
    """Items from `first` to `end` (exclusive) with one guard: that before and that after, None where none is named."""

    first: int
    end: int
    old: Guard | None
    new: Guard | None


class GuardedRuns:
    """The items of an alignment in an order with few runs, and a branch before each."""

    def __init__(self, before: Function, after: Function, aligned: Alignment, flows: frozenset[int]) -> None:
        """`flows` are the instructions before that control flow depends on: they are in no run."""
        self._before, self._after, self._flows = before, after, flows
        starts = sorted({*aligned.labels.values()})
        self._items = self._sorted(aligned.items, frozenset(starts))
        self._runs = self._found(frozenset(starts))
        self.branches: dict[int, int] = {}
        """Per branch, by its index in `items`, the index where it goes."""
        self.guards: dict[int, tuple[Guard | None, Guard | None]] = {}
        """Per branch the guard before and after."""
        self.items: list[Item] = []
        places: list[int] = []  # per item without branches, that with them: of the branch before a run
        ends: list[int] = []
        by_first = {run.first: run for run in self._runs}
        for n, item in enumerate(self._items):
            places.append(len(self.items))
            if run := by_first.get(n):
                self.guards[len(self.items)] = run.old, run.new
                ends.append(run.end)
                self.items.append(BRANCH)
            self.items.append(item)
        places.append(len(self.items))
        self.branches = {branch: places[end] for branch, end in zip(self.guards, ends, strict=True)}
        self.labels = {key: places[n] for key, n in aligned.labels.items()}

    def _guards(self, item: Item) -> tuple[Guard | None, Guard | None]:
        return self._guard(self._before, item[0]), self._guard(self._after, item[1])

    @staticmethod
    def _guard(function: Function, i: int) -> Guard | None:
        guard = function.instructions[i].guard if i != NONE else None
        if guard is None:
            return None
        register = function.registers.resolve_index(guard.name, i)
        return Guard(register, guard.name, guard.negated, guard.condition)

    def _sorted(self, items: Sequence[Item], starts: frozenset[int]) -> list[Item]:
        """The items, those between two kept ones or labels in an order that puts runs of one guard side by side."""
        found: list[Item] = []
        dropped: list[Item] = []
        inserted: list[Item] = []
        for n, item in enumerate(items):
            if n in starts or NONE not in item:
                found += self._merged(inserted, dropped)
                dropped, inserted = [], []
            if NONE not in item:
                found.append(item)
            else:
                (inserted if item[0] == NONE else dropped).append(item)
        return [*found, *self._merged(inserted, dropped)]

    def _merged(self, inserted: Sequence[Item], dropped: Sequence[Item]) -> Iterator[Item]:
        """Both sequences in their orders. Guarded ones of the new text are a part of those of the old text."""
        if not inserted or not dropped:
            yield from (*inserted, *dropped)
            return

        def runs(items: Sequence[Item], side: int) -> list[tuple[str, list[Item]]]:
            function = (self._before, self._after)[side]

            def key(item: Item) -> str:
                guard = function.instructions[item[side]].guard
                return f"{'!' * guard.negated}{guard.name}.{guard.condition}" if guard else ""

            return [(guard, [*run]) for guard, run in groupby(items, key)]

        news = runs(inserted, 1)
        for guard, run in runs(dropped, 0):
            while guard and news and news[0][0] in ("", guard):
                name, first = news.pop(0)
                yield from first
                if name:
                    break
            yield from run
        for _, rest in news:
            yield from rest

    def _found(self, starts: frozenset[int]) -> list[Run]:
        runs: list[Run] = []
        is_open = False
        for n, item in enumerate(self._items):
            old, new = self._guards(item)
            if (old is None and new is None) or item[0] in self._flows:
                is_open = False
                continue
            if is_open and n not in starts and (joined := _joined(runs[-1], old, new)):
                runs[-1] = joined._replace(end=n + 1)
            else:
                runs.append(Run(n, n + 1, old, new))
            is_open = not self._writes_predicate(item)
        return runs

    def _writes_predicate(self, item: Item) -> bool:
        sides = zip((self._before, self._after), item, strict=True)
        return any(
            function.registers[k].is_predicate
            for function, i in sides
            if i != NONE
            for k in function.def_uses[i].defs
        )


def _joined(run: Run, old: Guard | None, new: Guard | None) -> Run | None:
    """A run that goes on with these guards; None where they are other ones.

    Which guard after stands for one before is known from a kept instruction; else they have the same name.
    """
    if (run.old and old and run.old != old) or (run.new and new and run.new != new):
        return None
    joined = run._replace(old=run.old or old, new=run.new or new)
    if joined.old is None or joined.new is None or (run.old and run.new) or (old and new):
        return joined
    return joined if joined.old[1:] == joined.new[1:] else None
