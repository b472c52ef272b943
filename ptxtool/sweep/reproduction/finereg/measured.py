"""What the runs of an application counted, by variant: sums over its kernels, which run one after the other.

Averages are over the cycles of all kernels. A value is None where a run is missing or failed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ptxtool.sweep.reproduction.finereg.kernels import StandIn
from ptxtool.sweep.reproduction.finereg.paper import Application
from ptxtool.sweep.reproduction.finereg.variants import BASELINE, NONE, STALLS, Variant, candidates

RunCounters = Mapping[str, Any]
"""The counters of a run, under the names of `sim --json`."""


@dataclass(frozen=True)
class Totals:
    """The counters of an application's kernels under one variant."""

    runs: tuple[RunCounters, ...]

    def total(self, *names: str) -> float:
        """The sum of counters by dotted names; 0 for what a run does not have."""
        return sum(_at(run, name) for run in self.runs for name in names)

    def mean(self, name: str, weight: str) -> float:
        """A counter that is a mean over so many events; 0 without any."""
        events = self.total(weight)
        return sum(_at(run, name) * _at(run, weight) for run in self.runs) / events if events else 0.0

    @property
    def cycles(self) -> int:
        return sum(run["cycles"] for run in self.runs)

    @property
    def sm_cycles(self) -> int:
        """Cycles times SMs."""
        return sum(run["cycles"] * run["n_sms"] for run in self.runs)

    @property
    def residents(self) -> tuple[float, ...]:
        """CTAs on an SM by run: the average where CTAs are switched, else what an SM holds."""
        return tuple(_at(run, "switching.resident_average") or _at(run, "resident_ctas") for run in self.runs)

    @property
    def resident(self) -> float:
        """CTAs on an SM."""
        return self.mean_of_runs(self.residents)

    @property
    def active(self) -> float:
        """CTAs in the pipeline of an SM, of runs that switch CTAs."""
        return self.mean_of_runs([_at(run, "switching.active_average") for run in self.runs])

    @property
    def active_share(self) -> float:
        """Percent of the resident CTAs that are in the pipeline, of runs that switch CTAs."""
        return 100 * self.active / self.resident

    @property
    def threads(self) -> float:
        """Threads of the resident CTAs of an SM."""
        pairs = zip(self.runs, self.residents, strict=True)
        return self.mean_of_runs([resident * _threads(run) for run, resident in pairs])

    @property
    def traffic(self) -> float:
        """Column commands of the DRAM, reads and writes, each of as many bytes."""
        return self.total("dram.reads", "dram.writes")

    @property
    def energy(self) -> float:
        """Microjoules."""
        return self.total("energy.total_uj")

    @property
    def depleted(self) -> float:
        """Percent of the SMs' cycles in which a CTA stayed because the PCRF had no room for it."""
        return 100 * self.total("switching.depletion_cycles") / self.sm_cycles

    @property
    def waiting(self) -> float:
        """Percent of the resident warps' cycles in which they waited for a section of the pool."""
        pairs = zip(self.runs, self.residents, strict=True)
        warps = sum(_at(run, "cycles") * run["n_sms"] * _warps(run) * resident for run, resident in pairs)
        return 100 * self.total("pool.wait_cycles") / float(warps)

    @property
    def live_share(self) -> float:
        """Percent of the registers of CTAs that FineReg evicted that were live; 0 without evictions."""
        moved = self.total("switching.registers_evicted")
        had = sum(_at(run, "switching.evictions") * _warps(run) * run["registers"] for run in self.runs)
        return 100 * moved / had if had else 0.0

    def register_use(self, of_windows: str) -> float | None:
        """Percent of the registers of an SM's warps that are accessed in a window: the `mean` of all windows, the
        `least` or the `most`. None where a run has not counted them."""
        if any(not run.get("register_use") for run in self.runs):
            return None
        if of_windows == "mean":
            return self.mean("register_use.mean", "register_use.windows")
        return (min if of_windows == "least" else max)(
            _at(run, f"register_use.{of_windows}") for run in self.runs
        )

    @property
    def held_share(self) -> float:
        """Percent of the registers with names that held values at a time, at most, under release by name."""
        held = self.total("renaming.registers_most")
        named = sum(run["resident_ctas"] * 32 * _warps(run) * run["registers"] for run in self.runs)
        return 100 * held / float(named)

    def mean_of_runs(self, values: Sequence[float]) -> float:
        """The mean of a value of each run over the cycles."""
        pairs = zip(values, self.runs, strict=True)
        return sum(value * _at(run, "cycles") for value, run in pairs) / self.cycles


@dataclass(frozen=True)
class Measured:
    """An application: its kernels, and the counters of their runs by sample and name of the variant."""

    application: Application
    kernels: tuple[StandIn, ...]
    counters: Mapping[tuple[str, str], RunCounters]

    @property
    def name(self) -> str:
        return self.application.name

    def under(self, variant: Variant | str) -> Totals | None:
        """What its kernels counted; None where one has no result."""
        name = variant if isinstance(variant, str) else variant.name
        runs = [self.counters.get((kernel.sample, name)) for kernel in self.kernels]
        found = tuple(run for run in runs if run is not None)
        return Totals(found) if len(found) == len(runs) else None

    @property
    def baseline(self) -> Totals | None:
        return self.under(BASELINE)

    @property
    def stalls(self) -> Totals | None:
        """Without a scheme, stalls and resident CTAs counted."""
        return self.under(STALLS)

    def chosen(self, scheme: str) -> Variant | None:
        """The candidate of a scheme with the fewest cycles; None where one has no result."""
        found = {each: self.under(each) for each in candidates(scheme)}
        cycles = {each: totals.cycles for each, totals in found.items() if totals is not None}
        return min(cycles, key=lambda each: cycles[each]) if 0 < len(cycles) == len(found) else None

    def best(self, scheme: str) -> Totals | None:
        """What the chosen candidate of a scheme counted."""
        chosen = self.chosen(scheme)
        return None if chosen is None else self.under(chosen)

    def resident(self, scheme: str) -> float | None:
        """CTAs on an SM, on average."""
        return of(self.stalls if scheme == NONE else self.best(scheme), lambda t: t.resident)


def of(found: Totals | None, quantity: Callable[[Totals], float]) -> float | None:
    """A quantity; None without counters."""
    return None if found is None else quantity(found)


def quotient(now: float | None, before: float | None) -> float | None:
    """None where one is missing, or the second is 0."""
    return None if now is None or not before else now / before


def change(now: float | None, before: float | None) -> float | None:
    """In percent; None as for `quotient`."""
    found = quotient(now, before)
    return None if found is None else 100 * (found - 1)


def gain(now: Totals | None, before: Totals | None) -> float | None:
    """How much faster the same work is done, in percent: the ratio of the cycles."""
    return change(of(before, lambda t: t.cycles), of(now, lambda t: t.cycles))


def mean_of(values: Iterable[float | None], mean: Callable[[Sequence[float]], float]) -> float | None:
    """A mean over applications; None where one has no value, or there is none."""
    found = list(values)
    known = [value for value in found if value is not None]
    return mean(known) if 0 < len(known) == len(found) else None


def _at(run: RunCounters, name: str) -> float:
    found: Any = run
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return 0.0
        found = found[part]
    return float(found)


def _threads(run: RunCounters) -> int:
    x, y, z = run["block"]
    return int(x * y * z)


def _warps(run: RunCounters) -> int:
    """Of a CTA."""
    return -(-_threads(run) // 32)
