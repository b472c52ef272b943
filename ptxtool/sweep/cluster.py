"""Making runs on a Dask cluster: `dask scheduler` on one machine, `dask worker` on any number.

Dask repeats the runs of a worker that goes away on the others. A run is lost if several workers in a row went away
with it. A worker needs the same version of ptxtool, and the files that launch files name under the same path;
`execute` checks both.
"""

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.sweep.local import Results
from ptxtool.sweep.task import Task, execute, failed

_CONNECT_SECONDS = 10
_WORKER_SECONDS = 60
_EXTRA = "pip install 'ptxtool[cluster]' here and on the workers"


def run_on_cluster(tasks: Sequence[Task], cluster: Any) -> Results:
    """Make runs on the cluster at an address such as tcp://HOST:8786, or on one of Dask's cluster objects.

    Raises E502 without Dask, and E504 where the scheduler cannot be reached, has no worker, or goes away.
    """
    check_cluster(cluster)
    import distributed

    make_client: Any = distributed.Client
    with _quiet():
        try:
            client = make_client(cluster, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as problem:
            raise _unreachable(cluster, problem) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=_WORKER_SECONDS)
            except TimeoutError:
                help = f"start some: dask worker {cluster} --nworkers 4 --nthreads 1"
                raise error("E504", f"the cluster at '{cluster}' has no worker", help=help) from None
            yield from _results(client, tasks, cluster)


def check_cluster(cluster: Any) -> None:
    """Raise E502 without Dask or for what is no address, E504 where nothing listens at it."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise error("E502", "a sweep on a cluster needs Dask, which is not installed", help=_EXTRA) from None
    if isinstance(cluster, str):
        _check_reachable(cluster)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log of lost connections and their tracebacks: a diagnostic reports them."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _results(client: Any, tasks: Sequence[Task], cluster: Any) -> Results:
    import distributed

    futures = {client.submit(execute, task, key=f"ptxtool-{task.key}"): task for task in tasks}
    as_completed: Any = distributed.as_completed
    completed = as_completed(list(futures), loop=client.loop)
    for future in completed:
        if future.status in ("lost", "pending"):  # its result went away with the worker; Dask repeats the run
            completed.add(future)
            continue
        task = futures.pop(future)
        if future.status == "finished":
            try:
                yield task.key, future.result()
            except (OSError, TimeoutError, distributed.CancelledError):
                raise _gone(cluster) from None
        elif future.status == "error":
            yield task.key, failed((_lost(task, future.exception()),), "lost")
        else:
            raise _gone(cluster)
        future.release()


def _lost(task: Task, problem: BaseException | None) -> Diagnostic:
    """Why the cluster has no outcome for a run."""
    import distributed

    if isinstance(problem, distributed.KilledWorker):
        what = (
            f"the workers that made run '{task.label}' went away, the last was {problem.last_worker.address}"
        )
        help = "most often there is too little memory; starting the sweep again makes the run again"
    else:
        what = f"a worker could not make run '{task.label}': {type(problem).__name__}: {problem}"
        help = "the workers need the same version of ptxtool, and its version of Dask"
    return Diagnostic("E504", what, help=help)


def _check_reachable(address: str) -> None:
    """Raise E504 at once for an address that nothing listens at: Dask would try for long."""
    parts = urlsplit(address if "//" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        raise error(
            "E502", f"'{address}' is no address of a cluster", help="such as tcp://127.0.0.1:8786"
        ) from None
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except OSError as problem:
        raise _unreachable(address, problem) from None


def _unreachable(cluster: Any, problem: Exception) -> PtxError:
    reason = (getattr(problem, "strerror", None) or str(problem)).lower()
    help = "start 'dask scheduler' there; it prints its address"
    return error("E504", f"cannot reach the cluster at '{cluster}': {reason}", help=help)


def _gone(cluster: Any) -> PtxError:
    help = "start the sweep again: it goes on where it stopped"
    return error(
        "E504", f"the cluster at '{cluster}' went away; all results that it gave are kept", help=help
    )
