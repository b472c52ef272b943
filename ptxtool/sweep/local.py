"""Making runs on this machine: in this process, or in several with joblib's loky.

A sweep of a few short runs is over before workers have started: runs are made in this process for as long as the rest
seems to be that short. Runs with schedulers or schemes of the user's own are not, as these are code. (Threads would
make them no faster: most of a run of milliseconds is Python.)

Every worker imports the simulator once and makes a run at a time; a result is returned as soon as it is there. A
worker that is killed from outside (most often for want of memory) breaks the pool: the runs that may have been in it
are made again one by one, each in a process of its own, so that only a run that kills its process again is lost.
"""

import os
import signal
import threading
import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import replace

from ptxtool.base.diag import Diagnostic
from ptxtool.results.sweeps import StoredResult
from ptxtool.runs.parallel.side_by_side import check_jobs
from ptxtool.sweep.task import Task, execute, failed

Results = Generator[tuple[str, StoredResult], None, None]
"""Outcomes by key, as they come."""


_RUN_SECONDS = 1.0
"""Of CPU. A run that takes longer is left to a worker: it takes as long to start one."""
_REST_SECONDS = 4.0
"""Of work for which no workers are started: two would not be much sooner."""


def run_here(tasks: Sequence[Task], jobs: int | None) -> Results:
    """Make runs in so many processes, by default as many as there are CPUs."""
    if min(check_jobs(jobs), len(tasks)) <= 1:
        for task in tasks:
            yield task.key, execute(task)
        return
    import ptxsim

    _ = ptxsim.launch  # says that it compiles, once
    left = {task.key: task for task in tasks}
    for key, outcome in _short(tasks):
        del left[key]
        yield key, outcome
    if not left:
        return
    import joblib

    jobs = joblib.cpu_count() if jobs is None else jobs
    while left:
        try:
            for key, outcome in _pool(list(left.values()), jobs):
                del left[key]
                yield key, outcome
        except _killed():
            suspects = list(left.values())[: 2 * jobs]  # joblib hands out no more ahead of time
            for task in suspects:
                del left[task.key]
                yield task.key, _alone(task)


def _short(tasks: Sequence[Task]) -> Results:
    """Make the first runs in this process, until the rest is worth workers."""
    spent: list[float] = []
    for task in tasks:
        later = spent[1:] or [0.0]  # the first one loads the simulator
        rest = (len(tasks) - len(spent)) * sum(later) / len(later)
        if (sum(spent) > _RUN_SECONDS and rest > _REST_SECONDS) or _has_code(task):
            return
        started = time.process_time()
        try:
            outcome = execute(_limited(task, started + _RUN_SECONDS))
        except _TooLong:
            return
        spent.append(time.process_time() - started)
        yield task.key, outcome


def _has_code(task: Task) -> bool:
    """Whether a run imports a file of the user's."""
    return ".py:" in task.scheduler_path or ".py:" in str(task.options and task.options.scheme)


class _TooLong(BaseException):
    """What stops a run that is left to a worker: no error of the run."""


def _limited(task: Task, end: float) -> Task:
    """The task, stopped by `_TooLong` at this time."""

    def progress(_: object) -> None:
        if time.process_time() > end:
            raise _TooLong

    assert task.options is not None
    return replace(task, options=replace(task.options, progress=progress))


def _pool(tasks: Sequence[Task], jobs: int) -> Results:
    """Make runs in processes. Raises `_killed()` where one of them went away."""
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch="2 * n_jobs",
        max_nbytes=None,
        initializer=_start_worker,
        initargs=(os.getpid(),),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"joblib\.externals\.loky")  # a worker that is renewed
        yield from parallel(delayed(_keyed)(task) for task in tasks)


def _alone(task: Task) -> StoredResult:
    """Make a run in a process of its own."""
    try:
        for _, outcome in _pool([task], 2):
            return outcome
    except _killed():
        pass
    lost = Diagnostic(
        "E504",
        f"the process that made run '{task.label}' was killed twice",
        help="most often there is too little memory: use fewer --jobs; starting the sweep again makes the run again",
    )
    return failed((lost,), "lost")


def _killed() -> type[Exception]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    return TerminatedWorkerError  # type: ignore[no-any-return]


def _keyed(task: Task) -> tuple[str, StoredResult]:
    return task.key, execute(task)


def _start_worker(parent: int) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process soon after its parent has ended, however that was."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
