"""The result of a run without time, as plain data: the buffers, how much of them changed, and the verdict."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data
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


@dataclass(frozen=True, kw_only=True)
class LaunchOutcome:
    """A launch that ran: `findings` is what the checks found in it; `lost_findings` more were not kept.

    `out_of_bounds` are accesses of threads outside of all buffers that were tolerated, and `remarks` are on them.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warp_instructions: int
    findings: tuple[Diagnostic, ...]
    lost_findings: int
    printed: str = field(repr=False)
    out_of_bounds: int = 0
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`, what the checks found apart."""
        return {
            "kernel": self.kernel,
            **cpp_name_data(self.kernel),
            "grid": list(self.grid),
            "block": list(self.block),
            "warp_instructions": self.warp_instructions,
            "printed": self.printed,
            **({"out_of_bounds": self.out_of_bounds} if self.out_of_bounds else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
        }

    def findings_to_dict(self) -> dict[str, Any]:
        """What the checks found, for `--json`."""
        found = [finding.to_dict() for finding in self.findings]
        return {"findings": found, "lost_findings": self.lost_findings}


@dataclass(frozen=True, kw_only=True)
class Outcome(LaunchOutcome):
    """A kernel that ran: its launch, the buffers afterwards, and what is wrong.

    `checked` names the buffers that were compared with expected contents, `wrong` is what differs. `looked_for` names
    the checks during the run.
    """

    buffers: tuple[Buffer, ...]
    checked: tuple[str, ...]
    wrong: tuple[Diagnostic, ...]
    looked_for: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong: findings, then results."""
        return (*self.findings, *self.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            **super().to_dict(),
            "buffers": [buffer.to_dict() for buffer in self.buffers],
            "expected": expected_to_dict(self.checked, self.wrong),
            "checks": {"looked_for": list(self.looked_for), **self.findings_to_dict()},
        }

    @property
    def verdict(self) -> str:
        """A line about the results, and one about the checks if there were any."""
        found = len(self.findings) + self.lost_findings
        return verdict(self.checked, self.wrong, self.looked_for, found)


def verdict(
    checked: tuple[str, ...],
    problems: tuple[Diagnostic, ...],
    looked_for: tuple[str, ...] = (),
    n_findings: int = 0,
) -> str:
    """A line about the results of a run that ended, and one about the checks if there were any."""
    text = (
        f"results: {', '.join(checked)} as expected"
        if checked
        else "results: nothing expected, nothing compared"
    )
    if problems:
        text = f"results: wrong ({counted(len(problems), 'problem')})"
    if looked_for:
        found = f"{counted(n_findings, 'fault')} found" if n_findings else "nothing found"
        text += f"\nchecks: {found} ({', '.join(looked_for)})"
    return text


def expected_to_dict(
    checked: tuple[str, ...], problems: tuple[Diagnostic, ...], ended: bool = True
) -> dict[str, Any]:
    """What `--json` says about the expected results. A run that did not end is not ok."""
    return {
        "checked": list(checked),
        "ok": ended and not problems,
        "problems": [problem.to_dict() for problem in problems],
    }
