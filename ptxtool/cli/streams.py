"""Standard output and standard error of the commands.

Results go to standard output as UTF-8 whatever the locale, so that the same input gives the same bytes; diagnostics to
standard error. Both have colour where `colour.py` decides so. An output that cannot be written is E503; a closed
pipe is `ReaderGone`, which `main` turns into an exit code.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic, PtxError, at_most, by_place, error
from ptxtool.base.render import CudaText, render
from ptxtool.cli import colour

if TYPE_CHECKING:
    from ptxtool.report.tables import Part

MOST_SHOWN = 20
"""Errors of one input that are printed by default; as many warnings."""


_sources: CudaText | None = None


def show_sources(sources: CudaText | None) -> None:
    """Show the text of CUDA lines in diagnostics from here on, or no longer."""
    global _sources
    _sources = sources


def use_utf8() -> None:
    """Make both streams UTF-8; bytes of the input that are no text pass through."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.reconfigure(encoding="utf-8", errors=errors)  # type: ignore[union-attr]


def print_parts(*parts: "Part") -> None:
    """Print tables, listings and texts: plain to a pipe, in colour on a terminal."""
    if colour.wanted(sys.stdout):
        from ptxtool.report.terminal import show

        with _writing():
            show(sys.stdout, *parts)
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
    """The reader of standard output has closed it. (click swallows `BrokenPipeError`.)"""


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """Turns a failure to write to standard output into E503."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as problem:
        help = "make room where it leads, or write to another place with -o"
        reason = (problem.strerror or str(problem)).lower()
        raise error("E503", f"cannot write to standard output: {reason}", help=help) from None


def print_diagnostics(
    diagnostics: Iterable[Diagnostic],
    most: int = MOST_SHOWN,
    rest: str = "",
) -> None:
    """Render diagnostics to standard error: at most `most` errors and `most` warnings, all where it is 0.

    `rest` is how to see the others; where all are errors of a file by itself, that is `ptxtool check`.
    """
    found = tuple(diagnostics)
    shown = at_most(found, most)
    if shown and colour.wanted(sys.stderr):
        from ptxtool.report.terminal import show_diagnostics

        with contextlib.suppress(OSError, ValueError):
            show_diagnostics(sys.stderr, shown, _sources)
    elif shown:
        print_note("\n".join(render(each, _sources) for each in shown))
    if len(shown) < len(found):
        if not rest and all(d.code[1] in "12" for d in found):
            rest = "ptxtool check --max-errors 0 prints all"
        print_note(f"... and {len(found) - len(shown)} more{'; ' if rest else ''}{rest}")


def print_note(text: str) -> None:
    """Print a text on standard error, such as a remark; nothing happens where that cannot be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def print_error(text: str) -> None:
    """Print why the program itself ends, in one line."""
    print_note(f"ptxtool: {text}")


def raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    """Print the warnings; where there are errors raise all of them together, in the order of the text."""
    found = by_place(diagnostics)
    if any(d.is_error for d in found):
        raise PtxError(found)
    print_diagnostics(found)
