"""Diagnostics: what went wrong, where, and what to do next. `render.py` makes text of them.

Every rejection of user input anywhere in the project is a `PtxError` holding `Diagnostic`s. The codes are one
table, `CODES`: E1xx syntax, E2xx meaning, E3xx a pass declined, E4xx launch or simulation, E5xx configuration or
command line; a W in place of the E is a warning of the same family. Each code has a page, `docs/errors/CODE.md`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ptxtool.base.render import render
from ptxtool.base.source import Source

CODES: dict[str, str] = {
    "E101": "syntax error",
    "E102": "unterminated comment, string, statement or block",
    "E103": "not PTX or PTXPlus text",
    "E104": "no statements in the file",
    "E201": "undeclared register or variable",
    "E202": "undeclared label",
    "E203": "no instruction form matches",
    "E204": "duplicate declaration",
    "E205": "kernel not in the file",
    "E206": "wrong operand",
    "E207": "operand of another type or width",
    "E208": "variable in another state space",
    "E209": "constant out of range",
    "E210": "vector of another length",
    "E211": "call that does not fit",
    "E212": "wrong declaration",
    "E213": "wrong directive",
    "W201": "unknown to the instruction table, passed through",
    "W202": "undeclared register that PTXPlus hardware has",
    "W203": "unreachable code",
    "W204": "register read before it is written",
    "W205": "newer than the file's version or target",
    "W206": "what GPGPU-Sim rejects",
    "W207": "execution runs off the end",
    "W208": "modifier without effect",
    "W209": "character outside ASCII",
    "W210": "misspelt mark",
    "W211": "asynchronous result read before its wait",
    "W212": "setmaxnreg without its launch bounds",
    "W213": "launch bounds that contradict each other or are ignored",
    "W214": "spilling to shared memory that ptxas refuses or ignores",
    "W501": "option of GPGPU-Sim without counterpart",
    "E301": "a pass cannot do what was asked",
    "E302": "unknown pass or option",
    "E303": "a pass gave a wrong result",
    "E304": "a kernel is not as good as before",
    "E305": "the rewritten kernel computes something else",
    "E401": "wrong launch arguments",
    "E402": "launch does not fit the machine",
    "E403": "instruction cannot be simulated",
    "E404": "memory access out of bounds",
    "E405": "misaligned memory access",
    "E406": "barrier that can never complete",
    "E407": "deadlock",
    "E408": "cycle limit reached",
    "E409": "wrong result",
    "E410": "race",
    "E411": "read of what was never written",
    "E412": "divergent barrier",
    "E413": "assertion failed",
    "E414": "kernel trapped",
    "E415": "stack overflow",
    "E416": "a warp scheduler or register scheme that goes wrong",
    "E417": "use of what was released",
    "E418": "branch index outside its targets",
    "E419": "mbarrier, tensor memory or registers used against their rules",
    "E501": "unreadable file",
    "E502": "wrong configuration",
    "E503": "cannot write the output",
    "E504": "no worker for a run",
}


@dataclass(frozen=True)
class Note:
    """A second place that explains a diagnostic, such as "first declared here"."""

    message: str
    source: Source
    start: int
    end: int


@dataclass(frozen=True)
class Fix:
    """The edit that a next step asks for where it leaves nothing to choose: `text` in place of `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One message. `source`, `start` and `end` (offsets, end exclusive) give the place where there is one."""

    code: str
    message: str
    source: Source | None = None
    start: int = 0
    end: int = 0
    help: str = ""
    note: Note | None = None
    fix: Fix | None = None

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
        """Plain data for `--json`; `end_column` is the one after the last character."""
        note = self.note
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            **(_place(self.source, self.start, self.end) if self.source else {}),
            **(place.to_dict() if self.source and (place := self.source.cuda.at(self.start)) else {}),
            **({"help": self.help} if self.help else {}),
            **(
                {"note": {"message": note.message, **_place(note.source, note.start, note.end)}}
                if note
                else {}
            ),
            **(
                {"fix": {"text": self.fix.text, **_span(self.source, self.fix.start, self.fix.end)}}
                if self.fix and self.source
                else {}
            ),
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

    # so that an error crosses a process boundary with its places
    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return (PtxError, (self.diagnostics,))


def error(
    code: str, message: str, source: Source | None = None, start: int = 0, end: int = 0, help: str = ""
) -> PtxError:
    """A `PtxError` with one diagnostic."""
    return PtxError(Diagnostic(code, message, source, start, end, help))


def by_place(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics of one file in the order of its text; those without a place come first."""
    return sorted(diagnostics, key=lambda d: (d.source is not None, d.start, d.end, d.code))


def at_most(diagnostics: tuple[Diagnostic, ...], most: int) -> tuple[Diagnostic, ...]:
    """The first `most` errors and the first `most` warnings, in the order given; all where `most` is 0."""
    if not most:
        return diagnostics
    errors = [n for n, d in enumerate(diagnostics) if d.is_error]
    warnings = [n for n, d in enumerate(diagnostics) if not d.is_error]
    return tuple(diagnostics[n] for n in sorted((*errors[:most], *warnings[:most])))


def _place(source: Source, start: int, end: int) -> dict[str, object]:
    return {"file": source.name, **_span(source, start, end)}


def _span(source: Source, start: int, end: int) -> dict[str, object]:
    line, column = source.position(start)
    end_line, end_column = source.position(max(start, end))
    return {
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }
