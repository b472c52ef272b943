"""A sweep as a table of one value per run, in chosen rows and columns, with bars; and the status of the runs.

Rows and columns are axes; several together make one row or column for each combination that a run has. A cell holds
one run, or its replicas: where others would fall into one, an error names the axes that distinguish them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from ptxtool.base.diag import error
from ptxtool.report.bars import bar
from ptxtool.report.simulations.simulation import remark_parts
from ptxtool.report.tables import GAP, WIDTH, Column, Part, TextTable, head, split, table
from ptxtool.results.replicas import Spread
from ptxtool.results.sweeps import AXES, Record, SweepResult, check_axis, joined

_BAR, _LEAST_BAR = 40, 12
_LEAST_COLUMN = 20
"""How much of a long title stays at least: a title must not push the values out of the line."""
_NARROW = 80
MEAN = "geometric mean"


@dataclass(frozen=True)
class PivotChoice:
    """What to show: the axes of rows and columns, the counter, and whether its gain over a baseline.

    Without columns they are all axes that vary and are no rows. `baseline` is a column by its title, the first if "".
    `where` are the values that some axes must have, as text.
    """

    rows: tuple[str, ...] = ("kernel",)
    columns: tuple[str, ...] = ()
    value: str = "thread_ipc"
    gain: bool = False
    baseline: str = ""
    where: tuple[tuple[str, str], ...] = ()


Cell = float | Spread | str | None
"""A value, or the values of all replicas; a text for one that is no number; the status of a run without a good result,
as its counters are of a part of the grid or of wrong results; None where there is no run."""


@dataclass(frozen=True)
class Pivot:
    """The values by titles of rows and columns. With gains, `baseline` is the column that they are over."""

    title: str
    row_axes: str
    column_axes: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    baseline: str | None
    means: Mapping[str, float]
    """Of gains, by column: the geometric mean of the ratios, as a gain."""
    notes: tuple[str, ...] = ()
    """What to know about the values."""

    def number(self, row: str, column: str) -> float | None:
        """The value of a cell, the mean of replicas; None where there is none."""
        return _number(self.cells.get((row, column)))

    def numbers(self) -> list[float]:
        return [number for cell in self.cells.values() if (number := _number(cell)) is not None]


def pivot(result: SweepResult, choice: PivotChoice) -> Pivot:
    """Arrange the runs of a sweep. Raises E502 for a choice that cannot be shown."""
    for axis in (*choice.rows, *choice.columns):
        check_axis(axis)
    records = result.where(choice.where).records
    columns = choice.columns or tuple(
        axis for axis in _varying(records) if axis not in choice.rows and axis not in ("kernel", "replica")
    )
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        place = _titles(record, choice.rows), _titles(record, columns)
        cell = found.setdefault(place, [])
        if cell and not _is_replica(record, cell):
            raise _two_in_a_cell(cell[0], record, place)
        cell.append(record)
    values = {place: _value(cell, choice.value) for place, cell in found.items()}
    seen = {place: cell[0] for place, cell in found.items()}
    row_titles = tuple(dict.fromkeys(row for row, _ in values))
    column_titles = tuple(dict.fromkeys(column for _, column in values))
    title = f"{result.name}: {choice.value}"
    baseline, means = None, {}
    notes: tuple[str, ...] = ()
    if choice.gain:
        baseline = _baseline(choice.baseline, column_titles)
        values = {place: _gain(cell, values.get((place[0], baseline))) for place, cell in values.items()}
        means = {
            c: m for c in column_titles if (m := _mean(values.get((r, c)) for r in row_titles)) is not None
        }
        title += f", gain over {baseline} in percent"
        notes = _gain_notes(choice.value, values, seen, baseline)
    notes += _replica_notes(values)
    axes = ", ".join(choice.rows), ", ".join(columns)
    return Pivot(title, *axes, row_titles, column_titles, values, baseline, means, notes)


def pivot_tables(shown: Pivot) -> list[TextTable]:
    """The values as a table, with a row of means where there are gains of several rows; the notes below.

    Where that would be too wide rows and columns trade places, if that needs fewer tables, or fits a terminal of 80
    columns: else there are several, with some of the columns each.
    """
    rows = [*shown.rows, *([MEAN] if shown.means and len(shown.rows) > 1 else [])]
    cells = {
        (row, column): _text(
            shown, shown.means.get(column) if k == len(shown.rows) else shown.cells.get((row, column))
        )
        for k, row in enumerate(rows)
        for column in shown.columns
    }
    tables = _laid_out(shown.row_axes, rows, shown.columns, cells)
    if _cost(tables) > (1, 0):
        turned = {(column, row): cell for (row, column), cell in cells.items()}
        tables = min(tables, _laid_out(shown.column_axes, shown.columns, rows, turned), key=_cost)
    tables[0] = replace(tables[0], title=shown.title)
    tables[-1] = replace(tables[-1], notes=shown.notes)
    return tables


def _cost(tables: Sequence[TextTable]) -> tuple[int, int]:
    """How many tables there are, and whether a narrow terminal would break them into more."""
    widest = max(sum(each.widths) + len(GAP) * (len(each.widths) - 1) for each in tables)
    return len(tables), widest > _NARROW


def _laid_out(
    axes: str, rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], str]
) -> list[TextTable]:
    """The cells by the titles of their rows and columns, in as few tables as the width allows."""
    widest = max(map(len, cells.values()), default=0)
    titles = [_shortened(title, WIDTH - len(GAP) - max(widest, _LEAST_COLUMN)) for title in rows]
    first = max(map(len, (axes, *titles)))
    heads = [Column(_shortened(column, WIDTH - first - len(GAP)), "right") for column in columns]
    lines = [
        [title, *(cells[row, column] for column in columns)] for title, row in zip(titles, rows, strict=True)
    ]
    return split(table([Column(axes, style="cyan"), *heads], lines), WIDTH)


def bars_table(shown: Pivot) -> TextTable | None:
    """The values as bars, None where there are not two numbers to compare; of gains without the baseline's."""
    numbers = shown.numbers()
    columns = [column for column in shown.columns if column != shown.baseline]
    if len(numbers) < 2 or not columns:
        return None
    longest = max(abs(number) for number in numbers)
    if shown.baseline is not None:
        longest = max(longest, 10.0)
    cells = [(row, column, shown.cells.get((row, column))) for row in shown.rows for column in columns]
    room = WIDTH - 3 * len(GAP) - max(len(_text(shown, cell)) for *_, cell in cells)
    heads, names = _side_by_side(shown.row_axes, shown.rows, columns, room - _LEAST_BAR)
    room -= max(map(len, (shown.row_axes, *heads.values()))) + max(map(len, names.values()))
    rows: list[tuple[str, str, str, str]] = []
    for row, column, cell in cells:
        number = _number(cell)
        length = "" if number is None else bar(number, longest, min(_BAR, room))
        rows.append((heads[row], names[column], _text(shown, cell), length))
    return table((Column(shown.row_axes, style="cyan"), *head(" | > | :green")), rows)


