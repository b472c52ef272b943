"""Edits of whole statements: put beside an instruction, or taken away, with lines of their own where they have them."""

from ptxtool.base.source import Source
from ptxtool.ir.edit import TextEdit


def line_for(source: Source, start: int, text: str, alone: bool = False) -> str:
    """A statement to stand in front of what begins at `start`, on a line of its own with the same indentation.

    What shares its line with something before it (a label) has the statement on the same line, unless that has to be
    `alone` on one.
    """
    newline, indent = _line(source, start)
    if not indent.strip():
        return f"{text}{newline}{indent}"
    return f"{newline}{text}{newline}" if alone else f"{text} "


def line_behind(source: Source, start: int, text: str) -> str:
    """A statement to stand behind what begins at `start`, on a line of its own."""
    newline, indent = _line(source, start)
    return f"{newline}{indent if not indent.strip() else ''}{text}"


def deletion(source: Source, start: int, end: int) -> TextEdit:
    """A statement goes, with its line where it has one for itself."""
    text = source.text
    line_start = source.line_starts[source.line(start) - 1]
    line_end = text.find("\n", end) + 1
    if line_end and not text[line_start:start].strip() and not text[end:line_end].strip():
        return TextEdit(line_start, line_end, "")
    while end < len(text) and text[end] in " \t":
        end += 1
    return TextEdit(start, end, "")


def _line(source: Source, start: int) -> tuple[str, str]:
    """The line break that the text has, and what stands before `start` on its line."""
    line_start = source.line_starts[source.line(start) - 1]
    newline = "\r\n" if source.text[:line_start].endswith("\r\n") else "\n"
    return newline, source.text[line_start:start]
