"""The difference of two kernels as tables: figures, classes of instructions, registers, and the lines that changed."""

from collections.abc import Iterator, Sequence

from ptxtool.analysis.compare.correspondence import StatementPair
from ptxtool.analysis.compare.difference import Difference, text_of
from ptxtool.analysis.flow.statements import Comparable
from ptxtool.analysis.occupancy.occupancy import Occupancy
from ptxtool.base.mangled import shown_name
from ptxtool.base.render import CudaText
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.cuda import cuda_text, place_text
from ptxtool.report.tables import Part, clip, head, table

_FIGURES = head(":cyan | >before | >after | >change:bold")
_CLASSES = head("instructions:cyan | >before | >after | >removed | >added | >changed")
_LINES = head(">before | >after | :bold | statement")
_WITH_CUDA = (*_LINES, *head("CUDA line"))
_TITLES = {
    "registers_declared": "registers declared, in 32-bit units",
    "registers_used": "registers used, in 32-bit units",
    "live_registers": "most live registers, in 32-bit units",
    "predicates_used": "predicates used",
    "live_predicates": "most live predicates",
    "shared_bytes": "shared memory, bytes",
    "local_bytes": "local memory, bytes per thread",
    "param_bytes": "parameters, bytes",
}
_NAMES_SHOWN = 8


def difference_parts(
    found: Difference, names: tuple[str, str], context: int, sources: CudaText | None = None
) -> list[Part]:
    """The report of one pair of kernels, of the files `names`; `context` statements around every change.

    With `sources` the text of CUDA lines too.
    """
    before, after = found.before.kernel, found.after.kernel
    names_of_both = shown_name(before.name), shown_name(after.name)
    kernel = names_of_both[0] if before.name == after.name else " -> ".join(names_of_both)
    if found.is_same and not found.renamed:
        return [f"{kernel}: same, {len(before.instructions)} instructions"]
    counts = found.counts
    moved = f" ({found.moved} of these moved)" if found.moved else ""
    head = ", ".join(f"{counts[kind]} {kind}" for kind in ("same", "changed", "removed", "added")) + moved
    parts: list[Part] = [clip(f"{kernel}: {names[0]} -> {names[1]}"), f"instructions: {head}"]
    parts += _head(found)
    parts += ["", table(_FIGURES, _figures(found))]
    if found.classes:
        rows = [(c.name, c.before, c.after, c.removed, c.added, c.changed) for c in found.classes]
        parts += ["", table(_CLASSES, rows)]
    registers = list(_registers(found))
    parts += ["", *registers] if registers else []
    lines = list(_lines(found, context, sources))
    if not lines:
        return parts
    if not any(line[-1] for line in lines):
        return [*parts, "", table(_LINES, [line[:-1] for line in lines])]
    return [*parts, "", table(_WITH_CUDA, [(*line[:3], clip(line[3], 64), line[4]) for line in lines])]


def _head(found: Difference) -> Iterator[str]:
    for mark, lines in zip("-+", found.head, strict=True):
        for line in lines:
            yield clip(f"head: {mark} {line}")


def _figures(found: Difference) -> Iterator[tuple[object, ...]]:
    """The figures that differ, and always those of instructions, registers and pressure."""
    old, new = (figures.to_dict() for figures in found.figures)
    for name, value in old.items():
        if value != new[name] or name in ("instructions", "registers_used", "live_registers"):
            yield _TITLES.get(name, name), value, new[name], _change(value, new[name])
        if name == "live_registers":
            lines = [m.pressure.line for m in (found.before, found.after)]
            yield "  before line", *lines, ""
            measured = (found.before, found.after)
            cuda = ["" if m.pressure.at is None else cuda_text(m.kernel, m.pressure.at) for m in measured]
            if any(cuda):
                yield "  CUDA line", *cuda, ""
    if found.occupancy is not None:
        yield from _occupancy(*found.occupancy)


def _occupancy(old: Occupancy, new: Occupancy) -> Iterator[tuple[object, ...]]:
    yield "registers per thread", *_pair(old.needs.registers_per_thread, new.needs.registers_per_thread)
    yield "scratchpad per CTA, bytes", *_pair(old.needs.scratchpad, new.needs.scratchpad)
    yield f"resident CTAs on {old.gpu}", *_pair(old.resident_ctas, new.resident_ctas)
    yield "  limited by", old.limiter, new.limiter, ""


def _pair(old: int, new: int) -> tuple[object, ...]:
    return old, new, _change(old, new)


def _change(old: int, new: int) -> str:
    return "" if old == new else f"{new - old:+d}"


def _registers(found: Difference) -> Iterator[str]:
    if found.renamed:
        yield _listed("registers renamed", [f"{old} -> {new}" for old, new in found.renamed])
    if found.removed:
        yield _listed("registers removed", found.removed)
    if found.added:
        yield _listed("registers added", found.added)
    if found.renumbered:
        yield f"registers with another sequence number: {found.renumbered}"
    if found.reordered:
        yield f"registers with another place in the order of first use: {found.reordered}"


def _listed(what: str, names: Sequence[str]) -> str:
    more = f", ... ({len(names)})" if len(names) > _NAMES_SHOWN else ""
    return clip(f"{what}: {', '.join(names[:_NAMES_SHOWN])}{more}")


_Line = tuple[object, object, str, str, str]
"""The lines before and after, a mark, the statement, the CUDA line."""


def _lines(found: Difference, context: int, sources: CudaText | None) -> Iterator[_Line]:
    """The statements that changed, with some around them; a row of dots for what is left out between."""
    steps = found.steps
    shown = [False] * len(steps)
    for k, step in enumerate(steps):
        if step.kind != "same":
            low, high = max(0, k - context), min(len(steps), k + context + 1)
            shown[low:high] = [True] * (high - low)
    gap = False
    for step, show in zip(steps, shown, strict=True):
        if not show:
            gap = True
            continue
        if gap:
            yield "...", "...", "", "", ""
            gap = False
        yield from _rows(found, step, sources)


def _rows(found: Difference, step: StatementPair, sources: CudaText | None) -> Iterator[_Line]:
    old = _place(found.before.kernel, step.before, sources)
    new = _place(found.after.kernel, step.after, sources)
    if step.kind == "same":
        yield old[0], new[0], "", *new[1:]
        return
    if step.before is not None:
        yield old[0], None, "-", *old[1:]
    if step.after is not None:
        yield None, new[0], "+", *new[1:]


def _place(
    kernel: Function, statement: Comparable | None, sources: CudaText | None
) -> tuple[int | None, str, str]:
    """The line, the text and the CUDA line of a statement."""
    if statement is None:
        return None, "", ""
    source = kernel.source
    cuda = place_text(source.name, sources)(source.cuda.at(statement.start))
    return source.line(statement.start), text_of(kernel, statement), cuda
