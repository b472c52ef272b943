"""Tables as plain text."""

from ptxtool.report.tables import WIDTH, Column, clip, heading, table, to_text

COLUMNS = (Column("name"), Column("n", "right"), Column(""))


def test_a_table() -> None:
    shown = table(COLUMNS, [("a", 1, "##"), ("long name", 100, None)], "title", ["note"])
    assert str(shown) == "\n".join(
        [
            "title",
            "name         n",
            "---------  ---",
            "a            1  ##",
            "long name  100",
            "note",
        ]
    )


def test_a_table_without_rows_is_its_head() -> None:
    assert str(table((Column("a"), Column("b")), [])) == "a  b\n-  -"


def test_rows_fit_the_width() -> None:
    lines = to_text(table((Column("x"),), [("y" * 500,)])).splitlines()
    assert max(map(len, lines)) == WIDTH
    assert lines[-1] == "y" * (WIDTH - 3) + "..."


def test_a_long_name_has_a_line_of_its_own() -> None:
    assert heading("k", "8 registers") == "k: 8 registers"
    assert heading("k" * 20, "8 registers", 24) == "k" * 20 + ":\n  8 registers"


def test_clip() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abc..."
