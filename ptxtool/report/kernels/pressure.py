"""Register pressure: the maximum, the registers live there, and the curve."""

from ptxtool.analysis.flow.pressure import Pressure
from ptxtool.base.render import CudaText
from ptxtool.report.bars import chart
from ptxtool.report.kernels.cuda import cuda_text
from ptxtool.report.tables import Part, clip, head, heading, table
from ptxtool.results.register_counts import RegisterCounts

_COLUMNS = head("register:cyan | class | >32-bit units | defined at lines | used at lines")
_LINES_SHOWN = 8


def pressure_parts(pressure: Pressure, counts: RegisterCounts, sources: CudaText | None = None) -> list[Part]:
    """The report of one kernel."""
    kernel = pressure.kernel
    if pressure.at is None:
        return [f"{kernel.name}: no instructions"]
    head = f"{pressure.maximum} live 32-bit registers per {pressure.liveness.per}"
    where = heading(kernel.name, f"{head} before line {pressure.line}: {kernel.text(pressure.at)}")
    others = f"most predicates {pressure.max_predicates}"
    if kernel.registers.is_ptxplus:
        others += f", most address registers {pressure.max_addresses}"
    rows = [(h.name, h.kind, h.units, _lines(h.def_lines), _lines(h.use_lines)) for h in pressure.holders]
    n = len(pressure.curve)
    parts: list[Part] = [
        where,
        *([clip(f"cuda: {cuda}")] if (cuda := cuda_text(kernel, pressure.at, sources)) else []),
        others,
        *map(clip, str(counts).splitlines()),
        "",
        table(_COLUMNS, rows, "live there"),
    ]
    step = f", {-(-n // 100)} or fewer to a column" if n > 100 else ""
    return [
        *parts,
        "",
        f"live 32-bit registers before each of the {n} instructions{step}",
        *chart(pressure.curve),
    ]


def _lines(lines: tuple[int, ...]) -> str:
    if not lines:
        return "nowhere"
    shown = " ".join(map(str, lines[:_LINES_SHOWN]))
    return shown if len(lines) <= _LINES_SHOWN else f"{shown} ... ({len(lines)})"
