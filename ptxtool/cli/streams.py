"""Standard output and standard error of the commands.

Results go to standard output as UTF-8 whatever the locale, so that the same input gives the same bytes; diagnostics to
standard error, in colour on a terminal (unless NO_COLOR is set). An output that cannot be written is E503; a reader who
has gone is `ReaderGone`, which `main` keeps quiet about.
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.render import render

if TYPE_CHECKING:
    from ptxtool.report.tables import Table


def use_utf8() -> None:
    """Make both streams UTF-8; bytes of the input that are no text pass through."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.reconfigure(encoding="utf-8", errors=errors)  # type: ignore[union-attr]


def on_terminal() -> bool:
    """True if standard output is a terminal and colour is not refused."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def print_parts(*parts: "Table | str") -> None:
    """Print tables and texts: plain to a pipe, with rich on a terminal."""
    if on_terminal():
        from ptxtool.report.terminal import show

        with _writing():
            show(*parts)
    else:
        print_text("\n".join(map(str, parts)))


def print_text(text: str) -> None:
    """Print a text and a line end."""
    print_bytes((text + "\n").encode("utf-8", "surrogateescape"))


def print_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are, all of them: an unbuffered stream may take a part only."""
    flush()
    with _writing():
        stream, rest = sys.stdout.buffer, memoryview(data)
        while rest:
            rest = rest[stream.write(rest) or 0 :]
        stream.flush()


def to_json(data: Any) -> str:
    """Plain data as JSON text, the same for the same data."""
    return json.dumps(data, indent=2, ensure_ascii=True)


def flush() -> None:
    """Send everything on its way. Raises E503 where it cannot be written."""
    with _writing():
        if sys.stdout is not None:
            sys.stdout.flush()


def forget_output() -> None:
    """Drop what could not be written, so that Python's own flush at exit stays quiet."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


class ReaderGone(Exception):
    """Nobody reads standard output any more. (click swallows `BrokenPipeError`.)"""


class _writing(contextlib.AbstractContextManager[None]):
    """Turns a failure to write to standard output into E503."""

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, BrokenPipeError):
            raise ReaderGone from None
        if isinstance(problem, OSError):
            reason = (problem.strerror or str(problem)).lower()
            help = "make room where it leads, or write to another place with -o"
            raise error("E503", f"cannot write to standard output: {reason}", help=help) from None


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Render diagnostics to standard error."""
    for diagnostic in diagnostics:
        text = render(diagnostic)
        _print_stderr(_coloured(text, diagnostic) if _colour_errors() else text)


def print_note(text: str) -> None:
    """Say something that is neither result nor diagnostic: a remark, progress."""
    _print_stderr(text)


def print_error(text: str) -> None:
    """Say why the program itself ends, in one line."""
    _print_stderr(f"ptxtool: {text}")


def _print_stderr(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _colour_errors() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("NO_COLOR")


_HEAD = re.compile(r"(error|warning)\[[EW]\d+\]")


def _coloured(text: str, diagnostic: Diagnostic) -> str:
    colour = "\x1b[1;31m" if diagnostic.is_error else "\x1b[1;33m"
    lines = text.split("\n")
    lines[0] = _HEAD.sub(lambda hit: f"{colour}{hit.group()}\x1b[0m", lines[0], count=1)
    for k, line in enumerate(lines[1:], 1):
        before, separator, caret = line.partition("| ")
        if separator and caret.strip() and not caret.strip("^ \t"):
            lines[k] = f"{before}| {colour}{caret}\x1b[0m"
    return "\n".join(lines)


def raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    """Print the warnings; raise if there are errors among the diagnostics."""
    found = tuple(diagnostics)
    print_diagnostics(d for d in found if not d.is_error)
    errors = [d for d in found if d.is_error]
    if errors:
        raise PtxError(errors)
