"""Semantic tokens: what the words of a text are, for an editor's colours.

Those of `report/lexer.py`, which takes every text, broken ones included. A token of more than one line, a comment, is
one for each line.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pygments.token import Comment, Keyword, Name, Number, Operator, String

from ptxtool.report.lexer import PtxLexer

KINDS = (
    *("comment", "string", "number", "operator", "keyword", "type", "modifier"),
    *("variable", "macro", "label", "function", "decorator"),
)
"""The legend: opcodes are keywords, registers variables, special registers macros, directives decorators."""

_OF_LEXER: tuple[tuple[Any, str], ...] = (
    (Comment, "comment"),
    (String, "string"),
    (Number, "number"),
    (Operator, "operator"),
    (Keyword.Type, "type"),
    (Keyword.Pseudo, "modifier"),
    (Keyword.Reserved, "decorator"),
    (Keyword, "keyword"),
    (Name.Variable.Magic, "macro"),
    (Name.Constant, "macro"),
    (Name.Variable, "variable"),
    (Name.Label, "label"),
    (Name.Function, "function"),
)


class SemanticToken(NamedTuple):
    """A stretch of one line, and the number of its kind in `KINDS`."""

    start: int
    end: int
    kind: int


def semantic_tokens(text: str, begin: int = 0, stop: int | None = None) -> Iterator[SemanticToken]:
    """The tokens that have a kind, from `begin` on, where a statement begins, up to `stop`."""
    known: dict[Any, int] = {}
    for start, token, value in PtxLexer().get_tokens_unprocessed(text[begin:stop]):
        start += begin
        kind = known.get(token)
        if kind is None:
            kind = known[token] = next((KINDS.index(n) for t, n in _OF_LEXER if token in t), -1)
        if kind < 0:
            continue
        if "\n" not in value:
            yield SemanticToken(start, start + len(value), kind)
            continue
        for line in value.split("\n"):
            if line.strip():
                yield SemanticToken(start, start + len(line.rstrip("\r")), kind)
            start += len(line) + 1
