"""Results of a list of launches as plain data: each by itself, and all together. What `--json` prints of them."""

from dataclasses import dataclass, field
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.results.concurrency import ConcurrentResult
from ptxtool.results.outcome import Buffer, LaunchOutcome, expected_to_dict, verdict
from ptxtool.results.replicas import Replicas
from ptxtool.results.simulation import SimResult, Totals


@dataclass(frozen=True)
class ConcurrentLaunches:
    """Launches of a list that ran at the same time, with their numbers in the list."""

    numbers: tuple[int, ...]
    result: ConcurrentResult

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`; the counters of all together are among the `launches` of the list."""
        data = self.result.to_dict()
        del data["whole"]
        rows = zip(self.numbers, self.result.launches, strict=True)
        data["launches"] = [
            {"launch": n, **x.to_dict(), "after": [self.numbers[k - 1] for k in x.after]} for n, x in rows
        ]
        return data


@dataclass(frozen=True)
class SequenceRun:
    """A list of launches that was simulated: `results` of those with time, `numbers` of which of the list they are.
    Launches on streams that ran at the same time have one result, at the number of the first.

    `totals` are their sums. `of` is the length of the list; `status` is that of the last launch that ran. `arguments`
    are the buffers and scalars of the file, as they are afterwards; `replicas` have the spread of cycles and IPC of
    all launches together, where it was asked for.
    """

    gpu: str
    of: int
    numbers: tuple[int, ...]
    results: tuple[SimResult, ...]
    totals: Totals
    status: str
    checked: tuple[str, ...]
    problems: tuple[Diagnostic, ...]
    arguments: tuple[Any, ...] = field(default=(), repr=False)
    left_out: tuple[str, ...] = ()
    """What a list of recorded launches lacks, in words."""
    replicas: Replicas | None = None
    concurrent: tuple[ConcurrentLaunches, ...] = ()
    """The launches on streams."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: `launches` with the counters of each, `totals` with GPGPU-Sim's names."""
        return {
            "gpu": self.gpu,
            "status": self.status,
            "of": self.of,
            "launches": [
                {"launch": number, **result.to_dict()}
                for number, result in zip(self.numbers, self.results, strict=True)
            ],
            "totals": self.totals.to_dict(),
            "expected": expected_to_dict(self.checked, self.problems, self.status == "done"),
            **({"concurrent": [each.to_dict() for each in self.concurrent]} if self.concurrent else {}),
            **({"replicas": self.replicas.to_dict()} if self.replicas else {}),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }

    @property
    def counted(self) -> Totals:
        """What has the cycles and the IPC of the whole run."""
        return self.totals

    @property
    def complete(self) -> bool:
        """False after an interrupt, in a replica too."""
        return self.status != "interrupted" and (self.replicas is None or self.replicas.complete)

    @property
    def verdict(self) -> str:
        """One line about the results."""
        if self.status != "done":
            return "results: not compared, the last launch did not end"
        return verdict(self.checked, self.problems)


@dataclass(frozen=True)
class SequenceOutcome:
    """A list of launches that ran without time: the buffers after the last, and what is wrong."""

    steps: tuple[LaunchOutcome, ...]
    buffers: tuple[Buffer, ...]
    checked: tuple[str, ...]
    wrong: tuple[Diagnostic, ...]
    looked_for: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    """Of the launches in the application that they were recorded from; () for those of a list, from 1."""
    left_out: tuple[str, ...] = ()
    """What a list of recorded launches lacks, in words."""

    @property
    def numbered(self) -> tuple[tuple[int, LaunchOutcome], ...]:
        """Number and outcome of every launch."""
        return tuple(zip(self.numbers or range(1, len(self.steps) + 1), self.steps, strict=True))

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What the checks found, each thing once."""
        return tuple(dict.fromkeys(f for step in self.steps for f in step.findings))

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong: findings, then results."""
        return (*self.findings, *self.wrong)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "launches": [
                {"launch": number, **step.to_dict(), **step.findings_to_dict()}
                for number, step in self.numbered
            ],
            "warp_instructions": sum(step.warp_instructions for step in self.steps),
            "buffers": [buffer.to_dict() for buffer in self.buffers],
            "expected": expected_to_dict(self.checked, self.wrong),
            "checks": {"looked_for": list(self.looked_for)},
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }

    @property
    def verdict(self) -> str:
        """A line about the results, and one about the checks if there were any."""
        lost = sum(step.lost_findings for step in self.steps)
        return verdict(self.checked, self.wrong, self.looked_for, len(self.findings) + lost)
