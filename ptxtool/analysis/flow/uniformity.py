"""Uniformity: which values are equal in all lanes of a warp, and so which branches can send lanes different ways.

For liveness per warp, `cfg`, release marks, the lowering to PTXPlus. A register is *uniform* at an instruction if, each
time a warp executes it, all lanes that do read the same value; a branch with uniform inputs sends all of them the same
way. The registers V(b) that may *vary* between lanes when they enter block b are the least fixed point of three rules:

* data: what an instruction writes varies if it may by itself, or if a register that it depends on does
  (`lane_results.py`). A write that is guarded or partial may also keep a variation;
* joins: let d be a branch whose inputs vary, and W(d) the registers written in the blocks between d and its
  reconvergence point. Where lanes of different sides of d meet, the registers of W(d) vary: at the reconvergence point,
  and at every block in between that more than one side reaches. So a variable varies after a loop that lanes leave at
  different times, and not inside it (*temporal divergence*);
* at the entry every register varies: PTX leaves its value undefined, PTXPlus keeps the thread's number in one.

Lanes that exit do not count any more. The rules hold where lanes rejoin at reconvergence points, or earlier where their
paths meet. Not handled: the values of memory; multiplication by zero and its like; functions, of whose parameters
nothing is known.

Reference: R. Karrenberg, S. Hack, "Improving performance of OpenCL on CPUs", CC 2012 (divergence analysis); B. Coutinho
et al., "Divergence analysis and optimizations", PACT 2011; LLVM, "Convergence And Uniformity".
"""

from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain

from ptxtool.analysis.flow.branch_sides import BranchSides, Split, branch_sides
from ptxtool.analysis.flow.lane_results import CARRY, LaneEffect, branch_inputs, lane_effects
from ptxtool.base.bits import from_indices, indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class Uniformity:
    """The uniform values of one function. `divergent` are the branches that can send lanes different ways.

    `varying` is V(b) per block, with bit n for `registers[n]`: those that the text names, in its order, and `CARRY`.
    """

    kernel: Function = field(repr=False, compare=False)
    sides: BranchSides = field(repr=False)
    divergent: frozenset[int]
    registers: tuple[int, ...] = field(repr=False)
    varying: tuple[int, ...] = field(repr=False)
    effects: tuple[LaneEffect, ...] = field(repr=False)

    @property
    def cfg(self) -> Cfg:
        """The blocks, with calls followed."""
        return self.sides.cfg

    @cached_property
    def divergent_sides(self) -> int:
        """The sides of the divergent branches, as a set of their numbers."""
        return self.sides.numbers(self.divergent)

    def varying_before(self, instruction: int) -> frozenset[int]:
        """The registers that may vary between the lanes that execute an instruction."""
        block = self.cfg.blocks[self.cfg.block_of[instruction]]
        now = self._at_start(block.index)
        for i in range(block.start, instruction):
            step(self.effects[i], now)
        return frozenset(now - {CARRY})

    def is_uniform(self, instruction: int, register: int) -> bool:
        """Whether all lanes that execute an instruction have the same value in a register before it."""
        return register not in self.varying_before(instruction)

    def is_together(self, instruction: int) -> bool:
        """Whether no lane waits at another side of a branch of the function, or after it, while some execute this."""
        return not self.sides.reaching[self.cfg.block_of[instruction]] & self.divergent_sides

    def _at_start(self, block: int) -> set[int]:
        return {self.registers[n] for n in indices(self.varying[block])}

    def __str__(self) -> str:
        kernel, rows = self.kernel, list[tuple[int, str, str]]()
        for block in self.cfg.blocks:
            now = self._at_start(block.index)
            for i in block.instructions:
                before = now.copy()
                step(self.effects[i], now)
                uses, defs = kernel.def_uses[i].uses, kernel.def_uses[i].defs
                found = dict.fromkeys([k for k in uses if k in before] + [k for k in defs if k in now])
                words = [kernel.registers[k].name for k in found] + ["(diverges)"] * (i in self.divergent)
                rows.append((i, kernel.text(i), " ".join(words)))
        width = max((len(text) for _, text, _ in rows), default=0)
        return "\n".join(f"{i:>5}  {text:<{width}}  | {words}".rstrip() for i, text, words in rows)


def step(effect: LaneEffect, varying: set[int]) -> None:
    """Turn the registers that vary before an instruction into those that vary after it."""
    if effect.inputs is None or not varying.isdisjoint(effect.inputs):
        varying.update(effect.writes)
    else:
        varying.difference_update(effect.kills)


def uniformity(function: Function) -> Uniformity:
    """The uniform values of a function. Raises `PtxError` (E202) on an undeclared label."""
    return _FixedPoint(function).result()


