"""Instructions across the lanes of a warp, for the reference interpreter: votes, shuffles, matches, reductions.

For `reference_steps.py`. The lanes that take part are those that execute, guards counted; with `.sync` also those of
the member mask. Lanes with different masks are groups that do not see each other, but in votes and shuffles, which
all executing lanes take part in: a lane counts the votes of those that its own mask names.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (synchronization, data movement instructions).
"""

from collections.abc import Callable

import numpy as np

from ptxtool.ir.nodes import Dual, Instruction, Name
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import COMBINATIONS, Step
from reference.decode import Operands, Warp
from reference.numbers import LANES, full
from reference.op import Op
from reference.ops import Bools

_ONE = np.uint64(1)
GROUPED = frozenset({"match", "redux", "elect"})
"""Meanings that lanes of one member mask have together, each group by itself."""
WARP_WIDE = GROUPED | {"vote", "shfl"}


class WarpWide:
    """The part of the decoder that knows warps."""

    operands: Operands

    def _members(
        self, instruction: Instruction, match: Match, position: int, i: int
    ) -> Callable[[Warp], Bools]:
        """The lanes that take part: those that execute and, with `.sync`, are in the member mask."""
        names = [o.name for o in match.form.operands]
        if "mask" not in names or position >= len(instruction.operands):
            return lambda warp: warp.executing
        mask = self.operands.read(instruction.operands[position], TYPES["b32"], i)
        lane = np.arange(LANES, dtype=np.uint64)
        return lambda warp: warp.executing & (mask(warp) >> lane & _ONE != 0)

    def _named(self, instruction: Instruction, match: Match, i: int) -> Callable[[Warp], list[Bools]]:
        """For every lane, those of the executing lanes that its mask names."""
        names = [o.name for o in match.form.operands]
        if "mask" not in names or names.index("mask") >= len(instruction.operands):
            return lambda warp: [warp.executing] * LANES
        mask = self.operands.read(instruction.operands[names.index("mask")], TYPES["b32"], i)
        lane = np.arange(LANES, dtype=np.uint64)
        return lambda warp: [warp.executing & (word >> lane & _ONE != 0) for word in mask(warp)]

    def by_group(self, step: Step, instruction: Instruction, match: Match, i: int) -> Step:
        """A step that is taken by the lanes of every member mask for themselves."""
        names = [o.name for o in match.form.operands]
        if "mask" not in names or names.index("mask") >= len(instruction.operands):
            return step
        mask = self.operands.read(instruction.operands[names.index("mask")], TYPES["b32"], i)

        def steps(warp: Warp) -> None:
            executing, masks = warp.executing, mask(warp).copy()
            for value in np.unique(masks[executing]):
                warp.executing = executing & (masks == value)
                step(warp)
            warp.executing = executing

        return steps

    def _vote(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        source = self.operands.truth(instruction.operands[1], i)
        named = self._named(instruction, match, i)
        if op.has("ballot"):
            write = self.operands.write(instruction.operands[0], TYPES["b32"], i)
        else:
            write_p, _ = self.operands.write_pair(instruction.operands[0], i)

        def step(warp: Warp) -> None:
            truth, results = source(warp), np.zeros(LANES, np.uint64)
            for lane, voters in enumerate(named(warp)):
                votes = truth[voters]
                if op.has("ballot"):
                    results[lane] = _bits(truth & voters)
                elif op.has("all"):
                    results[lane] = votes.all()
                elif op.has("any"):
                    results[lane] = votes.any()
                else:
                    results[lane] = votes.all() or not votes.any()
            if op.has("ballot"):
                write(warp, results, warp.executing)
            else:
                write_p(warp, results != 0, warp.executing)

        return step

    def _shfl(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        first = instruction.operands[0]
        a, b, c = (self.operands.read(o, TYPES["b32"], i) for o in instruction.operands[1:4])
        target, predicate = (first.first, first.second) if isinstance(first, Dual) else (first, Name("_"))
        write = self.operands.write(target, TYPES["b32"], i)
        write_p = self.operands.write_truth(predicate, i)
        mode = match.one_of("up", "down", "bfly", "idx")

        def step(warp: Warp) -> None:
            values = np.where(warp.executing, a(warp), np.uint64(0))  # undefined in PTX; 0 as on GPUs
            results, valid = np.zeros(LANES, np.uint64), np.zeros(LANES, np.bool_)
            for lane, (by, bound) in enumerate(zip(b(warp).tolist(), c(warp).tolist(), strict=True)):
                by, clamp, segment = by & 31, bound & 31, bound >> 8 & 31
                last = (lane & segment) | (clamp & ~segment & 31)
                lowest = lane & segment
                if mode == "up":
                    source, valid[lane] = lane - by, lane - by >= last
                elif mode == "down":
                    source, valid[lane] = lane + by, lane + by <= last
                elif mode == "bfly":
                    source, valid[lane] = lane ^ by, lane ^ by <= last
                else:
                    source = lowest | (by & ~segment & 31)
                    valid[lane] = source <= last
                results[lane] = values[source] if valid[lane] else values[lane]
            write(warp, results, warp.executing)
            write_p(warp, valid, warp.executing)

        return step

    def _match(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        first = instruction.operands[0]
        source = self.operands.read(instruction.operands[1], op.type, i)
        members = self._members(instruction, match, 2, i)
        is_all = ".all." in f".{instruction.opcode.text}."
        target, predicate = (first.first, first.second) if isinstance(first, Dual) else (first, Name("_"))
        write, write_p = self.operands.write(target, TYPES["b32"], i), self.operands.write_truth(predicate, i)

        def step(warp: Warp) -> None:
            values, lanes = source(warp), members(warp)
            same = [lanes & (values == values[k]) for k in range(LANES)]
            if is_all:
                agree = bool(lanes.any()) and bool((values[lanes] == values[lanes][0]).all())
                write(warp, full(_bits(lanes) if agree else 0), warp.executing)
                write_p(warp, np.full(LANES, agree), warp.executing)
            else:
                write(warp, np.array([_bits(s) for s in same], np.uint64), warp.executing)

        return step

    def _redux(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        if op.type.is_float:
            return self._redux_float(instruction, match, op, i)
        source = self.operands.read(instruction.operands[1], op.type, i)
        members = self._members(instruction, match, 2, i)
        write = self.operands.write(instruction.operands[0], op.type, i)
        combine = COMBINATIONS[match.one_of("add", "min", "max", "and", "or", "xor")]

        def step(warp: Warp) -> None:
            values = source(warp)[members(warp)]
            total = values[:1]
            for k in range(1, len(values)):
                total = combine(op, total, values[k : k + 1])
            write(warp, full(int(total[0])) if len(total) else full(0), warp.executing)

        return step

    def _redux_float(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        """The least or greatest number; NaNs do not count, or with `.NaN` decide."""
        source = self.operands.read(instruction.operands[1], op.type, i)
        members = self._members(instruction, match, 2, i)
        write = self.operands.write(instruction.operands[0], op.type, i)

        def step(warp: Warp) -> None:
            bits = [int(v) for v in source(warp)[members(warp)]]
            values = [(v & 0x7FFFFFFF) if op.has("abs") else v for v in bits]
            numbers = [v for v in values if v & 0x7FFFFFFF <= 0x7F800000]
            ordered = sorted(numbers, key=lambda v: -(v & 0x7FFFFFFF) - 1 if v >> 31 else v)
            if not numbers or (op.has("NaN") and len(numbers) < len(values)):
                result = 0x7FFFFFFF
            else:
                result = ordered[-1 if op.has("max") else 0]
            write(warp, full(result), warp.executing)

        return step

    def _activemask(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        write = self.operands.write(instruction.operands[0], TYPES["b32"], i)
        return lambda warp: write(warp, full(_bits(warp.executing)), warp.executing)

    def _elect(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        first = instruction.operands[0]
        members = self._members(instruction, match, 1, i)
        target, predicate = (first.first, first.second) if isinstance(first, Dual) else (Name("_"), first)
        write, write_p = self.operands.write(target, TYPES["b32"], i), self.operands.write_truth(predicate, i)

        def step(warp: Warp) -> None:
            chosen = int(np.flatnonzero(members(warp))[0]) if members(warp).any() else 0
            write(warp, full(chosen), warp.executing)
            write_p(warp, np.arange(LANES) == chosen, warp.executing)

        return step


def _bits(lanes: Bools) -> int:
    return sum(1 << k for k in np.flatnonzero(lanes).tolist())
