"""The papers' tables and figures from the results of our runs.

Gains are of thread IPC, (this / that - 1) * 100; decreases (1 - this / that) * 100. The places "A" and "B" are those of
the TOML files: Register Sharing, and Improving GPU Performance Through Resource Sharing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit, Value
from ptxtool.runs.schemes import FULL
from ptxtool.sweep.reproduction import schemes
from ptxtool.sweep.reproduction.papers import Application, Paper
from ptxtool.sweep.reproduction.schemes import BASELINE, DOUBLE, GTO, TWO_LEVEL


@dataclass(frozen=True)
class Measured:
    """The counters of a run that exhibits read, under the names of `sim --json`."""

    cycles: int
    thread_ipc: float
    resident_ctas: int
    registers: int
    scratchpad_bytes: int
    block: tuple[int, int, int]
    slots: Mapping[str, int]
    l1: Mapping[str, int]
    l2: Mapping[str, int]


Results = Mapping[tuple[str, str], Measured]
"""The runs that ended, by application and scheme."""


class Exhibits:
    """All exhibits of an experiment."""

    def __init__(self, paper: Paper, results: Results, machine: Gpu):
        self.paper = paper
        self.results = results
        self.machine = machine
        self.full = FULL[paper.resource]

    def all(self) -> tuple[Exhibit, ...]:
        """In the order of paper B."""
        return (
            self.waste(),
            self.residents(),
            self.gains(),
            self.ladder(),
            self.slots(),
            self.over(GTO, "gto", "A figure 12; B figure 10(a), (b)", self.paper.most_over_gto),
            self.over(
                TWO_LEVEL, "two-level", "A figure 14; B figure 10(c), (d)", self.paper.most_over_two_level
            ),
            self.double(),
            self.ipc_by_percent(),
            self.residents_by_percent(),
            self.unlimited(),
            self.release(),
            self.misses(),
        )

    def gain(self, row: str, scheme: str, base: str = BASELINE) -> float | None:
        """Thread IPC of a scheme over another's in percent; None where one of them has no result."""
        run, other = self.results.get((row, scheme)), self.results.get((row, base))
        return 100 * (run.thread_ipc / other.thread_ipc - 1) if run and other and other.thread_ipc else None

    def waste(self) -> Exhibit:
        """What is left of the resource when no further CTA fits."""

        def unused(run: Measured) -> float:
            threads = -(-run.block[0] * run.block[1] * run.block[2] // 32) * 32
            of, need = {
                "registers": (self.machine.sm.registers, threads * run.registers),
                "scratchpad": (self.machine.sm.scratchpad_bytes, run.scratchpad_bytes),
            }[self.paper.resource]
            return 100 * (of - run.resident_ctas * need) / of

        values = (
            Value(a.name, "unused", self._of(a.name, BASELINE, unused), a.unused_percent)
            for a in self.paper.application
        )
        what = f"{self.paper.resource} of an SM that no CTA has, percent"
        return self._exhibit("unused", "What is left over", "A figure 2; B figure 1(b), (d)", what, values, 1)

    def residents(self) -> Exhibit:
        values = (
            Value(a.name, scheme, self._of(a.name, scheme, lambda run: run.resident_ctas), printed)
            for a in self.paper.application
            for scheme, printed in ((BASELINE, a.resident[0]), (self.full, a.resident[-1]))
        )
        place = "A figure 8; B figure 8(a), (b)"
        return self._exhibit("resident", "Resident CTAs", place, "CTAs on an SM", values, 0)

    def gains(self) -> Exhibit:
        values = (
            Value(a.name, self.full, self.gain(a.name, self.full), a.gain) for a in self.paper.application
        )
        return self._changes("gain", "The full scheme", "A figure 9; B figure 8(c), (d)", values)

    def ladder(self) -> Exhibit:
        """The optimisations one by one."""
        values = (
            Value(a.name, s.name, self.gain(a.name, s.name), a.ladder.get(s.name, a.gain if last else None))
            for a in self.paper.application
            for s in schemes.rungs(self.paper)[1:]
            for last in (s.name == self.full,)
        )
        return self._changes(
            "ladder", "One optimisation after the other", "A figure 10; B figure 9(a), (b)", values
        )

    def slots(self) -> Exhibit:
        """Scheduler slots without issue. The papers print their curves without numbers, but for the largest."""
        values = (
            Value(a.name, name, self._decrease(a.name, read))
            for a in self.paper.application
            for name, read in (
                ("stall slots", lambda run: run.slots["stall"]),
                ("idle slots", lambda run: run.slots["idle"]),
            )
        )
        what = f"decrease of {self.full} over {BASELINE}, percent"
        notes = ("the papers print no numbers but the largest decrease of idle cycles, 99%",)
        return self._exhibit(
            "slots", "Stall and idle cycles", "A figure 11; B figure 9(c), (d)", what, values, 1, True, notes
        )

    def over(self, base: str, key: str, place: str, most: float) -> Exhibit:
        """The full scheme against another scheduler without sharing."""
        values = (
            Value(a.name, self.full, self.gain(a.name, self.full, base)) for a in self.paper.application
        )
        notes = (f"the papers print no numbers but the largest, {most:g}%",)
        return self._changes(key, f"Against {base}", place, values, base, notes)

    def double(self) -> Exhibit:
        values = (
            Value(a.name, self.full, self.gain(a.name, self.full, DOUBLE)) for a in self.paper.application
        )
        worse = [a.name for a in self.paper.application if a.worse_than_double]
        notes = (f"in the papers the machine with twice the resource is faster for {', '.join(worse)}",)
        title = f"Against twice the {self.paper.resource}, unshared"
        return self._changes("double", title, "A figure 13; B figure 11", values, DOUBLE, notes)

    def ipc_by_percent(self) -> Exhibit:
        return self._by_percent(
            "ipc-by-percent",
            "Thread IPC by sharing percentage",
            "A table 4; B tables V and VII",
            f"thread IPC of {self.full}",
            lambda run: run.thread_ipc,
            lambda a: a.ipc,
            1,
        )

    def residents_by_percent(self) -> Exhibit:
        return self._by_percent(
            "resident-by-percent",
            "Resident CTAs by sharing percentage",
            "A table 5; B tables VI and VIII",
            "CTAs on an SM",
            lambda run: run.resident_ctas,
            lambda a: a.resident,
            0,
        )

    def unlimited(self) -> Exhibit:
        """Set-3: cycles of the schemes, which the papers say are the same."""
        titles = ("LRR", "shared, LRR", "GTO", "shared, GTO", "shared, OWF")
        values = (
            Value(a.name, title, self._of(a.name, s.name, lambda run: run.cycles))
            for a in self.paper.unlimited
            for title, s in zip(titles, schemes.unlimited_schemes(self.paper), strict=True)
        )
        notes = ("in the papers sharing under LRR and under GTO is exactly as without, and OWF as GTO",)
        title, place = "Set-3: not limited by the resource", "A figure 15; B figure 12"
        return self._exhibit("unlimited", title, place, "cycles", values, 0, notes=notes)

    def release(self) -> Exhibit:
        """Beyond the papers: locks given back after their last use."""
        values = (
            Value(a.name, scheme.name, self.gain(a.name, scheme.name, self.full))
            for a in self.paper.application
            for scheme in schemes.release_schemes(self.paper)
        )
        notes = (
            "named as future work by the papers; for scratchpad it is relssp of TACO 2017",
            "first without marks: what the passes before them change by themselves",
        )
        return self._changes("release", "Locks released early", "B section VIII", values, self.full, notes)

    def misses(self) -> Exhibit:
        """What explains gains and losses: how misses and slots without issue change beside the IPC."""
        values = (
            Value(a.name, name, self._change(a.name, read))
            for a in self.paper.application
            for name, read in (
                ("L1 misses", lambda run: run.l1["misses"]),
                ("L2 misses", lambda run: run.l2["misses"]),
                ("stall slots", lambda run: run.slots["stall"]),
                ("idle slots", lambda run: run.slots["idle"]),
                ("scoreboard slots", lambda run: run.slots["scoreboard"]),
            )
        )
        what = f"change of {self.full} over {BASELINE}, percent"
        return self._exhibit("why", "What changes with the gain", "B section VI", what, values, 1, True)

    def _of(self, row: str, scheme: str, read: Callable[[Measured], float]) -> float | None:
        run = self.results.get((row, scheme))
        return None if run is None else read(run)

    def _change(self, row: str, read: Callable[[Measured], float]) -> float | None:
        """Of the full scheme over the baseline, in percent."""
        before, after = self._of(row, BASELINE, read), self._of(row, self.full, read)
        return None if not before or after is None else 100 * (after / before - 1)

    def _decrease(self, row: str, read: Callable[[Measured], float]) -> float | None:
        change = self._change(row, read)
        return None if change is None else -change

    def _by_percent(
        self,
        key: str,
        title: str,
        place: str,
        quantity: str,
        read: Callable[[Measured], float],
        printed: Callable[[Application], tuple[float, ...]],
        digits: int,
    ) -> Exhibit:
        """A table with a column for each sharing percentage."""
        values = (
            Value(
                a.name,
                f"{percent}%",
                self._of(a.name, schemes.full_scheme(self.paper, percent).name, read),
                number,
            )
            for a in self.paper.application
            for percent, number in zip(self.paper.percents, printed(a), strict=True)
        )
        return self._exhibit(key, title, place, quantity, values, digits)

    def _changes(
        self,
        key: str,
        title: str,
        place: str,
        values: Iterator[Value],
        base: str = BASELINE,
        notes: tuple[str, ...] = (),
    ) -> Exhibit:
        what = f"gain of thread IPC over {base}, percent"
        return self._exhibit(key, title, place, what, values, 2, True, notes)

    @staticmethod
    def _exhibit(
        key: str,
        title: str,
        place: str,
        quantity: str,
        values: Iterator[Value],
        digits: int,
        signed: bool = False,
        notes: tuple[str, ...] = (),
    ) -> Exhibit:
        return Exhibit(key, title, place, quantity, tuple(values), digits, signed, notes)
