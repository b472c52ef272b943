"""Live registers before and after every instruction, per warp or per thread.

Per *thread* a register is live where some path reads it before overwriting it: the classic backward problem over
blocks,

    out(b) = union of in(s) over the successors s of b        in(b) = use(b) | (out(b) - kill(b))

where a guarded or partial write kills nothing (`ptxtool.ir.defuse`), and `callp`/`retp` are followed
(`ptxtool.cfg.blocks`). Registers in which a `.func` returns its results are live at its end.

Per *warp*, the default, more is live: while some lanes run, others wait, and their registers are in the same rows. Let
d be a branch that can send lanes different ways (`uniformity.py`), R(d) its reconvergence point, s one of its
successors. The lanes that went to s run the blocks they can reach from s without passing R(d); meanwhile the others
wait at another successor t, not yet run, or at R(d), having run already. Either side may be first. So, with T(b) the
sides (d, s) whose lanes may run b before R(d) (`branch_sides.py`),

    wait(b) = union over (d, s) in T(b) of  in(R(d)) | union of in(t) over the successors t != s of d
    live(p) = classic(p) | wait(b)        for every point p of block b

This is the rule of FineReg, union at divergence up to the reconvergence point, with the waiting lanes' registers
spelled out, and without the branches at which no lane waits. It assumes a SIMT stack: lanes wait only where a branch
sent them or at a reconvergence point. Where R(d)
is the end and the lanes leave through `retp`, they may also wait after the call: the targets of `retp` then count as
R(d).

Bit k of a set is the register with index k, sequence number k + 1. PTXPlus's zero register and sinks are never live;
the carry flag is no register.

Reference: A. Aho et al., "Compilers", 2nd edition, section 9.2.5; Y. Oh et al., "FineReg: fine-grained register file
management for augmenting GPU throughput", 2018, section V.A (compiler support).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from itertools import accumulate
from operator import or_
from typing import Literal

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.analysis.flow.uniformity import Uniformity, uniformity
from ptxtool.base.bits import WORD_BITS, from_indices, indices, to_words, word_count
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function
from ptxtool.ir.symbols import RegisterTable


@dataclass(frozen=True)
class Liveness:
    """The live registers of one function. `per` is "warp" or "thread".

    Per block, `block_in` and `block_out` are the classic sets, `waiting` is wait(b) (empty per thread). The sets of all
    instructions together are large; `steps` and `live_before` need one at a time.
    """

    kernel: Function = field(repr=False, compare=False)
    per: str
    cfg: Cfg = field(repr=False)
    def_uses: tuple[DefUse, ...] = field(repr=False)
    block_in: tuple[int, ...] = field(repr=False)
    block_out: tuple[int, ...] = field(repr=False)
    waiting: tuple[int, ...] = field(repr=False)

    @property
    def registers(self) -> RegisterTable:
        """Bit k is `registers[k]`."""
        return self.kernel.registers

    @cached_property
    def _around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The sets before and after every instruction."""
        before: list[int] = []
        after: list[int] = []
        for block, live, waiting in zip(self.cfg.blocks, self.block_out, self.waiting, strict=True):
            sets = [live]
            for i in reversed(block.instructions):
                live = _before(self.def_uses[i], live)
                sets.append(live)
            if waiting:
                sets = [live | waiting for live in sets]
            sets.reverse()
            before += sets[:-1]
            after += sets[1:]
        return tuple(before), tuple(after)

    @property
    def before_bits(self) -> tuple[int, ...]:
        """Per instruction, the set of registers live before it."""
        return self._around[0]

    @property
    def after_bits(self) -> tuple[int, ...]:
        """Per instruction, the set of registers live after it, wherever control goes."""
        return self._around[1]

    @cached_property
    def before(self) -> tuple[tuple[str, ...], ...]:
        """Per instruction, the names of the registers live before it, in sequence order."""
        return tuple(map(self.names, self.before_bits))

    @cached_property
    def after(self) -> tuple[tuple[str, ...], ...]:
        """Per instruction, the names of the registers live after it, in sequence order."""
        return tuple(map(self.names, self.after_bits))

    def names(self, bits: int) -> tuple[str, ...]:
        """The names of the registers in a set, in sequence order."""
        registers = self.registers
        return tuple(registers[k].name for k in indices(bits))

    def live_before(self, instruction: int) -> int:
        """The set of registers live before one instruction, without the sets of all others."""
        block = self.cfg.block_of[instruction]
        live = self.block_out[block]
        for i in reversed(range(instruction, self.cfg.blocks[block].end)):
            live = _before(self.def_uses[i], live)
        return live | self.waiting[block]

    def steps(self, block: int) -> Iterator[tuple[int, list[int], list[int]]]:
        """A block's instructions backwards: index, registers that become live before it, registers that cease to be.

        Starting from `block_out[block] | waiting[block]`, this gives the live set everywhere at constant cost.
        """
        waiting = self.waiting[block]
        at_end = self.block_out[block] | waiting
        instructions = self.cfg.blocks[block].instructions
        # membership of the registers the block names only: the whole set may be a hundred times larger
        named = {k for i in instructions for k in (*self.def_uses[i].kills, *self.def_uses[i].uses)}
        live = {k for k in named if at_end >> k & 1}
        fixed = {k for k in named if waiting >> k & 1}
        for i in reversed(instructions):
            step = self.def_uses[i]
            ends = [k for k in step.kills if k in live and k not in step.uses and k not in fixed]
            live.difference_update(ends)
            begins = [k for k in step.uses if k not in live]
            live.update(begins)
            yield i, begins, ends

    def _repr_html_(self) -> str:
        from ptxtool.base.html import MOST_ROWS, curve, table

        counts = [bits.bit_count() for bits in self.before_bits]
        most = counts.index(max(counts)) if counts else 0
        first = max(0, min(most - MOST_ROWS // 2, len(counts) - MOST_ROWS))
        rows = [
            (self.kernel.line(i), self.kernel.text(i), counts[i], " ".join(self.before[i][:20]))
            for i in range(first, min(first + MOST_ROWS, len(counts)))
        ]
        title = (
            f"{self.kernel.name}: registers live per {self.per}, most before line {rows[most - first][0]}"
            if rows
            else ""
        )
        what = "registers live before each instruction"
        return curve(counts, what) + table(
            title or "no instructions", ("line", "text", "live", "before it"), rows
        )

    def __str__(self) -> str:
        rows = [(f"{i}", self.kernel.text(i), " ".join(self.before[i])) for i in range(len(self.def_uses))]
        width = max((len(text) for _, text, _ in rows), default=0)
        return "\n".join(f"{i:>5}  {text:<{width}}  | {live}".rstrip() for i, text, live in rows)


def _before(step: DefUse, after: int) -> int:
    """in = use | (out - kill), for one instruction."""
    for k in step.kills:
        if after >> k & 1:
            after ^= 1 << k
    for k in step.uses:
        after |= 1 << k
    return after


def liveness(kernel: Function, per: Literal["warp", "thread"] = "warp") -> Liveness:
    """The live registers around every instruction of a function: `.before[i]` and `.after[i]` are names.

    Raises `PtxError` (E202) on an undeclared label.
    """
    if per == "thread":
        return live_registers(build(kernel, interprocedural=True), kernel.def_uses)
    found = uniformity(kernel)
    return live_registers(found.cfg, kernel.def_uses, found)


def live_registers(cfg: Cfg, def_uses: tuple[DefUse, ...], of_warp: Uniformity | None = None) -> Liveness:
    """`liveness` of a graph with calls followed and def/use sets: per thread, per warp with the kernel's uniformity."""
    kernel = cfg.kernel
    exposed: list[set[int]] = []  # per block, read before being overwritten
    killed: list[set[int]] = []
    for block in cfg.blocks:
        use: set[int] = set()
        kill: set[int] = set()
        for i in reversed(block.instructions):
            step = def_uses[i]
            use.difference_update(step.kills)
            use.update(step.uses)
            kill.update(step.kills)
        exposed.append(use)
        killed.append(kill)
    results = result_registers(kernel)
    crossing = set(results).union(*exposed)  # only these can be live between blocks
    solution = solve(
        cfg.successors_by_node,
        [*map(from_indices, exposed), 0],
        [*(from_indices(kill & crossing) for kill in killed), 0],
        direction="backward",
        boundaries={cfg.exit: from_indices(results)},
    )
    waiting = [0] * len(cfg.blocks) if of_warp is None else _waiting(of_warp, solution.entry)
    per = "thread" if of_warp is None else "warp"
    return Liveness(
        kernel, per, cfg, def_uses, solution.entry[: cfg.exit], solution.exit[: cfg.exit], tuple(waiting)
    )


def result_registers(kernel: Function) -> range:
    """The registers in which a `.func` returns its results; they come first in the table."""
    return range(sum(d.count or 1 for r in kernel.returns if r.space == "reg" for d in r.declarators))


def _waiting(found: Uniformity, live_in: Sequence[int]) -> list[int]:
    """Per block, the registers of lanes that may wait elsewhere while others run it."""
    cfg, sides = found.cfg, found.sides
    held: dict[int, int] = {}  # per side, the registers of the lanes that are not on it
    at_end: list[int] = []  # the sides whose lanes rejoin the others at the end
    for split in sides.different(found.divergent):
        at_sides = [live_in[side] for side in split.sides]
        for number, others in zip(split.numbers, _unions_of_others(at_sides), strict=True):
            held[number] = live_in[split.rejoin] | others
        if split.rejoin == cfg.exit:
            at_end += split.numbers
    # lanes that rejoin at the end by way of `retp` may wait after the call
    for source in cfg.returning:
        for number in at_end:
            if sides.reaching[source] >> number & 1:
                for point in cfg.successors[source]:
                    held[number] |= live_in[point]

    @cache  # blocks near each other have most sides in common
    def held_by(first: int, word: int) -> int:
        return reduce(or_, [held[first + number] for number in indices(word)], 0)

    result: list[int] = []
    for block in cfg.blocks:
        here = sides.reaching[block.index] & found.divergent_sides
        words = enumerate(to_words(here, word_count(here.bit_length())))
        result.append(reduce(or_, [held_by(place * WORD_BITS, word) for place, word in words if word], 0))
    return result


def _unions_of_others(sets: Sequence[int]) -> list[int]:
    """Per set, the union of all others."""
    before = accumulate(sets[:-1], or_, initial=0)
    after = accumulate(reversed(sets[1:]), or_, initial=0)
    return [*map(or_, before, reversed([*after]))]
