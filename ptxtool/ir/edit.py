"""Editing source text without touching the rest of it.

A pass that changes a module says which spans of the text become what; `splice` applies all of them at once. Untouched
statements, comments and spacing keep their bytes because nothing prints them again.
"""

from collections.abc import Iterable
from typing import NamedTuple


class TextEdit(NamedTuple):
    """Replace `text[start:end]` by `text`; with `start == end` an insertion, with an empty text a deletion."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all edits applied; insertions at one place keep the order they are given in.

    Raises `ValueError` where two edits overlap or one lies outside the text.
    """
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if not position <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}:{edit.end} overlaps another one or lies outside the text")
        pieces += (text[position : edit.start], edit.text)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)
