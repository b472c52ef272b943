"""Results of simulated runs as plain data: one run, and the runs of a ladder. What `--json` prints of them.

A run's own counters are a `SimResult`. A ladder has one rung per scheme; gains are of thread IPC over the first rung,
in percent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ptxtool.analysis.occupancy.sharing_plan import percentage_data, percentage_text
from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data, shown_name
from ptxtool.results.outcome import expected_to_dict, verdict
from ptxtool.results.replicas import Replicas, Spread, gains
from ptxtool.results.simulation import SimResult, StallPoint

if TYPE_CHECKING:
    import pandas


def first_stall(points: Sequence[StallPoint]) -> StallPoint | None:
    """The stall point that comes first in the text; None if there is none."""
    return min(points, key=lambda point: point.instruction, default=None)


@dataclass(frozen=True)
class Run:
    """One launch that ran: its counters, the arguments as they are afterwards, and what is wrong with the results.

    `checked` names the buffers that were compared with expected contents. `replicas` have the spread of cycles and IPC,
    where it was asked for.
    """

    result: SimResult
    arguments: tuple[Any, ...] = field(repr=False)
    checked: tuple[str, ...]
    problems: tuple[Diagnostic, ...]
    replicas: Replicas | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: the counters, and `expected` about the results."""
        return {
            **self.result.to_dict(),
            **cpp_name_data(self.result.kernel),
            "expected": expected_to_dict(self.checked, self.problems, self.status == "done"),
            **({"replicas": self.replicas.to_dict()} if self.replicas else {}),
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """The counters as a data frame of one row (`SimResult.to_pandas`)."""
        return self.result.to_pandas()

    def _repr_html_(self) -> str:
        from ptxtool.base.html import text

        return f"{self.result._repr_html_()}<small>{text(self.verdict)}</small>"

    def __str__(self) -> str:
        return f"{self.result}\n{self.verdict}"

    @property
    def results(self) -> tuple[SimResult, ...]:
        """The counters, as those of a list of launches."""
        return (self.result,)

    @property
    def counted(self) -> SimResult:
        """What has the cycles and the IPC of the whole run."""
        return self.result

    @property
    def status(self) -> str:
        return self.result.status

    @property
    def complete(self) -> bool:
        """False after an interrupt, in a replica too."""
        return self.status != "interrupted" and (self.replicas is None or self.replicas.complete)

    @property
    def verdict(self) -> str:
        """One line about the results."""
        if self.status != "done":
            return "results: not compared, the run did not end"
        return verdict(self.checked, self.problems)


@dataclass(frozen=True)
class Rung:
    """One scheme of a ladder: what it was and how it ran. `percent` is what was shared, `passes` what rewrote the
    kernel ("" for nothing). `same_memory`: all buffers are as after the first rung.

    `stall_line` is the line of the stall point in the original kernel: rewriting moves lines.
    """

    name: str
    scheduler: str
    percent: Fraction
    passes: str
    run: Run
    same_memory: bool
    stall_line: int | None = None

    @property
    def result(self) -> SimResult:
        return self.run.result

    @property
    def stall_point(self) -> StallPoint | None:
        """The first instruction, in the text, at which non-owner warps stopped; None if none did."""
        return first_stall(self.result.stall_points)

    def stall_to_dict(self) -> dict[str, Any] | None:
        """The stall point as plain data, with its line in the original kernel."""
        point = self.stall_point
        if point is None:
            return None
        return {
            "instruction": point.instruction,
            "line": self.stall_line,
            **(point.cuda.to_dict() if point.cuda else {}),
            "text": point.text,
            **(
                {"register": point.register, "sequence": point.sequence}
                if point.offset < 0
                else {"variable": point.variable, "offset": point.offset}
            ),
        }


@dataclass(frozen=True)
class Comparison:
    """The rungs of a ladder for one kernel, the baseline first, which share `percent` of a resource.

    `complete` is False after an interrupt: then the last rung has the counters up to it, and no results.
    """

    file: str
    kernel: str
    resource: Literal["registers", "scratchpad"]
    percent: Fraction
    rungs: tuple[Rung, ...]
    complete: bool = True

    def gain(self, rung: Rung) -> float | None:
        """Thread IPC over the first rung's, in percent; None where one of the two did not end."""
        return self._over_first(rung, lambda result: result.thread_ipc)

    def gains(self, rung: Rung) -> Spread | None:
        """The same replica by replica; None without replicas."""
        first = self.rungs[0].run.replicas
        return gains(rung.run.replicas, first) if rung.run.replicas and first else None

    def energy_change(self, rung: Rung) -> float | None:
        """Energy over the first rung's, in percent; None where one of the two did not end."""
        return self._over_first(rung, lambda result: result.energy.total_uj)

    def _over_first(self, rung: Rung, value: Callable[[SimResult], float]) -> float | None:
        first = self.rungs[0].result
        if first.status != "done" or rung.result.status != "done":
            return None
        return 100 * (value(rung.result) / value(first) - 1) if value(first) else 0.0

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Wrong results of any rung; memory that differs between rungs counts as one."""
        found: list[Diagnostic] = []
        for rung in self.rungs:
            found += [replace(each, message=f"{rung.name}: {each.message}") for each in rung.run.problems]
            if not rung.same_memory:
                message = f"{rung.name}: memory differs from that of {self.rungs[0].name}"
                help = "a kernel with a data race has no one result; otherwise this is a bug of ours: please report it"
                found.append(Diagnostic("E409", message, help=help))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "file": self.file,
            "kernel": self.kernel,
            **cpp_name_data(self.kernel),
            "resource": self.resource,
            "share_percent": percentage_data(self.percent),
            "complete": self.complete,
            "rungs": [
                {
                    "name": rung.name,
                    "passes": rung.passes,
                    "gain_percent": self.gain(rung),
                    **({"gain_replicas": spread.to_dict()} if (spread := self.gains(rung)) else {}),
                    "energy_percent": self.energy_change(rung),
                    "same_memory": rung.same_memory,
                    "first_stall": rung.stall_to_dict(),
                    **rung.run.to_dict(),
                }
                for rung in self.rungs
            ],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per rung: its name, `gain_percent`, and every single counter. Raises E502 without
        pandas."""
        from ptxtool.results.frames import frame, plain

        return frame(plain(rung) for rung in self.to_dict()["rungs"])

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        rows = []
        for rung in self.rungs:
            result, gain = rung.result, self.gain(rung)
            shown = result.status if gain is None else f"{gain:+.2f}%"
            rows.append((rung.name, result.resident_ctas, result.cycles, result.thread_ipc, shown))
        title = f"{shown_name(self.kernel)}, {percentage_text(self.percent)}% of {self.resource} shared"
        columns = ("scheme", "resident CTAs", "cycles", "thread IPC", "gain")
        return table(title, columns, rows, "; ".join(each.message for each in self.problems))

    def __str__(self) -> str:
        lines = [f"{shown_name(self.kernel)}, {percentage_text(self.percent)}% of {self.resource} shared"]
        for rung in self.rungs:
            result, gain = rung.result, self.gain(rung)
            status = result.status if gain is None else f"{gain:+.2f}%"
            lines.append(
                f"  {rung.name:<20} {result.resident_ctas} resident CTAs, {result.cycles} cycles, "
                f"thread IPC {result.thread_ipc:.2f} ({status})"
            )
        return "\n".join(lines)
