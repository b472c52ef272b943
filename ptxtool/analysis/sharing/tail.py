"""The end of a kernel in private registers: live ranges that move there, and values that are copied there.

For `split-tail-ranges`, which runs before `release-registers`. A release mark comes after the last instruction that
names a shared register, which most often stores a result: address and value have whatever registers the allocator
took. For an instruction h outside of loops let D be the instructions that may execute after it, and h itself. From h
on a warp needs no shared register if all registers that D names are private. So every value in a shared register that
D names gets a private one, by

* a *move*: the whole live range goes to a private register of its type that is free at all of its points; or
* a *copy*: where the value is live at h and h dominates all of its accesses in D, its live range is split: the value is
  copied before h to a private register that is free from there on, and D names that one.

The gain is the issues of a thread after the last touch of its warp (`release_points.py`), each instruction weighed by
how often a thread executes it (`frequency.py`), a load counting for several. A copy costs an issue and must pay. Every
h is tried, from the end of the text backwards; for each, moves and copies are searched with backtracking, moves first.
The best h is taken, then further ones as long as they gain.

Registers must be physical: no two live values may meet in a unit (`physical.py`). Live ranges are per thread: lanes
have registers of their own. Private registers keep all values they had, so no warp needs a shared one earlier.

Not handled: register tuples, registers in flight, moves of values at entry; they stay. A value is not moved out of its
private register to free it.
Reference: P. Briggs, "Register allocation via graph coloring", 1992 (webs); K. Cooper, L. Simpson, "Live range
splitting in a graph coloring register allocator", CC 1998.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from ptxtool.analysis.flow.accesses import Interval
from ptxtool.analysis.flow.dataflow import reachable
from ptxtool.analysis.flow.frequency import static_probabilities, visits
from ptxtool.analysis.regalloc.assignment import refuse
from ptxtool.analysis.regalloc.in_flight import in_flight_intervals
from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.regalloc.register_tuples import register_tuples
from ptxtool.analysis.sharing.release_points import may_touch
from ptxtool.base.bits import indices
from ptxtool.cfg.dominance import DominatorTree, dominators
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table

LOAD_WEIGHT = 20.0
"""Issues that a load counts for: a warp waits for it while others could run in its place."""  # guess
COPY_PRICE = 4.0
"""Issues that a copy must gain. It takes one from all warps of the SM, and gains for one that waits: at a price of 1
two copies for a store cost hotspot 1.4% (measured)."""
LEAST_GAIN = 0.5
"""Less than this, in issues per thread, is not worth a change of the text."""  # guess
_GAIN_WORK = 10
"""Steps per instruction to compute the gain of a change."""
_SEARCH_STEPS = 500
"""Steps of one search for moves and copies."""
_MOST_FAILURES = 32
"""After so many instructions of a block in a row without moves and copies, those before are not tried."""
_MOST_VALUES = 128
"""Values that are moved or copied together, at most."""
_MOST_WORK = 1_500_000
"""Steps of the whole analysis, some two seconds; then what was found is taken."""


class ValueCopy(NamedTuple):
    """A value copied to another register before an instruction; `accesses` are the instructions that name that one."""

    instruction: int
    web: int
    register: int
    accesses: frozenset[int]


@dataclass(frozen=True)
class TailSplit:
    """Per web the register that it moves to, the copies, and the gain in issues per thread."""

    ranges: Ranges
    moves: Mapping[int, int]
    copies: tuple[ValueCopy, ...]
    gain: float


def split_tail(kernel: Function, private: int) -> TailSplit | None:
    """The moves and copies for a kernel with so many private registers; None where its registers are not physical.

    Raises E202 on an undeclared label, E301 for what has no physical register.
    """
    refuse(kernel)
    ranges = live_ranges(kernel)
    in_flight = in_flight_intervals(ranges)
    points = [_points(in_flight.get(web, some)) for web, some in enumerate(ranges.intervals)]
    taken = _TakenUnits(kernel)
    is_free = [taken.take(k, some) for k, some in zip(ranges.register, points, strict=True)]
    if not all(is_free):
        return None
    return _Splitter(ranges, private, points, taken, frozenset(in_flight)).run()


class _TakenUnits:
    """Per unit of a register file the points at which it is taken, as sets."""

    def __init__(self, kernel: Function):
        self._registers = kernel.registers
        self._points: dict[tuple[str, int], int] = {}
        self._units: dict[int, frozenset[tuple[str, int]]] = {}

    def units(self, register: int) -> frozenset[tuple[str, int]]:
        """The units of a register; one without a number has one of its own."""
        if register not in self._units:
            place = units_of(self._registers[register])
            units = range(place.first, place.first + place.units) if place else (register,)
            self._units[register] = frozenset((place.file if place else "named", unit) for unit in units)
        return self._units[register]

    def is_free(self, register: int, points: int) -> bool:
        return not any(self._points.get(unit, 0) & points for unit in self.units(register))

    def take(self, register: int, points: int) -> bool:
        """Take a register at some points; False if it is taken already."""
        is_free = self.is_free(register, points)
        for unit in self.units(register):
            self._points[unit] = self._points.get(unit, 0) | points
        return is_free

    def release(self, register: int, points: int) -> None:
        for unit in self.units(register):
            self._points[unit] &= ~points

    def meet(self, a: "_Option", b: "_Option") -> bool:
        return bool(a.points & b.points) and not self.units(a.register).isdisjoint(self.units(b.register))


class _SharedTouches:
    """The instructions that touch shared registers, and the issues after the last of them."""

    def __init__(self, ranges: Ranges, private: int):
        self._kernel = ranges.function
        self._cfg = ranges.cfg
        self._private = private
        self.webs = [frozenset((*r, *w)) for r, w in zip(ranges.reads, ranges.writes, strict=True)]
        """Per instruction the webs that it names."""
        self.always = [
            node.opcode.base == "call"
            or any(k >= private for k in {*step.touched} - {*step.uses, *step.defs})
            for node, step in zip(self._kernel.instructions, ranges.def_uses, strict=True)
        ]
        """Per instruction whether it touches them wherever its values are: a call, or the zero register and sinks."""
        self.visits = visits(self._cfg, static_probabilities(self._cfg))
        self._weight = [self._issues(i) for i in range(len(self.webs))]

    def _issues(self, i: int) -> float:
        """The issues that an instruction counts for."""
        node = self._kernel.instructions[i]
        flow = self._cfg.flows.get(i)
        if flow is not None and flow.leaves:
            return 0.0
        match = table().match(node.opcode.text, len(node.operands), self._kernel.registers.is_ptxplus)
        is_load = match is not None and not match.form.effects.isdisjoint(("load", "atomic"))
        return self.visits[self._cfg.block_of[i]] * (LOAD_WEIGHT if is_load else 1.0)

    def gain(self, register: Sequence[int], copies: Sequence[ValueCopy]) -> float:
        """The issues after the last touch, less the price of the copies, with these registers of the webs."""
        copied = {(c.web, i) for c in copies for i in c.accesses}
        is_shared = [k >= self._private for k in register]
        touches = [
            always or any(is_shared[w] and (w, i) not in copied for w in webs)
            for i, (always, webs) in enumerate(zip(self.always, self.webs, strict=True))
        ]
        starts = {c.instruction for c in copies}
        is_after = [not may for may in may_touch(self._kernel, touches)]
        if starts:  # a copy reads its source before the instruction, which may itself be after the last touch
            reading = [touch or i in starts for i, touch in enumerate(touches)]
            with_copies = [not may for may in may_touch(self._kernel, reading)]
            is_after = [is_after[i] if i in starts else after for i, after in enumerate(with_copies)]
        gain = sum(w for w, after in zip(self._weight, is_after, strict=True) if after)
        return gain - COPY_PRICE * sum(self.visits[self._cfg.block_of[c.instruction]] for c in copies)


class _Option(NamedTuple):
    """A register for a web, with the points at which it must be free."""

    register: int
    points: int
    is_copy: bool


class _Splitter:
    """The search for moves and copies. `register` and `copies` are what has been decided."""

    def __init__(
        self,
        ranges: Ranges,
        private: int,
        points: Sequence[int],
        taken: _TakenUnits,
        in_flight: frozenset[int],
    ):
        self.ranges = ranges
        self.private = private
        self.points = points
        self.taken = taken
        self.unmovable = ranges.at_entry | in_flight
        self.unsplittable = in_flight.union(register_tuples(ranges))
        self.touches = _SharedTouches(ranges, private)
        self.register = list(ranges.register)
        self.copies: list[ValueCopy] = []
        self.work = 0

    @cached_property
    def _later(self) -> list[tuple[frozenset[int], int]]:
        """Per block the blocks that may follow it, and their points."""
        cfg = self.ranges.cfg
        found = [frozenset(indices(bits)) - {cfg.exit} for bits in reachable(cfg.successors)[: cfg.exit]]
        blocks = [(2 * block.start, 2 * block.end) for block in cfg.blocks]
        return [(later, _points([blocks[b] for b in later])) for later in found]

    def _points_from(self, start: int) -> int:
        """The points that may come after one outside of loops, and those of its instruction."""
        home = self.ranges.cfg.blocks[self.ranges.cfg.block_of[start]]
        return self._later[home.index][1] | _points([(2 * start, 2 * home.end)])

    @cached_property
    def _dominators(self) -> DominatorTree:
        return dominators(self.ranges.cfg)

    def _gain(self, copies: Sequence[ValueCopy], moves: Mapping[int, int]) -> float:
        """The gain of what has been decided, and these."""
        self.work += _GAIN_WORK * len(self.touches.webs)
        register = [moves.get(web, k) for web, k in enumerate(self.register)]
        return self.touches.gain(register, [*self.copies, *copies])

    def run(self) -> TailSplit:
        first = total = self._gain((), {})
        starts = self._starts()
        while True:
            best: tuple[float, list[ValueCopy], dict[int, int]] | None = None
            for block in starts:
                n_failures = 0
                for start in block:
                    found = self._at(start)
                    n_failures = 0 if found else n_failures + 1
                    if n_failures == _MOST_FAILURES:
                        break
                    if found and any(found):
                        gain = self._gain(*found) - total
                        if gain > max(LEAST_GAIN, best[0] if best else 0.0):
                            best = gain, *found
            if best is None:
                break
            gain, copies, moves = best
            total += gain
            self._apply(copies, moves)
        original = self.ranges.register
        moves = {w: k for w, k in enumerate(self.register) if k != original[w]}
        return TailSplit(self.ranges, moves, tuple(self.copies), total - first)

    def _starts(self) -> list[list[int]]:
        """Per block outside of loops, the instructions from which on registers may change, the last one first."""
        starts: list[list[int]] = []
        always, blocks = self.touches.always, self.ranges.cfg.blocks
        for block in reversed(blocks):
            later = self._later[block.index][0]
            ends_touching = any(always[i] for b in later for i in blocks[b].instructions)
            if self.touches.visits[block.index] > 0 and block.index not in later and not ends_touching:
                starts.append([*takewhile(lambda i: not always[i], reversed(block.instructions))])
        return starts

    def _at(self, start: int) -> tuple[list[ValueCopy], dict[int, int]] | None:
        """Copies and moves after which no instruction from `start` on names a shared register; None for none."""
        if self.work > _MOST_WORK:
            return None
        cfg = self.ranges.cfg
        home = cfg.blocks[cfg.block_of[start]]
        later, points = self._later[home.index][0], self._points_from(start)
        copied = {(c.web, i) for c in self.copies for i in c.accesses}
        wanted: dict[int, list[int]] = {}  # web -> its accesses from `start` on
        for instructions in (range(start, home.end), *(cfg.blocks[b].instructions for b in sorted(later))):
            for i in instructions:
                for web in self.touches.webs[i]:
                    if self.register[web] >= self.private and (web, i) not in copied:
                        wanted.setdefault(web, []).append(i)
                        if len(wanted) > _MOST_VALUES:
                            return None
        options: list[tuple[int, list[_Option]]] = []
        for web, accesses in wanted.items():
            found = [*self._options(web, accesses, start, points)]
            if not found:
                return None
            options.append((web, found))
        options.sort(key=lambda pair: len(pair[1]))
        chosen = self._chosen(options)
        if chosen is None:
            return None
        copied_webs = sorted(w for w, o in chosen.items() if o.is_copy)
        copies = [ValueCopy(start, w, chosen[w].register, frozenset(wanted[w])) for w in copied_webs]
        return copies, {w: o.register for w, o in chosen.items() if not o.is_copy}

    def _chosen(self, options: Sequence[tuple[int, Sequence[_Option]]]) -> dict[int, _Option] | None:
        """One option for every web such that no two meet: the fewest copies that a bounded search finds."""
        best: dict[int, _Option] | None = None
        fewest, left = len(options) + 1, _SEARCH_STEPS
        chosen: dict[int, _Option] = {}

        def search(place: int, n_copies: int) -> None:
            nonlocal best, fewest, left
            left -= 1
            if n_copies >= fewest or left < 0:
                return
            if place == len(options):
                best, fewest = dict(chosen), n_copies
                return
            web, own = options[place]
            for option in own:
                self.work += 1 + len(chosen)
                if not any(self.taken.meet(option, other) for other in chosen.values()):
                    chosen[web] = option
                    search(place + 1, n_copies + option.is_copy)
                    del chosen[web]

        search(0, 0)
        return best

    def _options(self, web: int, accesses: Sequence[int], start: int, points: int) -> Iterator[_Option]:
        """The private registers that a web can have at its accesses from `start` on, moves first."""
        if web in self.unsplittable or any(c.web == web for c in self.copies):
            return
        registers, cfg, own_points = self.ranges.function.registers, self.ranges.cfg, self.points[web]
        own = registers[self.register[web]]
        targets = [
            k
            for k in range(self.private)
            if (other := registers[k]).kind == own.kind
            and other.type == own.type
            and not other.role
            and other.vector == own.vector == 1
        ]
        self.work += 2 * len(targets)
        if web not in self.unmovable:
            everywhere = [i for i, _, _ in self.ranges.accesses[web]]
            for k in targets:
                if self._is_visible(k, everywhere) and self.taken.is_free(k, own_points):
                    yield _Option(k, own_points, is_copy=False)
        home = cfg.block_of[start]
        if (
            (own.kind == "general" if own.is_ptxplus else not own.is_predicate and own.bits in (16, 32, 64))
            and own_points >> 2 * start & 1
            and all(self._dominators.dominates(home, cfg.block_of[i]) for i in accesses)
        ):
            from_start = own_points & points
            for k in targets:
                if self._is_visible(k, [start, *accesses]) and self.taken.is_free(k, from_start):
                    yield _Option(k, from_start, is_copy=True)

    def _is_visible(self, register: int, instructions: Sequence[int]) -> bool:
        """Whether a register's name means it at some instructions: blocks may hide it."""
        registers = self.ranges.function.registers
        name = registers.name_of(register)
        return all(registers.resolve_index(name, i) == register for i in instructions)

    def _apply(self, copies: Sequence[ValueCopy], moves: Mapping[int, int]) -> None:
        for web, k in moves.items():
            self.taken.release(self.register[web], self.points[web])
            self.taken.take(k, self.points[web])
            self.register[web] = k
        for copy in copies:
            self.taken.take(copy.register, self.points[copy.web] & self._points_from(copy.instruction))
        self.copies += copies


def _points(intervals: Sequence[Interval]) -> int:
    """The points of live intervals as a set."""
    found = 0
    for start, end in intervals:
        found |= (1 << end) - (1 << start)
    return found
