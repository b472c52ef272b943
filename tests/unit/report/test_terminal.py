"""Tables in narrow terminals: nothing is broken over lines."""

from ptxtool.report.tables import Column, Table, table
from ptxtool.report.terminal import fit

NUMBERS = (Column("name"), Column("a", "right"), Column("b", "right"), Column("c", "right"))


def widths(pieces: list[Table]) -> list[int]:
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
