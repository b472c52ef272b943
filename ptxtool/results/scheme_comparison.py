"""One kernel under several register schemes, as plain data: what `compare --schemes --json` prints.

The first run is that without a scheme; changes are in percent over it. A scheme that cannot run the kernel is a run
with the reason and without counters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data
from ptxtool.results.sweeps import StoredResult

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SchemeRun:
    """The run of one scheme. `same_memory`: all buffers are as after the first run (True where one of the two did not
    end). They need not be where results are checked: sums by atomics depend on the order of warps. `faults` are why a
    scheme of the user's own could not be loaded."""

    scheme: str
    outcome: StoredResult
    same_memory: bool = True
    faults: tuple[Diagnostic, ...] = ()

    @property
    def counters(self) -> Mapping[str, Any]:
        """Those of `sim --json`; {} where the scheme did not run."""
        return self.outcome.counters

    @property
    def is_refused(self) -> bool:
        """Whether a pass or the machine declined the kernel."""
        return self.outcome.is_refused and not self.faults

    @property
    def has_ended(self) -> bool:
        """Whether the launch ran to its end, with whatever results."""
        return self.outcome.status in ("done", "wrong")

    @property
    def registers(self) -> str:
        """Registers per thread; under a pool those of the base set, and the extended ones: `24+10`."""
        pool = self.counters.get("pool")
        return f"{pool['base']}+{pool['extended']}" if pool else str(self.counters.get("registers", ""))

    @property
    def active_average(self) -> float:
        """CTAs of an SM with a place in the pipeline, on average over SMs and cycles."""
        switching = self.counters.get("switching")
        return float(switching["active_average"] if switching else self.counters["resident_average"])


@dataclass(frozen=True)
class SchemeComparison:
    """The runs of a kernel, that without a scheme first. `complete` is False after an interrupt."""

    file: str
    kernel: str
    gpu: str
    runs: tuple[SchemeRun, ...]
    complete: bool = True

    def change(self, run: SchemeRun, counter: str) -> float | None:
        """A counter of a run over that of the first, in percent; None where one of the two has none."""
        first = self.runs[0]
        if not (first.has_ended and run.has_ended) or not first.counters[counter]:
            return None
        return float(100 * (run.counters[counter] / first.counters[counter] - 1))

    def energy_change(self, run: SchemeRun) -> float | None:
        """Energy over the first run's, in percent."""
        first = self.runs[0]
        if not (first.has_ended and run.has_ended) or not first.counters["energy"]["total_uj"]:
            return None
        return float(100 * (run.counters["energy"]["total_uj"] / first.counters["energy"]["total_uj"] - 1))

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What went wrong: wrong results, unchecked ones that differ from the first run's, runs that failed, schemes of
        the user's own that cannot be loaded.

        A scheme that declines the kernel is no problem, unless it is the first.
        """
        found: list[Diagnostic] = []
        for run in self.runs:
            found += run.faults
            refused = run.is_refused and run is not self.runs[0]
            if not run.faults and run.outcome.reason and run.outcome.status != "waiting" and not refused:
                first = run.outcome.problems[0] if run.outcome.problems else {}
                place = ", {file}:{line}:{column}".format_map(first) if "file" in first else ""
                message = f"{run.scheme}: {run.outcome.reason}{place}"
                found.append(
                    Diagnostic(str(first.get("code") or "E504"), message, help=str(first.get("help") or ""))
                )
            if not run.same_memory and not run.outcome.checked:
                message = f"{run.scheme}: memory differs from that of {self.runs[0].scheme}"
                help = "a kernel with a data race has no one result; otherwise this is a bug of ours: please report it"
                found.append(Diagnostic("E409", message, help=help))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "file": self.file,
            "kernel": self.kernel,
            **cpp_name_data(self.kernel),
            "gpu": self.gpu,
            "complete": self.complete,
            "schemes": [
                {
                    "name": run.scheme,
                    "status": run.outcome.status,
                    "refused": run.outcome.reason if run.is_refused else "",
                    "cycles_percent": self.change(run, "cycles"),
                    "energy_percent": self.energy_change(run),
                    "same_memory": run.same_memory,
                    "checked": list(run.outcome.checked),
                    "problems": list(run.outcome.problems),
                    **run.counters,
                }
                for run in self.runs
            ],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per scheme: its name, status and change, and every single counter. Raises E502
        without pandas."""
        from ptxtool.results.frames import frame, plain

        return frame(plain(scheme) for scheme in self.to_dict()["schemes"])

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        rows = []
        for run in self.runs:
            change = self.change(run, "cycles")
            shown = run.outcome.reason if change is None else f"{change:+.1f}%"
            rows.append((run.scheme, run.registers, run.counters.get("cycles"), shown))
        columns = ("scheme", "registers", "cycles", "change or reason")
        return table(f"{self.kernel} on {self.gpu}", columns, rows)

    def __str__(self) -> str:
        lines = [f"{self.kernel} on {self.gpu}"]
        for run in self.runs:
            change = self.change(run, "cycles")
            text = (
                run.outcome.reason if change is None else f"{run.counters['cycles']} cycles ({change:+.1f}%)"
            )
            lines.append(f"  {run.scheme}: {text}")
        return "\n".join(lines)
