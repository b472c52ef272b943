"""What `ptxtool check` found in files: lines for people, one line per diagnostic for editors and `grep`, plain data.

`sarif.py` has the form that code scanning services read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ptxtool.base.diag import Diagnostic, at_most
from ptxtool.base.phrases import abbreviated, counted
from ptxtool.base.render import printable, render_head


@dataclass(frozen=True)
class Checked:
    """One file: its diagnostics in the order of the text, and what is in it (None where it could not be parsed).

    `n_errors` and `n_warnings` count all of them, also those that `at_most` left out.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...]
    n_errors: int
    n_warnings: int
    n_kernels: int | None = None
    n_instructions: int | None = None
    strict: bool = False

    @property
    def is_ok(self) -> bool:
        """True if nothing is wrong; with `strict` a warning is."""
        return not self.n_errors and not (self.strict and self.n_warnings)

    def at_most(self, most: int) -> "Checked":
        """With the first `most` errors and the first `most` warnings; with all where `most` is 0."""
        return replace(self, diagnostics=at_most(self.diagnostics, most))

    @property
    def line(self) -> str:
        """`k.ptx: ok, 1 kernel, 3 instructions`."""
        parts = [
            *(["ok"] if self.is_ok else []),
            *_counts(self.n_errors, self.n_warnings),
            *([] if self.n_kernels is None else [counted(self.n_kernels, "kernel")]),
            *([] if self.n_instructions is None else [counted(self.n_instructions, "instruction")]),
        ]
        return f"{abbreviated(printable(self.name))}: {', '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "file": self.name,
            "ok": self.is_ok,
            "errors": self.n_errors,
            "warnings": self.n_warnings,
            "kernels": self.n_kernels,
            "instructions": self.n_instructions,
            "diagnostics": [d.to_dict() for d in self.diagnostics],
        }


def summary(files: Sequence[Checked]) -> str:
    """`500 files: 497 ok, 3 not; 5 errors, 2 warnings`."""
    n_ok = sum(file.is_ok for file in files)
    n_errors, n_warnings = sum(f.n_errors for f in files), sum(f.n_warnings for f in files)
    state = "all ok" if n_ok == len(files) else f"{n_ok} ok, {len(files) - n_ok} not"
    counts = _counts(n_errors, n_warnings)
    return f"{counted(len(files), 'file')}: {state}" + (f"; {', '.join(counts)}" if counts else "")


def concise(files: Iterable[Checked]) -> str:
    """One line per diagnostic: `k.ptx:9:20: error[E201]: register '%r3' is not declared`."""
    lines = [
        render_head(d) if d.source else f"{abbreviated(printable(file.name))}: {render_head(d)}"
        for file in files
        for d in file.diagnostics
    ]
    return "\n".join(lines)


def checked_data(files: Sequence[Checked]) -> dict[str, Any]:
    """Plain data of all files for `--json`."""
    return {
        "ok": all(file.is_ok for file in files),
        "errors": sum(file.n_errors for file in files),
        "warnings": sum(file.n_warnings for file in files),
        "files": [file.to_dict() for file in files],
    }


def _counts(n_errors: int, n_warnings: int) -> list[str]:
    return [counted(n, noun) for n, noun in ((n_errors, "error"), (n_warnings, "warning")) if n]
