"""Reports on a terminal: the same tables, listings and diagnostics with colour. Imports rich, so only there.

The colours are the sixteen of every terminal, so that they follow its theme. No cell is ever broken over lines: a table
that is too wide loses the end of its last column of text, or is taken apart into tables of fewer columns, each with the
first column.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TextIO

import rich.console
import rich.table
import rich.text
import rich.theme
from pygments.token import Comment, Keyword, Name, Number, String

from ptxtool.base.diag import Diagnostic
from ptxtool.base.render import Line, layout
from ptxtool.report.lexer import PtxLexer, TokenKind
from ptxtool.report.tables import GAP, WIDTH, Listing, Part, TextTable, clip, split

_LEAST_TEXT = 24
_STYLES = {
    "place": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "message": "bold",
    "gutter": "blue",
    "help": "bold green",
}
_TOKENS = {
    Keyword: "bold",
    Keyword.Pseudo: "",
    Keyword.Type: "cyan",
    Keyword.Reserved: "magenta",
    Name.Variable: "green",
    Name.Variable.Magic: "bright_green",
    Name.Constant: "bright_green",
    Name.Label: "yellow",
    Name.Function: "bold yellow",
    Number: "bright_blue",
    String: "red",
    Comment: "bright_black",
}


def show(stream: TextIO, *parts: Part) -> None:
    """Print tables, listings and texts."""
    console = _console(stream)
    for part in parts:
        if isinstance(part, str):
            console.print(rich.text.Text(part), soft_wrap=True)
        elif isinstance(part, Listing):
            for line in part.lines:
                console.print(_line(line), soft_wrap=True)
        else:
            _show_table(console, part)


def show_diagnostics(stream: TextIO, diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics."""
    console = _console(stream)
    for diagnostic in diagnostics:
        for line in layout(diagnostic):
            console.print(_line(line), soft_wrap=True)


def show_page(stream: TextIO, page: str, width: int | None = None) -> None:
    """Print a page of the documentation, which is Markdown, with its examples in colour.

    `width` is in characters (default: the stream's).
    """
    import rich.markdown

    text = re.sub(r"^```ptx(?:plus)? .*$", f"```{PtxLexer.aliases[0]}", page, flags=re.MULTILINE)
    _console(stream).print(rich.markdown.Markdown(text, code_theme="ansi_dark"), width=width)


def highlight(code: str) -> rich.text.Text:
    """PTX or PTXPlus text in colour."""
    text = rich.text.Text()
    for _, kind, value in PtxLexer().get_tokens_unprocessed(code):
        text.append(value, _token_style(kind))
    return text


def _token_style(kind: TokenKind) -> str:
    """The style of a kind of token, or of the nearest kind above it that has one."""
    return next((_TOKENS[each] for each in reversed(kind.split()) if each in _TOKENS), "")


def _line(line: Line) -> rich.text.Text:
    text = rich.text.Text()
    for piece, style in line:
        text.append(highlight(piece) if style == "code" else rich.text.Text(piece, style))
    return text


def _console(stream: TextIO) -> rich.console.Console:
    """A console that writes colour to whatever stream: the caller has decided that it is wanted."""
    return rich.console.Console(
        file=stream,
        highlight=False,
        force_terminal=True,
        no_color=False,
        color_system="standard",
        theme=rich.theme.Theme(_STYLES),
        width=None if stream.isatty() else WIDTH,
        legacy_windows=False,
    )


def _show_table(console: rich.console.Console, part: TextTable) -> None:
    if part.title:
        console.print(rich.text.Text(part.title, style="bold"), soft_wrap=True)
    for k, piece in enumerate(fit(part, console.width)):
        if k:
            console.print()
        console.print(_rich_table(piece), soft_wrap=True)
    for note in part.notes:
        console.print(rich.text.Text(note), soft_wrap=True)


def fit(table: TextTable, width: int) -> list[TextTable]:
    """The table as tables that are no wider than `width` where that is possible."""
    widths = table.widths
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    if total <= width:
        return [table]
    last = len(widths) - 1
    room = widths[last] - (total - width)
    if table.columns[last].align == "left" and room >= _LEAST_TEXT:
        rows = tuple((*row[:last], clip(row[last], room)) for row in table.rows)
        return [replace(table, rows=rows)]
    return split(table, width)


def _rich_table(table: TextTable) -> rich.table.Table:
    shown = rich.table.Table(box=None, padding=(0, len(GAP), 0, 0), pad_edge=False, header_style="underline")
    for column in table.columns:
        style = "" if column.style == "code" else column.style
        shown.add_column(rich.text.Text(column.title), justify=column.align, style=style, no_wrap=True)
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        shown.add_row(*(highlight(c) if column.style == "code" else rich.text.Text(c) for c, column in cells))
    return shown
