"""Reports on a terminal: the same tables with colour, as wide as the window. Imports rich, so only there.

No cell is ever broken over lines: a table that is too wide loses the end of its last column of text, or is taken apart
into tables of fewer columns, each with the first column.
"""

from dataclasses import replace

import rich.console
import rich.table
import rich.text

from ptxtool.report.tables import GAP, Table, clip

_LEAST_TEXT = 24


def show(*parts: Table | str) -> None:
    """Print tables and texts to the terminal on standard output."""
    console = rich.console.Console(highlight=False)
    for part in parts:
        if isinstance(part, str):
            console.print(rich.text.Text(part), soft_wrap=True)
            continue
        if part.title:
            console.print(rich.text.Text(part.title, style="bold"), soft_wrap=True)
        for k, piece in enumerate(fit(part, console.width)):
            if k:
                console.print()
            console.print(_rich_table(piece), soft_wrap=True)
        for note in part.notes:
            console.print(rich.text.Text(note), soft_wrap=True)


def fit(table: Table, width: int) -> list[Table]:
    """The table as tables that are no wider than `width` where that is possible."""
    widths = _widths(table)
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    if total <= width:
        return [table]
    last = len(widths) - 1
    room = widths[last] - (total - width)
    if table.columns[last].align == "left" and room >= _LEAST_TEXT:
        rows = tuple((*row[:last], clip(row[last], room)) for row in table.rows)
        return [replace(table, rows=rows)]
    groups: list[list[int]] = [[]]
    used = widths[0]
    for k in range(1, len(widths)):
        if groups[-1] and used + len(GAP) + widths[k] > width:
            groups.append([])
            used = widths[0]
        groups[-1].append(k)
        used += len(GAP) + widths[k]
    return [_only(table, [0, *group]) for group in groups if group] or [table]


def _widths(table: Table) -> list[int]:
    return [max(len(row[k]) for row in (_titles(table), *table.rows)) for k in range(len(table.columns))]


def _titles(table: Table) -> tuple[str, ...]:
    return tuple(column.title for column in table.columns)


def _only(table: Table, columns: list[int]) -> Table:
    rows = tuple(tuple(row[k] for k in columns) for row in table.rows)
    return replace(table, columns=tuple(table.columns[k] for k in columns), rows=rows)


def _rich_table(table: Table) -> rich.table.Table:
    shown = rich.table.Table(box=None, padding=(0, len(GAP), 0, 0), pad_edge=False, header_style="underline")
    for column in table.columns:
        shown.add_column(rich.text.Text(column.title), justify=column.align, style=column.style, no_wrap=True)
    for row in table.rows:
        shown.add_row(*(rich.text.Text(cell) for cell in row))
    return shown
