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

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ptxtool.analysis.dataflow import solve
from ptxtool.analysis.liveness import Liveness, liveness
from ptxtool.base.bits import from_indices, indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function

Segment = tuple[int, int]


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
    def accesses(self) -> tuple[tuple[tuple[int, bool, bool], ...], ...]:
        """Per web, its instructions in textual order: index, whether it reads, whether it writes.

        A guarded or partial write that continues a value reads it.
        """
        found: list[list[tuple[int, bool, bool]]] = [[] for _ in self.register]
        segments = self.segments
        for i, (read, written) in enumerate(zip(self.reads, self.writes, strict=True)):
            for web in read:
                if web not in written:
                    found[web].append((i, True, False))
            point = 2 * i + 1
            for web in written:
                starts = segments[web]
                continues = starts[0][0] != point and all(start != point for start, _ in starts)
                found[web].append((i, continues or web in read, True))
        return tuple(map(tuple, found))


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
        self._undefined = _undefined_at_start(live)
        self._in: list[dict[int, int]] = []  # per block, the pieces open at its start by register
        self._out: list[dict[int, int]] = []
        for block in range(len(live.cfg.blocks)):
            self._walk(block)
        self._parent = list(range(len(self._start)))  # in a web, of pieces

    def _piece(self, register: int, start: int, end: int) -> int:
        self._register.append(register)
        self._start.append(start)
        self._end.append(end)
        return len(self._start) - 1

    def _walk(self, number: int) -> None:
        """The pieces of one block, backwards."""
        def_uses = self._live.def_uses
        block = self._live.cfg.blocks[number]
        undefined = self._undefined[number]
        first_def: dict[int, int] = {}
        if undefined:
            for i in reversed(block.instructions):
                for k in def_uses[i].defs:
                    if undefined >> k & 1:
                        first_def[k] = i
        start = self._start
        reads, writes = self._reads, self._writes
        out: dict[int, int] = {}
        for k in indices(self._live.block_out[number]):
            if not undefined >> k & 1 or k in first_def:
                out[k] = self._piece(k, 2 * block.start, 2 * block.end)
        open_pieces = dict(out)
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
        self._in.append({k: p for k, p in open_pieces.items() if not undefined >> k & 1})
        self._out.append(out)

    def _find(self, piece: int) -> int:
        parent = self._parent
        while parent[piece] != piece:
            parent[piece] = parent[parent[piece]]
            piece = parent[piece]
        return piece

    def result(self) -> Ranges:
        cfg = self._live.cfg
        parent_of, find = self._parent, self._find
        for block in cfg.blocks:
            get_out = self._out[block.index].get
            for successor in cfg.successors[block.index]:
                if successor != cfg.exit:
                    for k, piece in self._in[successor].items():
                        other = get_out(k, -1)
                        if other >= 0:
                            if parent_of[other] != other:
                                other = find(other)
                            parent_of[other] = piece if parent_of[piece] == piece else find(piece)
        number: dict[int, int] = {}  # root -> web
        web_of: list[int] = []
        register: list[int] = []
        segments: list[tuple[Segment, ...]] = []
        several: dict[int, list[Segment]] = {}
        pieces = zip(self._parent, self._register, self._start, self._end, strict=True)
        for p, (parent, k, start, end) in enumerate(pieces):
            root = p if parent == p else find(p)
            web = number.get(root)
            if web is None:
                web = number[root] = len(segments)
                register.append(k)
                segments.append(((start, end),))
            else:
                found = several.get(web)
                if found is None:
                    found = several[web] = [*segments[web]]
                found.append((start, end))
            web_of.append(web)
        for web, found in several.items():
            segments[web] = joined(found)
        get = web_of.__getitem__
        at_entry = frozenset(web_of[p] for p in self._in[0].values()) if self._in else frozenset[int]()
        return Ranges(
            cfg.kernel,
            cfg,
            self._live.def_uses,
            tuple(register),
            tuple(segments),
            tuple([tuple(map(get, read)) for read in self._reads]),
            tuple([tuple(map(get, written)) for written in self._writes]),
            at_entry,
        )


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


def _undefined_at_start(live: Liveness) -> Sequence[int]:
    """Per block, the registers that surely have no value yet when it starts, among those live there."""
    cfg = live.cfg
    n = len(cfg.blocks)
    if live.registers.is_ptxplus or not n:
        return [0] * n
    at_entry = live.block_out[0]
    for i in reversed(cfg.blocks[0].instructions):
        step = live.def_uses[i]
        at_entry = at_entry & ~from_indices(step.kills) | from_indices(step.uses)
    at_entry &= ~from_indices(head_registers(live.kernel))
    if not at_entry:
        return [0] * n
    defined = [
        from_indices(k for i in block.instructions for k in live.def_uses[i].defs if at_entry >> k & 1)
        for block in cfg.blocks
    ]
    reached = solve(cfg.successors, [*defined, 0], [0] * (n + 1), direction="forward").entry
    return [at_entry & ~reached[b] for b in range(n)]


def head_registers(function: Function) -> range:
    """The registers of a `.func`'s head: results and parameters in register space, which come first in the table."""
    heads = (*function.returns, *function.params)
    return range(sum(d.count or 1 for p in heads if p.space == "reg" for d in p.declarators))
