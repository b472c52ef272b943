"""A sweep as a chart for papers and pages: a group of bars for each row, a bar for each column. Needs matplotlib.

The same table gives the same bytes, whatever the day or the machine's fonts: SVG keeps its text as text.
"""

import io
import math

from ptxtool.base.diag import error
from ptxtool.report.simulations.sweep import MEAN, Pivot

FORMATS = ("svg", "png")


def plot(shown: Pivot, form: str) -> bytes:
    """The chart as "svg" or "png". Raises E502 without matplotlib, or where there is no number to draw."""
    if form not in FORMATS:
        raise error("E502", f"no chart in format '{form}'", help="give a file that ends in .svg or .png")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        help = "pip install 'ptxtool[plot]'"
        raise error("E502", "a chart needs matplotlib, which is not installed", help=help) from None
    if not shown.numbers():
        raise error("E502", "there is no number to draw", help="choose another value: --value thread_ipc")
    columns = [c for c in shown.columns if c != shown.baseline] or list(shown.columns)
    rows = list(shown.rows)
    values = {c: [_height(shown.number(row, c)) for row in rows] for c in columns}
    if shown.means and len(rows) > 1:
        rows.append(MEAN)
        for column in columns:
            values[column].append(shown.means.get(column, math.nan))
    with mpl.rc_context({"svg.hashsalt": "ptxtool", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(
            figsize=(max(5.0, 0.25 * len(rows) * (len(columns) + 1) + 2), 3.6), layout="constrained"
        )
        axes = figure.add_subplot()
        width = 0.8 / len(columns)
        for k, column in enumerate(columns):
            places = [n + (k - (len(columns) - 1) / 2) * width for n in range(len(rows))]
            axes.bar(places, values[column], width, label=column)
        axes.set_xticks(
            range(len(rows)),
            rows,
            rotation=30 if len(rows) > 4 else 0,
            ha="right" if len(rows) > 4 else "center",
        )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_ylabel("gain in percent" if shown.baseline is not None else shown.title.partition(": ")[2])
        axes.set_title(shown.title)
        if len(columns) > 1 or shown.baseline is not None:
            axes.legend(fontsize="small")
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=150, metadata=metadata)
    return out.getvalue()


def _height(cell: object) -> float:
    """A bar's height; a gap where a run has no number."""
    return float(cell) if isinstance(cell, int | float) else math.nan
