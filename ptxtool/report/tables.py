"""What a report is made of: tables, listings and texts as values, for pipes and files, or a terminal (`terminal.py`).

Plain text is stable: the same table gives the same lines whatever the terminal. A row longer than the width loses the
end of its last cell; the JSON output has everything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ptxtool.base.mangled import shown_name
from ptxtool.base.render import Line

WIDTH = 120
GAP = "  "


@dataclass(frozen=True)
class Column:
    """One column. `style` is how a terminal shows it: a rich style, or "code" for PTX; plain text ignores it."""

    title: str
    align: Literal["left", "right"] = "left"
    style: str = ""


@dataclass(frozen=True)
class TextTable:
    """Rows under column titles, with a title above and lines of text below."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def widths(self) -> list[int]:
        """Characters of the widest cell of every column, its title included."""
        titles = tuple(column.title for column in self.columns)
        return [max(len(row[k]) for row in (titles, *self.rows)) for k in range(len(titles))]

    def __str__(self) -> str:
        return to_text(self)


def head(text: str) -> tuple[Column, ...]:
    """Columns as their head shows them: `line | >cycles:bold | instruction:code`, `>` for right, then the style."""
    words = (word.partition(":") for word in text.split(" | "))
    return tuple(
        Column(title.removeprefix(">"), "right" if title[:1] == ">" else "left", style)
        for title, _, style in words
    )


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[object]], title: str = "", notes: Iterable[str] = ()
) -> TextTable:
    """A table of anything that has a `str`; None is an empty cell."""
    texts = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows)
    assert all(len(row) == len(columns) for row in texts), "every row has a cell per column"
    return TextTable(tuple(columns), texts, title, tuple(notes))


def shortened(
    columns: Sequence[Column], rows: Sequence[Sequence[object]], title: str, most: int
) -> TextTable:
    """A table of the first rows; a note says how many more there are."""
    more = len(rows) - most
    return table(columns, rows[:most], title, (f"... and {more} more; --json has them",) if more > 0 else ())


def to_text(table: TextTable) -> str:
    """The table as plain lines."""
    titles = tuple(column.title for column in table.columns)
    widths = table.widths
    lines = [table.title] if table.title else []
    for row in (
        titles,
        tuple("-" * w if title else "" for w, title in zip(widths, titles, strict=True)),
        *table.rows,
    ):
        cells = [
            cell.rjust(w) if column.align == "right" else cell.ljust(w)
            for cell, w, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append(clip(GAP.join(cells).rstrip()))
    return "\n".join([*lines, *table.notes])


def split(table: TextTable, width: int) -> list[TextTable]:
    """A table as tables of some of its columns, each with the first column, no wider than `width` if possible."""
    first, *widths = table.widths
    groups: list[list[int]] = [[]]
    used = first
    for k, own in enumerate(widths, start=1):
        if groups[-1] and used + len(GAP) + own > width:
            groups.append([])
            used = first
        groups[-1].append(k)
        used += len(GAP) + own
    return [
        replace(
            table,
            columns=tuple(table.columns[k] for k in (0, *group)),
            rows=tuple(tuple(row[k] for k in (0, *group)) for row in table.rows),
        )
        for group in groups
    ]


def heading(name: str, text: str, width: int = WIDTH) -> str:
    """`name: text` with a kernel's name, in C++ if it is mangled; on two lines where it is too long for one."""
    name = shown_name(name)
    line = f"{name}: {text}"
    return line if len(line) <= width else f"{name}:\n  {clip(text, width - 2)}"


def clip(text: str, width: int = WIDTH) -> str:
    """The text, or as much of it as fits with `...` after it."""
    return text if len(text) <= width else text[: max(0, width - 3)] + "..."


@dataclass(frozen=True)
class Listing:
    """Lines of code with columns beside them, as (text, style) pieces; the style "code" is PTX or PTXPlus text."""

    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return "\n".join("".join(text for text, _ in line) for line in self.lines)


Part = TextTable | Listing | str
"""A report is a list of these; each has a `str`."""
