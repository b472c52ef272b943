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

Ranges are per thread (`ptxtool.analysis.liveness`): lanes have registers of their own, whatever their warp does.

Reference: P. Briggs, "Register allocation via graph coloring", 1992, section 2.1 (webs); C. Wimmer and
M. Franz, "Linear scan register allocation on SSA form", 2010 (ranges with holes).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from ptxtool.analysis.accesses import Accesses, Flags, Numbers, Segment, accesses_of
from ptxtool.analysis.dataflow import solve
from ptxtool.analysis.liveness import Liveness, liveness
from ptxtool.base.bits import from_indices, indices, successive_indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class Ranges:
    """The webs of one function, by number.

    `register[w]` is web w's register index, `segments[w]` its ranges of points in ascending order. `reads[i]` are the
    webs of `def_uses[i].uses`, `writes[i]` of its `defs`, in that order. Webs in `at_entry` have a value when the
    function starts. A register that a block reads though it surely has no value there has a web of its own in it.
    """

    function: Function = field(repr=False, compare=False)
    cfg: Cfg = field(repr=False, compare=False)
    def_uses: tuple[DefUse, ...] = field(repr=False)
    register: tuple[int, ...]
    segments: tuple[tuple[Segment, ...], ...]
    reads: tuple[tuple[int, ...], ...] = field(repr=False)
    writes: tuple[tuple[int, ...], ...] = field(repr=False)
    at_entry: frozenset[int]

    def __len__(self) -> int:
        return len(self.register)

    @property
    def n_points(self) -> int:
        return 2 * len(self.def_uses)

    @cached_property
    def accesses(self) -> Accesses:
        """Which instructions read and write every web."""
        return accesses_of(self.reads, self.writes, self.segments)


def live_ranges(function: Function) -> Ranges:
    """The webs of a function. Raises `PtxError` (E202) on an undeclared label."""
    return ranges_of(liveness(function, per="thread"))


def ranges_of(live: Liveness) -> Ranges:
    """`live_ranges` of a liveness per thread at hand."""
    return _Builder(live).result()


class _Builder:
    """Finds the pieces block by block, then joins them."""

    def __init__(self, live: Liveness):
        self._live = live
        self._register: list[int] = []  # per piece
        self._start: list[int] = []
        self._end: list[int] = []
        n = len(live.def_uses)
        self._reads: list[list[int]] = [[]] * n
        self._writes: list[list[int]] = [[]] * n
        self._at_start = _live_at_start(live)
        self._undefined = _undefined_at_start(live, self._at_start)
        self._n_pieces: list[int] = []  # per block
        self._n_out: list[int] = []  # per block, of those open at its end, which come first
        self._cut: list[
            int
        ] = []  # pieces open at the start of a block where their registers have no value yet
        for block, at_end in enumerate(successive_indices(live.block_out)):
            self._walk(block, at_end)

    def _piece(self, register: int, start: int, end: int) -> int:
        self._register.append(register)
        self._start.append(start)
        self._end.append(end)
        return len(self._start) - 1

    def _walk(self, number: int, at_end: list[int]) -> None:
        """The pieces of one block, backwards from the registers that are live at its end."""
        def_uses = self._live.def_uses
        block = self._live.cfg.blocks[number]
        undefined = self._undefined[number]
        first_def: dict[int, int] = {}
        if undefined:
            for i in reversed(block.instructions):
                for k in def_uses[i].defs:
                    if undefined >> k & 1:
                        first_def[k] = i
            at_end = [k for k in at_end if not undefined >> k & 1 or k in first_def]
        start, first, n = self._start, len(self._start), len(at_end)
        reads, writes = self._reads, self._writes
        open_pieces = dict(zip(at_end, range(first, first + n), strict=True))
        self._register += at_end
        start += [2 * block.start] * n
        self._end += [2 * block.end] * n
        self._n_out.append(n)
        for i in reversed(block.instructions):
            step = def_uses[i]
            if step.defs:
                written: list[int] = []
                for k in step.defs:
                    piece = open_pieces.get(k)
                    if piece is None:
                        piece = self._piece(k, 2 * i + 1, 2 * i + 2)
                    elif k in step.kills or (first_def.get(k) == i and k not in step.uses):
                        start[piece] = 2 * i + 1
                        del open_pieces[k]
                    written.append(piece)
                writes[i] = written
            if step.uses:
                read: list[int] = []
                for k in step.uses:
                    piece = open_pieces.get(k)
                    if piece is None:
                        piece = open_pieces[k] = self._piece(k, 2 * block.start, 2 * i + 1)
                    read.append(piece)
                reads[i] = read
        self._n_pieces.append(len(start) - first)
        if undefined:
            self._cut += [piece for k, piece in open_pieces.items() if undefined >> k & 1]

    def result(self) -> Ranges:
        cfg = self._live.cfg
        blocks = np.repeat(np.arange(len(self._n_pieces)), np.array(self._n_pieces, np.int64))  # per piece
        starts = np.array([block.start for block in cfg.blocks], np.int64)
        pieces = _Pieces(
            np.array(self._register, np.int64),
            np.array(self._start, np.int64),
            np.array(self._end, np.int64),
            blocks,
        )
        is_in = pieces.start == 2 * starts[blocks]
        is_in[self._cut] = False
        apart = _apart(self._live, self._at_start)
        webs = _webs(cfg, pieces, is_in, np.array(self._n_out, np.int64), apart)
        get = webs.tolist().__getitem__
        register = np.zeros(webs.max(initial=-1) + 1, np.int64)
        register[webs] = pieces.register
        return Ranges(
            cfg.kernel,
            cfg,
            self._live.def_uses,
            tuple(register.tolist()),
            tuple(_segments(webs, pieces)),
            tuple([tuple(map(get, read)) for read in self._reads]),
            tuple([tuple(map(get, written)) for written in self._writes]),
            frozenset(webs[is_in & (blocks == 0)].tolist()),
        )


