"""Edits of whole statements: lines that are inserted or deleted, statements that trade places."""

import pytest

from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.parse import parse
from ptxtool.passes.lines import deletion, line_after, line_for, traded


def before(text: str, word: str, alone: bool = False) -> str:
    """The text with `new;` inserted before a word."""
    start = text.index(word)
    return splice(text, [TextEdit(start, start, line_for(Source("", text), start, "new;", alone))])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("  a;\n\tb;\n", "  a;\n\tnew;\n\tb;\n"),
        ("a;\r\n  b;\r\n", "a;\r\n  new;\r\n  b;\r\n"),
        ("b;", "new;\nb;"),
        ("\tL: b;\n", "\tL: new; b;\n"),
    ],
)
def test_a_statement_on_a_line_of_its_own(text: str, after: str) -> None:
    assert before(text, "b") == after


def test_a_statement_that_must_be_alone_leaves_the_line_of_a_label() -> None:
    assert before("L: b;\n", "b", alone=True) == "L: \nnew;\nb;\n"
    assert before("  b;\n", "b", alone=True) == "  new;\n  b;\n"


def test_what_follows_a_statement_has_its_indentation() -> None:
    for text, expected in (("x\n\t b;\n", "\n\t new;"), ("x\r\n b;", "\r\n new;"), ("L: b;", "\nnew;")):
        assert line_after(Source("", text), text.index("b"), "new;") == expected


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a;\n  b;  \nc;\n", "a;\nc;\n"),
        ("a;\n  b; // why\nc;\n", "a;\n  // why\nc;\n"),
        ("a; b; c;\n", "a; c;\n"),
        ("a;\n  b;", "a;\n  "),  # the last line has no end
    ],
)
def test_a_deletion_takes_the_line_if_nothing_else_is_on_it(text: str, after: str) -> None:
    start = text.index("b;")
    assert splice(text, [deletion(Source("", text), start, start + 2)]) == after


def test_statements_trade_places_and_their_comments_stay() -> None:
    module = parse(".version 7.0\n.target sm_70\n.entry k() {\nret; // 1\nexit; // 2\nbar.sync 0; // 3\n}\n")
    one, two, three = module.kernels["k"].instructions
    edits = [*traded(module.source, (one, two, three), (two, one, three))]
    assert len(edits) == 2
    assert "exit; // 1\nret; // 2\nbar.sync 0; // 3\n" in splice(module.source.text, edits)
