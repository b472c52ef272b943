"""The end of a kernel in private registers: which live ranges move there, and which are copied.

For `settle-tail`, which runs before `release-registers`. A release mark comes behind the last instruction that names a
shared register, which most often stores a result: address and value have whatever registers the allocator took. For an
instruction h outside of loops let D be all that may come after it, itself included. From h on a warp needs no shared
register if everything that D names is private. So every value in a shared register that D names gets a private one:

* a *move*: the whole live range goes to a private register of its type that is free at all of its points; or
* a *copy*: where the value is live at h and h dominates all of its accesses in D, it is copied in front of h to a
  private register that is free from there on, and D names that one.

What comes of it is what `release_points.py` says: instructions behind the last touch of the warp, weighed by how often
a thread comes there (`frequency.py`), a load counting for several. A copy costs an issue and must pay.
Every h is tried, from the end of the text backwards; for each the moves and copies are searched with backtracking,
moves first. The best h is taken, and then others as long as they gain.

Registers must be physical: no two live values may meet in a place (`physical.py`). Live ranges are per thread: lanes
have registers of their own. Private registers lose no value they had, so that nobody comes to a shared one earlier.

Not handled: pairs and vectors that stay adjacent, registers in flight, values at entry (copies aside); they stay. A
value is not driven out of its private register to make room.
Reference: P. Briggs, "Register allocation via graph coloring", 1992 (webs); K. Cooper, L. Simpson, "Live range
splitting in a graph coloring register allocator", CC 1998.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ptxtool.analysis.flow.accesses import Accesses, Flags, Numbers, Segment
from ptxtool.analysis.flow.frequency import static_probabilities, visits
from ptxtool.analysis.regalloc.assignment import groups, refuse
from ptxtool.analysis.regalloc.in_flight import held
from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.sharing.release_points import may_touch
from ptxtool.cfg.dominance import dominators
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table

LOAD_WEIGHT = 20.0
"""Issues that a load counts for: a warp waits behind it, with others in its place."""  # guess
COPY_PRICE = 4.0
"""Issues that a copy must gain. It takes one from all warps of the SM, and gains for one that waits: at a price of 1
two copies for a store cost hotspot 1.4% (measured)."""
LEAST_GAIN = 0.5
"""Less than this, in issues per thread, is not worth a change of the text."""  # guess
_WORTH = 10
"""Looks that an instruction takes for the worth of a change."""
_PATIENCE = 500
"""Steps of one search for moves and copies."""
_MOST_FAILURES = 32
"""So many instructions of a block in a row without moves and copies that work: those before need still more."""
_MOST_WANTED = 128
"""Values that are moved or copied together, at most."""
_MOST_WORK = 1_500_000
"""Registers looked at for values, pairs of values compared, and instructions looked at for the worth of a change: some
two seconds. Then what was found is taken."""


class Copy(NamedTuple):
    """A value copied to another register in front of an instruction; `accesses` are those that name that one."""

    instruction: int
    web: int
    register: int
    accesses: frozenset[int]


@dataclass(frozen=True)
class Settled:
    """Per web the register that it moves to, the copies, and the gain in issues per thread."""

    ranges: Ranges
    moves: Mapping[int, int]
    copies: tuple[Copy, ...]
    gain: float

    @property
    def accesses(self) -> Accesses:
        """Those of the webs."""
        return self.ranges.accesses

    @property
    def block_of(self) -> Numbers:
        return np.array(self.ranges.cfg.block_of, np.int64)

    @property
    def recipes(self) -> Mapping[int, tuple[int, ...]]:
        """Nothing is computed anew."""
        return {}

    def shares_guard(self, instruction: Numbers, writes: Flags) -> Flags:
        """Nothing is loaded or stored."""
        return np.zeros_like(writes)


class _Option(NamedTuple):
    """A register for a web, with the points at which it must be free."""

    register: int
    points: int
    is_copy: bool


def settled(kernel: Function, private: int) -> Settled | None:
    """The moves and copies for a kernel with so many private registers; None where its registers are not physical.

    Raises E202 on an undeclared label, E301 for what has no physical register.
    """
    refuse(kernel)
    settler = _Settler(kernel, private)
    return settler.run() if settler.is_physical else None


class _Settler:
    def __init__(self, kernel: Function, private: int):
        self.kernel = kernel
        self.private = private
        self.ranges = live_ranges(kernel)
        self.cfg = self.ranges.cfg
        self.n = len(kernel.instructions)
        in_flight = held(self.ranges)
        self.points = [_points(in_flight.get(w, s)) for w, s in enumerate(self.ranges.segments)]
        self.staying = self.ranges.at_entry.union(in_flight)
        self.grouped = frozenset(groups(kernel, self.ranges)) | frozenset(in_flight)
        self.register = list(self.ranges.register)  # of webs, as it becomes
        self.copies: list[Copy] = []
        self.work = 0
        self.copied: set[tuple[int, int]] = set()  # webs with the instructions that name a copy
        reads, writes = self.ranges.reads, self.ranges.writes
        self.webs = [frozenset((*r, *w)) for r, w in zip(reads, writes, strict=True)]
        self.is_stuck = [self._is_stuck(i) for i in range(self.n)]
        self._cells_of: dict[int, tuple[tuple[str, int], ...]] = {}
        self._taken: dict[tuple[str, int], int] = {}  # per unit of a file, the points at which it is
        self.is_physical = all(list(map(self._take, self.register, self.points)))
        self.visits = visits(self.cfg, static_probabilities(self.cfg))
        self.weight = [self._weight(i) for i in range(self.n)]
        self._tree = dominators(self.cfg)
        self._reach: dict[int, tuple[frozenset[int], int]] = {}

    # ---- places

    def _cells(self, register: int) -> tuple[tuple[str, int], ...]:
        """The units that a register is; one without a number is a place of its own."""
        if register not in self._cells_of:
            place = units_of(self.kernel.registers[register])
            self._cells_of[register] = (
                tuple((place.file, place.first + u) for u in range(place.units))
                if place
                else (("named", register),)
            )
        return self._cells_of[register]

    def _is_free(self, register: int, points: int) -> bool:
        return not any(self._taken.get(cell, 0) & points for cell in self._cells(register))

    def _take(self, register: int, points: int) -> bool:
        """Take a register at some points; False if something is there."""
        is_free = self._is_free(register, points)
        for cell in self._cells(register):
            self._taken[cell] = self._taken.get(cell, 0) | points
        return is_free

    def _leave(self, register: int, points: int) -> None:
        for cell in self._cells(register):
            self._taken[cell] &= ~points

    # ---- what a change is worth

    def _weight(self, i: int) -> float:
        block = self.cfg.block_of[i]
        node = self.kernel.instructions[i]
        flow = self.cfg.flows.get(i)
        if flow is not None and flow.leaves:
            return 0.0
        match = table().match(node.opcode.text, len(node.operands), self.kernel.registers.is_ptxplus)
        is_load = match is not None and not match.form.effects.isdisjoint(("load", "atomic"))
        return self.visits[block] * (LOAD_WEIGHT if is_load else 1.0)

    def _is_stuck(self, i: int) -> bool:
        """Whether an instruction touches what is shared whatever becomes of its values: by calls, zero and sinks."""
        step = self.ranges.def_uses[i]
        return self.kernel.instructions[i].opcode.base == "call" or any(
            k >= self.private for k in {*step.touched} - {*step.uses, *step.defs}
        )

    def _touches(self, copied: Set[tuple[int, int]], moves: Mapping[int, int]) -> list[bool]:
        """Per instruction, whether it names a shared register once values have moved or been copied."""
        private = self.private
        is_shared = [moves.get(w, k) >= private for w, k in enumerate(self.register)]
        return [
            self.is_stuck[i] or any(is_shared[w] and (w, i) not in copied for w in self.webs[i])
            for i in range(self.n)
        ]

    def _worth(self, copies: Sequence[Copy], moves: Mapping[int, int]) -> float:
        """The weight of what comes behind the last touch, less the copies."""
        self.work += _WORTH * self.n
        copied = self.copied.union((c.web, i) for c in copies for i in c.accesses)
        copies = [*self.copies, *copies]
        touches = self._touches(copied, moves)
        free = [not may for may in may_touch(self.kernel, touches)]
        for start in {c.instruction for c in copies}:
            touches[start] = True
        behind = [not may for may in may_touch(self.kernel, touches)]
        for start in {c.instruction for c in copies}:
            behind[start] = free[start]
        gain = sum(w for w, is_behind in zip(self.weight, behind, strict=True) if is_behind)
        return gain - COPY_PRICE * sum(self.visits[self.cfg.block_of[c.instruction]] for c in copies)

    # ---- the search

    def run(self) -> Settled:
        first = worth = self._worth((), {})
        starts = self._starts()
        while True:
            best: tuple[float, list[Copy], dict[int, int]] | None = None
            for block in starts:
                n_failures = 0
                for start in block:
                    found = self._at(start)
                    n_failures = 0 if found else n_failures + 1
                    if n_failures == _MOST_FAILURES:
                        break
                    if found and any(found):
                        gain = self._worth(*found) - worth
                        if gain > max(LEAST_GAIN, best[0] if best else 0.0):
                            best = gain, *found
            if best is None:
                break
            gain, copies, moves = best
            worth += gain
            self._apply(copies, moves)
        original = self.ranges.register
        moves = {w: k for w, k in enumerate(self.register) if k != original[w]}
        return Settled(self.ranges, moves, tuple(self.copies), worth - first)

    def _starts(self) -> list[list[int]]:
        """Per block outside of loops, the instructions from which on registers may change, the last one first."""
        starts: list[list[int]] = []
        for block in reversed(self.cfg.blocks):
            later = self._behind(block.index)[0]
            stuck = any(self.is_stuck[i] for b in later for i in self.cfg.blocks[b].instructions)
            if self.visits[block.index] > 0 and block.index not in later and not stuck:
                free = takewhile(lambda i: not self.is_stuck[i], reversed(block.instructions))
                starts.append([*free])
        return starts

    def _behind(self, block: int) -> tuple[frozenset[int], int]:
        """The blocks that may follow a block, and their points."""
        if block not in self._reach:
            found: set[int] = set()
            work = [*self.cfg.successors[block]]
            while work:
                other = work.pop()
                if other not in found and other != self.cfg.exit:
                    found.add(other)
                    work += self.cfg.successors[other]
            blocks = (self.cfg.blocks[b] for b in found)
            self._reach[block] = frozenset(found), _points([(2 * b.start, 2 * b.end) for b in blocks])
        return self._reach[block]

    def _at(self, start: int) -> tuple[list[Copy], dict[int, int]] | None:
        """Copies and moves that leave no shared register behind the front of an instruction; None if none are found."""
        if self.work > _MOST_WORK:
            return None
        home = self.cfg.block_of[start]
        later, points = self._behind(home)
        points |= _points([(2 * start, 2 * self.cfg.blocks[home].end)])
        inside = [*range(start, self.cfg.blocks[home].end)]
        inside += (i for b in sorted(later) for i in self.cfg.blocks[b].instructions)
        wanted: dict[int, list[int]] = {}  # web -> its accesses inside
        for i in inside:
            for web in self.webs[i]:
                if self.register[web] >= self.private and (web, i) not in self.copied:
                    wanted.setdefault(web, []).append(i)
                    if len(wanted) > _MOST_WANTED:
                        return None
        options: list[tuple[int, list[_Option]]] = []
        for web, accesses in wanted.items():
            found = [*self._options(web, accesses, start, points)]
            if not found:
                return None
            options.append((web, found))
        options.sort(key=lambda pair: len(pair[1]))
        chosen = _Choice(self, options).run()
        if chosen is None:
            return None
        copies = [
            Copy(start, w, o.register, frozenset(wanted[w])) for w, o in sorted(chosen.items()) if o.is_copy
        ]
        return copies, {w: o.register for w, o in chosen.items() if not o.is_copy}

    def _options(self, web: int, accesses: Sequence[int], start: int, points: int) -> Iterator[_Option]:
        """The ways for a web to be in private registers at its accesses from `start` on, moves first."""
        if web in self.grouped or any(c.web == web for c in self.copies):
            return
        own = self.kernel.registers[self.register[web]]
        targets = [
            k
            for k in range(self.private)
            if (other := self.kernel.registers[k]).kind == own.kind
            and other.type == own.type
            and not other.role
            and other.vector == own.vector == 1
        ]
        self.work += 2 * len(targets)
        if web not in self.staying:
            everywhere = [i for i, _, _ in self.ranges.accesses[web]]
            for k in targets:
                if self._is_seen(k, everywhere) and self._is_free(k, self.points[web]):
                    yield _Option(k, self.points[web], is_copy=False)
        home = self.cfg.block_of[start]
        if (
            (own.kind == "general" if own.is_ptxplus else not own.is_predicate and own.bits in (16, 32, 64))
            and self.points[web] >> 2 * start & 1
            and all(self._tree.dominates(home, self.cfg.block_of[i]) for i in accesses)
        ):
            piece = self.points[web] & points
            for k in targets:
                if self._is_seen(k, [start, *accesses]) and self._is_free(k, piece):
                    yield _Option(k, piece, is_copy=True)

    def _is_seen(self, register: int, instructions: Sequence[int]) -> bool:
        """Whether a register's name means it at some instructions: blocks may hide it."""
        name = self.kernel.registers.name_of(register)
        return all(self.kernel.registers.resolve_index(name, i) == register for i in instructions)

    def _apply(self, copies: Sequence[Copy], moves: Mapping[int, int]) -> None:
        for web, k in moves.items():
            self._leave(self.register[web], self.points[web])
            self._take(k, self.points[web])
            self.register[web] = k
        for copy in copies:
            home = self.cfg.block_of[copy.instruction]
            behind = self._behind(home)[1]
            behind |= _points([(2 * copy.instruction, 2 * self.cfg.blocks[home].end)])
            self._take(copy.register, self.points[copy.web] & behind)
            self.copies.append(copy)
            self.copied.update((copy.web, i) for i in copy.accesses)


