"""The pieces of a statement's text, and how they stand on lines: for the layout of statements.

A piece is a token of the grammar or a comment, with what stood before it. `write` puts pieces back together: no blank
where none is needed, one where the language or the eye wants it, whatever was there before. The rules:

* one blank after a comma and between words, none inside brackets; an opcode is one word;
* `+`, `-` and `+=` stand close, as in addresses; other operators stand between blanks, but for the bars of two
  destinations (`p|q`, `$p0/$o127`) and the angles of a range (`%r<8>`);
* a comment keeps its line: one that began a line begins one, one that followed something still does.

The rules see a token and the one before it, never the meaning; `ptxtool.validate.layout` checks that a laid-out file
means the same.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ptxtool.parse.grammar import terminals

INDENT = "    "
STOP = 8
FIELD = 16
"""Operands and declared names begin so many columns after their statement's beginning, or at the next stop."""
COMMENT_COLUMN = 40
"""Comments after a statement begin here, or at the next stop."""

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NOTHING_BEFORE, _NOTHING_AFTER = _CLOSING | {",", ";"}, _OPENING | {"@"}
_BETWEEN_BLANKS = frozenset("=?:")
_CLOSE = frozenset({"+", "-", "+="})


class Piece(NamedTuple):
    """One token or comment; `kind` is "comment", "string", "number", "dotted", "name", "operator" or "other"."""

    kind: str
    text: str
    start: int
    begins_line: bool
    has_blank: bool  # something blank stands before it


class PiecePlace(NamedTuple):
    """Where a piece goes: its indentation if it begins a line, whether it must, and the characters that stand close."""

    indent: str
    breaks: bool = False
    close: str = ""


@cache
def _lexer(after_operand: bool) -> "re.Pattern[str]":
    """One piece and the spacing before it. After an operand `%` is an operator where it may be one, else a name."""
    t = {name: f"(?:{terminal.regex})" for name, terminal in terminals().items()}
    operator = "|".join(t[n] for n in ("INCREMENT", "OPERATOR", "BAR", "PLUS", "MINUS", "NOT", "COMPLEMENT"))
    name = rf"(?>{t['OPCODE']})(?!\.[0-9])|{t['NAME']}"  # `r1.0` is a name with a part
    choices = {"comment": t["COMMENT"], "string": t["STRING"], "number": f"{t['FLOAT_BITS']}|{t['NUMBER']}"}
    choices |= {"dotted": f"{t['SPACE']}|{t['DOTTED']}"}
    choices |= {"operator": operator, "name": name} if after_operand else {"name": name, "operator": operator}
    choices |= {"other": "."}
    regex = "|".join(f"(?P<{kind}>{found})" for kind, found in choices.items())
    return re.compile(rf"({t['SPACING']})?+(?:{regex})", re.DOTALL)


def pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    """Cut a stretch of text into pieces."""
    position, after_operand = start, False
    while position < end:
        match = _lexer(after_operand).match(text, position, end)
        if match is None:  # spacing alone is left
            return
        kind = match.lastgroup
        assert kind is not None
        blank, found = match[1], match[kind]
        yield Piece(kind, found, match.start(kind), blank is not None and "\n" in blank, blank is not None)
        position = match.end()
        if kind != "comment":
            after_operand = _ends_operand(kind, found)


def _ends_operand(kind: str, text: str) -> bool:
    return kind in ("name", "number", "string") or text in _CLOSING


def is_line_comment(text: str) -> bool:
    return not text.startswith("/*")


def comment_text(text: str) -> str:
    """A comment as it is printed: as it is, without blanks at its end."""
    return text.rstrip(" \t\r\f\v") if is_line_comment(text) else text


def pad(line: str, column: int) -> str:
    """Blanks up to a column, or to the next stop after a line that reaches it; at least one."""
    last = line.rpartition("\n")[2]
    wanted = max(column, -(-(len(last) + 1) // STOP) * STOP)
    return line + " " * (wanted - len(last))


def with_comment(line: str, text: str) -> str:
    """A line with a comment after it."""
    return pad(line, COMMENT_COLUMN) + comment_text(text)


def write(found: Sequence[Piece], places: Sequence[PiecePlace], field: int = -1) -> list[str]:
    """The lines of pieces. Piece number `field` begins at the column of operands if it is on the first line."""
    lines: list[str] = []
    line = indent = places[0].indent
    before: Piece | None = None  # the last token
    after_operand = unary = False
    fresh = True  # the line is empty
    ended = spaced = False  # the line cannot go on; a comment stands before
    depth = 0
    for k, (piece, place) in enumerate(zip(found, places, strict=True)):
        comment, text = piece.kind == "comment", piece.text
        if not fresh and (ended or (piece.begins_line if comment else place.breaks)):
            lines.append(line)
            line, fresh = place.indent, True
        ended = False
        if comment:
            ended = is_line_comment(text)
            if fresh:
                line += comment_text(text)
            elif ended:
                line = with_comment(line, text)
            else:
                line += " " + text
            fresh, spaced = False, True
            continue
        if text in _CLOSING:
            depth -= 1
        if k == field:
            after_operand = False
        if k == field and not lines:
            line = indent + pad(line[len(indent) :], FIELD)
        elif not fresh and (
            text not in _NOTHING_BEFORE
            if spaced
            else before and not unary and _blank(before, piece, place, after_operand, depth)
        ):
            line += " "
        line += text
        if text in _OPENING:
            depth += 1
        unary = piece.kind == "operator" and not after_operand
        after_operand = _ends_operand(piece.kind, text)
        fresh = spaced = False
        before = piece
    return [*lines, line]


def _blank(before: Piece, piece: Piece, place: PiecePlace, after_operand: bool, depth: int) -> bool:
    """Whether a blank stands between two tokens. `after_operand`: the first ends an operand."""
    first, second = before.text, piece.text
    if (
        second in _NOTHING_BEFORE
        or first in _NOTHING_AFTER
        or second[0] in place.close
        or first in place.close
    ):
        return False
    if first == "," or first in _BETWEEN_BLANKS or second in _BETWEEN_BLANKS:
        return True
    if piece.kind == "operator" and after_operand:
        return second not in _CLOSE
    if before.kind == "operator":
        return first not in _CLOSE
    if second == "(":
        if before.kind == "name":
            return first == "_"  # the sink, not a function
        return before.kind == "dotted" and depth == 0 and first != ".attribute"
    if second == "[":
        return before.kind != "name" and first != "]"
    if second == "{" or before.kind != "other" or first in _CLOSING:
        return True
    return piece.has_blank
