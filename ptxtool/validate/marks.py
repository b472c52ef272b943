"""Re-prove release marks: nothing else changed, and after a mark the warp touches nothing it shares.

The two texts are compared without their marks. Then every mark of every kernel is checked by searching paths, without
dataflow facts and without the solver that placed it:
- along every path from the mark no instruction touches the shared part;
- for every branch that can send lanes different ways, where the mark lies on one side of it (reached from there without
  passing the point where the lanes reconverge), nothing reached from its other sides or from that point does. Lanes
  that wait after a `callp` for other lanes to return are included. Which branches these are is `uniformity.py`'s word.
The instructions that touch the shared part are determined again, in the module after the pass.
"""

from collections.abc import Callable, Iterator, Sequence

from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.base.diag import Diagnostic
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.marks import REGISTERS, Mark, release_marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.validate.functions import wrong


def check_marks(
    before: Module, after: Module, release: str, touches: Callable[[Function], Sequence[bool]]
) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for what changed besides marks and for marks that come too early."""
    if _besides_marks(before, release) != _besides_marks(after, release):
        return (Diagnostic("E303", "something besides release marks changed", after.source),)
    return tuple(d for kernel in after.kernels.values() for d in unsound_marks(kernel, release, touches))


def unsound_marks(
    kernel: Function, release: str, touches: Callable[[Function], Sequence[bool]]
) -> Iterator[Diagnostic]:
    """A diagnostic for every mark of a kernel after which the warp may touch what it shares."""
    placed = [mark for mark in release_marks(kernel) if mark.word == release]
    if not placed:
        return
    search = _PathSearch(kernel, touches(kernel))
    for mark in placed:
        touch = search.touch_after(mark)
        if touch is not None:
            shared = "shared registers" if release == REGISTERS else "shared scratchpad"
            what = f"released too early: the warp may still touch its {shared} in line {kernel.line(touch)}"
            yield wrong(what, kernel.source, mark.statement)


def _besides_marks(module: Module, release: str) -> tuple[list[str], list[tuple[str, str, int, bool]]]:
    """The words of a module's text without marks, and its marks of the other kinds."""
    found = [(f.name, mark) for f in module.functions.values() for mark in release_marks(f)]
    spans = dict.fromkeys((mark.statement.start, mark.statement.end) for _, mark in found)
    words = splice(module.source.text, [TextEdit(start, end, "") for start, end in spans]).split()
    others = [(name, m.word, m.instruction, m.before_label) for name, m in found if m.word != release]
    return words, others


class _PathSearch:
    """Paths through one kernel."""

    def __init__(self, kernel: Function, touches: Sequence[bool]):
        self._touches = touches
        self._plain = build(kernel)
        self._cfg: Cfg = build(kernel, interprocedural=True)
        self._starts = {b.start: b.index for b in self._cfg.blocks}
        self._starts[len(kernel.instructions)] = self._cfg.exit
        self._first: dict[int, int | None] = {}
        self._splits = list(self._divergences())

    def touch_after(self, mark: Mark) -> int | None:
        """An instruction that touches the shared part and may execute after a mark, None if there is none."""
        if mark.instruction == len(self._touches):
            return None
        block = self._cfg.block_of[mark.instruction]
        for i in range(mark.instruction, self._cfg.blocks[block].end):
            if self._touches[i]:
                return i
        for successor in self._cfg.successors[block]:
            if (touch := self._touch_from(successor)) is not None:
                return touch
        for region, touch in self._splits:
            if block in region:
                return touch
        return None

    def _divergences(self) -> Iterator[tuple[set[int], int]]:
        """Per side of a divergent branch whose waiting lanes may touch the shared part: its blocks, and that touch."""
        points = points_of(self._plain)
        divergent = uniformity(self._cfg.kernel).divergent
        # a `retp` without a call exits, and no lane waits for lanes that exit
        returning = self._cfg.returning
        for block in self._cfg.blocks:
            flow = self._cfg.flow_of(block.index)
            if block.last not in divergent:
                continue
            if block.last in points:
                rejoin = self._starts[points[block.last]]
            elif block.index in returning and flow.falls:
                rejoin = self._cfg.exit
            else:
                continue
            sides = self._cfg.successors[block.index]
            for side in sides:
                region = self._reached(side, rejoin)
                waiting = [other for other in sides if other != side] + [rejoin]
                if rejoin == self._cfg.exit:
                    waiting += [target for b in region & returning for target in self._cfg.successors[b]]
                for place in waiting:
                    if (touch := self._touch_from(place)) is not None:
                        yield region, touch
                        break

    def _reached(self, start: int, end: int) -> set[int]:
        """The blocks on paths from one block that do not pass another."""
        region, work = set[int](), [start] if start != end else []
        while work:
            block = work.pop()
            if block != end and block not in region:
                region.add(block)
                work += self._cfg.successors[block]
        return region - {self._cfg.exit}

    def _touch_from(self, start: int) -> int | None:
        """Some touch on a path from the head of a block."""
        if start not in self._first:
            found = (
                i
                for b in sorted(self._reached(start, self._cfg.exit))
                for i in self._cfg.blocks[b].instructions
                if self._touches[i]
            )
            self._first[start] = next(found, None)
        return self._first[start]
