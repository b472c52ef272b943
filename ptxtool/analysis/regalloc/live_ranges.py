"""Live ranges at the grain a register allocator needs: who must have a place of its own, and where.

For `packing.py`, `spills.py` and the passes on top. A function has two points per instruction: 2i, where instruction i
reads, and 2i + 1, where it writes. A *web* is one independent value of a register: the definitions that reach common
uses, with those uses. Its `segments` are the half-open ranges of points at which its place may hold nothing else;
two webs may share a place if their segments do not meet. What an instruction reads for the last time and what it
writes do not meet.

A web is put together from *pieces*, the maximal stretches of one register's liveness inside a block: a piece open at
the end of a block and one open at the start of a successor are one web (union-find). A guarded or partial write
continues its piece, unless no definition can have come before it: what surely has no value yet takes no place. This is
so for PTX; in PTXPlus, where a register never written reads as zero, a value lives from the entry on.

Ranges are per thread (`ptxtool.analysis.flow.liveness`): lanes have registers of their own, whatever their warp does.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, section 2.1 (webs); C. Wimmer and
M. Franz, "Linear scan register allocation on SSA form", 2010 (ranges with holes).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from ptxtool.analysis.flow.accesses import Accesses, Flags, Numbers, Segment, Segments, accesses_of
from ptxtool.analysis.flow.dataflow import solve
from ptxtool.analysis.flow.liveness import Liveness, liveness
from ptxtool.base.bits import from_indices, indices, successive_indices
from ptxtool.base.lazy import LazySequence
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function


class Named(LazySequence[tuple[int, ...]]):
    """Per instruction the webs that it reads, or those that it writes."""

    def __init__(self, webs: list[int], first: list[int], end: list[int]):
        self._webs = webs
        self._first = first
        self._end = end

    def __len__(self) -> int:
        return len(self._first)

    def item(self, index: int) -> tuple[int, ...]:
        return tuple(self._webs[self._first[index] : self._end[index]])


@dataclass(frozen=True, eq=False)
class Ranges:
    """The webs of one function, by number.

    `register[w]` is web w's register index, `segments[w]` its ranges of points in ascending order. `reads[i]` are the
    webs of `def_uses[i].uses`, `writes[i]` of its `defs`, in that order. Webs in `at_entry` have a value when the
    function starts. A register that a block reads though it surely has no value there has a web of its own in it.
    """

    function: Function = field(repr=False)
    cfg: Cfg = field(repr=False)
    def_uses: tuple[DefUse, ...] = field(repr=False)
    register: tuple[int, ...]
    segments: Segments
    reads: Named = field(repr=False)
    writes: Named = field(repr=False)
    at_entry: frozenset[int]
    named: tuple[Numbers, Numbers, Flags] = field(repr=False)
    """Every web that an instruction names, the instruction, and whether it writes it, in any order."""

    def __len__(self) -> int:
        return len(self.register)

    @property
    def n_points(self) -> int:
        return 2 * len(self.def_uses)

    @cached_property
    def accesses(self) -> Accesses:
        """Which instructions read and write every web."""
        return accesses_of(*self.named, self.segments, len(self.def_uses))


def live_ranges(function: Function) -> Ranges:
    """The webs of a function. Raises `PtxError` (E202) on an undeclared label."""
    return ranges_of(liveness(function, per="thread"))


def ranges_of(live: Liveness) -> Ranges:
    """`live_ranges` of a liveness per thread at hand."""
    return _Builder(live).result()


class _Builder:
    """Finds the pieces of all blocks, then joins them: everything in arrays.

    An *event* is a register open at the end of a block, written or read by an instruction. They are taken in the order
    in which a walk comes by them that goes through every block backwards.
    """

    def __init__(self, live: Liveness):
        self._live = live
        cfg, def_uses, n = live.cfg, live.def_uses, len(live.def_uses)
        starts = self._starts = np.array([block.start for block in cfg.blocks], np.int64)
        ends = self._ends = np.array([block.end for block in cfg.blocks], np.int64)
        block_of = np.repeat(np.arange(len(starts)), ends - starts)
        self._order = (starts + ends - 1)[block_of] - np.arange(
            n
        )  # the instructions as the walk comes by them
        steps = [def_uses[i] for i in self._order.tolist()]
        defs, uses, kills = [s.defs for s in steps], [s.uses for s in steps], [s.kills for s in steps]
        self._n_defs, self._n_uses, n_kills = (
            np.fromiter(map(len, sides), np.int64, n) for sides in (defs, uses, kills)
        )
        n_named = self._n_defs + self._n_uses
        named = np.fromiter(chain.from_iterable(chain.from_iterable(zip(defs, uses, strict=True))), np.int64)
        instruction = np.repeat(self._order, n_named)
        sides = np.stack((self._n_defs, self._n_uses), axis=1).ravel()
        is_def = np.repeat(np.arange(2 * n) % 2 == 0, sides)
        self._first_named = np.cumsum(n_named) - n_named  # of the instructions in that order
        kills_one = is_def & np.repeat(n_kills == self._n_defs, n_named)
        for k in np.flatnonzero((n_kills > 0) & (n_kills < self._n_defs)).tolist():
            first = self._first_named[k]
            kills_one[first : first + self._n_defs[k]] = [r in steps[k].kills for r in steps[k].defs]

        at_start = frozenset(indices(live.block_in[0]) if live.block_in else ())
        undefined = _undefined_at_start(live, at_start)
        at_end = [*successive_indices(live.block_out)]
        cut: list[tuple[int, int]] = []  # blocks with registers that have no value yet at their start
        for block, bits in enumerate(undefined):
            if bits:
                cut += ((block, k) for k in indices(bits))
                at_end[block] = self._without_value(block, bits, at_end[block], kills_one)
        self._n_out = np.fromiter(map(len, at_end), np.int64, len(at_end))
        out = np.fromiter(chain.from_iterable(at_end), np.int64)

        # all events: those at the end of a block stand in front of its others
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
        self._find_pieces(cut)

    def _without_value(self, block: int, bits: int, at_end: list[int], kills: Flags) -> list[int]:
        """What is open at the end of a block at whose start the registers of `bits` surely have no value.

        The first definition of such a register there is as good as a kill.
        """
        def_uses = self._live.def_uses
        first_def: dict[int, int] = {}
        for i in self._live.cfg.blocks[block].instructions:
            for k in def_uses[i].defs:
                if bits >> k & 1:
                    first_def.setdefault(k, i)
        place_of = {i: place for place, i in enumerate(self._order.tolist())} if first_def else {}
        for k, i in first_def.items():
            if k not in def_uses[i].uses:
                kills[self._first_named[place_of[i]] + def_uses[i].defs.index(k)] = True
        return [k for k in at_end if not bits >> k & 1 or k in first_def]

    def _registers_apart(self, at_start: frozenset[int]) -> Flags:
        """The registers of which pieces may be of several webs: few, in what compilers emit.

        What one instruction writes, and what has no value at the start, has that value wherever it is live, as far as
        code is reached.
        """
        n = len(self._registers)
        n_defs = np.bincount(self._rank[self._is_def], minlength=n)
        apart: Flags = n_defs != 1
        apart[np.isin(self._registers, np.array([*at_start], np.int64))] = True
        unreachable = [block for block in self._live.cfg.unreachable if block != self._live.cfg.exit]
        if unreachable:
            apart[self._rank[np.isin(self._block, unreachable)]] = True
        return apart

    def _find_pieces(self, cut: Sequence[tuple[int, int]]) -> None:
        """The stretches of events that belong together, in the order in which the walk opens them.

        A definition that overwrites the register closes its piece, as does one that nobody behind it reads.
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
        self._piece = np.empty(n, np.int64)  # of every event
        self._piece[events] = number[np.cumsum(opens) - 1]
        block = self._block[first]
        start = np.where(is_closed, 2 * self._instruction[last] + 1, 2 * self._starts[block])
        at = self._instruction[first]
        end = np.where(at < 0, 2 * self._ends[block], 2 * at + 1 + self._is_def[first])
        is_in = start == 2 * self._starts[block]
        if cut:
            keys = np.array([b * len(self._registers) + np.searchsorted(self._registers, k) for b, k in cut])
            is_in &= ~np.isin(block * len(self._registers) + self._rank[first], keys)
        self._pieces = _Pieces(self._rank[first], start, end, block, is_in)

    def result(self) -> Ranges:
        cfg, pieces = self._live.cfg, self._pieces
        webs = _webs(cfg, pieces, self._n_out, self._apart)
        register = np.zeros(webs.max(initial=-1) + 1, np.int64)
        register[webs] = self._registers[pieces.rank]
        segments = _segments(webs, pieces)
        named = webs[self._piece[self._named_place]]
        n = len(self._order)
        first, n_defs, n_uses = np.empty((3, n), np.int64)
        first[self._order], n_defs[self._order], n_uses[self._order] = (
            self._first_named,
            self._n_defs,
            self._n_uses,
        )
        as_list, begin, middle, end = (
            a.tolist() for a in (named, first, first + n_defs, first + n_defs + n_uses)
        )
        place = self._named_place
        return Ranges(
            cfg.kernel,
            cfg,
            self._live.def_uses,
            tuple(register.tolist()),
            segments,
            Named(as_list, middle, end),
            Named(as_list, begin, middle),
            frozenset(webs[pieces.is_in & (pieces.block == 0)].tolist()),
            (named, self._instruction[place], self._is_def[place]),
        )


