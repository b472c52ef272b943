"""Charts of results in one call, for notebooks and papers: `ptxtool.plot(value)`. Needs matplotlib.

| value | chart |
|---|---|
| `Pressure` | live 32-bit registers along the text, the maximum marked |
| `SimResult`, `Run` | scheduler slots by kind |
| `Comparison` | thread IPC of each scheme over the first, in percent |
| `SchemeComparison` | cycles of each scheme over the first, in percent |
| `SweepResult` | thread IPC, a group of bars per kernel and a bar per configuration |
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.flow.pressure import Pressure
from ptxtool.base.diag import error
from ptxtool.base.render import printable
from ptxtool.results.run_results import Comparison, Run
from ptxtool.results.scheme_comparison import SchemeComparison
from ptxtool.results.simulation import SimResult
from ptxtool.results.sweeps import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Chart:
    """A chart that notebooks show. `figure` is matplotlib's, to be changed further."""

    figure: "Figure" = field(repr=False)
    title: str

    def save(self, path: str | Path) -> None:
        """Write it as .svg, .png or .pdf, by the name. Raises E502 for another one, E503 where that cannot be."""
        from ptxtool.formats.files import write_output

        form = Path(path).suffix.removeprefix(".").lower()
        if form not in FORMATS:
            raise error("E502", f"'{path}' has no format", help="give a file that ends in .svg, .png or .pdf")
        write_output(path, self._encoded(form))

    def _repr_png_(self) -> bytes:
        return self._encoded("png")

    def _encoded(self, form: str) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format=form, dpi=110)
        return out.getvalue()


def chart(value: Any) -> Chart:
    """The chart of a value. Raises E502 for a value that has none, for one without numbers, and without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        help = "pip install 'ptxtool[plot]'"
        raise error("E502", "a chart needs matplotlib, which is not installed", help=help) from None
    draw = next((draw for kind, draw in _CHARTS if isinstance(value, kind)), None)
    if draw is None:
        help = f"there are charts of {', '.join(kind.__name__ for kind, _ in _CHARTS)}"
        raise error("E502", f"there is no chart of {type(value).__name__}", help=help)
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    title = printable(draw(axes, value))
    axes.set_title(title, parse_math=False)
    return Chart(figure, title)


def _pressure(axes: "Axes", value: Pressure) -> str:
    axes.stairs(value.curve, range(len(value.curve) + 1), fill=True, alpha=0.35)
    axes.stairs(value.curve, range(len(value.curve) + 1))
    axes.set_xlabel("instruction")
    axes.set_ylabel(f"live 32-bit registers per {value.liveness.per}")
    if value.at is not None:
        axes.plot([value.at + 0.5], [value.maximum], "v")
    return f"{value.kernel.name}: {value.maximum} live registers before line {value.line}"


def _slots(axes: "Axes", value: SimResult | Run) -> str:
    result = value.result if isinstance(value, Run) else value
    total, left = max(1, sum(result.slots.values())), 0.0
    for name, n in result.slots.items():
        axes.barh([0], [100 * n / total], left=left, label=f"{name} {n / total:.0%}")
        left += 100 * n / total
    axes.set_yticks([])
    axes.set_xlabel("scheduler slots in percent")
    axes.legend(ncols=4, fontsize="small", loc="upper center")
    axes.set_ylim(-0.6, 1.2)
    return f"{result.kernel} on {result.gpu}: {result.cycles} cycles"


def _bars(axes: "Axes", names: Sequence[str], values: Sequence[float | None], what: str) -> None:
    """A bar for each name; none for a value that is not there."""
    places = range(len(names))
    axes.bar(places, [float("nan") if value is None else value for value in values])
    axes.set_xticks(places, [printable(name) for name in names], rotation=20, ha="right", parse_math=False)
    axes.axhline(0, color="gray", linewidth=0.8)
    axes.set_ylabel(what)


def _ladder(axes: "Axes", value: Comparison) -> str:
    rungs = value.rungs[1:]
    _bars(axes, [r.name for r in rungs], [value.gain(r) for r in rungs], "thread IPC, gain in percent")
    return f"{value.kernel}: gain over {value.rungs[0].name}"


def _schemes(axes: "Axes", value: SchemeComparison) -> str:
    runs = value.runs[1:]
    changes = [value.change(run, "cycles") for run in runs]
    _bars(axes, [run.scheme for run in runs], changes, "cycles, change in percent")
    return f"{value.kernel} on {value.gpu}: cycles over those without a scheme"


def _sweep(axes: "Axes", value: SweepResult) -> str:
    from ptxtool.report.simulations.sweep import PivotChoice, pivot

    shown = pivot(value, PivotChoice())
    width = 0.8 / max(1, len(shown.columns))
    for k, column in enumerate(shown.columns):
        numbers = [shown.number(row, column) for row in shown.rows]
        heights = [float("nan") if n is None else n for n in numbers]
        axes.bar([n + k * width for n in range(len(shown.rows))], heights, width, label=printable(column))
    middle = 0.4 - width / 2
    labels = [printable(row) for row in shown.rows]
    axes.set_xticks([n + middle for n in range(len(labels))], labels, parse_math=False)
    axes.set_ylabel("thread IPC")
    axes.legend(fontsize="small")
    return shown.title


_CHARTS: tuple[tuple[type, Any], ...] = (
    (Pressure, _pressure),
    (SimResult, _slots),
    (Run, _slots),
    (Comparison, _ladder),
    (SchemeComparison, _schemes),
    (SweepResult, _sweep),
)
