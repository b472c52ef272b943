"""Diagnostics: what went wrong, where, and what to do next; and their rendering with a caret.

Every rejection of user input anywhere in the project is a `PtxError` holding `Diagnostic`s. The codes are one
table, `CODES`: E1xx syntax, E2xx meaning, E3xx a pass declined, E4xx launch or simulation, E5xx configuration or
command line; a W in place of the E is a warning of the same family.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import east_asian_width

from ptxtool.base.source import Source

CODES: dict[str, str] = {
    "E101": "syntax error",
    "E102": "unterminated comment, string, statement or block",
    "E103": "not a text file",
    "E104": "no statements in the file",
    "E201": "undeclared register or variable",
    "E202": "undeclared label",
    "E203": "no instruction form matches",
    "E204": "duplicate declaration",
    "E205": "kernel not in the file",
    "E206": "wrong operand",
    "W201": "unknown instruction, passed through",
    "W202": "undeclared register that PTXPlus hardware has",
    "E301": "a pass cannot do what was asked",
    "E302": "unknown pass or option",
    "E303": "a pass gave a wrong result",
    "E401": "wrong launch arguments",
    "E402": "launch does not fit the machine",
    "E403": "instruction cannot be simulated",
    "E404": "memory access out of bounds",
    "E405": "misaligned memory access",
    "E406": "barrier that can never complete",
    "E407": "deadlock",
    "E408": "cycle limit reached",
    "E409": "wrong result",
    "E501": "unreadable file",
    "E502": "wrong configuration",
    "E503": "cannot write the output",
}


@dataclass(frozen=True)
class Diagnostic:
    """One message. `source`, `start` and `end` (offsets, end exclusive) give the place where there is one."""

    code: str
    message: str
    source: Source | None = None
    start: int = 0
    end: int = 0
    help: str = ""

    def __post_init__(self) -> None:
        assert self.code in CODES, f"diagnostic code {self.code} is not in the table"

    @property
    def severity(self) -> str:
        return "warning" if self.code.startswith("W") else "error"

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    @property
    def line(self) -> int | None:
        return self.source.line(self.start) if self.source else None

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        place: dict[str, object] = {}
        if self.source is not None:
            line, column = self.source.position(self.start)
            place = {"file": self.source.name, "line": line, "column": column}
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            **place,
            **({"help": self.help} if self.help else {}),
        }

    def __str__(self) -> str:
        return render(self)


class PtxError(Exception):
    """Input that cannot be used as asked: one or more diagnostics, never a bug of ours."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]):
        self.diagnostics = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(render(d) for d in self.diagnostics)

    def __reduce__(
        self,
    ) -> tuple[type, tuple[object, ...]]:  # so that an error crosses a process boundary with its places
        return (PtxError, (self.diagnostics,))


def error(
    code: str, message: str, source: Source | None = None, start: int = 0, end: int = 0, help: str = ""
) -> PtxError:
    """A `PtxError` with one diagnostic."""
    return PtxError(Diagnostic(code, message, source, start, end, help))


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as text: file:line:col, the line, a caret under the span, the help.

    Tabs before the caret are kept as tabs, so the caret stands under its text whatever the tab width.
    """
    source = diagnostic.source
    head = f"{diagnostic.severity}[{diagnostic.code}]: {_printable(diagnostic.message)}"
    if source is None:
        lines = [head]
    else:
        line, column = source.position(min(diagnostic.start, len(source.text)))
        lines = [f"{_printable(source.name)}:{line}:{column}: {head}"]
        text = source.line_text(line)
        if text.strip():
            shown, before, width = _clip(text, column - 1, max(1, diagnostic.end - diagnostic.start))
            gutter = f"{line:5d} | "
            indent = "".join("\t" if c == "\t" else " " * _columns(c) for c in before)
            carets = "^" * _columns(shown[len(before) : len(before) + width] or " ")
            lines += [gutter + _printable(shown), " " * (len(gutter) - 2) + "| " + indent + carets]
    if diagnostic.help:
        lines.append(f"   help: {_printable(diagnostic.help)}")
    return "\n".join(lines)


def _clip(text: str, column: int, width: int, limit: int = 160) -> tuple[str, str, int]:
    """A window of a long line around the caret, the part of it before the caret, and the caret's width."""
    first = max(0, column - limit // 2) if len(text) > limit else 0
    shown = text[first : first + limit]
    before = shown[: column - first]
    return shown, before, max(1, min(width, len(shown) - len(before)))


def _columns(text: str) -> int:
    """How many columns a text takes as it is shown."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in _printable(text))


def _printable(text: str) -> str:
    """Text with control characters and undecodable bytes escaped (a terminal must not obey an input file)."""
    return "".join(c if c == "\t" or (c.isprintable()) else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
