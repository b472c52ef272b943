"""Runs of one kernel that are shown side by side: what was changed for each, the text that ran, and the result."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.nodes import Function
from ptxtool.results.run_results import Run


@dataclass(frozen=True)
class KernelRun:
    """One run. `changes` are what it has different from the first one, by the names of options; {} for that one.

    `kernel` is the text that ran, after passes.
    """

    name: str
    changes: Mapping[str, str]
    kernel: Function = field(repr=False)
    run: Run


@dataclass(frozen=True)
class RefusedRun:
    """A run that a pass or the machine declined: a CTA that does not fit, a scheme that cannot run the kernel."""

    name: str
    changes: Mapping[str, str]
    problem: PtxError

    @property
    def reason(self) -> str:
        """Why, in a line."""
        return self.problem.diagnostics[0].message

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a page and `--json`."""
        first = self.problem.diagnostics[0]
        data = {"code": first.code, "reason": first.message, "help": first.help}
        return {"name": self.name, "changes": dict(self.changes), **data}


@dataclass(frozen=True)
class KernelPage:
    """The page of a kernel: `html` is the whole file, `data` what it shows. `runs` are those it shows, `refused` those
    of which it has the reason only."""

    html: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    runs: tuple[KernelRun, ...]
    refused: tuple[RefusedRun, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: what the page shows."""
        return dict(self.data)

    def _repr_html_(self) -> str:
        """The page in a frame: its script runs, and reaches nothing outside of it."""
        from html import escape

        style = "width:100%;height:44rem;border:1px solid rgba(128,128,128,.35)"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html)}"></iframe>'

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Wrong results of any run."""
        named = len(self.runs) > 1
        return tuple(
            replace(each, message=f"{run.name}: {each.message}") if named else each
            for run in self.runs
            for each in run.run.problems
        )

    @property
    def complete(self) -> bool:
        """False after an interrupt."""
        return all(run.run.complete for run in self.runs)
