"""The expected path of a thread before its first shared register, and which registers should be private.

For `reorder-decls:order=late`, `delay-first-use` and the table of docs/reordering.md. A thread walks through the
kernel as the Markov chain of `frequency.py` and stops at the first instruction that names a register outside a set P:

    value(P) = sum over blocks b of visits_P(b) * (instructions of b before the first that names one outside P)

where visits_P are the expected visits if no block with such an instruction is left. Wanted is the P of at most k
registers with the greatest value. In straight code that is the first k registers in order of first use; with branches
one has to choose which side to serve, and registers that only together let the thread pass a block make the problem
hard (with one branch target per set of k registers it is the choice of a densest set).

The search grows P from the empty set by the missing registers of some instruction that stops the thread. That reaches
every set that matters: the instructions that P lets pass can be ordered such that each stops the thread until its
registers are added. All sets are tried, each once, up to a limit of work; then the search is exact. Beyond the limit
it is greedy: of the instructions that stop the thread, it takes the one whose registers gain most instructions per
register. The paper's order is always a candidate, so the value is never below its value.

With `delays` the kernel is taken as `delay-first-use` would leave it: where a thread is stopped, all instructions that
depend on no instruction that stops it come before. The search is the same, with every instruction of the scheduling
region that depends on no other one instead of the first one.

Not handled: code after PTXPlus's `callp`, which counts as passed; a call of a function stops the thread, as its own
registers have numbers after the kernel's. Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance
through register sharing, section 5.2, whose order of first use this weighs by frequency.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ptxtool.analysis.flow.dependence import Effect, effects, scheduling_regions, split_region
from ptxtool.analysis.flow.frequency import Probabilities, counted_probabilities, static_probabilities, visits
from ptxtool.analysis.sharing.first_use import first_use
from ptxtool.base.bits import from_indices, indices
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.nodes import Function

MOST_WORK = 60_000
"""Blocks visited, or eight instructions of a long one, before the search becomes greedy; about a second. The greedy
search has as much again, then it takes the first candidates."""
WIDTH = 16
"""Instructions that the greedy search compares at a step: the first that stop the thread."""


@dataclass(frozen=True)
class PrivateSet:
    """Registers to be private, as indices, and the value of the set; `is_best` if no set is better."""

    private: frozenset[int]
    value: float
    is_best: bool


class ExpectedPath:
    """The expected path of a thread through one kernel. Bit k of a set is the register with index k."""

    def __init__(self, kernel: Function, counts: Sequence[int] | None = None, delays: bool = False):
        """`counts`: how often every instruction was issued in a run; without them frequencies are static."""
        self.kernel = kernel
        self._cfg: Cfg = build(kernel)
        self._counts = counts
        self._delays = delays

    @cached_property
    def _probabilities(self) -> Probabilities:
        if self._counts is None:
            return static_probabilities(self._cfg)
        return counted_probabilities(self._cfg, [self._counts[b.start] for b in self._cfg.blocks])

    @cached_property
    def _needs(self) -> tuple[int, ...]:
        """Per instruction, the set of registers it names; calls name one that is never private."""
        never = 1 << len(self.kernel.registers)
        return tuple(
            from_indices(step.touched) | (never if node.opcode.base == "call" else 0)
            for node, step in zip(self.kernel.instructions, self.kernel.def_uses, strict=True)
        )

    @cached_property
    def _effects(self) -> tuple[Effect, ...]:
        return effects(self.kernel)

    @cached_property
    def _regions(self) -> list[list[range]]:
        """Per block, its scheduling regions."""
        found: list[list[range]] = [[] for _ in self._cfg.blocks]
        for region in scheduling_regions(self.kernel):
            found[self._cfg.block_of[region.start]].append(region)
        return found

    def value(self, private: int) -> float:
        """The instructions that a thread is expected to execute before one that names a register outside a set."""
        return sum(
            times * ((self._cfg.blocks[b].end if stop < 0 else stop) - self._cfg.blocks[b].start)
            for b, stop, times in self.stops(private)
        )

    def stops(self, private: int) -> Iterator[tuple[int, int, float]]:
        """The blocks that a thread reaches: number, the instruction that stops it there (-1 for none), visits.

        With `delays`, the place of that instruction after the delay.
        """
        stops = {b: stop.place for b, stop in self._walk(private).items()}
        masked = [
            {} if stops.get(b, -1) >= 0 or b not in stops else self._probabilities[b]
            for b in range(len(self._cfg.blocks))
        ]
        found = visits(self._cfg, masked) if masked else ()
        return ((b, stop, found[b]) for b, stop in stops.items())

    def best(self, k: int) -> PrivateSet:
        """The set of at most k registers with the greatest value, as far as the limit of work allows."""
        written = [use.before - 1 for use in first_use(self.kernel).used]
        first = from_indices(written[:k])
        best, value = first, self.value(first)
        seen, work, left = {0}, [0], MOST_WORK
        while work and left > 0:
            private = work.pop()
            stops = self._walk(private)
            left -= self._work(stops) + 1
            larger = list(self._larger(private, stops, k))
            fresh = [each for each in larger if each not in seen]
            seen.update(fresh)
            work += reversed(fresh)
            if not larger:
                left -= 2 * self._work(stops)
                if (found := self.value(private)) > value + _CLOSE:
                    best, value = private, found
        if work:
            private = self._greedy(k)
            if (found := self.value(private)) > value + _CLOSE:
                best, value = private, found
        return PrivateSet(frozenset(indices(best)), value, is_best=not work)

    def _greedy(self, k: int) -> int:
        private, left = 0, MOST_WORK
        while True:
            stops = self._walk(private)
            candidates = list(islice(dict.fromkeys(self._larger(private, stops, k)), WIDTH))
            if not candidates:
                return private
            if left < 0:  # then as the order of first use would
                private = candidates[0]
                continue
            now, grown = self.value(private), private.bit_count()
            gains = [(self.value(each) - now) / (each.bit_count() - grown) for each in candidates]
            private = candidates[gains.index(max(gains))]
            left -= (len(candidates) + 2) * self._work(stops)

    def _work(self, stops: "dict[int, _Stop]") -> int:
        """The cost of visiting these blocks, in units of MOST_WORK."""
        return sum(stop.work for stop in stops.values()) // 8 + len(self._cfg.blocks) // 16

    def _larger(self, private: int, stops: "dict[int, _Stop]", k: int) -> Iterator[int]:
        """The sets that let the thread pass one more of the instructions that stop it, in textual order."""
        for i in sorted(i for stop in stops.values() for i in stop.by):
            larger = private | self._needs[i]
            if larger.bit_count() <= k and not larger >> len(self.kernel.registers):
                yield larger

    def _walk(self, private: int) -> "dict[int, _Stop]":
        """The blocks that a thread reaches, each with what stops it there."""
        found: dict[int, _Stop] = {}
        work = [self._cfg.entry] if self._cfg.blocks else []
        while work:
            b = work.pop()
            if b in found or b == self._cfg.exit:
                continue
            found[b] = self._stop(b, private)
            if found[b].place < 0:
                work += (s for s, p in self._probabilities[b].items() if p > 0)
        return found

    def _stop(self, b: int, private: int) -> "_Stop":
        instructions = self._cfg.blocks[b].instructions
        stop = next((i for i in instructions if self._needs[i] & ~private), -1)
        if stop < 0 or not self._delays:
            return _Stop(stop, (stop,) if stop >= 0 else (), 8)
        region = next(r for r in self._regions[b] if stop in r)
        late = {i: self._needs[i] & ~private != 0 for i in region}
        first, _, roots = split_region(region, self._effects, late)
        return _Stop(region.start + len(first), tuple(roots), 8 + len(region))


class _Stop(NamedTuple):
    """Where a thread is stopped in a block, -1 for nowhere; the instructions that stop it; the work to find them."""

    place: int
    by: tuple[int, ...]
    work: int


_CLOSE = 1e-9
"""Values that differ by less are equal: then the written order is kept."""
