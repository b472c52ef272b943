"""Exhibits with a row for each of FineReg's applications, and rows with the means of its types and of all."""

from collections.abc import Callable, Iterable, Sequence

from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.sweep.reproduction.finereg.measured import Measured, mean_of
from ptxtool.sweep.reproduction.finereg.paper import Paper

Cell = tuple[str, float | None]
"""A column of a row, and our value."""
Mean = Callable[[Sequence[float]], float]
GROUPS = ("S", "R", "all")
"""Types of applications, and all of them."""


def mean_row(group: str) -> str:
    """The name of the row with the mean of a group."""
    return "mean, all" if group == "all" else f"mean, Type-{group}"


def in_group(benchmarks: Iterable[Measured], among: Sequence[str]) -> list[Measured]:
    """Those that `among` of a comparison names."""
    wanted = {"all", *among} if "all" in among else set(among)
    return [m for m in benchmarks if {"all", m.application.limit, m.name} & wanted]


def by_application(
    benchmarks: Sequence[Measured],
    cells: Callable[[Measured], Iterable[Cell]],
    key: str,
    title: str,
    place: str,
    quantity: str,
    digits: int = 2,
    *,
    signed: bool = False,
    notes: tuple[str, ...] = (),
    mean: Mean | None = None,
    printed: Callable[[str, str], float | None] = lambda row, column: None,
) -> Exhibit:
    """A row for each application; with `mean` of its values also one for each group. `printed` is the paper's value by
    row and column."""
    rows = {m.name: dict(cells(m)) for m in benchmarks}
    columns = tuple(dict.fromkeys(column for row in rows.values() for column in row))
    if mean is not None:
        for group in GROUPS:
            members = [rows[m.name] for m in in_group(benchmarks, [group])]
            rows[mean_row(group)] = {
                column: mean_of((row.get(column) for row in members), mean) for column in columns
            }
    values = tuple(
        ExhibitValue(row, column, ours, printed(row, column))
        for row, found in rows.items()
        for column, ours in found.items()
    )
    return Exhibit(key, title, place, quantity, values, digits, signed, notes)


def printed_mean(paper: Paper, measure: str, over: str) -> Callable[[str, str], float | None]:
    """What the text prints about the means of a measure: by the row of a group and the column of a scheme."""
    known = {
        (mean_row(each.among[0]), each.scheme): each.percent[0]
        for each in paper.comparison
        if (each.measure, each.over) == (measure, over)
        and len(each.among) == 1
        and each.percent[0] == each.percent[1]
    }
    return lambda row, column: known.get((row, column))
