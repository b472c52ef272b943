"""Pieces of a statement's text: how it is cut, and where blanks and comments go when it is put together."""

from ptxtool.emit.pieces import PiecePlace, pad, pieces, with_comment, write


def cut(text: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces(text, 0, len(text))]


def test_a_percent_sign_after_an_operand_is_an_operator() -> None:
    assert cut("7 %3") == [("number", "7"), ("operator", "%"), ("number", "3")]
    assert cut("+ %3") == [("operator", "+"), ("name", "%3")]
    assert cut("7 %r3") == [("number", "7"), ("name", "%r3")]


def test_a_comment_is_one_piece_and_ends_no_operand() -> None:
    assert cut("(/* %r1; */ %r2") == [("other", "("), ("comment", "/* %r1; */"), ("name", "%r2")]
    assert cut("a // b") == [("name", "a"), ("comment", "// b")]


def test_spacing_at_the_end_is_no_piece() -> None:
    found = list(pieces("a\n , b  ", 0, 8))
    assert [(p.text, p.begins_line, p.has_blank) for p in found] == [
        ("a", False, False),
        (",", True, True),
        ("b", False, True),
    ]


def test_padding_goes_to_the_next_stop_where_the_column_is_taken() -> None:
    assert pad("ab", 16) == "ab" + " " * 14
    assert len(pad("x" * 15, 16)) == 16
    assert len(pad("x" * 16, 16)) == 24
    assert len(pad("first line\nab", 16)) == len("first line\n") + 16


def test_a_comment_stands_at_its_column_without_blanks_at_its_end() -> None:
    assert with_comment("ret;", "// why \t") == "ret;".ljust(40) + "// why"
    assert with_comment("ret;", "/* why */") == "ret;".ljust(40) + "/* why */"


def test_characters_that_stand_close_in_one_place() -> None:
    found = list(pieces("p | q", 0, 5))
    assert write(found, [PiecePlace("")] * 3) == ["p | q"]
    assert write(found, [PiecePlace("", close="|")] * 3) == ["p|q"]


def test_a_line_comment_ends_its_line() -> None:
    found = list(pieces("a, // why\nb", 0, 11))
    places = [PiecePlace("  "), *[PiecePlace("      ")] * 3]
    assert write(found, places) == ["  a,".ljust(40) + "// why", "      b"]
