"""The papers' tables and figures from the results of our runs.

Gains are of thread IPC, (this / that - 1) * 100; decreases (1 - this / that) * 100. The places "A" and "B" are those of
the TOML files: Register Sharing, and Improving GPU Performance Through Resource Sharing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.formats.gpu import Gpu
from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.results.replicas import Spread
from ptxtool.runs.schemes import FULL
from ptxtool.sweep.reproduction import schemes
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited
from ptxtool.sweep.reproduction.recorded import row_name
from ptxtool.sweep.reproduction.schemes import BASELINE, DOUBLE, GTO, TWO_LEVEL

RunCounters = Mapping[str, Any]
"""The counters of a run, under the names of `sim --json`."""
Results = Mapping[tuple[str, str], RunCounters]
"""The runs that ended, by application and scheme."""
Measure = Callable[[str], float | None]
"""Our value for an application, by its name; None where a run has no result."""
Series = tuple[str, Measure, Callable[[Any], float | None]]
"""A column: its title, our values, and the papers'."""

_COUNTERS = {
    "L1 misses": "l1.misses",
    "L2 misses": "l2.misses",
    "stall slots": "slots.stall",
    "idle slots": "slots.idle",
    "scoreboard slots": "slots.scoreboard",
}


def _unprinted(_: object) -> None:
    """The papers print no number."""


def _count(counters: RunCounters, name: str) -> Any:
    """A counter by its dotted name."""
    for part in name.split("."):
        counters = counters[part]
    return counters


