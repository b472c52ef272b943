"""Edits of whole statements: inserted before or after an instruction, deleted, with their lines, or traded."""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Declaration, Function, Statement


def after_declarations(kernel: Function) -> int:
    """The place after the declarations that a body begins with."""
    place = kernel.body_start + 1
    for statement in takewhile(lambda s: type(s) is Declaration, kernel.body or ()):
        place = statement.end
    return place


def line_for(source: Source, start: int, text: str, alone: bool = False) -> str:
    """The text to insert at `start` for a statement on a line of its own with the same indentation.

    Where something precedes `start` on its line (a label), the statement stays on that line, unless it must be `alone`.
    """
    newline, indent = _line(source, start)
    if not indent.strip():
        return f"{text}{newline}{indent}"
    return f"{newline}{text}{newline}" if alone else f"{text} "


def line_after(source: Source, start: int, text: str) -> str:
    """The text to append after what begins at `start` for a statement on a line of its own."""
    newline, indent = _line(source, start)
    return f"{newline}{indent if not indent.strip() else ''}{text}"


def deletion(source: Source, start: int, end: int) -> TextEdit:
    """The deletion of a statement, with its line if nothing else is on it."""
    text = source.text
    _, before = _line(source, start)
    line_end = text.find("\n", end) + 1
    if line_end and not before.strip() and not text[end:line_end].strip():
        return TextEdit(start - len(before), line_end, "")
    while end < len(text) and text[end] in " \t":
        end += 1
    return TextEdit(start, end, "")


def traded(source: Source, places: Iterable[Statement], moved: Iterable[Statement]) -> Iterator[TextEdit]:
    """The edits that put the texts of statements in the places of others."""
    for there, here in zip(places, moved, strict=True):
        if there is not here:
            yield TextEdit(there.start, there.end, source.text[here.start : here.end])


def _line(source: Source, start: int) -> tuple[str, str]:
    """The text's line break, and the text before `start` on its line."""
    line_start = source.line_starts[source.line(start) - 1]
    newline = "\r\n" if source.text[:line_start].endswith("\r\n") else "\n"
    return newline, source.text[line_start:start]
