"""What an application did on the simulated GPU: its launches, their sums by kernel, and how it ended."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data, shown_name


@dataclass(frozen=True)
class Launch:
    """One launch, numbered from 1. `cycles` is 0 without time; `error` is CUDA's code, 0 where it went well."""

    number: int
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    warp_instructions: int = 0
    cycles: int = 0
    seconds: float = 0.0
    """Simulated."""
    findings: int = 0
    """Of the checks."""
    out_of_bounds: int = 0
    """Accesses of threads outside of all allocations that were tolerated."""
    error: int = 0

    def __str__(self) -> str:
        grid, block = ("x".join(map(str, extent)) for extent in (self.grid, self.block))
        return f"launch {self.number}, {shown_name(self.kernel)}, grid {grid}, block {block}"


@dataclass(frozen=True)
class KernelSums:
    """All launches of one kernel."""

    kernel: str
    launches: int
    failed: int
    warp_instructions: int
    cycles: int
    seconds: float
    share: float
    """Of the simulated time of all launches, 0 to 1."""
    findings: int
    out_of_bounds: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "kernel": self.kernel,
            **cpp_name_data(self.kernel),
            "launches": self.launches,
            "failed": self.failed,
            "warp_instructions": self.warp_instructions,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "share": self.share,
            "findings": self.findings,
            "out_of_bounds": self.out_of_bounds,
        }


@dataclass(frozen=True)
class Recording:
    """Launches that were recorded in a folder."""

    folder: str
    launches: int
    content_bytes: int
    """Of the memory of all of them, before each launch."""
    file_bytes: int
    """Of all files; contents that several launches have count once."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class RewrittenKernel:
    """A kernel before and after passes: registers per thread, with CTAs of so many `threads` (0: of any number)."""

    kernel: str
    threads: int
    registers_before: int
    registers_after: int
    refused: str = ""
    """The code of a pass's refusal: the kernel runs as it was."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self) | cpp_name_data(self.kernel)


@dataclass(frozen=True)
class ApplicationRun:
    """A run of an application that has ended."""

    command: tuple[str, ...]
    status: int
    """The exit status, as a shell has it: 128 and the signal where one ended the process."""
    gpu: str
    timed: bool
    processes: int
    """Those that made a CUDA call."""
    launches: tuple[Launch, ...]
    missing: tuple[str, ...]
    """Calls of the CUDA runtime that the application made and that are not implemented."""
    problems: tuple[Diagnostic, ...] = ()
    """Calls and launches that failed, and what the checks found."""
    recording: Recording | None = None
    """The launches that were recorded, if any should be."""
    passes: str = ""
    """The pipeline that every kernel went through before it ran."""
    rewritten: tuple[RewrittenKernel, ...] = ()
    """What these passes did, in the order of first launches."""

    @property
    def kernels(self) -> tuple[KernelSums, ...]:
        """The sums by kernel, the longest time first."""
        total = sum(launch.seconds for launch in self.launches)
        by_name: dict[str, list[Launch]] = {}
        for launch in self.launches:
            by_name.setdefault(launch.kernel, []).append(launch)
        sums = (_sums(name, launches, total) for name, launches in by_name.items())
        return tuple(sorted(sums, key=lambda each: -each.seconds))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "command": list(self.command),
            "status": self.status,
            "gpu": self.gpu,
            "timed": self.timed,
            "processes": self.processes,
            "launches": len(self.launches),
            "warp_instructions": sum(launch.warp_instructions for launch in self.launches),
            "cycles": sum(launch.cycles for launch in self.launches),
            "seconds": sum(launch.seconds for launch in self.launches),
            "missing": list(self.missing),
            "kernels": [kernel.to_dict() for kernel in self.kernels],
            "problems": [problem.to_dict() for problem in self.problems],
            "recording": self.recording.to_dict() if self.recording else None,
            "passes": self.passes,
            "rewritten": [kernel.to_dict() for kernel in self.rewritten],
        }


def _sums(name: str, launches: Iterable[Launch], total: float) -> KernelSums:
    launches = list(launches)
    seconds = sum(launch.seconds for launch in launches)
    return KernelSums(
        name,
        len(launches),
        sum(launch.error != 0 for launch in launches),
        sum(launch.warp_instructions for launch in launches),
        sum(launch.cycles for launch in launches),
        seconds,
        seconds / total if total else 0.0,
        sum(launch.findings for launch in launches),
        sum(launch.out_of_bounds for launch in launches),
    )
