"""What an application did on the simulated GPU: its launches, their sums by kernel, and how it ended."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data, shown_name
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SimResult


@dataclass(frozen=True)
class Launch:
    """One launch, numbered from 1. `error` is CUDA's code, 0 where it went well."""

    number: int
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic_shared: int = 0
    """Bytes of each CTA."""
    warp_instructions: int = 0
    cycles: int = 0
    """Simulated or estimated; 0 without time."""
    seconds: float = 0.0
    """Of the cycles; without them, of the warp instructions at one per SM and cycle."""
    is_estimated: bool = False
    """Its cycles are those of a launch like it, scaled by warp instructions."""
    uncertainty: float | None = None
    """Of estimated cycles, relative to them: the error of such an estimate where it was compared with a simulation.
    None: it never was."""
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
    """Of the time of all launches, 0 to 1."""
    simulated: int
    """Launches with simulated cycles."""
    estimated: int
    """Launches with estimated cycles."""
    estimated_seconds: float
    error: float | None
    """Of the cycles of all estimated launches, relative to them: the mean of their uncertainties. None: one of them is
    unknown, or there is none."""
    largest_error: float | None
    """Of one launch."""
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
            "simulated": self.simulated,
            "estimated": self.estimated,
            "estimated_seconds": self.estimated_seconds,
            "error": self.error,
            "largest_error": self.largest_error,
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
class MeasuredLaunch:
    """A simulated launch that measured where its time went: its number, bytes of dynamic shared memory of a CTA, the
    kernel as it ran, and the result."""

    number: int
    dynamic_shared: int
    kernel: Function = field(repr=False)
    result: SimResult = field(repr=False)


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
    sim_launches: str | None = None
    """Which launches were to be simulated; None: all, or none without time."""
    longest: tuple[MeasuredLaunch, ...] = ()
    """Of each kernel the simulated launch with the most cycles, where launches measured where their time went
    (`hotspots`)."""

    @property
    def kernels(self) -> tuple[KernelSums, ...]:
        """The sums by kernel, the longest time first."""
        total = sum(launch.seconds for launch in self.launches)
        by_name: dict[str, list[Launch]] = {}
        for launch in self.launches:
            by_name.setdefault(launch.kernel, []).append(launch)
        sums = (_sums(name, launches, total) for name, launches in by_name.items())
        return tuple(sorted(sums, key=lambda each: -each.seconds))

    @property
    def error(self) -> float | None:
        """The error of the time of all launches, relative to it: those of the kernels' estimates, added up. None where
        that of an estimate is not known."""
        seconds = sum(launch.seconds for launch in self.launches)
        guessed = [kernel for kernel in self.kernels if kernel.estimated]
        if any(kernel.error is None for kernel in guessed) or not seconds:
            return None
        return sum(kernel.estimated_seconds * (kernel.error or 0.0) for kernel in guessed) / seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "command": list(self.command),
            "status": self.status,
            "gpu": self.gpu,
            "timed": self.timed,
            "sim_launches": self.sim_launches,
            "processes": self.processes,
            "launches": len(self.launches),
            "warp_instructions": sum(launch.warp_instructions for launch in self.launches),
            "cycles": sum(launch.cycles for launch in self.launches),
            "seconds": sum(launch.seconds for launch in self.launches),
            "error": self.error,
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
    estimated = [launch for launch in launches if launch.is_estimated]
    known = [(each.cycles, each.uncertainty) for each in estimated if each.uncertainty is not None]
    is_known = bool(estimated) and len(known) == len(estimated)
    return KernelSums(
        name,
        len(launches),
        sum(launch.error != 0 for launch in launches),
        sum(launch.warp_instructions for launch in launches),
        sum(launch.cycles for launch in launches),
        seconds,
        seconds / total if total else 0.0,
        sum(launch.cycles > 0 and not launch.is_estimated for launch in launches),
        len(estimated),
        sum(launch.seconds for launch in estimated),
        sum(n * error for n, error in known) / sum(n for n, _ in known) if is_known else None,
        max((error for _, error in known), default=None) if is_known else None,
        sum(launch.findings for launch in launches),
        sum(launch.out_of_bounds for launch in launches),
    )
