"""The launches of a recording, each under several schemes, as plain data: what `compare --json` prints of a recording.

A launch has a comparison of its own, the papers' ladder or one of register schemes. All together are sums over
launches: a scheme is compared with the first one over the launches that ended under both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data
from ptxtool.results.run_results import Comparison
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun


@dataclass(frozen=True)
class Work:
    """What one run or several did."""

    cycles: int
    thread_instructions: int

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles if self.cycles else 0.0

    @staticmethod
    def sum(of: "Iterable[Work]") -> "Work":
        all_of = tuple(of)
        return Work(sum(w.cycles for w in all_of), sum(w.thread_instructions for w in all_of))


@dataclass(frozen=True)
class SchemeTotal:
    """A scheme over the launches that ended under it and under the first one; `first` is the first one's work there."""

    name: str
    launches: tuple[int, ...]
    work: Work
    first: Work

    @property
    def gain(self) -> float | None:
        """Thread IPC over the first scheme's, in percent; None without launches."""
        return 100 * (self.work.thread_ipc / self.first.thread_ipc - 1) if self.first.thread_ipc else None

    @property
    def change(self) -> float | None:
        """Cycles over the first scheme's, in percent; None without launches."""
        return 100 * (self.work.cycles / self.first.cycles - 1) if self.first.cycles else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "name": self.name,
            "launches": list(self.launches),
            "cycles": self.work.cycles,
            "thread_ipc": self.work.thread_ipc,
            "gain_percent": self.gain,
            "cycles_percent": self.change,
        }


@dataclass(frozen=True)
class ComparedLaunch:
    """One launch, by its number in the application; without a comparison, `refusal` says why it could not run."""

    number: int
    kernel: str
    comparison: Comparison | SchemeComparison | None
    refusal: tuple[Diagnostic, ...] = ()

    @property
    def work(self) -> dict[str, Work]:
        """What the launch did under each scheme that it ended under."""
        if isinstance(self.comparison, Comparison):
            results = {rung.name: rung.result for rung in self.comparison.rungs}
            ended = {name: result for name, result in results.items() if result.status == "done"}
            return {name: Work(each.cycles, each.thread_instructions) for name, each in ended.items()}
        counters = {run.scheme: run.counters for run in self.runs if run.has_ended}
        return {name: Work(each["cycles"], each["thread_instructions"]) for name, each in counters.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The schemes, whether or not the launch ended under them; () without a comparison."""
        if isinstance(self.comparison, Comparison):
            return tuple(rung.name for rung in self.comparison.rungs)
        return tuple(run.scheme for run in self.runs)

    @property
    def runs(self) -> tuple[SchemeRun, ...]:
        """The runs of register schemes; () for a ladder."""
        return self.comparison.runs if isinstance(self.comparison, SchemeComparison) else ()

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        return self.comparison.problems if self.comparison else self.refusal

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: that of the comparison, or the diagnostics."""
        if self.comparison is not None:
            return {"launch": self.number, **self.comparison.to_dict()}
        names = {"kernel": self.kernel, **cpp_name_data(self.kernel)}
        return {"launch": self.number, **names, "problems": [each.to_dict() for each in self.refusal]}


@dataclass(frozen=True)
class RecordedComparison:
    """The launches of a recording that were compared, of as many with time.

    `names` are the schemes, the one to compare with first; `left_out` is what the recording lacks, in words.
    """

    file: str
    gpu: str
    names: tuple[str, ...]
    of: int
    launches: tuple[ComparedLaunch, ...]
    left_out: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """False after an interrupt."""
        comparisons = [each.comparison for each in self.launches if each.comparison]
        return len(self.launches) == self.of and all(each.complete for each in comparisons)

    @property
    def totals(self) -> tuple[SchemeTotal, ...]:
        """Every scheme over all launches."""
        return tuple(self.total(name, self.launches) for name in self.names)

    def total(self, name: str, launches: Iterable[ComparedLaunch]) -> SchemeTotal:
        """A scheme over some launches."""
        works = {each.number: each.work for each in launches}
        both = {number: work for number, work in works.items() if {name, self.names[0]} <= work.keys()}
        own, first = (Work.sum(work[one] for work in both.values()) for one in (name, self.names[0]))
        return SchemeTotal(name, tuple(both), own, first)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong with any launch, with its number."""
        return tuple(
            replace(problem, message=f"launch {each.number}: {problem.message}")
            for each in self.launches
            for problem in each.problems
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "file": self.file,
            "gpu": self.gpu,
            "of": self.of,
            "complete": self.complete,
            "launches": [each.to_dict() for each in self.launches],
            "together": [total.to_dict() for total in self.totals],
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }
