"""Register pressure: the maximum, the registers live there, and the curve."""

from ptxtool.analysis.flow.pressure import Pressure
from ptxtool.base.render import CudaText
from ptxtool.report.bars import chart
from ptxtool.report.kernels.cuda import cuda_text
from ptxtool.report.tables import Part, clip, head, heading, table
from ptxtool.results.register_counts import RegisterCounts

_COLUMNS = head("register:cyan | class | >32-bit units | defined at lines | used at lines")
_DEFINED = head("defined at CUDA lines")
_LINES_SHOWN = 8
_WAITING = "a thread's, and those of lanes that wait while others run a side of a branch"


def pressure_parts(
    thread: Pressure,
    warp: Pressure,
    pressure: Pressure,
    counts: RegisterCounts,
    sources: CudaText | None = None,
) -> list[Part]:
    """The report of one kernel: both maxima, and the registers and the curve of `pressure`, one of the two."""
    kernel = pressure.kernel
    if pressure.at is None or thread.at is None:
        return [heading(kernel.name, "no instructions")]
    head = f"{thread.maximum} live 32-bit registers per thread"
    where = heading(kernel.name, f"{head} before line {thread.line}: {kernel.text(thread.at)}")
    place = "" if warp.at is None or warp.at == thread.at else cuda_text(kernel, warp.at)
    of_warp = f"{warp.maximum} per warp before line {warp.line}{f' ({place})' if place else ''}: {_WAITING}"
    others = f"most predicates {pressure.max_predicates}"
    if kernel.registers.is_ptxplus:
        others += f", most address registers {pressure.max_addresses}"
    per = pressure.liveness.per
    rows: list[tuple[object, ...]] = [
        (h.name, h.kind, h.units, _lines(h.def_lines), _lines(h.use_lines)) for h in pressure.holders
    ]
    columns = _COLUMNS
    if any(h.def_cuda for h in pressure.holders):
        columns = (*_COLUMNS, *_DEFINED)
        defined = [_lines(h.def_cuda) if h.def_cuda else "" for h in pressure.holders]
        rows = [(*row, lines) for row, lines in zip(rows, defined, strict=True)]
    n = len(pressure.curve)
    parts: list[Part] = [
        where,
        *([clip(f"cuda: {cuda}")] if (cuda := cuda_text(kernel, thread.at, sources)) else []),
        of_warp,
        others,
        *map(clip, str(counts).splitlines()),
        "",
        table(columns, rows, f"live per {per} before line {pressure.line}"),
    ]
    step = f", {-(-n // 100)} or fewer to a column" if n > 100 else ""
    return [
        *parts,
        "",
        f"live 32-bit registers per {per} before each of the {n} instructions{step}",
        *chart(pressure.curve),
    ]


def _lines(lines: tuple[int, ...] | tuple[str, ...]) -> str:
    if not lines:
        return "nowhere"
    shown = " ".join(map(str, lines[:_LINES_SHOWN]))
    return shown if len(lines) <= _LINES_SHOWN else f"{shown} ... ({len(lines)})"
