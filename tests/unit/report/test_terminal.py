"""Reports on terminals: nothing is broken over lines, and colour changes no word."""

import io
import re

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.render import render
from ptxtool.base.source import Source
from ptxtool.report.tables import Column, Listing, Part, TextTable, table
from ptxtool.report.terminal import fit, show, show_diagnostics

NUMBERS = (Column("name"), Column("a", "right"), Column("b", "right"), Column("c", "right"))


def widths(pieces: list[TextTable]) -> list[int]:
    return [max(map(len, str(piece).splitlines())) for piece in pieces]


def test_a_table_that_fits_stays() -> None:
    shown = table(NUMBERS, [("row", 1, 2, 3)])
    assert fit(shown, 13) == [shown]  # "name  a  b  c"


def test_a_wide_table_is_taken_apart_with_its_first_column() -> None:
    pieces = fit(table(NUMBERS, [("row", 1111, 2222, 3333)]), 16)
    assert [[column.title for column in piece.columns] for piece in pieces] == [
        ["name", "a", "b"],
        ["name", "c"],
    ]
    assert [piece.rows for piece in pieces] == [(("row", "1111", "2222"),), (("row", "3333"),)]
    assert widths(pieces) == [16, 10]


def test_text_in_the_last_column_is_cut() -> None:
    shown = table((Column("line", "right"), Column("text")), [(1, "x" * 100)])
    (piece,) = fit(shown, 40)
    assert widths([piece]) == [40]
    assert piece.rows[0][1] == "x" * 31 + "..."


def test_a_column_wider_than_everything_stays_whole() -> None:
    shown = table((Column("a"), Column("n", "right")), [("long name", 10**20)])
    assert fit(shown, 8) == [shown]


def test_code_is_coloured_and_nothing_else_changes() -> None:
    listing = Listing(((("7  ", "gutter"), ("add.u32 %r1, %r2, 1;", "code"), ("  3", "")),))
    shown = printed(listing)
    assert plain(shown) == str(listing) + "\n"
    for part in ("\x1b[34m7  ", "\x1b[1madd", "\x1b[36m.u32", "\x1b[32m%r1", "\x1b[94m1"):
        assert part in shown


def test_a_column_of_code() -> None:
    columns = (Column("line", "right"), Column("instruction", style="code"))
    shown = printed(table(columns, [(1, "ret;")]))
    assert plain(shown).split() == ["line", "instruction", "1", "ret;"]
    assert "\x1b[1mret" in shown


def test_a_diagnostic_in_colour_is_the_plain_one() -> None:
    source = Source("k.ptx", "\tadd.u32 a, b, c;\nx")
    note = Note("first", source, 18, 19)
    diagnostic = Diagnostic("E201", "wrong [red]b[/red]", source, 12, 13, "help", note)
    stream = io.StringIO()
    show_diagnostics(stream, [diagnostic])
    assert plain(stream.getvalue()).expandtabs() == render(diagnostic).expandtabs() + "\n"
    assert "\x1b[1;31merror[E201]\x1b[0m" in stream.getvalue()
    assert "\x1b[1;36mnote:\x1b[0m" in stream.getvalue()


def printed(*parts: Part) -> str:
    stream = io.StringIO()
    show(stream, *parts)
    return stream.getvalue()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
