"""The difference of two texts line by line, as `diff -u` prints it."""

import difflib
import io

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_NO_LINE_END = "\n\\ No newline at end of file\n"


def unified_diff(before: str, after: str, before_name: str, after_name: str) -> str:
    """A unified diff; "" for equal texts. Lines end with line feeds only, as `diff` and `patch` count them."""
    lines = difflib.unified_diff(_lines(before), _lines(after), before_name, after_name)
    return "".join(line if line.endswith("\n") else line + _NO_LINE_END for line in lines)


def coloured(diff: str) -> str:
    """A unified diff for a terminal."""
    return "".join(_coloured_line(line) for line in _lines(diff))


def _coloured_line(line: str) -> str:
    colour = _COLOURS.get(line[:1])
    return line if colour is None else f"{colour}{line.removesuffix(chr(10))}\x1b[0m\n"


def _lines(text: str) -> list[str]:
    """The lines of a text with their line ends, which are line feeds only."""
    return io.StringIO(text).readlines()
