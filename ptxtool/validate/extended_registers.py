"""Re-prove a split into base and extended registers: the same results, and extended registers only while they are held.

The marks are blanked out, and the assignment of registers is proved (`ptxtool.validate.assignment`), where all extended
registers lose their values at every acquire mark: another warp may have had the section meanwhile. Then, in the text
with its marks, by a search of the paths from the entry that tells held from not held:

* no warp acquires what it holds, or releases what it does not hold;
* no instruction names an extended register outside;
* none is held at a barrier, a call or the end of the kernel;
* no mark stands before a label, where it would be for a part of the paths to it;
* where lanes wait at the other sides of a divergent branch, or where they rejoin, and hold, no path in between releases.

The paths are those of threads. Which branches are divergent is `uniformity.py`'s word.
"""

from collections.abc import Iterator, Mapping, Sequence

from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.analysis.regalloc.held_regions import never_held
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.marks import ACQUIRE_EXTENDED, EXTENDED, Mark, mark_words, marks
from ptxtool.ir.nodes import Directive, Function, Module
from ptxtool.parse import parse
from ptxtool.validate.assignment import check_assignment
from ptxtool.validate.functions import wrong


def check_extended(
    before: Module, after: Module, origins: Mapping[str, Sequence[int]], bases: Mapping[str, int]
) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for what does not hold.

    `bases` has the units of the base set of every kernel with marks, `origins` are as in `check_assignment`.
    """
    kernels = [after.kernels[name] for name in bases]
    losses = {
        kernel.name: {m.instruction: bases[kernel.name] for m in marks(kernel, EXTENDED) if m.word == ACQUIRE_EXTENDED}
        for kernel in kernels
    }
    found = check_assignment(before, _without_marks(after, kernels), origins, losses=losses)
    return (*found, *(d for kernel in kernels for d in unheld(kernel, bases[kernel.name])))


def _without_marks(module: Module, kernels: Sequence[Function]) -> Module:
    """The module with blanks in place of the marks of some kernels, so that other places stay."""
    statements = [s for k in kernels for s in k.body or () if isinstance(s, Directive) and mark_words(s, EXTENDED)]
    edits = [TextEdit(s.start, s.end, " " * (s.end - s.start)) for s in statements]
    return parse(splice(module.source.text, edits), module.source.name)


def unheld(kernel: Function, base: int) -> Iterator[Diagnostic]:
    """A diagnostic for every place where extended registers, those from unit `base` on, are used without being held, or
    are held where they must not be."""
    placed = [*marks(kernel, EXTENDED)]
    for mark in placed:
        if mark.before_label:
            yield wrong(f"'{mark.word}' stands before a label", kernel.source, mark.statement)
    search = _PathSearch(kernel, placed)
    yield from search.problems(base)
    yield from search.lost_by_waiting_lanes()


class _PathSearch:
    """Whether warps hold extended registers, on the paths through a kernel."""

    def __init__(self, kernel: Function, placed: Sequence[Mark]):
        self._kernel = kernel
        self._cfg: Cfg = build(kernel, interprocedural=True)
        self._marks: dict[int, list[Mark]] = {}
        for mark in placed:
            self._marks.setdefault(mark.instruction, []).append(mark)
        self._entering = self._states()

    def _states(self) -> list[set[bool]]:
        """Per block and virtual exit, whether a warp may hold when it comes there, and whether it may not."""
        cfg = self._cfg
        found: list[set[bool]] = [set() for _ in range(cfg.exit + 1)]
        work = [(cfg.entry, False)]
        while work:
            block, holds = work.pop()
            if holds in found[block]:
                continue
            found[block].add(holds)
            if block == cfg.exit:
                continue
            for i in cfg.blocks[block].instructions:
                for mark in self._marks.get(i, ()):
                    holds = mark.word == ACQUIRE_EXTENDED
            work += ((successor, holds) for successor in cfg.successors[block])
        return found

    def problems(self, base: int) -> Iterator[Diagnostic]:
        """What is wrong on some path from the entry."""
        kernel, never = self._kernel, never_held(self._kernel)
        is_extended = [
            place is not None and place.file == "general" and place.first + place.units > base
            for place in map(units_of, kernel.registers)
        ]
        for block in self._cfg.blocks:
            states = self._entering[block.index]
            for i in block.instructions:
                for mark in self._marks.get(i, ()):
                    acquires = mark.word == ACQUIRE_EXTENDED
                    if acquires in states:
                        what = "acquired while they are held" if acquires else "released while they are not held"
                        yield wrong(f"extended registers are {what}", kernel.source, mark.statement)
                    states = {acquires} if states else states
                node = kernel.instructions[i]
                if True in states and i in never:
                    what = f"extended registers are held at '{kernel.text(node)}'"
                    yield wrong(what, kernel.source, node)
                named = [kernel.registers[k].name for k in kernel.def_uses[i].touched if is_extended[k]]
                if False in states and named:
                    yield wrong(f"'{named[0]}' is named while it is not held", kernel.source, node)
        if True in self._entering[self._cfg.exit]:
            yield wrong("extended registers are held at the end", kernel.source, kernel)

    def lost_by_waiting_lanes(self) -> Iterator[Diagnostic]:
        """Releases by which lanes that wait at a divergent branch or at its reconvergence point lose their values."""
        cfg = self._cfg
        points = points_of(build(self._kernel))
        starts = {block.start: block.index for block in cfg.blocks} | {len(self._kernel.instructions): cfg.exit}
        releasing = {
            cfg.block_of[i]: mark
            for i, placed in self._marks.items()
            for mark in placed
            if mark.word != ACQUIRE_EXTENDED and i < len(cfg.block_of)
        }
        divergent = uniformity(self._kernel).divergent
        for block in cfg.blocks:
            if block.last not in divergent or block.last not in points:
                continue
            rejoin = starts[points[block.last]]
            waiting = [*cfg.successors[block.index], rejoin]
            if not any(True in self._entering[b] for b in waiting):
                continue
            for inside in sorted(self._between(block.index, rejoin) & releasing.keys()):
                what = f"released while other lanes may wait for '{self._kernel.text(block.last)}' and hold"
                yield wrong(what, self._kernel.source, releasing[inside].statement)

    def _between(self, branch: int, rejoin: int) -> set[int]:
        """The blocks on paths from a branch to where its lanes rejoin."""
        found: set[int] = set()
        work = [*self._cfg.successors[branch]]
        while work:
            block = work.pop()
            if block not in found and block not in (rejoin, self._cfg.exit):
                found.add(block)
                work += self._cfg.successors[block]
        return found
