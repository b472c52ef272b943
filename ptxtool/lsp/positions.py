"""Offsets in a text as the positions of the Language Server Protocol, and back.

Lines end at a line feed, a carriage return or both; columns count UTF-16 code units from 0. A position after the end of
its line means the end of the line, one after the last line the end of the text.

Reference: Language Server Protocol 3.17, section "Position".
"""

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")


class Position(NamedTuple):
    """A line and a column, both from 0."""

    line: int
    column: int


class Positions:
    """The lines of one text."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *[end.end() for end in _LINE_END.finditer(self.text)]]

    def at(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return Position(line, _units(self.text[self._starts[line] : offset]))

    def offset(self, line: int, column: int) -> int:
        """The offset of a position."""
        starts = self._starts
        if line >= len(starts):
            return len(self.text)
        start = starts[line]
        end = starts[line + 1] if line + 1 < len(starts) else len(self.text)
        row = self.text[start:end].rstrip("\r\n")
        if row.isascii():
            return start + min(column, len(row))
        for n, character in enumerate(row):
            if column <= 0:
                return start + n
            column -= _units(character)
        return start + len(row)

    def edited(self, start: Position, end: Position, text: str) -> str:
        """The text with other characters between two positions."""
        first, last = self.offset(*start), self.offset(*end)
        return self.text[:first] + text + self.text[max(first, last) :]


def _units(text: str) -> int:
    """UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)