class _Pieces(NamedTuple):
    """Pieces as arrays: the ranks of their registers, where they start and end, their blocks, which ascend, and whether
    they are open at the start of these."""

    rank: Numbers
    start: Numbers
    end: Numbers
    block: Numbers
    is_in: Flags


def _webs(cfg: Cfg, pieces: _Pieces, n_out: Numbers, apart: Flags) -> Numbers:
    """The web of every piece; webs are numbered by their first pieces.

    The first `n_out` of a block are open at its end. Those of registers that are not `apart` are one web each.
    """
    number = np.arange(len(pieces.block))
    first = np.zeros(len(apart), np.int64)
    first[pieces.rank[::-1]] = number[::-1]  # of a register; the last one that is assigned counts
    is_apart = apart[pieces.rank]
    label = np.where(is_apart, number, first[pieces.rank])
    first_piece = np.searchsorted(pieces.block, np.arange(len(n_out) + 1))
    ins = number[pieces.is_in & is_apart]
    outs = number[(number - first_piece[pieces.block] < n_out[pieces.block]) & is_apart]
    # every edge of the graph with every piece that is open behind it
    edges = [(b.index, s) for b in cfg.blocks for s in cfg.successors[b.index] if s != cfg.exit]
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    first_in = np.searchsorted(pieces.block[ins], np.arange(len(n_out) + 1))
    n_in = (first_in[1:] - first_in[:-1])[target]
    behind = ins[np.arange(n_in.sum()) + np.repeat(first_in[target] - np.cumsum(n_in) + n_in, n_in)]
    # and the piece of the same register in front of it, where there is one
    keys = pieces.block[outs] * len(apart) + pieces.rank[outs]
    wanted = np.repeat(source, n_in) * len(apart) + pieces.rank[behind]
    place = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[place] == wanted
    label = _components(label, outs[place[found]], behind[found])
    return (np.cumsum(label == number) - 1)[label]