class _Pieces(NamedTuple):
    """Pieces as arrays: their registers, where they start and end, and their blocks, which ascend."""

    register: Numbers
    start: Numbers
    end: Numbers
    block: Numbers


def _webs(cfg: Cfg, pieces: _Pieces, is_in: Flags, n_out: Numbers, apart: frozenset[int]) -> Numbers:
    """The web of every piece; webs are numbered by their first pieces.

    Pieces open at the start of a block are those of `is_in`, the first `n_out` of a block are open at its end. Those of
    registers that are not `apart` are one web each.
    """
    number = np.arange(len(pieces.block))
    registers, first, rank = np.unique(pieces.register, return_index=True, return_inverse=True)
    is_apart = np.array([k in apart for k in registers.tolist()], np.bool_)[rank]
    label = np.where(is_apart, number, first[rank])
    first_piece = np.searchsorted(pieces.block, np.arange(len(n_out) + 1))
    ins = number[is_in & is_apart]
    outs = number[(number - first_piece[pieces.block] < n_out[pieces.block]) & is_apart]
    # every edge of the graph with every piece that is open behind it
    edges = [(b.index, s) for b in cfg.blocks for s in cfg.successors[b.index] if s != cfg.exit]
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    first_in = np.searchsorted(pieces.block[ins], np.arange(len(n_out) + 1))
    n_in = (first_in[1:] - first_in[:-1])[target]
    behind = ins[np.arange(n_in.sum()) + np.repeat(first_in[target] - np.cumsum(n_in) + n_in, n_in)]
    # and the piece of the same register in front of it, where there is one
    keys = pieces.block[outs] * len(registers) + rank[outs]
    wanted = np.repeat(source, n_in) * len(registers) + rank[behind]
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


def _segments(webs: Numbers, pieces: _Pieces) -> Iterator[tuple[Segment, ...]]:
    """Per web its pieces in ascending order, those that touch as one."""
    order = np.lexsort((pieces.start, webs))
    web, start, end = webs[order], pieces.start[order], pieces.end[order]
    goes_on = (web[1:] == web[:-1]) & (start[1:] == end[:-1])
    begins, ends = np.append(True, ~goes_on)[: len(web)], np.append(~goes_on, True)[: len(web)]
    segments = [*zip(start[begins].tolist(), end[ends].tolist(), strict=True)]
    first = np.searchsorted(web[begins], np.arange(webs.max(initial=-1) + 2)).tolist()
    return (tuple(segments[a:b]) for a, b in pairwise(first))


def _apart(live: Liveness, at_start: frozenset[int]) -> frozenset[int]:
    """The registers of which pieces may be of several webs: few, in what compilers emit.

    What one instruction writes, and what has no value at the start, has that value wherever it is live, as far as code
    is reached.
    """
    written = Counter(chain.from_iterable([step.defs for step in live.def_uses]))
    apart = {k for k, n in written.items() if n > 1} | at_start
    apart.update({*chain.from_iterable([step.uses for step in live.def_uses])} - written.keys())
    for block in live.cfg.unreachable:
        if block != live.cfg.exit:
            apart.update(indices(live.block_out[block]))
            apart.update(k for i in live.cfg.blocks[block].instructions for k in live.def_uses[i].touched)
    return frozenset(apart)


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
    waiting = at_start.difference(head_registers(live.kernel))
    if live.registers.is_ptxplus or not waiting:
        return [0] * n
    defined = [
        from_indices(waiting.intersection(k for i in block.instructions for k in live.def_uses[i].defs))
        for block in cfg.blocks
    ]
    reached = solve(cfg.successors, [*defined, 0], [0] * (n + 1), direction="forward").entry
    at_entry = from_indices(waiting)
    return [at_entry & ~reached[b] for b in range(n)]


def _live_at_start(live: Liveness) -> frozenset[int]:
    """The registers that are live before the first instruction."""
    if not live.cfg.blocks:
        return frozenset()
    found = {*indices(live.block_out[0])}
    for i in reversed(live.cfg.blocks[0].instructions):
        step = live.def_uses[i]
        found.difference_update(step.kills)
        found.update(step.uses)
    return frozenset(found)


def head_registers(function: Function) -> range:
    """The registers of a `.func`'s head: results and parameters in register space, which come first in the table."""
    heads = (*function.returns, *function.params)
    return range(sum(d.count or 1 for p in heads if p.space == "reg" for d in p.declarators))