def _side_by_side(
    head: str, left: Sequence[str], right: Sequence[str], room: int
) -> tuple[dict[str, str], dict[str, str]]:
    """Titles for two columns that have this room together: each has half of it, and what the other does not need."""
    wide, other = max(map(len, (head, *left))), max(map(len, right))
    most = max(room // 2, room - other)
    heads = {title: _shortened(title, most) for title in left}
    return heads, {title: _shortened(title, room - min(wide, most)) for title in right}


def _shortened(title: str, most: int) -> str:
    """A title without its middle where it is too long: pipelines differ in what they end with."""
    if len(title) <= most:
        return title
    end = (most - 3) // 2
    return f"{title[: most - 3 - end]}...{title[-end:]}"


def sweep_parts(result: SweepResult, choice: PivotChoice, *, bars: bool = True) -> list[Part]:
    """The report of a sweep."""
    shown = pivot(result, choice)
    parts: list[Part] = []
    for each in pivot_tables(shown):
        parts += [each, ""]
    drawn = bars_table(shown) if bars else None
    if drawn is not None:
        parts += [drawn, ""]
    notes = remark_parts(remark for run in result for remark in run.counters.get("remarks", ()))
    return [*parts, *notes[1:], *notes[:1], verdict(result)]


_WORDS = {
    "done": "as expected",
    "wrong": "with wrong results",
    "failed": "failed",
    "lost": "lost with their processes",
    "bug": "stopped by a bug of ours",
    "waiting": "not run yet",
}


def verdict(result: SweepResult) -> str:
    """One line about the status of the runs."""
    n = len(result)
    counts = result.counts()
    parts = [f"{counts[status]} {words}" for status, words in _WORDS.items() if status in counts]
    return f"{n} run{'s' * (n != 1)}: {', '.join(parts)}"


def _varying(records: Sequence[Record]) -> list[str]:
    return [axis for axis in AXES if len({str(record.axes[axis]) for record in records}) > 1]


def _titles(record: Record, axes: Sequence[str]) -> str:
    return joined({axis: record.axes[axis] for axis in axes})


def _two_in_a_cell(one: Record, other: Record, place: tuple[str, str]) -> Exception:
    differ = [axis for axis in AXES if one.axes[axis] != other.axes[axis]]
    what = f"two runs for row '{place[0]}', column '{place[1]}': '{one.label}' and '{other.label}'"
    if not differ:
        return error("E502", what, help="nothing but their labels tells them apart: export them instead")
    axis = differ[0]
    help = f"give --where {axis}={one.axes[axis]}, or add {axis} to --rows or --columns"
    return error("E502", what, help=help)


def _baseline(asked: str, columns: Sequence[str]) -> str:
    if not asked:
        return columns[0]
    if asked not in columns:
        raise error("E502", f"no column '{asked}'", help=f"the columns are {', '.join(columns)}")
    return asked


def _is_replica(record: Record, others: Sequence[Record]) -> bool:
    """Whether a run is another replica of the run that the others are."""
    return all(
        record.axes["replica"] != other.axes["replica"]
        and all(record.axes[axis] == other.axes[axis] for axis in AXES if axis != "replica")
        for other in others
    )


def _value(records: Sequence[Record], name: str) -> Cell:
    """A counter of a run, or of its replicas; of the first that has no good result the status."""
    without = next((record.status for record in records if not record.ok), None)
    if without is not None:
        return without
    values = [record.value(name) for record in records]
    if len(values) > 1 and all(isinstance(value, int | float) for value in values):
        return Spread(tuple(map(float, values)))
    first: Cell = values[0]
    return first


def _number(cell: Cell) -> float | None:
    """A cell as one number; None for a text."""
    return cell.mean if isinstance(cell, Spread) else cell if isinstance(cell, int | float) else None


def _gain(cell: Cell, base: Cell) -> Cell:
    if isinstance(cell, Spread) and isinstance(base, Spread) and len(cell.values) == len(base.values):
        pairs = zip(cell.values, base.values, strict=True)
        return (
            Spread(tuple(100 * (one / other - 1) for one, other in pairs))
            if all(base.values)
            else "no baseline"
        )
    number, other = _number(cell), _number(base)
    if number is None:
        return cell
    return 100 * (number / other - 1) if other else "no baseline"


def _replica_notes(cells: Mapping[tuple[str, str], Cell]) -> tuple[str, ...]:
    n = max((len(cell.values) for cell in cells.values() if isinstance(cell, Spread)), default=0)
    if n == 0:
        return ()
    return (f"means of {n} replicas, ± the one that is farthest from it; (none): some gain and others lose",)


_RATES = ("thread_ipc", "gpu_ipc", "warp_ipc", "warp_ipc_per_sm")
"""Counters that are instructions in a cycle: they compare time only where the instructions are as many."""


def _gain_notes(
    value: str, gains: Mapping[tuple[str, str], Cell], runs: Mapping[tuple[str, str], Record], baseline: str
) -> tuple[str, ...]:
    """What to know about gains of IPC over runs that execute other numbers of instructions."""
    if value not in _RATES:
        return ()
    for (row, column), gain in gains.items():
        if _number(gain) is not None:
            one, base = runs[row, column].counters, runs[row, baseline].counters
            if any(one.get(name) != base.get(name) for name in ("thread_instructions", "warp_instructions")):
                return (
                    "runs of a row execute different numbers of instructions: these are gains of IPC, not of time;",
                    "--value cycles compares time",
                )
    return ()


def _mean(gains: object) -> float | None:
    """The geometric mean of gains in percent."""
    ratios = [1 + gain / 100 for cell in gains if (gain := _number(cell)) is not None]  # type: ignore[attr-defined]
    return 100 * (geometric_mean(ratios) - 1) if ratios and min(ratios) > 0 else None


def _text(shown: Pivot, cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Spread):
        apart = max(cell.greatest - cell.mean, cell.mean - cell.least)
        sign, unit = ("+", "%") if shown.baseline is not None else ("", "")
        none = " (none)" if unit and cell.has_both_signs else ""
        return f"{cell.mean:{sign}.2f}{unit} ±{apart:.2f}{none}"
    if shown.baseline is not None:
        return f"{cell:+.2f}%"
    return str(cell) if isinstance(cell, int) else f"{cell:.2f}"
