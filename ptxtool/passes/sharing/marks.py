"""Inserting release marks into a kernel's text: what the release passes have in common.

After the pass, one mark of the kind stands before each wanted instruction: marks that are already there stay, others of
the kind are deleted, new ones are inserted on their own line with the indentation of their instruction (or on its line,
if a label is there too).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED
from ptxtool.analysis.sharing.release_points import release_points
from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.marks import Mark, mark_words, release_marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.lines import deletion, line_for
from ptxtool.passes.sharing.share import SharingPass, Transformed, transform_kernels
from ptxtool.validate.marks import check_marks

SHOWN = 8
"""Lines that a remark lists."""


def put_marks(kernel: Function, release: str, wanted: Collection[int]) -> tuple[TextEdit, ...]:
    """The edits that leave a kernel's marks of one kind before the wanted instructions and nowhere else."""
    edits: list[TextEdit] = []
    missing = set(wanted)
    for mark in release_marks(kernel):
        if mark.word != release:
            continue
        if mark.instruction in missing and not mark.before_label:
            missing.remove(mark.instruction)
        else:
            edits.append(_without(kernel.source, mark))
    for i in sorted(missing):
        start = kernel.instructions[i].start
        edits.append(TextEdit(start, start, line_for(kernel.source, start, f'.pragma "{release}";')))
    return tuple(edits)


def _without(source: Source, mark: Mark) -> TextEdit:
    """The deletion of a mark, with its line if nothing else is on it; what else its statement releases stays."""
    start, end = mark.statement.start, mark.statement.end
    others = [f'"{other}"' for other in mark_words(mark.statement) if other != mark.word]
    if others:
        return TextEdit(start, end, f".pragma {', '.join(others)};")
    return deletion(source, start, end)


@dataclass(frozen=True)
class ReleasePass(SharingPass):
    """A pass that puts marks of one kind at all release points of every kernel; it puts none at 0%."""

    mark: ClassVar[str]
    in_use: ClassVar[str]
    """The remark where the resource is in use to the end."""
    unused: ClassVar[str]
    """The remark where no instruction touches it."""

    def touches(self, kernel: Function) -> Sequence[bool]:
        """Per instruction, whether it touches what is shared."""
        raise NotImplementedError

    def run(self, module: Module) -> PassResult:
        claim = partial(check_marks, release=self.mark, touches=self.touches)
        return transform_kernels(module, claim, self._kernel)

    def _kernel(self, kernel: Function) -> Transformed:
        if not self.percent:
            return (), [Remark(self.name, NOTHING_SHARED, kernel.name)]
        touched = self.touches(kernel)
        wanted = release_points(kernel, touched)
        edits = put_marks(kernel, self.mark, wanted)
        if not wanted:
            nothing = f"nothing to release: {self.in_use if any(touched) else self.unused}"
            return edits, [self.remark(kernel, nothing)]
        if not edits:
            return (), [Remark(self.name, "nothing to do: the marks stand where they should", kernel.name)]
        lines = ", ".join(str(kernel.line(i)) for i in wanted[:SHOWN])
        more = f" and {len(wanted) - SHOWN} more" if len(wanted) > SHOWN else ""
        what = f"released before {'line' if len(wanted) == 1 else 'lines'} {lines}{more}"
        return edits, [Remark(self.name, what, kernel.name, kernel.line(wanted[0]))]
