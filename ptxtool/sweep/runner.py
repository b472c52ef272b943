"""A sweep: plan it, make the runs that the store has no result of, keep each result as it comes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ptxtool.formats.files import is_file
from ptxtool.results.sweeps import Configuration, StoredResult, SweepResult
from ptxtool.runs.parallel.side_by_side import check_jobs
from ptxtool.sweep.cluster import check_cluster, run_on_cluster
from ptxtool.sweep.local import Results, run_here
from ptxtool.sweep.plan import KernelNamed, Planned, plan
from ptxtool.sweep.store import Store
from ptxtool.sweep.task import Task

if TYPE_CHECKING:
    from ptxtool.passes.own import OwnPass


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is. Of `total` runs `stored` had a result before; `ended` have ended since, `failed` of them
    without a good result. `label` is the run that ended last, "" before the first.
    """

    total: int
    stored: int
    ended: int
    failed: int
    label: str = ""


OnProgress = Callable[[SweepProgress], object]
"""Called before the first run and after each."""


def run_sweep(
    configurations: Iterable[Configuration],
    kernel_named: KernelNamed,
    *,
    own: "Mapping[str, OwnPass] | None" = None,
    store: str | Path | None = None,
    name: str = "sweep",
    jobs: int | None = None,
    cluster: Any = None,
    progress: OnProgress | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    allow_outside: bool = False,
) -> SweepResult:
    """Make all runs that are not in the store, and return the records of all.

    With `allow_outside` launch files may name files outside their folders.
    Raises the errors of the configurations before anything runs; an error that stops a run is in its record.
    """
    check_jobs(jobs)
    planned = plan(configurations, kernel_named, own, allow_outside)
    if cluster is not None and (store is None or not is_file(Path(store))):
        check_cluster(cluster)  # before there is a store; one that has all results needs no cluster
    with Store(store) as kept:
        removed = kept.begin(name, planned)
        known = {p.key: p.outcome for p in planned if p.outcome is not None}
        for key, outcome in known.items():
            kept.put(key, outcome)
        done = kept.finished(p.key for p in planned)
        pending = {p.key: p.task for p in planned if p.key not in done}
        interrupted = False
        results = _engine(tuple(pending.values()), jobs, cluster)
        watch = _Watcher(planned, done - known.keys(), known, progress)
        try:
            for key, outcome in results:
                kept.put(key, outcome)
                watch.ended(key, outcome)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            interrupted = True
        finally:
            results.close()  # its processes end with it
        return replace(
            kept.result(name),
            simulated=watch.simulated,
            equal=watch.equal,
            declined=watch.declined,
            stored=watch.stored,
            removed=removed,
            interrupted=interrupted,
        )


def _engine(tasks: tuple[Task, ...], jobs: int | None, cluster: Any) -> Results:
    """The results of the runs, from this machine or the cluster."""
    if not tasks:
        return (_ for _ in ())
    return run_here(tasks, jobs) if cluster is None else run_on_cluster(tasks, cluster)


class _Watcher:
    """Counts runs, equal ones each for itself, and reports the progress."""

    def __init__(
        self,
        planned: tuple[Planned, ...],
        stored: set[str],
        known: dict[str, StoredResult],
        watch: OnProgress | None,
    ):
        self._labels: dict[str, list[str]] = {}
        for each in planned:
            self._labels.setdefault(each.key, []).append(each.label)
        self._watch = watch
        self._total = len(planned)
        self.stored = sum(len(self._labels[key]) for key in stored)
        self.declined = sum(len(self._labels[key]) for key in known)
        self.simulated = self.equal = 0
        self._failed = self.declined
        self._report("")

    def ended(self, key: str, outcome: StoredResult) -> None:
        labels = self._labels[key]
        self.simulated += 1
        self.equal += len(labels) - 1
        self._failed += len(labels) * (outcome.status != "done")
        self._report(labels[-1])

    def _report(self, label: str) -> None:
        if self._watch is not None:
            ended = self.declined + self.simulated + self.equal
            self._watch(SweepProgress(self._total, self.stored, ended, self._failed, label))
