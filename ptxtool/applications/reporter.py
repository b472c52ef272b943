"""What the user is told about an application while it runs, and what the report at its end needs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ptxtool.applications.recording import Recorder
from ptxtool.applications.sampling import Sampling
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Function
from ptxtool.results.applications import Launch, MeasuredLaunch, RewrittenKernel
from ptxtool.results.simulation import SimResult


@dataclass
class Reporter:
    """Where messages for the user go, and what the report at the end tells."""

    tell: Callable[[Diagnostic | str], object]
    """Called with each diagnostic and each note, when it comes."""
    launches: list[Launch] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Calls of the application that the runtime does not have, each once."""
    rewritten: list[RewrittenKernel] = field(default_factory=list)
    """Kernels that went through passes."""
    recorder: Recorder | None = None
    """Records launches, of all processes."""
    sampling: Sampling | None = None
    """Chooses the launches of all processes that are simulated; None: all are, or none."""
    longest: dict[str, MeasuredLaunch] = field(default_factory=dict)
    """By kernel the simulated launch with the most cycles, where launches measure where their time goes."""
    _told: set[tuple[str, Source | None, int]] = field(default_factory=set)

    def all_launches(self) -> tuple[Launch, ...]:
        """The launches at the end: now all that can be estimated are, and how well is known."""
        if self.sampling is None:
            return tuple(self.launches)
        return tuple(map(self.sampling.completed, self.launches))

    def simulated(self, launch: Launch, kernel: Function, result: SimResult) -> None:
        """Keep a simulated launch that measured where its time went, if it is its kernel's longest so far."""
        before = self.longest.get(kernel.name)
        if result.hotspots is not None and (before is None or result.cycles > before.result.cycles):
            self.longest[kernel.name] = MeasuredLaunch(launch.number, launch.dynamic_shared, kernel, result)

    def problem(self, problem: PtxError, context: str = "") -> None:
        """Report why a call failed, and which one."""
        for diagnostic in problem.diagnostics:
            message = f"{context}: {diagnostic.message}" if context else diagnostic.message
            self.diagnostic(replace(diagnostic, message=message))

    def diagnostic(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic; of those at one place of a text, in launch after launch, the first is told."""
        self.problems.append(diagnostic)
        place = diagnostic.code, diagnostic.source, diagnostic.start
        if diagnostic.source is None or place not in self._told:
            self._told.add(place)
            self.tell(diagnostic)
