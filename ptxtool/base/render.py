"""A diagnostic as lines: its place, what is wrong, the code with carets, its CUDA line, the next step, a second place.

    k.ptx:12:20: error[E201]: register '%r9' is not declared
       12 |     add.u32 %r2, %r1, %r9;
          |                       ^^^
       cuda: k.cu:7
       help: did you mean '%r4'?

This is the only caret renderer. `layout` gives lines of (text, style) pieces, `render` joins them to plain text, and
`report/terminal.py` shows the same pieces in colour. A span over several lines shows its first and its last line; a
long line is cut to a window around the caret, a long quote in a message to its beginning and end. Tabs before a caret
are kept as tabs, so that it stands under its text whatever the tab width; control characters and bytes that are no
text are escaped: no input file steers the terminal.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from ptxtool.base.cuda_places import CudaPlace
    from ptxtool.base.diag import Diagnostic
    from ptxtool.base.source import Source

Piece = tuple[str, str]
"""A text and its style: "place", "error", "warning", "note", "message", "gutter", "code", "help"."""
Line = list[Piece]

CudaText = Callable[[str, "CudaPlace"], str]
"""The text of a place in a CUDA source of a PTX file, by the latter's name."""

_WINDOW = 160  # characters of a line that are shown
_LONG_QUOTE = re.compile(r"(?<![^\s(])'(?=\S)([^']{50})[^']{50,}([^']{10})'")


def render(diagnostic: "Diagnostic", sources: "CudaText | None" = None) -> str:
    """The diagnostic as plain text; with `sources` the text of CUDA lines too."""
    return "\n".join("".join(text for text, _ in line) for line in layout(diagnostic, sources))


def render_head(diagnostic: "Diagnostic") -> str:
    """Place, code and message on one line, without the code."""
    return "".join(text for text, _ in _head(diagnostic))


def layout(diagnostic: "Diagnostic", sources: "CudaText | None" = None) -> Iterator[Line]:
    """The lines of a diagnostic, each as pieces; with `sources` the text of CUDA lines too."""
    yield _head(diagnostic)
    if diagnostic.source is not None:
        yield from _snippet(diagnostic.source, diagnostic.start, diagnostic.end, diagnostic.severity)
        yield from _cuda(diagnostic.source, diagnostic.start, sources)
    if diagnostic.help:
        yield [("   ", ""), ("help:", "help"), (f" {_message(diagnostic.help)}", "")]
    note = diagnostic.note
    if note is not None:
        message = [("note:", "note"), (f" {_message(note.message)}", "")]
        yield [_place(note.source, note.start), *message]
        yield from _snippet(note.source, note.start, note.end, "note")
        yield from _cuda(note.source, note.start, sources)


def _head(diagnostic: "Diagnostic") -> Line:
    severity = diagnostic.severity
    place = [_place(diagnostic.source, diagnostic.start)] if diagnostic.source else []
    message = _message(diagnostic.message)
    return [*place, (f"{severity}[{diagnostic.code}]", severity), (": ", ""), (message, "message")]


def _place(source: "Source", offset: int) -> Piece:
    line, column = source.position(min(offset, len(source.text)))
    return f"{printable(source.name)}:{line}:{column}: ", "place"


def _snippet(source: "Source", start: int, end: int, style: str) -> Iterator[Line]:
    """The line of a span with carets; the first and the last one where it is longer. Nothing for a blank line."""
    text = source.text
    start, end = min(start, len(text)), min(end, len(text))
    while end > start and text[end - 1].isspace():
        end -= 1
    first, column = source.position(start)
    last, stop = source.position(max(start, end))
    line = source.line_text(first)
    if not line.strip():
        return
    if last == first:
        yield from _underlined(first, line, column - 1, max(1, stop - column), style)
        return
    yield from _underlined(first, line, column - 1, len(line) - column + 1, style)
    if last > first + 1:
        yield [("  ... |", "gutter")]
    line = source.line_text(last)
    indent = len(line) - len(line.lstrip())
    yield from _underlined(last, line, indent, stop - 1 - indent, style)


def _cuda(source: "Source", start: int, sources: "CudaText | None") -> Iterator[Line]:
    """The CUDA line that the code was compiled from, and those of the calls that were inlined."""
    place = source.cuda.at(start)
    if place is None:
        return
    yield [("   ", ""), ("cuda:", "help"), (f" {printable(str(place))}", "")]
    for each in (place, *place.calls) if sources else ():
        if sources and (text := sources(source.name, each)):
            yield [(f"{each.line:5d} | ", "gutter"), (printable(text[:_WINDOW]), "")]


def _underlined(number: int, line: str, column: int, width: int, style: str) -> Iterator[Line]:
    """One line of code, and carets under `width` characters of it from an index on."""
    first = max(0, column - _WINDOW // 2) if len(line) > _WINDOW else 0
    shown = line[first : first + _WINDOW]
    before = shown[: column - first]
    width = max(1, min(width, len(shown) - len(before)))
    gutter = f"{number:5d} | "
    yield [(gutter, "gutter"), (printable(shown), "code")]
    indent = "".join("\t" if c == "\t" else " " * _columns(c) for c in before)
    carets = "^" * _columns(shown[len(before) : len(before) + width] or " ")
    yield [(" " * (len(gutter) - 2) + "| ", "gutter"), (indent + carets, style)]


def _message(text: str) -> str:
    return printable(_LONG_QUOTE.sub(r"'\1...\2'", text))


def _columns(text: str) -> int:
    """How many columns a text takes as it is shown."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in printable(text))


def printable(text: str) -> str:
    """Text with control characters and undecodable bytes escaped (a terminal must not obey an input file)."""
    return "".join(c if c == "\t" or c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
