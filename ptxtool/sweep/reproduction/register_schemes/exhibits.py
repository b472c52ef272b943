"""The tables of the comparison: for each machine one kernel a row and one scheme a column, and what schemes cost.

Speed is cycles without a scheme over cycles with it, energy that with it over that without, both as changes in percent.
Resident CTAs are averages over SMs and cycles. A scheme's cost is its storage, and for schemes that need another text
what the compiler did to it: registers in the base set and beside it, marks, moves.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.results.sweeps import Record, SweepResult
from ptxtool.sweep.reproduction.register_schemes.matrix import BASELINE, Matrix
from ptxtool.sweep.reproduction.verdicts import geometric_mean

NOISE = 2.0
"""Percent below which a change is no result."""
MEAN, LOWEST, HIGHEST, DEVIATION = "geometric mean", "lowest", "highest", "standard deviation"
SCHEME, KERNEL = "scheme", "kernel"
RUN, FASTER, SLOWER, LIKE = "kernels", "faster", "slower", "within noise"

Counters = Mapping[str, Any]
Measure = Callable[[Counters, Counters], float]
"""A value of a run, from its counters and those of the run without a scheme."""


def speed(run: Counters, plain: Counters) -> float:
    """How much faster a run is, in percent."""
    return float(100 * (plain["cycles"] / run["cycles"] - 1))


def energy(run: Counters, plain: Counters) -> float:
    """How much more energy a run takes, in percent."""
    return float(100 * (run["energy"]["total_uj"] / plain["energy"]["total_uj"] - 1))


def resident_ratio(run: Counters, plain: Counters) -> float:
    """How many times as many CTAs are resident on average."""
    return float(run["resident_average"] / plain["resident_average"])


class Exhibits:
    """All tables of a comparison."""

    def __init__(self, matrix: Matrix, result: SweepResult):
        self.matrix = matrix
        self._records = {
            (str(r.axes["gpu"]), str(r.axes["kernel"]), str(r.axes["scheme"])): r for r in result
        }

    def all(self) -> tuple[Exhibit, ...]:
        """What schemes gain on each machine, and then what they cost."""
        names = [machine.name for machine in self.matrix.machines]
        tables = (exhibit for name in names for exhibit in self._of_machine(name))
        compiler = (exhibit for name in names for exhibit in self._compiler(name))
        return tuple(exhibit for exhibit in (*tables, self._storage(), *compiler) if exhibit.values)

    def _of_machine(self, machine: str) -> Iterator[Exhibit]:
        yield self._means(machine)
        yield self._counts(machine)
        title, what = "Speed by kernel", f"speed over {BASELINE}, percent"
        yield self._table(machine, "speed", title, what, speed, signed=True, notes=self._refusals(machine))
        title, what = "Resident CTAs", "CTAs of an SM, on average"
        yield self._table(
            machine, "residents", title, what, lambda run, _: run["resident_average"], with_baseline=True
        )
        yield self._table(
            machine, "energy", "Energy", f"energy over {BASELINE}, percent", energy, signed=True
        )
        yield self._table(
            machine, "cycles", "Cycles", "cycles", lambda run, _: run["cycles"], 0, with_baseline=True
        )

    def changes(self, machine: str, column: str, measure: Measure) -> dict[str, float]:
        """A value of every kernel that has run under a scheme and without one."""
        found = {kernel: self._measured(machine, kernel, column, measure) for kernel in self.matrix.kernels}
        return {kernel: value for kernel, value in found.items() if value is not None}

    def _counters(self, machine: str, kernel: str, column: str) -> Counters | None:
        """Of a run that ended well."""
        record = self._records.get((machine, kernel, column))
        return record.counters if record is not None and record.ok else None

    def _measured(self, machine: str, kernel: str, column: str, measure: Measure) -> float | None:
        run, plain = (self._counters(machine, kernel, name) for name in (column, BASELINE))
        return None if run is None or plain is None else measure(run, plain)

    def _means(self, machine: str) -> Exhibit:
        """Means over all kernels that ran, and how far these are apart."""
        values: list[ExhibitValue] = []
        for column in self.matrix.compared:
            speeds = [*self.changes(machine, column, speed).values()]
            energies = [*self.changes(machine, column, energy).values()]
            for title, value in (
                (MEAN, geometric_mean(speeds) if speeds else None),
                (LOWEST, min(speeds, default=None)),
                (HIGHEST, max(speeds, default=None)),
                (DEVIATION, _spread(speeds)),
                ("energy, geometric mean", geometric_mean(energies) if energies else None),
            ):
                values.append(ExhibitValue(column, title, value))
        notes = (
            f"a mean within {NOISE:g}% is no result; {DEVIATION}: of the logarithms of ratios, as a ratio",
        )
        what = f"speed over {BASELINE}, percent"
        return Exhibit(f"means {machine}", "Means", machine, what, tuple(values), 1, True, notes, SCHEME)

    def _counts(self, machine: str) -> Exhibit:
        """How many kernels are faster or slower by more than noise."""
        values: list[ExhibitValue] = []
        for column in self.matrix.compared:
            speeds = [*self.changes(machine, column, speed).values()]
            faster, slower = (sum(sign * each > NOISE for each in speeds) for sign in (1, -1))
            counts = {RUN: len(speeds), FASTER: faster, SLOWER: slower, LIKE: len(speeds) - faster - slower}
            values += [ExhibitValue(column, title, n) for title, n in counts.items()]
        what = f"kernels, by their speed over {BASELINE}: more than {NOISE:g}% faster or slower"
        return Exhibit(
            f"counts {machine}", "Kernels that gain and lose", machine, what, tuple(values), 0, of_rows=SCHEME
        )

    def _table(
        self,
        machine: str,
        key: str,
        title: str,
        quantity: str,
        measure: Measure,
        digits: int = 1,
        *,
        signed: bool = False,
        with_baseline: bool = False,
        notes: tuple[str, ...] = (),
    ) -> Exhibit:
        """A value of every kernel under every scheme on a machine."""
        columns = ([BASELINE] if with_baseline else []) + [*self.matrix.compared]
        values = tuple(
            ExhibitValue(kernel, column, self._measured(machine, kernel, column, measure))
            for kernel in self.matrix.kernels
            for column in columns
        )
        return Exhibit(f"{key} {machine}", title, machine, quantity, values, digits, signed, notes, KERNEL)

    def _refusals(self, machine: str) -> tuple[str, ...]:
        """Which schemes decline which kernels, and why."""
        found: dict[tuple[str, str], list[str]] = {}
        for (name, kernel, column), record in self._records.items():
            if name == machine and record.outcome.is_refused:
                found.setdefault((column, _without_name(record)), []).append(kernel)
        return tuple(f"{column}: not {', '.join(names)} ({why})" for (column, why), names in found.items())

    def _storage(self) -> Exhibit:
        """Bits of an SM, which are the same for all kernels."""
        values: list[ExhibitValue] = []
        for column in self.matrix.compared:
            for machine in self.matrix.machines:
                runs = (self._counters(machine.name, kernel, column) for kernel in self.matrix.kernels)
                bits = next((run.get("storage_bits") for run in runs if run is not None), None)
                values.append(ExhibitValue(column, machine.name, bits))
        notes = ("what divides unified memory is not counted: no paper says what it takes",)
        where = ", ".join(machine.name for machine in self.matrix.machines)
        return Exhibit("storage", "Storage", where, "bits of an SM", tuple(values), 0, False, notes, SCHEME)

    def _compiler(self, machine: str) -> Iterator[Exhibit]:
        """What the passes did for the schemes that need another text, kernel by kernel."""
        for column in self.matrix.compared:
            values: list[ExhibitValue] = []
            for kernel in self.matrix.kernels:
                run, plain = (self._counters(machine, kernel, name) for name in (column, BASELINE))
                if run is not None and plain is not None and run["extended_marks"]:
                    values += [ExhibitValue(kernel, title, n) for title, n in _work(run, plain)]
            if values:
                title, what = f"What the compiler does for {column}", "registers, marks and instructions"
                notes = (
                    "kernels that are not here are as they were: no split brings another CTA",
                    "waiting: for a section of the pool, of the cycles that warps are resident",
                )
                key = f"compiler {column} {machine}"
                yield Exhibit(key, title, machine, what, tuple(values), 1, False, notes, KERNEL)


def _work(run: Counters, plain: Counters) -> Sequence[tuple[str, float]]:
    """Of a split text: its registers, marks, and what was added to the text and to what is executed."""
    return (
        ("base set", run["pool"]["base"]),
        ("extended", run["pool"]["extended"]),
        ("marks", run["extended_marks"]),
        ("instructions", plain["text_instructions"]),
        ("moves added", run["text_instructions"] - plain["text_instructions"]),
        ("executed more, percent", 100 * (run["warp_instructions"] / plain["warp_instructions"] - 1)),
        ("waiting, percent", _waits(run)),
    )


def _waits(run: Counters) -> float:
    """Cycles that warps waited for a section, of all cycles of resident warps."""
    x, y, z = run["block"]
    warps = -(-x * y * z // 32)
    return float(100 * run["pool"]["wait_cycles"] / (run["cta_cycles"] * warps))


def _spread(changes: Sequence[float]) -> float | None:
    """The standard deviation of the logarithms of ratios, as a change in percent."""
    if len(changes) < 2:
        return None
    logarithms = [math.log(1 + change / 100) for change in changes]
    return 100 * (math.exp(statistics.stdev(logarithms)) - 1)


def _without_name(record: Record) -> str:
    """Why a run was refused, without what is only about this kernel."""
    return record.outcome.reason.rpartition(": ")[2]
