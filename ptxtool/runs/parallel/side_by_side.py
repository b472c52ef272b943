"""Runs at the same time, in threads of this process: a simulation does not hold the interpreter's lock.

Every run is the same as it is alone. Callers see them one after the other, in order: names are announced, and progress
is reported, for the first that has not ended.
"""

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ptxtool.base.cpus import available_cpus
from ptxtool.base.diag import error

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.timing.drive import ProgressSnapshot

Found = TypeVar("Found")


def check_jobs(jobs: int | None) -> int:
    """So many runs at a time; None: one for each CPU that this process may use. Raises E502."""
    if jobs is None:
        return available_cpus()
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise error("E502", f"jobs = {jobs!r}", help="give the number of runs at a time, at least 1")
    return jobs


def side_by_side(
    run: "Callable[[int, LaunchOptions], Found]",
    options: "Sequence[LaunchOptions]",
    jobs: int | None,
    announce: Callable[[int], object] | None = None,
) -> Generator[Found, None, None]:
    """The results of `run(k, options[k])` for every k, in order; `announce(k)` is called before one is awaited.

    `jobs` runs go on at a time. What a run raises is raised when it is its turn. After Ctrl-C the run whose turn it is
    ends as its options say; runs whose results are not taken are stopped. Raises E502 for a wrong number of jobs.
    """
    jobs = min(check_jobs(jobs), len(options))
    turn, stopped = -1, threading.Event()

    def start(k: int) -> Found:
        def progress(at: "ProgressSnapshot") -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            if given is not None and k == turn:
                given(at)

        given = options[k].progress
        if stopped.is_set():
            raise KeyboardInterrupt
        return run(k, options[k] if jobs == 1 else replace(options[k], progress=progress))

    if jobs == 1:
        for turn in range(len(options)):
            if announce is not None:
                announce(turn)
            yield start(turn)
        return
    import ptxsim

    _ = ptxsim.launch  # says that it compiles, once
    with ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [pool.submit(start, k) for k in range(len(options))]
            for turn, future in enumerate(waiting):
                if announce is not None:
                    announce(turn)
                try:
                    found = future.result()
                except KeyboardInterrupt:
                    stopped.set()
                    found = future.result()
                yield found
        finally:
            stopped.set()