def _components(label: Numbers, a: Numbers, b: Numbers) -> Numbers:
    """Per element the least one that it is connected with, by labels that are such already and by pairs of elements.

    In every round what is no least neighbour is hung below one, so that at least half of the labels go.
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


def _segments(webs: Numbers, pieces: _Pieces) -> Segments:
    """Per web its pieces in ascending order, those that touch as one."""
    order = np.lexsort((pieces.start, webs))
    web, start, end = webs[order], pieces.start[order], pieces.end[order]
    goes_on = (web[1:] == web[:-1]) & (start[1:] == end[:-1])
    begins, ends = np.append(True, ~goes_on)[: len(web)], np.append(~goes_on, True)[: len(web)]
    first = np.searchsorted(web[begins], np.arange(webs.max(initial=-1) + 2))
    return Segments(start[begins], end[ends], first)


def joined(segments: list[Segment]) -> tuple[Segment, ...]:
    """Segments in ascending order, those that touch as one."""
    if len(segments) == 1:
        return (segments[0],)
    segments.sort()
    joined = [segments[0]]
    for start, end in segments[1:]:
        if start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _undefined_at_start(live: Liveness, at_start: frozenset[int]) -> Sequence[int]:
    """Per block, the registers that surely have no value yet when it starts, among those live at the function's."""
    cfg = live.cfg
    n = len(cfg.blocks)
    waiting = at_start.difference(live.registers.head)
    if live.registers.is_ptxplus or not waiting:
        return [0] * n
    defined = [
        from_indices(waiting.intersection(k for i in block.instructions for k in live.def_uses[i].defs))
        for block in cfg.blocks
    ]
    reached = solve(cfg.successors, [*defined, 0], [0] * (n + 1), direction="forward").entry
    at_entry = from_indices(waiting)
    return [at_entry & ~reached[b] for b in range(n)]
