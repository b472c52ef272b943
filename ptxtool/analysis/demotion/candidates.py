"""Which registers of a kernel to demote to shared memory: the candidates, and the order of a rule.

For the pass `demote`. A candidate is a unit of the register file (32 bits), or the aligned pair of units of a 64-bit
register, with every register whose name means these units. A demoted register is loaded before each instruction that
reads it and stored after each that writes it, so its cost is the number of these instructions:

    accesses    reads + writes in the text
    frequency   the same, each weighted by 10 for every loop around it, or by how often it was issued in a run
    conflicts   the number of other candidates that some instruction names together with it

The candidate with the least cost is demoted first, of equal ones that with the lowest number; 32-bit candidates come
before pairs. After each, the candidates that share an instruction with it are dropped: one value register is enough for
all of them. Never demoted: predicates, registers of 128 bits and of vector type, those of a function's head, and what
asynchronous instructions (`wgmma`, `tcgen05`) still use after they were issued.

PTXPlus writes a pair as its two registers. Pairs from an even number on are candidates; not address registers, longer
tuples, and `$r0`, in which a kernel finds the thread id.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ptxtool.analysis.flow.asynchronous import launched
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.cfg.blocks import build
from ptxtool.ir.defuse import adjacent_words
from ptxtool.ir.nodes import Function

Rule = Literal["accesses", "frequency", "conflicts"]
LOOP_FACTOR = 10
"""Runs of a loop's body that `frequency` assumes (the paper's number)."""


@dataclass(frozen=True)
class Candidate:
    """One or two units from `first` on: the registers that mean them, and the instructions that name these.

    `cost` is the number of instructions that read it plus those that write it, each with its weight.
    """

    first: int
    units: int
    registers: frozenset[int]
    instructions: frozenset[int]
    cost: int


def candidates(kernel: Function, rule: Rule, issues: Sequence[int] | None = None) -> tuple[Candidate, ...]:
    """The candidates of a kernel with physical registers, by number.

    `issues` are the weights of its instructions for `frequency`, instead of those of its loops. Raises `PtxError`
    (E202): an undeclared label.
    """
    units = _Units(kernel)
    registers: dict[int, set[int]] = {}
    instructions: dict[int, set[int]] = {}
    costs: dict[int, int] = {}
    weights: Sequence[int] = [1] * len(kernel.instructions)
    if rule == "frequency":
        weights = _weights(kernel) if issues is None else issues
    for i, (step, weight) in enumerate(zip(kernel.def_uses, weights, strict=True)):
        for accessed in (step.uses, step.defs):
            for first in {units.candidate[k] for k in accessed if k in units.candidate}:
                costs[first] = costs.get(first, 0) + weight
        for k in step.touched:
            if k in units.candidate:
                registers.setdefault(units.candidate[k], set()).add(k)
                instructions.setdefault(units.candidate[k], set()).add(i)
    return tuple(
        Candidate(
            first,
            1 + (first // 2 in units.pairs),
            frozenset(registers[first]),
            frozenset(instructions[first]),
            cost,
        )
        for first, cost in sorted(costs.items())
    )


def demotion_order(kernel: Function, rule: Rule, issues: Sequence[int] | None = None) -> Iterator[Candidate]:
    """The candidates in the order in which a rule demotes them, without those that conflict with earlier ones.

    Arguments and errors are those of `candidates`.
    """
    left = list(candidates(kernel, rule, issues))
    while left:
        costs = _conflicts(left) if rule == "conflicts" else [each.cost for each in left]
        chosen = min(zip(left, costs, strict=True), key=lambda pair: (pair[0].units, pair[1], pair[0].first))[
            0
        ]
        yield chosen
        left = [each for each in left if each.instructions.isdisjoint(chosen.instructions)]


def _conflicts(left: Sequence[Candidate]) -> list[int]:
    """Per candidate, the number of others that share an instruction with it."""
    at: dict[int, list[int]] = {}
    for n, each in enumerate(left):
        for i in each.instructions:
            at.setdefault(i, []).append(n)
    return [len({other for i in each.instructions for other in at[i]}) - 1 for each in left]


class _Units:
    """What the registers that a kernel names mean: `candidate[k]` is the first unit of the candidate of register k.

    `pairs` are the pairs of units that some register means together, each by half its first unit.
    """

    def __init__(self, kernel: Function):
        table = kernel.registers
        named = {k for step in kernel.def_uses for k in step.touched}
        in_flight = {
            k
            for i in kernel.at_bases("wgmma", "tcgen05")
            if launched(kernel.instructions[i])
            for k in kernel.def_uses[i].touched
        }
        places = {k: place for k in named if (place := units_of(table[k])) and place.file == "general"}
        wide = [place for place in places.values() if place.units > 1]
        self.pairs = {half for p in wide for half in range(p.first // 2, (p.first + p.units) // 2)}
        kept = {*self._paired(kernel)} if table.is_ptxplus else set()
        for k, place in places.items():
            if place.units > 2 or table[k].vector > 1 or k in in_flight:
                kept.update(self._candidate(unit) for unit in range(place.first, place.first + place.units))
        firsts = {k: self._candidate(place.first) for k, place in places.items()}
        self.candidate = {k: first for k, first in firsts.items() if first not in kept}

    def _paired(self, kernel: Function) -> Iterator[int]:
        """Collect the pairs of PTXPlus; the units that stay, `$r0` and those of tuples that are no pairs."""
        others = [0] if kernel.kind == "entry" else []
        for i in range(len(kernel.instructions)):
            for names, _ in adjacent_words(kernel, i):
                found = [kernel.registers.resolve(name, i) for name in names]
                units = [place.first for r in found if r is not None and (place := units_of(r))]
                if len(names) == len(units) == 2 and units[0] % 2 == 0:
                    self.pairs.add(units[0] // 2)
                else:
                    others += units
        yield from map(self._candidate, others)

    def _candidate(self, unit: int) -> int:
        return unit & ~1 if unit // 2 in self.pairs else unit


def _weights(kernel: Function) -> list[int]:
    cfg = build(kernel)
    nest = loops_of(cfg)
    return [LOOP_FACTOR ** nest.depth(block) for block in cfg.block_of]
