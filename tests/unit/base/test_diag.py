"""Rendering of diagnostics: the caret stands under its text, whatever stands before it."""

import pytest

from ptxtool.base.diag import Diagnostic, render
from ptxtool.base.source import Source


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


def test_a_place_behind_the_last_character() -> None:
    caret = render(Diagnostic("E101", "m", Source("f", "abc"), 3, 3)).split("\n")[2]
    assert caret == "      |    ^"