class _FixedPoint:
    """Computes V(b) with a worklist.

    `dataflow.solve` does not fit: what happens to one register depends on whether others vary.
    """

    def __init__(self, function: Function):
        self._function = function
        self._sides = branch_sides(function)
        self._cfg = cfg = self._sides.cfg
        self._effects = lane_effects(function)
        self._split_of = {split.block: split for split in self._sides.splits}
        self._inputs = {s.block: branch_inputs(function, s.instruction) for s in self._sides.splits}
        named = [(*(effect.inputs or ()), *effect.writes) for effect in self._effects]
        read = [inputs or () for inputs in self._inputs.values()]
        self._registers = tuple(dict.fromkeys(chain.from_iterable([*named, *read])))
        number = {k: n for n, k in enumerate(self._registers)}
        written = [
            {number[k] for i in block.instructions for k in self._effects[i].writes} for block in cfg.blocks
        ]
        self._written = [*map(from_indices, written), *[0] * (cfg.n_nodes - len(written))]
        self._named = [
            from_indices({number[k] for i in block.instructions for k in named[i]}) for block in cfg.blocks
        ]
        for split in self._sides.splits:
            self._named[split.block] |= from_indices(number[k] for k in self._inputs[split.block] or ())
        self._number = number
        self._everything = (1 << len(number)) - 1
        self._varying = [0] * cfg.n_nodes
        self._rank = cfg.rank
        self._work: list[tuple[int, int]] = []
        self._entered: set[int] = set()
        self._divergent: set[int] = set()
        self._meeting = _meeting_blocks(self._sides)
        self._has_calls = any(flow.calls is not None for flow in cfg.flows.values())
        self._between: dict[
            int, int
        ] = {}  # W(d) by d's first side, of the branches for which it was computed
        reached = [split for split in self._sides.splits if split.block in self._rank and not self._has_calls]
        for split in sorted(reached, key=lambda split: -self._rank[split.block]):  # inner branches first
            if split.first not in self._between:
                self._between[split.first] = self._written_between(split)

    def result(self) -> Uniformity:
        cfg = self._cfg
        self._add(cfg.entry, self._everything)
        while self._work:
            _, node = heappop(self._work)
            if node < cfg.exit:
                self._visit(node)
            elif node > cfg.exit:
                for block in cfg.successors_by_node[node]:
                    self._add(block, self._varying[node])
        for block in cfg.unreachable:
            self._varying[block] = self._everything
        unreachable = {s.instruction for s in self._sides.splits if s.block not in self._rank}
        return Uniformity(
            self._function,
            self._sides,
            frozenset(self._divergent | unreachable),
            self._registers,
            tuple(self._varying[: cfg.exit]),
            self._effects,
        )

    def _visit(self, block: int) -> None:
        """Pass on what varies at the end of a block, and see whether its branch diverges."""
        varying = {self._registers[n] for n in indices(self._varying[block] & self._named[block])}
        for i in self._cfg.blocks[block].instructions:
            step(self._effects[i], varying)
        written = self._written[block]
        out = self._varying[block] & ~written
        out |= from_indices(n for k in varying if written >> (n := self._number[k]) & 1)
        for successor in self._cfg.successors_by_node[block]:
            self._add(successor, out)
        split = self._split_of.get(block)
        if split is not None and split.instruction not in self._divergent:
            inputs = self._inputs[block]
            if inputs is None or not varying.isdisjoint(inputs):
                self._divergent.add(split.instruction)
                self._diverge(split)

    def _add(self, block: int, varying: int) -> None:
        """More registers vary at the start of a block."""
        both = self._varying[block] | varying
        if both != self._varying[block] or block not in self._entered:
            self._entered.add(block)
            self._varying[block] = both
            heappush(self._work, (self._rank[block], block))

    def _diverge(self, split: Split) -> None:
        """Make the registers vary that lanes of different sides may have written before they meet."""
        written = self._between.get(split.first)
        if written is None:
            written = self._between[split.first] = self._written_between(split)
        if split.rejoin in self._rank:  # some path leads there
            self._add(split.rejoin, written)
        for block in self._meeting.pop(split.first, ()):  # once for all branches with the same sides
            self._add(block, written)

    def _written_between(self, split: Split) -> int:
        """The registers written on paths from the sides of a branch to where its lanes rejoin.

        Branches on the way are passed at once: their lanes rejoin before, or at the same place. With calls this does
        not hold, as paths lead from a function to all of its callers.
        """
        found, seen, work = 0, {split.rejoin}, [*self._cfg.successors_by_node[split.block]]
        while work:
            node = work.pop()
            if node in seen:
                continue
            seen.add(node)
            found |= self._written[node]
            inner = None if self._has_calls else self._split_of.get(node)
            known = None if inner is None else self._between.get(inner.first)
            if inner is None or known is None:
                work += self._cfg.successors_by_node[node]
            else:
                found |= known
                work.append(inner.rejoin)
        return found


def _meeting_blocks(sides: BranchSides) -> dict[int, list[int]]:
    """Per branch, by its first side, the blocks that more than one of its sides reaches before they rejoin."""
    found: dict[int, list[int]] = {}
    splits = {split.first: len(split.sides) for split in sides.splits}
    pairs = from_indices(first for first, n in splits.items() if n == 2)
    others = [(first, (1 << n) - 1) for first, n in splits.items() if n > 2]
    for block, reaching in enumerate(sides.reaching):
        met = list(indices(reaching & reaching >> 1 & pairs))
        for first, mask in others:
            own = reaching >> first & mask
            met += [first] * (own & (own - 1) != 0)
        for first in met:
            found.setdefault(first, []).append(block)
    return found
