"""Reports on a terminal: the same tables with colour, as wide as the window. Imports rich, so only there."""

import rich.box
import rich.console
import rich.table
import rich.text

from ptxtool.report.tables import Table


def show(*parts: Table | str) -> None:
    """Print tables and texts to the terminal on standard output."""
    console = rich.console.Console(highlight=False)
    for part in parts:
        if isinstance(part, str):
            console.print(rich.text.Text(part), soft_wrap=True)
            continue
        console.print(_rich_table(part))
        for note in part.notes:
            console.print(rich.text.Text(note), soft_wrap=True)


def _rich_table(table: Table) -> rich.table.Table:
    shown = rich.table.Table(
        title=rich.text.Text(table.title, style="bold") if table.title else None,
        title_justify="left",
        box=rich.box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in table.columns:
        shown.add_column(
            rich.text.Text(column.title), justify=column.align, style=column.style, overflow="fold"
        )
    for row in table.rows:
        shown.add_row(*(rich.text.Text(cell) for cell in row))
    return shown
