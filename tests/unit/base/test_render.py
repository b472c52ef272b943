"""Rendering of diagnostics: the caret stands under its text, whatever stands before it and however long it is."""

import pytest

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.base.render import layout, render, render_head
from ptxtool.base.source import Source

BLOCK = "add (\n\tone,\n\ttwo,\n\tthree )  \n;\n"


@pytest.mark.parametrize(
    ("before", "shown"),
    [("ab ", "ab "), ("a\x01", "a\\x01"), ("\t", "\t"), ("é", "é")],
    ids=["plain", "control", "tab", "accent"],
)
def test_the_caret_stands_under_its_text(before: str, shown: str) -> None:
    text = before + "foo bar"
    head, line, caret = render(
        Diagnostic("E101", "m", Source("f", text), len(before), len(before) + 3)
    ).split("\n")
    assert head == f"f:1:{len(before) + 1}: error[E101]: m"
    assert line == "    1 | " + shown + "foo bar"
    assert caret == "      | " + ("\t" if before == "\t" else " " * len(shown)) + "^^^"


def test_wide_characters_take_two_columns() -> None:
    caret = render(Diagnostic("E101", "m", Source("f", "中x"), 1, 2)).split("\n")[2]
    assert caret == "      | " + "  ^"


def test_an_escaped_byte_is_underlined_whole() -> None:
    caret = render(Diagnostic("E103", "m", Source("f", "a\0b"), 1, 2)).split("\n")[2]
    assert caret == "      |  ^^^^"


@pytest.mark.parametrize("end", [3, 4, 5])
def test_a_place_behind_the_last_character(end: int) -> None:
    for text in ("abc", "abc\n", "abc\n\ndef"):
        shown = render(Diagnostic("E101", "m", Source("f", text), 3, min(end, len(text))))
        assert shown.split("\n")[1:] == ["    1 | abc", "      |    ^"]


def test_a_span_over_two_lines_shows_both() -> None:
    source = Source("f", BLOCK)
    shown = render(Diagnostic("E101", "m", source, 4, BLOCK.index("one") + 3))
    assert shown.split("\n")[1:] == ["    1 | add (", "      |     ^", "    2 | \tone,", "      | \t^^^"]


def test_a_longer_span_shows_its_first_and_last_line() -> None:
    source = Source("f", BLOCK)
    shown = render(Diagnostic("E101", "m", source, 4, BLOCK.index(";"), help="h"))
    assert shown.split("\n") == [
        "f:1:5: error[E101]: m",
        "    1 | add (",
        "      |     ^",
        "  ... |",
        "    4 | \tthree )  ",
        "      | \t^^^^^^^",
        "   help: h",
    ]


def test_a_second_place_follows_with_its_own_line() -> None:
    source, other = Source("f", "x\ny"), Source("g", "a b")
    shown = render(Diagnostic("E204", "again", source, 2, 3, "rename", Note("first here", other, 2, 3)))
    assert shown.split("\n") == [
        "f:2:1: error[E204]: again",
        "    2 | y",
        "      | ^",
        "   help: rename",
        "g:1:3: note: first here",
        "    1 | a b",
        "      |   ^",
    ]


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = "x" * 500 + "bad" + "y" * 500
    _, line, caret = render(Diagnostic("E101", "m", Source("f", text), 500, 503)).split("\n")
    assert len(line) == len("    1 | ") + 160
    assert line[caret.index("^") : caret.index("^") + 3] == "bad"


def test_a_long_quote_is_cut_and_a_long_sentence_is_not() -> None:
    sentence = "between two short quotes of which one " * 4
    message = f"'a' {sentence}'b', '{'x' * 300}end of it' is long"
    shown = render(Diagnostic("E101", message))
    assert shown == f"error[E101]: 'a' {sentence}'b', '{'x' * 50}...xend of it' is long"


def test_without_a_place_there_is_the_message_alone() -> None:
    assert render(Diagnostic("E501", "no\x1b[31m file")) == "error[E501]: no\\x1b[31m file"


def test_the_head_is_the_first_line() -> None:
    diagnostic = Diagnostic("W201", "m", Source("a\nb", "t"), 0, 1)
    assert render_head(diagnostic) == "a\\x0ab:1:1: warning[W201]: m" == render(diagnostic).split("\n")[0]


def test_pieces_have_styles() -> None:
    head, code, carets = layout(Diagnostic("W201", "m", Source("f", "t"), 0, 1))
    assert head == [("f:1:1: ", "place"), ("warning[W201]", "warning"), (": ", ""), ("m", "message")]
    assert code == [("    1 | ", "gutter"), ("t", "code")]
    assert carets == [("      | ", "gutter"), ("^", "warning")]
