"""Graph colouring with iterated register coalescing, from the textbook: what `linear_scan.py` is measured against.

Nodes are live ranges of one, two or four units, edges join those that meet; a copy between two nodes that do not meet
may be coalesced. While a node is surely colourable whatever colours its neighbours get, it is put aside (simplify);
else a copy is coalesced where that cannot make the graph harder (Briggs: the merged node has few neighbours that
matter; George: every neighbour of one is harmless or a neighbour of the other already); else a copy is given up
(freeze); else a node is put aside in the hope that it finds a colour (spill). Colours are given in reverse order, the
lowest free.

Wide nodes stand aligned. Whether a node is surely colourable says the sum of what each neighbour can block at most: of
the K units, K/2 pairs or K/4 quadruples that the node could take.

Reference: L. George, A. Appel, "Iterated register coalescing", TOPLAS 18(3), 1996; M. Smith, N. Ramsey, G. Holloway, "A
generalized algorithm for graph-coloring register allocation", PLDI 2004 (nodes of several widths).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Segment = tuple[int, int]


def interference(segments: Sequence[Sequence[Segment]]) -> list[set[int]]:
    """Per range, the ranges that it meets. A range is half-open segments of points in ascending order."""
    events = sorted((start, end, n) for n, parts in enumerate(segments) for start, end in parts)
    neighbours: list[set[int]] = [set() for _ in segments]
    active: dict[int, int] = {}
    ends: list[tuple[int, int]] = []
    for start, end, n in events:
        for old_end, old in ends:
            if old_end <= start and active.get(old) == old_end:
                del active[old]
        ends = [(e, o) for e, o in ends if e > start]
        neighbours[n].update(active)
        neighbours[n].discard(n)
        active[n] = end
        ends.append((end, n))
    for n, found in enumerate(neighbours):
        for other in found:
            neighbours[other].add(n)
    return neighbours


@dataclass(frozen=True)
class Colouring:
    """The first unit of every node that found one, the nodes that found none, and how many copies are left."""

    unit: dict[int, int]
    homeless: tuple[int, ...]
    n_copies_left: int


def blocked(width: int, other: int) -> int:
    """How many places of a width a node of another width can block at most."""
    return max(1, other // width)


class Colourer:
    """One run with a number of units. `costs` rank what may be spilled, lowest first."""

    def __init__(
        self,
        neighbours: Sequence[set[int]],
        widths: Sequence[int],
        copies: Iterable[tuple[int, int]],
        n_units: int,
        costs: Sequence[float],
    ):
        n = len(widths)
        self.widths, self.costs, self.n_units = widths, costs, n_units
        self.places = {w: n_units // w for w in (1, 2, 4)}
        self.original = neighbours
        self.adjacent = [set(found) for found in neighbours]  # grows with coalescing
        self.degree = [sum(blocked(widths[k], widths[m]) for m in neighbours[k]) for k in range(n)]
        self.is_aside = [False] * n  # on the stack or coalesced
        self.alias = list(range(n))
        self.stack: list[int] = []
        self.copies = list(copies)
        self.moves: list[set[int]] = [set() for _ in range(n)]  # copies of a node, by number
        for k, (a, b) in enumerate(self.copies):
            self.moves[a].add(k)
            self.moves[b].add(k)
        self.ready = {k for k, (a, b) in enumerate(self.copies) if widths[a] == widths[b]}
        self.waiting: set[int] = set()  # copies that could not be coalesced so far
        self.simplify: set[int] = set()
        self.freeze: set[int] = set()
        self.spill: set[int] = set()
        for k in range(n):
            self._sort_in(k)

    # ---- the worklists

    def _is_easy(self, k: int) -> bool:
        return self.degree[k] < self.places[self.widths[k]]

    def _live_moves(self, k: int) -> set[int]:
        return {m for m in self.moves[k] if m in self.ready or m in self.waiting}

    def _sort_in(self, k: int) -> None:
        if not self._is_easy(k):
            self.spill.add(k)
        elif self._live_moves(k):
            self.freeze.add(k)
        else:
            self.simplify.add(k)

    def run(self) -> Colouring:
        """Put every node aside, then give colours."""
        while True:
            if self.simplify:
                self._put_aside(self.simplify.pop())
            elif self.ready:
                self._coalesce(self.ready.pop())
            elif self.freeze:
                k = self.freeze.pop()
                self.simplify.add(k)
                self._give_up_copies(k)
            elif self.spill:
                k = min(self.spill, key=lambda k: (self.costs[k] / max(1, self.degree[k]), k))
                self.spill.remove(k)
                self.simplify.add(k)
                self._give_up_copies(k)
            else:
                return self._colour()

    def _neighbours(self, k: int) -> list[int]:
        """Those that are still in the graph."""
        aside = self.is_aside
        return [m for m in self.adjacent[k] if not aside[m]]

    def _put_aside(self, k: int) -> None:
        self.stack.append(k)
        self.is_aside[k] = True
        for m in self._neighbours(k):
            self._relieve(m, blocked(self.widths[m], self.widths[k]))

    def _relieve(self, k: int, by: int) -> None:
        was_easy = self._is_easy(k)
        self.degree[k] -= by
        if not was_easy and self._is_easy(k):
            for node in (k, *self._neighbours(k)):  # their copies may be coalesced now
                again = self.moves[node] & self.waiting
                self.waiting -= again
                self.ready |= again
            self.spill.discard(k)
            self._sort_in(k)

    def _give_up_copies(self, k: int) -> None:
        for copy in self._live_moves(k):
            self.ready.discard(copy)
            self.waiting.discard(copy)
            a, b = (self._find(end) for end in self.copies[copy])
            self._may_be_simple(b if a == k else a)

    # ---- coalescing

    def _find(self, k: int) -> int:
        while self.alias[k] != k:
            k = self.alias[k]
        return k

    def _may_be_simple(self, k: int) -> None:
        """Without copies left an easy node can be simplified."""
        if k in self.freeze and not self._live_moves(k):
            self.freeze.remove(k)
            self.simplify.add(k)

    def _coalesce(self, copy: int) -> None:
        a, b = (self._find(end) for end in self.copies[copy])
        if a == b:
            self._may_be_simple(a)
        elif b in self.adjacent[a]:
            self._may_be_simple(a)
            self._may_be_simple(b)
        elif self._george(a, b) or self._george(b, a) or self._briggs(a, b):
            self._merge(a, b)
            self._may_be_simple(a)
        else:
            self.waiting.add(copy)

    def _george(self, a: int, b: int) -> bool:
        near = self.adjacent[b]
        return all(self._is_easy(m) or m in near for m in self._neighbours(a))

    def _briggs(self, a: int, b: int) -> bool:
        width = self.widths[a]
        hard = {*self._neighbours(a), *self._neighbours(b)}
        total = 0
        for m in hard:
            shared = m in self.adjacent[a] and m in self.adjacent[b]
            degree = self.degree[m] - (blocked(self.widths[m], width) if shared else 0)
            if degree >= self.places[self.widths[m]]:
                total += blocked(width, self.widths[m])
        return total < self.places[width]

    def _merge(self, a: int, b: int) -> None:
        """b becomes a."""
        for worklist in (self.simplify, self.freeze, self.spill):
            worklist.discard(b)
        self.alias[b] = a
        self.is_aside[b] = True
        self.moves[a] |= self.moves[b]
        width = self.widths[a]
        for m in self._neighbours(b):
            if m in self.adjacent[a]:  # it had both, and has one now
                self._relieve(m, blocked(self.widths[m], width))
            else:
                self.adjacent[a].add(m)
                self.adjacent[m].add(a)
                self.degree[a] += blocked(width, self.widths[m])
        for worklist in (self.simplify, self.freeze, self.spill):
            worklist.discard(a)
        self._sort_in(a)

    # ---- colours

    def _colour(self) -> Colouring:
        unit: dict[int, int] = {}
        homeless: list[int] = []
        for k in reversed(self.stack):
            taken = 0
            for m in self.adjacent[k]:
                place = unit.get(self._find(m), -1)
                if place >= 0:
                    taken |= ((1 << self.widths[m]) - 1) << place
            width = self.widths[k]
            mask = (1 << width) - 1
            base = next((u for u in range(0, self.n_units - width + 1, width) if not taken >> u & mask), -1)
            if base < 0:
                homeless.append(k)
            else:
                unit[k] = base
        for k in range(len(self.widths)):
            root = self._find(k)
            if root != k and root in unit:
                unit[k] = unit[root]
        left = sum(unit.get(a, -1) != unit.get(b, -2) for a, b in self.copies)
        return Colouring(unit, tuple(homeless), left)
