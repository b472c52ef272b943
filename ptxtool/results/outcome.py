"""The result of a run without time, as plain data: the buffers, how much of them changed, and the verdict."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxtool.base.diag import Diagnostic
from ptxtool.base.phrases import counted


@dataclass(frozen=True)
class Buffer:
    """One buffer after a run. `changed` is the number of elements that are other ones than before."""

    name: str
    type: str
    array: np.ndarray = field(repr=False)
    changed: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "shape": list(self.array.shape),
            "changed": self.changed,
            "values": self.array.tolist(),
        }


@dataclass(frozen=True)
class Outcome:
    """A kernel that ran: its launch, the buffers afterwards, and what is wrong.

    `checked` names the buffers that were compared with expected contents, `wrong` is what differs. `looked_for` names
    the checks during the run, `findings` is what they found; `lost_findings` more were not kept.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_instructions: int
    buffers: tuple[Buffer, ...]
    checked: tuple[str, ...]
    wrong: tuple[Diagnostic, ...]
    looked_for: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    lost_findings: int = 0
    printed: str = field(default="", repr=False)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong: findings, then results."""
        return (*self.findings, *self.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "block": list(self.block),
            "warp_instructions": self.warp_instructions,
            "printed": self.printed,
            "buffers": [buffer.to_dict() for buffer in self.buffers],
            "expected": expected_to_dict(self.checked, self.wrong),
            "checks": {
                "looked_for": list(self.looked_for),
                "findings": [finding.to_dict() for finding in self.findings],
                "lost_findings": self.lost_findings,
            },
        }

    @property
    def verdict(self) -> str:
        """A line about the results, and one about the checks if there were any."""
        found = len(self.findings) + self.lost_findings
        return verdict(self.checked, self.wrong) + verdict_of_checks(self.looked_for, found)


def verdict(checked: tuple[str, ...], problems: tuple[Diagnostic, ...]) -> str:
    """One line about the results of a run that ended."""
    if problems:
        return f"results: wrong ({counted(len(problems), 'problem')})"
    if not checked:
        return "results: nothing expected, nothing compared"
    return f"results: {', '.join(checked)} as expected"


def verdict_of_checks(looked_for: tuple[str, ...], n: int) -> str:
    """One more line about what checks found; none where there were no checks."""
    if not looked_for:
        return ""
    found = "nothing found" if n == 0 else f"{counted(n, 'fault')} found"
    return f"\nchecks: {found} ({', '.join(looked_for)})"


def expected_to_dict(
    checked: tuple[str, ...], problems: tuple[Diagnostic, ...], ended: bool = True
) -> dict[str, Any]:
    """What `--json` says about the expected results. A run that did not end is not ok."""
    return {
        "checked": list(checked),
        "ok": ended and not problems,
        "problems": [problem.to_dict() for problem in problems],
    }
