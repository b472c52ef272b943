"""Live ranges for register allocation: the webs of a function, and the points at which each needs a register.

A function has two points per instruction: 2i, where instruction i reads, and 2i + 1, where it writes. A *web* is one
independent value of a register: the definitions that reach common uses, with those uses. Its *live range* is a set of
*live intervals*, half-open ranges of points at which its register may hold nothing else. Two webs may share a register
if their live intervals do not meet; what an instruction reads for the last time does not meet what it writes.

A web is the union of *local ranges*, the maximal stretches of one register's liveness inside a block: one that is live
out of a block and one that is live into a successor belong to the same web (union-find). A guarded or partial write
continues its local range, unless no definition can precede it: a register without a value takes no place. That holds
for PTX; in PTXPlus, where a register that was never written reads as zero, such a value is live from the entry on.

Live ranges are per thread (`ptxtool.analysis.flow.live_at_ends`): every lane has registers of its own.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, section 2.1 (webs); C. Wimmer and
M. Franz, "Linear scan register allocation on SSA form", 2010 (live intervals with holes).
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ptxtool.analysis.flow.accesses import Accesses, Flags, Intervals, Numbers, accesses_of, rows
from ptxtool.analysis.flow.dataflow import solve
from ptxtool.analysis.flow.live_at_ends import live_at_ends
from ptxtool.analysis.flow.liveness import result_registers
from ptxtool.base.bits import from_indices, indices
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function


class Operands:
    """Per instruction the webs that it reads, or those that it writes: `webs[first[i] : end[i]]`.

    Few of a large kernel are asked for, so that tuples for all would cost more than the rest of their computation.
    Compact arrays: the objects of lists are an eighth of what `allocate` has in memory (measured).
    """

    def __init__(self, webs: "array[int]", first: "array[int]", end: "array[int]"):
        self._webs = webs
        self._first = first
        self._end = end

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, instruction: int) -> tuple[int, ...]:
        return tuple(self._webs[self._first[instruction] : self._end[instruction]])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True, eq=False)
class Ranges:
    """The webs of one function, by number.

    `register[w]` is web w's register index, `intervals[w]` its live intervals in ascending order. `reads[i]` are the
    webs of `def_uses[i].uses`, `writes[i]` of its `defs`, in that order. Webs in `at_entry` have a value when the
    function starts. A register that a block reads though it surely has no value there has a web of its own in it.
    """

    function: Function = field(repr=False)
    cfg: Cfg = field(repr=False)
    def_uses: tuple[DefUse, ...] = field(repr=False)
    register: Sequence[int]
    intervals: Intervals
    reads: Operands = field(repr=False)
    writes: Operands = field(repr=False)
    at_entry: frozenset[int]
    mentions: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Flags] = field(repr=False)
    """Every web that an instruction names, the instruction, and whether it writes it, in any order."""

    def __len__(self) -> int:
        return len(self.register)

    @property
    def n_points(self) -> int:
        return 2 * len(self.def_uses)

    @cached_property
    def accesses(self) -> Accesses:
        """The instructions that read and write every web."""
        web, instruction, is_written = self.mentions
        both = web.astype(np.int64), instruction.astype(np.int64)
        return accesses_of(*both, is_written, self.intervals, len(self.def_uses))


def live_ranges(function: Function) -> Ranges:
    """The webs of a function. Raises `PtxError` (E202) on an undeclared label."""
    return _known.get(function, None, lambda: ranges_of(build(function, interprocedural=True)))


_known: IdentityCache[Ranges] = IdentityCache(3)
"""The last functions': a caller counts the registers of one, then assigns them."""


def ranges_of(cfg: Cfg) -> Ranges:
    """`live_ranges` of a graph with calls followed."""
    return _Builder(cfg).result()


