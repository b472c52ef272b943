"""Putting release marks into a kernel's text: what the release passes have in common.

The marks of one kind end up in front of the wanted instructions, one each: those that stand there already stay,
others of the kind go, new ones get a line of their own with the indentation of their instruction (or stand before
it on its line, where it shares one with a label).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ptxtool.analysis.sharing.release_points import release_points
from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.marks import Mark, release_marks, releases
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.lines import deletion, line_for
from ptxtool.validate.marks import check_marks

Touches = Callable[[Function], Sequence[bool]]


def put_marks(kernel: Function, release: str, wanted: Collection[int]) -> tuple[TextEdit, ...]:
    """The edits that leave a kernel's marks of one kind in front of the wanted instructions and nowhere else."""
    edits: list[TextEdit] = []
    missing = set(wanted)
    for mark in release_marks(kernel):
        if mark.release != release:
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
    """The deletion of a mark, with its line where it has one for itself; what else its statement releases stays."""
    start, end = mark.statement.start, mark.statement.end
    others = [f'"{other}"' for other in releases(mark.statement) if other != mark.release]
    if others:
        return TextEdit(start, end, f".pragma {', '.join(others)};")
    return deletion(source, start, end)


def remarks_of(
    name: str, kernel: Function, edits: Sequence[TextEdit], wanted: Sequence[int], nothing: str
) -> Iterator[Remark]:
    """What a release pass has to say about a kernel; `nothing` is why it wants no mark, where it wants none."""
    if not wanted:
        yield Remark(name, nothing, kernel.name, kernel.source.line(kernel.start))
    elif not edits:
        yield Remark(name, "nothing to do: the marks stand where they should", kernel.name)
    else:
        lines = ", ".join(str(kernel.line(i)) for i in wanted[:SHOWN])
        more = f" and {len(wanted) - SHOWN} more" if len(wanted) > SHOWN else ""
        what = f"released before {'line' if len(wanted) == 1 else 'lines'} {lines}{more}"
        yield Remark(name, what, kernel.name, kernel.line(wanted[0]))


def release(
    module: Module, name: str, mark: str, percent: Fraction, touches: Touches, in_use: str, unused: str
) -> PassResult:
    """The marks of one kind at all release points of a module's kernels; nothing is placed at 0%.

    `touches` finds a kernel's instructions that touch what is shared. Where no mark is wanted a remark says why:
    `in_use`, or `unused` where none touches it.
    """
    edits: list[TextEdit] = []
    remarks: list[Remark] = []
    for kernel in module.kernels.values():
        if not percent:
            remarks.append(Remark(name, "nothing is shared at 0%", kernel.name))
            continue
        touched = touches(kernel)
        wanted = release_points(kernel, touched)
        made = put_marks(kernel, mark, wanted)
        edits += made
        nothing = f"nothing to release: {in_use if any(touched) else unused}"
        remarks += remarks_of(name, kernel, made, wanted, nothing)
    return PassResult(tuple(edits), tuple(remarks), MarksProof(mark, touches))


SHOWN = 8
"""Lines that a remark lists."""


@dataclass(frozen=True)
class MarksProof:
    """The claim that only marks of one kind came and went, and that no warp touches what it shares behind one."""

    release: str
    touches: Touches

    def __call__(self, before: Module, after: Module) -> tuple[Diagnostic, ...]:
        return check_marks(before, after, self.release, self.touches)