class Exhibits:
    """All exhibits of an experiment."""

    def __init__(self, paper: Paper, results: Results, machine: Gpu):
        self.paper = paper
        self.results = results
        self.machine = machine
        self.full = FULL[paper.resource]
        self.compared = f"of {self.full} over {BASELINE}, percent"

    def all(self) -> tuple[Exhibit, ...]:
        """In the order of paper B; those without rows left out."""
        paper = self.paper
        found = (
            self.waste(),
            self.residents(),
            self._gains(
                "gain", "The full scheme", "A figure 9; B figure 8(c), (d)", printed=attrgetter("gain")
            ),
            self.robust(),
            self.working(),
            self.factors(),
            self.orders(),
            self.forms(),
            self.absolute(),
            self.ladder(),
            self.slots(),
            self.over(GTO, "gto", "A figure 12; B figure 10(a), (b)", paper.most_over_gto),
            self.over(TWO_LEVEL, "two-level", "A figure 14; B figure 10(c), (d)", paper.most_over_two_level),
            self.double(),
            self.ipc_by_percent(),
            self.residents_by_percent(),
            self.unlimited(),
            self.release(),
            self.misses(),
            *self.variant(),
            *self.limits(),
        )
        return tuple(exhibit for exhibit in found if exhibit.values)

    def waste(self) -> Exhibit:
        """What is left of the resource when no further CTA fits."""

        def unused(row: str) -> float | None:
            run = self.results.get((row, BASELINE))
            if run is None:
                return None
            block = run["block"]
            threads = -(-block[0] * block[1] * block[2] // 32) * 32
            of, need = {
                "registers": (self.machine.sm.registers, threads * run["registers"]),
                "scratchpad": (self.machine.sm.scratchpad_bytes, run["scratchpad_bytes"]),
            }[self.paper.resource]
            share: float = 100 * (of - run["resident_ctas"] * need) / of
            return share

        what = f"{self.paper.resource} of an SM that no CTA has, percent"
        series: Series = ("unused", unused, attrgetter("unused_percent"))
        return self._exhibit(
            "unused", "What is left over", "A figure 2; B figure 1(b), (d)", what, [series], 1
        )

    def residents(self) -> Exhibit:
        """Resident CTAs without sharing, and under the full scheme."""
        series: list[Series] = [
            (BASELINE, self._counter(BASELINE, "resident_ctas"), lambda a: a.resident[0]),
            (self.full, self._counter(self.full, "resident_ctas"), lambda a: a.resident[-1]),
        ]
        place = "A figure 8; B figure 8(a), (b)"
        return self._exhibit("resident", "Resident CTAs", place, "CTAs on an SM", series, 0)

    def robust(self) -> Exhibit:
        """The gain again on machines that differ in accidents, and on another grid. Waves are CTAs over those that the
        GPU holds without sharing."""
        second = {a.name: a.second_name for a in self.paper.application}

        def spread(row: str) -> Spread | None:
            names = [
                [schemes.replica_name(scheme, k) for scheme in (self.full, BASELINE)]
                for k in range(schemes.REPLICAS)
            ]
            found = [self._gain(ours, base)(row) for ours, base in names]
            values = tuple(value for value in found if value is not None)
            return Spread(values) if len(values) == len(found) else None

        def of_spread(name: str) -> Measure:
            return lambda row: None if (found := spread(row)) is None else getattr(found, name)

        def waves(row: str) -> float | None:
            run = self.results.get((row, BASELINE))
            return None if run is None else run["n_ctas"] / (run["resident_ctas"] * self.machine.sm.count)

        series: list[Series] = [
            ("CTAs", self._counter(BASELINE, "n_ctas"), _unprinted),
            ("waves", waves, _unprinted),
            ("gain, mean", of_spread("mean"), attrgetter("gain")),
            ("least", of_spread("least"), _unprinted),
            ("greatest", of_spread("greatest"), _unprinted),
            ("waves of the second grid", lambda row: waves(second.get(row, "")), _unprinted),
            ("its gain", lambda row: self._gain(self.full)(second.get(row, "")), _unprinted),
        ]
        title, what = "Is it more than an accident?", f"gain {self.compared}, in {schemes.REPLICAS} replicas"
        return self._exhibit("robust", title, "A figure 9; B figure 8(c), (d)", what, series)

    def factors(self) -> Exhibit:
        """The gain as a product: of the order of warps without sharing, and of sharing under that order. The papers'
        follow from their gains and from IPC by percentage."""
        unshared = schemes.full_scheme(self.paper, 0).name

        def sharing(a: Application) -> float:
            return 100 * (a.ipc[-1] / a.ipc[0] - 1)

        series: list[Series] = [
            ("order", self._gain(unshared), _order),
            ("sharing", self._gain(self.full, unshared), sharing),
        ]
        title, place = "Order times sharing", "A figure 9 and table 4; B figure 8(c), (d), tables V and VII"
        what = f"gain of the scheme without sharing over {BASELINE}, and of sharing over that, percent"
        return self._exhibit("factors", title, place, what, series, signed=True)

    def working(self) -> Exhibit:
        """Applications that had faults in the papers' simulator, with them and without."""
        faulty = {a.name: a.working_name for a in self.paper.application if a.working}
        thread_ipc = self._counter(BASELINE, "thread_ipc")
        series: list[Series] = [
            ("IPC", thread_ipc, baseline_ipc),
            ("gain", self._gain(self.full), attrgetter("gain")),
            ("IPC, working", _of(thread_ipc, faulty), _unprinted),
            ("gain, working", _of(self._gain(self.full), faulty), _unprinted),
        ]
        title, place = "As the papers ran it, and working", "A figure 9; B figure 8(c), (d)"
        rows = [a for a in self.paper.application if a.working]
        what = f"thread IPC of {BASELINE}, and gain {self.compared}"
        return self._exhibit("working", title, place, what, series, rows=rows)

    def orders(self) -> Exhibit:
        """Loads before what they do not need, and as in the source: the order of the papers' compiler is unknown."""
        rows = [a for a in self.paper.application if a.loads_first]
        of_source = {a.name: a.unscheduled_name for a in rows}
        return self._beside("orders", "Two orders of loads", "order of the source", of_source)

    def forms(self) -> Exhibit:
        """PTXPlus, whose parameters lie in scratchpad, and PTX."""
        as_ptx = {
            a.name: a.as_ptx_name for a in self.paper.application if self.paper.resource == "scratchpad"
        }
        return self._beside("forms", "PTXPlus and PTX", "as PTX", as_ptx)

    def _beside(self, key: str, title: str, what: str, names: Mapping[str, str]) -> Exhibit:
        """IPC, and the gain with that of the order alone, of applications beside those of other runs of them."""
        unshared = schemes.full_scheme(self.paper, 0).name
        measures: list[Series] = [
            ("IPC", self._counter(BASELINE, "thread_ipc"), baseline_ipc),
            ("order", self._gain(unshared), _order),
            ("gain", self._gain(self.full), attrgetter("gain")),
        ]
        series: list[Series] = [
            column
            for column_title, measure, printed in measures
            for column in (
                (column_title, measure, printed),
                (f"{column_title}, {what}", _of(measure, names), _unprinted),
            )
        ]
        quantity = (
            f"thread IPC of {BASELINE}, gain of the full scheme without sharing, and gain {self.compared}"
        )
        rows = [a for a in self.paper.application if a.name in names]
        place = "A figure 9; B figure 8(c), (d), tables V and VII"
        return self._exhibit(key, title, place, quantity, series, rows=rows)

    def absolute(self) -> Exhibit:
        """Thread IPC without sharing, which the papers' tables and gains imply."""
        series: list[Series] = [(BASELINE, self._counter(BASELINE, "thread_ipc"), baseline_ipc)]
        title, place = (
            "Thread IPC without sharing",
            "A figure 9 and table 4; B figure 8(c), (d), tables V and VII",
        )
        return self._exhibit("absolute", title, place, f"thread IPC of {BASELINE}", series, 1)

    def ladder(self) -> Exhibit:
        """The optimisations one by one."""

        def printed(scheme: str) -> Callable[[Application], float | None]:
            return lambda a: a.ladder.get(scheme, a.gain if scheme == self.full else None)

        names = [scheme.name for scheme in schemes.rungs(self.paper)[1:]]
        series = [(name, self._gain(name), printed(name)) for name in names]
        title, place = "One optimisation after the other", "A figure 10; B figure 9(a), (b)"
        return self._exhibit("ladder", title, place, _gain_over(BASELINE), series, signed=True)

    def slots(self) -> Exhibit:
        """Scheduler slots without issue. The papers print their curves without numbers, but for the largest."""
        return self._exhibit(
            "slots",
            "Stall and idle cycles",
            "A figure 11; B figure 9(c), (d)",
            f"decrease {self.compared}",
            [
                (title, self._gain(self.full, name=_COUNTERS[title], sign=-1), _unprinted)
                for title in ("stall slots", "idle slots")
            ],
            1,
            signed=True,
            notes=("the papers print no numbers but the largest decrease of idle cycles, 99%",),
        )

    def over(self, base: str, key: str, place: str, most: float) -> Exhibit:
        """The full scheme against another scheduler without sharing."""
        notes = (f"the papers print no numbers but the largest, {most:g}%",)
        return self._gains(key, f"Against {base}", place, base, notes)

    def double(self) -> Exhibit:
        """The full scheme against a machine with twice the resource."""
        worse = [a.name for a in self.paper.application if a.worse_than_double]
        notes = (f"in the papers the machine with twice the resource is faster for {', '.join(worse)}",)
        title = f"Against twice the {self.paper.resource}, unshared"
        return self._gains("double", title, "A figure 13; B figure 11", DOUBLE, notes)

    def ipc_by_percent(self) -> Exhibit:
        """Thread IPC under the full scheme, with a column for each sharing percentage."""
        title, place = "Thread IPC by sharing percentage", "A table 4; B tables V and VII"
        series = self._by_percent("thread_ipc", attrgetter("ipc"))
        return self._exhibit("ipc-by-percent", title, place, f"thread IPC of {self.full}", series, 1)

    def residents_by_percent(self) -> Exhibit:
        """The same of resident CTAs."""
        title, place = "Resident CTAs by sharing percentage", "A table 5; B tables VI and VIII"
        series = self._by_percent("resident_ctas", attrgetter("resident"))
        return self._exhibit("resident-by-percent", title, place, "CTAs on an SM", series, 0)

    def unlimited(self) -> Exhibit:
        """Set-3: cycles of the schemes, which the papers say are the same."""
        titles = ("LRR", "shared, LRR", "GTO", "shared, GTO", "shared, OWF")
        series = [
            (title, self._counter(scheme.name, "cycles"), _unprinted)
            for title, scheme in zip(titles, schemes.unlimited_schemes(self.paper), strict=False)
        ]
        notes = ("in the papers sharing under LRR and under GTO is exactly as without, and OWF as GTO",)
        title, place = "Set-3: not limited by the resource", "A figure 15; B figure 12"
        return self._exhibit(
            "unlimited", title, place, "cycles", series, 0, notes=notes, rows=self.paper.unlimited
        )

    def release(self) -> Exhibit:
        """Beyond the papers: locks given back after their last use."""
        names = [scheme.name for scheme in schemes.release_schemes(self.paper)]
        series = [(name, self._gain(name, self.full), _unprinted) for name in names]
        notes = (
            "named as future work by the papers; for scratchpad it is relssp of TACO 2017",
            "first without marks: what the passes before them change by themselves",
        )
        title, what = "Locks released early", _gain_over(self.full)
        return self._exhibit("release", title, "B section VIII", what, series, signed=True, notes=notes)

    def misses(self) -> Exhibit:
        """What explains gains and losses: how misses and slots without issue change beside the IPC."""
        series = [(title, self._gain(self.full, name=name), _unprinted) for title, name in _COUNTERS.items()]
        title, what = "What changes with the gain", f"change {self.compared}"
        return self._exhibit("why", title, "B section VI", what, series, 1, signed=True)

    def variant(self) -> Iterator[Exhibit]:
        """CTAs and gains on the other paper's machine."""
        paper = self.paper
        if not paper.variant:
            return
        base, full = (schemes.variant_name(scheme) for scheme in (BASELINE, self.full))
        series: list[Series] = [
            (BASELINE, self._counter(BASELINE, "resident_ctas"), _unprinted),
            (f"{paper.variant}: {BASELINE}", self._counter(base, "resident_ctas"), _unprinted),
            (self.full, self._counter(self.full, "resident_ctas"), _unprinted),
            (f"{paper.variant}: {self.full}", self._counter(full, "resident_ctas"), _unprinted),
            ("gain", self._gain(self.full), _unprinted),
            (f"{paper.variant}: gain", self._gain(full, base), _unprinted),
        ]
        title, what = f"With {paper.variant}", "CTAs on an SM; gain of thread IPC, percent"
        rows: tuple[Application | Unlimited, ...] = (*paper.application, *paper.unlimited)
        yield self._exhibit("variant", title, "A table 1, B table I", what, series, rows=rows)

    def limits(self) -> Iterator[Exhibit]:
        """Set-2 of paper A: blocks and registers, and how many CTAs what it prints as the limit admits; no more than
        any other limit does."""
        rows = {u.name: u for u in self.paper.unlimited if u.limited_by}
        if not rows:
            return

        def of_run(value: Callable[[RunCounters], float]) -> Measure:
            return lambda row: None if (run := self.results.get((row, BASELINE))) is None else value(run)

        def threads(run: RunCounters) -> int:
            return int(run["block"][0] * run["block"][1] * run["block"][2])

        def is_limit(row: str) -> float | None:
            run = self.results.get((row, BASELINE))
            if run is None:
                return None
            plan = sharing_plan(self.machine, threads(run), run["registers"], run["scratchpad_bytes"])
            return float(rows[row.removesuffix(recorded_suffix)].limited_by in plan.all_limiters)

        recorded_suffix = row_name("")
        series: list[Series] = [
            ("threads of a CTA", of_run(threads), attrgetter("threads")),
            ("registers per thread", of_run(lambda run: run["registers"]), attrgetter("registers")),
            ("limited as printed", is_limit, lambda u: 1),
            ("CTAs", self._counter(BASELINE, "resident_ctas"), _unprinted),
        ]
        title, what = (
            "Set-2 of A: block, registers, limit",
            "threads, registers, 1 for the limit, CTAs on an SM",
        )
        yield self._exhibit("limits", title, "A table 3", what, series, 0, rows=rows.values())

    def _counter(self, scheme: str, name: str) -> Measure:
        """A counter of a scheme."""

        def measure(row: str) -> float | None:
            run = self.results.get((row, scheme))
            return None if run is None else _count(run, name)

        return measure

    def _gain(self, scheme: str, base: str = BASELINE, name: str = "thread_ipc", sign: int = 1) -> Measure:
        """A counter of a scheme over that of another, in percent."""
        ours, others = self._counter(scheme, name), self._counter(base, name)

        def measure(row: str) -> float | None:
            this, that = ours(row), others(row)
            return None if this is None or not that else sign * (100 * (this / that - 1))

        return measure

    def _gains(
        self,
        key: str,
        title: str,
        place: str,
        base: str = BASELINE,
        notes: tuple[str, ...] = (),
        printed: Callable[[Any], float | None] = _unprinted,
    ) -> Exhibit:
        """The gain of the full scheme over another."""
        series = [(self.full, self._gain(self.full, base), printed)]
        return self._exhibit(key, title, place, _gain_over(base), series, signed=True, notes=notes)

    def _by_percent(self, counter: str, printed: Callable[[Application], Sequence[float]]) -> list[Series]:
        """A counter under the full scheme at each sharing percentage."""

        def column(k: int, percent: int) -> Series:
            scheme = schemes.full_scheme(self.paper, percent).name
            return f"{percent}%", self._counter(scheme, counter), lambda a: printed(a)[k]

        return [column(k, percent) for k, percent in enumerate(self.paper.percents)]

    def _exhibit(
        self,
        key: str,
        title: str,
        place: str,
        quantity: str,
        series: Sequence[Series],
        digits: int = 2,
        *,
        signed: bool = False,
        notes: tuple[str, ...] = (),
        rows: Iterable[Application | Unlimited] | None = None,
    ) -> Exhibit:
        """The values of each application, of those that the resource limits unless `rows` are others."""
        values = tuple(
            ExhibitValue(a.name, column, ours(a.name), printed(a), ours(row_name(a.name)))
            for a in (self.paper.application if rows is None else rows)
            for column, ours, printed in series
        )
        return Exhibit(key, title, place, quantity, values, digits, signed, notes)


def baseline_ipc(application: Application) -> float:
    """Thread IPC of Unshared-LRR: that of the full scheme without its gain."""
    return application.ipc[-1] / (1 + application.gain / 100)


def _order(application: Application) -> float:
    """What the scheduler of the full scheme gains without sharing, in percent."""
    return 100 * (application.ipc[0] / baseline_ipc(application) - 1)


def _of(measure: Measure, names: Mapping[str, str]) -> Measure:
    """The same of other runs of an application; recorded launches have none."""
    return lambda row: measure(names[row]) if row in names else None


def _gain_over(base: str) -> str:
    return f"gain of thread IPC over {base}, percent"