class _Builder:
    """Finds the local ranges of all blocks, then joins them, in arrays.

    An *event* is a register that is live out of a block, or that an instruction writes or reads. Events are in the
    order of a backward walk through every block: those at its end, then per instruction the writes and the reads.
    """

    def __init__(self, cfg: Cfg):
        self._cfg, self._def_uses = cfg, cfg.kernel.def_uses
        def_uses, n = self._def_uses, len(self._def_uses)
        starts = self._starts = np.array([block.start for block in cfg.blocks], np.int64)
        ends = self._ends = np.array([block.end for block in cfg.blocks], np.int64)
        block_of = np.repeat(np.arange(len(starts)), ends - starts)
        # the instructions in the order of the walk, and the place of each there
        self._order = (starts + ends - 1)[block_of] - np.arange(n)
        self._place = np.argsort(self._order)
        steps = [def_uses[i] for i in self._order.tolist()]
        defs, uses, kills = [s.defs for s in steps], [s.uses for s in steps], [s.kills for s in steps]
        n_defs, n_uses, n_kills = (np.fromiter(map(len, sides), np.int64, n) for sides in (defs, uses, kills))
        n_named = n_defs + n_uses
        named = np.fromiter(chain.from_iterable(chain.from_iterable(zip(defs, uses, strict=True))), np.int64)
        instruction = np.repeat(self._order, n_named)
        sides = np.stack((n_defs, n_uses), axis=1).ravel()
        is_def = np.repeat(np.arange(2 * n) % 2 == 0, sides)
        self._sides = sides
        self._first_named = np.cumsum(n_named) - n_named  # of the instructions in that order
        kills_one = is_def & np.repeat(n_kills == n_defs, n_named)
        for k in np.flatnonzero((n_kills > 0) & (n_kills < n_defs)).tolist():
            first = self._first_named[k]
            kills_one[first : first + n_defs[k]] = [r in steps[k].kills for r in steps[k].defs]

        at_end, at_start = self._live(named, block_of[instruction], ~is_def, kills_one)
        undefined = _undefined_at_start(cfg, at_start)
        # blocks with the registers that have no value yet at their start
        self._cut: list[tuple[int, tuple[int, ...]]] = []
        for block, bits in enumerate(undefined):
            if bits:
                self._cut.append((block, indices(bits)))
                at_end[block] = self._without_value(block, bits, at_end[block], kills_one)
        self._n_out = np.fromiter(map(len, at_end), np.int64, len(at_end))
        out = np.fromiter(chain.from_iterable(at_end), np.int64)

        # all events, those at the end of a block before its others
        out_block = np.repeat(np.arange(len(starts)), self._n_out)
        out_place = np.arange(len(out)) + np.append(0, np.cumsum(n_named))[starts][out_block]
        named_block = block_of[instruction]
        self._named_place = np.arange(len(named)) + np.cumsum(self._n_out)[named_block]
        n_events = len(out) + len(named)

        def merged(of_out: Numbers | int, of_named: Numbers | Flags) -> Numbers:
            both = np.empty(n_events, np.int64)
            both[out_place], both[self._named_place] = of_out, of_named
            return both

        self._block = merged(out_block, named_block)
        self._registers, self._rank = np.unique(merged(out, named), return_inverse=True)
        self._instruction = merged(-1, instruction)
        self._is_def = merged(0, is_def) > 0
        self._kills = merged(0, kills_one) > 0
        self._apart = self._registers_apart(at_start)

    def _live(
        self, named: Numbers, block: Numbers, reads: Flags, kills: Flags
    ) -> tuple[list[list[int]], frozenset[int]]:
        """The registers that are live out of every block, and those live at the function's start.

        Of registers in the order of the walk: the blocks that name them, whether they are read there, and killed.
        """
        cfg, n = self._cfg, self._cfg.exit + 1
        counts = np.flatnonzero(reads | kills)[::-1]  # from the first of the text to the last
        keys, first = np.unique((named * n + block)[counts], return_index=True)
        exposed = _by_register(keys[reads[counts[first]]], n)
        for register in result_registers(cfg.kernel):
            exposed.setdefault(register, set()).add(cfg.exit)
        killed = (named * n + block)[kills]
        is_exposed = map(exposed.__contains__, (killed // n).tolist())
        overwritten = _by_register(killed[np.fromiter(is_exposed, np.bool_, len(killed))], n)
        at_end = live_at_ends(cfg, exposed, overwritten)
        at_start = {k for k, blocks in exposed.items() if cfg.entry in blocks}
        at_start.update(k for k in at_end[cfg.entry] if cfg.entry not in overwritten.get(k, ()))
        return at_end[: cfg.exit], frozenset(at_start)

    def _without_value(self, block: int, bits: int, at_end: list[int], kills: Flags) -> list[int]:
        """What is live out of a block at whose start the registers of `bits` surely have no value.

        The first definition of such a register in the block kills.
        """
        def_uses = self._def_uses
        first_def: dict[int, int] = {}
        for i in self._cfg.blocks[block].instructions:
            for k in def_uses[i].defs:
                if bits >> k & 1:
                    first_def.setdefault(k, i)
        for k, i in first_def.items():
            if k not in def_uses[i].uses:
                kills[self._first_named[self._place[i]] + def_uses[i].defs.index(k)] = True
        return [k for k in at_end if not bits >> k & 1 or k in first_def]

    def _registers_apart(self, at_start: frozenset[int]) -> Flags:
        """The registers whose local ranges may belong to several webs: few, in what compilers emit.

        A register that one instruction writes, and that has no value at the start, is one web in reachable code.
        """
        n = len(self._registers)
        n_defs = np.bincount(self._rank[self._is_def], minlength=n)
        apart: Flags = n_defs != 1
        apart |= np.fromiter(map(at_start.__contains__, self._registers.tolist()), np.bool_, n)
        unreachable = [block for block in self._cfg.unreachable if block != self._cfg.exit]
        if unreachable:
            apart[self._rank[np.isin(self._block, unreachable)]] = True
        return apart

    def _local_ranges(self) -> tuple["_LocalRanges", Numbers]:
        """The runs of events that belong together, in the order in which the walk opens them.

        A definition that overwrites the register closes its run, as does one whose value is never read. With them, the
        run of every register that an instruction names.
        """
        n = len(self._rank)
        # the events by block and register, of each in the order of the walk
        keys = np.sort((self._block * len(self._registers) + self._rank) * n + np.arange(n))
        keys, events = np.divmod(keys, max(n, 1))
        opens, closes = np.diff(keys, prepend=-1) != 0, self._kills[events]
        opens[1:] |= closes[:-1]
        for k in np.flatnonzero(self._is_def[events] & ~closes).tolist():
            if opens[k]:
                closes[k] = True
                opens[k + 1 : k + 2] = True
        first = np.flatnonzero(opens)
        order = np.argsort(events[first])
        last = events[np.append(first[1:], n)[order] - 1]
        is_closed = closes[np.append(first[1:], n)[order] - 1]
        first = events[first][order]
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        range_of = np.empty(n, np.int64)
        range_of[events] = number[np.cumsum(opens) - 1]
        range_of = range_of[self._named_place]
        block = self._block[first]
        start = np.where(is_closed, 2 * self._instruction[last] + 1, 2 * self._starts[block])
        at = self._instruction[first]
        end = np.where(at < 0, 2 * self._ends[block], 2 * at + 1 + self._is_def[first])
        is_in = start == 2 * self._starts[block]
        if self._cut:
            blocks = np.repeat([b for b, _ in self._cut], [len(registers) for _, registers in self._cut])
            rank = np.searchsorted(self._registers, [k for _, registers in self._cut for k in registers])
            keys = blocks * len(self._registers) + rank
            is_in &= ~np.isin(block * len(self._registers) + self._rank[first], keys)
        return _LocalRanges(self._rank[first], start, end, block, is_in), range_of

    def result(self) -> Ranges:
        cfg, place = self._cfg, self._named_place
        ranges, range_of = self._local_ranges()
        webs = _webs(cfg, ranges, self._n_out, self._apart)
        register = np.zeros(webs.max(initial=-1) + 1, np.int64)
        register[webs] = self._registers[ranges.rank]
        named = webs[range_of]
        of_named = array("i", named.astype(np.int32).tobytes())
        bounds = np.append(0, np.cumsum(self._sides))  # of defs and uses, in the order of the walk
        k = 2 * self._place
        first, middle, end = (array("i", bounds[k + side].astype(np.int32).tobytes()) for side in range(3))
        return Ranges(
            cfg.kernel,
            cfg,
            self._def_uses,
            array("i", register.astype(np.int32).tobytes()),
            _intervals(webs, ranges),
            Operands(of_named, middle, end),
            Operands(of_named, first, middle),
            frozenset(webs[ranges.is_in & (ranges.block == 0)].tolist()),
            (
                np.frombuffer(of_named, np.int32),
                self._instruction[place].astype(np.int32),
                self._is_def[place],
            ),
        )


def _by_register(keys: Numbers, n: int) -> dict[int, set[int]]:
    """The blocks of every register, from keys that are registers times n plus blocks."""
    found: dict[int, set[int]] = {}
    for register, block in zip(*(each.tolist() for each in np.divmod(keys, n)), strict=True):
        found.setdefault(register, set()).add(block)
    return found


class _LocalRanges(NamedTuple):
    """Local ranges as arrays: the ranks of their registers, where they start and end, their blocks, which ascend, and
    whether they are live into these."""

    rank: Numbers
    start: Numbers
    end: Numbers
    block: Numbers
    is_in: Flags


def _webs(cfg: Cfg, ranges: _LocalRanges, n_out: Numbers, apart: Flags) -> Numbers:
    """The web of every local range; webs are numbered by their first ones.

    The first `n_out` of a block are live out of it. Those of a register that is not `apart` are one web.
    """
    number = np.arange(len(ranges.block))
    first = np.zeros(len(apart), np.int64)
    first[ranges.rank[::-1]] = number[::-1]  # of a register; the last one that is assigned counts
    is_apart = apart[ranges.rank]
    label = np.where(is_apart, number, first[ranges.rank])
    first_of_block = np.searchsorted(ranges.block, np.arange(len(n_out) + 1))
    ins = number[ranges.is_in & is_apart]
    outs = number[(number - first_of_block[ranges.block] < n_out[ranges.block]) & is_apart]
    label = _components(label, *_joined_at_edges(cfg, ranges, outs, ins, len(apart)))
    if cfg.junctions:
        label = _components(label, *_joined_at_junctions(cfg, ranges, outs, ins, len(apart)))
    return (np.cumsum(label == number) - 1)[label]


def _joined_at_edges(
    cfg: Cfg, ranges: _LocalRanges, outs: Numbers, ins: Numbers, n_registers: int
) -> tuple[Numbers, Numbers]:
    """Pairs of ranges of one register, live out of the source of an edge between blocks and into its target."""
    first_in = np.searchsorted(ranges.block[ins], np.arange(cfg.exit + 1))
    # every edge between blocks with every range that is live into its target
    source, target = _edges(cfg, range(cfg.exit), range(cfg.exit))
    index, _ = rows(first_in, target)
    after = ins[index]
    # and the range of the same register that is live out of its source, if there is one
    keys = ranges.block[outs] * n_registers + ranges.rank[outs]
    wanted = np.repeat(source, np.diff(first_in)[target]) * n_registers + ranges.rank[after]
    place = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[place] == wanted
    return outs[place[found]], after[found]


def _joined_at_junctions(
    cfg: Cfg, ranges: _LocalRanges, outs: Numbers, ins: Numbers, n_registers: int
) -> tuple[Numbers, Numbers]:
    """Pairs that connect, per junction and register, the ranges live into it with those live out of it.

    Each is connected with the first that is live out, if there are ranges on both sides.
    """
    nodes = range(cfg.exit + 1, cfg.n_nodes)

    def at(some: Numbers, edges: tuple[Numbers, Numbers], block_side: int) -> tuple[Numbers, Numbers]:
        """Of some ranges, those at the blocks' side of edges, and keys of junction and register."""
        blocks, junctions = edges[block_side], edges[1 - block_side]
        first = np.searchsorted(ranges.block[some], np.arange(cfg.exit + 1))
        index, _ = rows(first, blocks)
        found = some[index]
        return found, np.repeat(junctions, np.diff(first)[blocks]) * n_registers + ranges.rank[found]

    before, before_keys = at(outs, _edges(cfg, range(cfg.exit), nodes), 0)
    after, after_keys = at(ins, _edges(cfg, nodes, range(cfg.exit)), 1)
    known, place = np.unique(after_keys, return_index=True)
    found, keys = np.append(before, after), np.append(before_keys, after_keys)
    on_both_sides = np.isin(keys, before_keys) & np.isin(keys, after_keys)
    found, keys = found[on_both_sides], keys[on_both_sides]
    return found, after[place][np.searchsorted(known, keys)]


def _edges(cfg: Cfg, sources: range, targets: range) -> tuple[Numbers, Numbers]:
    """The edges of the graph between nodes of two ranges: their sources, their targets."""
    pairs = [(a, b) for a in sources for b in cfg.successors_by_node[a] if b in targets]
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    return source, target


def _components(label: Numbers, a: Numbers, b: Numbers) -> Numbers:
    """Per element the least element connected with it: union-find in arrays.

    `label` are the components so far, the pairs of `a` and `b` connect further elements. Every round links each label
    that is not the least of its neighbours to a lesser one, which at least halves the labels.
    """
    while True:
        one, other = label[a], label[b]
        is_open = one != other
        if not is_open.any():
            return label
        a, b, one, other = a[is_open], b[is_open], one[is_open], other[is_open]
        label[np.maximum(one, other)] = np.minimum(one, other)
        while True:
            below = label[label]
            if np.array_equal(below, label):
                break
            label = below


def _intervals(webs: Numbers, ranges: _LocalRanges) -> Intervals:
    """Per web its local ranges in ascending order, those that touch joined."""
    order = np.lexsort((ranges.start, webs))
    web, start, end = webs[order], ranges.start[order], ranges.end[order]
    goes_on = (web[1:] == web[:-1]) & (start[1:] == end[:-1])
    begins, ends = np.append(True, ~goes_on)[: len(web)], np.append(~goes_on, True)[: len(web)]
    first = np.searchsorted(web[begins], np.arange(webs.max(initial=-1) + 2))
    return Intervals(start[begins], end[ends], first)


def _undefined_at_start(cfg: Cfg, at_start: frozenset[int]) -> Sequence[int]:
    """Per block, the registers that surely have no value yet when it starts, among those live at the function's."""
    n, registers, def_uses = len(cfg.blocks), cfg.kernel.registers, cfg.kernel.def_uses
    waiting = at_start.difference(registers.head)
    if registers.is_ptxplus or not waiting:
        return [0] * n
    defined = [
        from_indices(waiting.intersection(k for i in block.instructions for k in def_uses[i].defs))
        for block in cfg.blocks
    ]
    reached = solve(cfg.successors_by_node, [*defined, 0], [0] * (n + 1), direction="forward").entry
    at_entry = from_indices(waiting)
    return [at_entry & ~reached[b] for b in range(n)]