class _Choice:
    """One option for every web such that none meet: the fewest copies that the search finds."""

    def __init__(self, settler: _Settler, options: Sequence[tuple[int, Sequence[_Option]]]):
        self._settler = settler
        self._cells = settler._cells
        self._options = options
        self._best: dict[int, _Option] | None = None
        self._fewest = len(options) + 1
        self._patience = _PATIENCE

    def run(self) -> dict[int, _Option] | None:
        self._try(0, {}, 0)
        return self._best

    def _try(self, place: int, chosen: dict[int, _Option], n_copies: int) -> None:
        self._patience -= 1
        if n_copies >= self._fewest or self._patience < 0:
            return
        if place == len(self._options):
            self._best, self._fewest = dict(chosen), n_copies
            return
        web, options = self._options[place]
        for option in options:
            self._settler.work += 1 + len(chosen)
            if not any(self._meet(option, other) for other in chosen.values()):
                chosen[web] = option
                self._try(place + 1, chosen, n_copies + option.is_copy)
                del chosen[web]

    def _meet(self, a: _Option, b: _Option) -> bool:
        return bool(a.points & b.points) and not set(self._cells(a.register)).isdisjoint(
            self._cells(b.register)
        )


def _points(segments: Sequence[Segment]) -> int:
    """The points of segments as a set."""
    found = 0
    for start, end in segments:
        found |= (1 << end) - (1 << start)
    return found
