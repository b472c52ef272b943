"""Sweeps on Dask clusters: the results are those of this machine, and what is not there is reported at once."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from smallkernel import Cli
from tinysweep import long_sweep, write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.sweep import cluster as cluster_module
from ptxtool.sweep.export import encode
from ptxtool.sweep.plan import plan
from ptxtool.sweep.runner import SweepProgress
from ptxtool.sweep.spec import read_spec


@contextmanager
def started(*words: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A program of Dask's in the background; killed at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words], stdout=out, stderr=out, start_new_session=True
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """A process and all it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@pytest.mark.slow
def test_a_cluster_of_processes_one_of_which_is_killed(cli: Cli, tmp_path: Path) -> None:
    path = long_sweep(tmp_path, 16)
    address = f"tcp://127.0.0.1:{free_port()}"
    serve = ("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard")
    work = ("worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")
    seen: list[Any] = []
    with (
        started(*serve, log=tmp_path / "scheduler.log"),
        started(*work, "--local-directory", str(tmp_path / "a"), log=tmp_path / "a.log") as first,
        started(*work, "--local-directory", str(tmp_path / "b"), log=tmp_path / "b.log"),
    ):
        wait_for(address)

        def watch(at: SweepProgress) -> None:
            seen.append(at)
            if at.ended == 3:
                kill(first)

        result = api.sweep(path, store=tmp_path / "cluster.db", cluster=address, progress=watch)
    assert seen[-1].ended == 16
    assert result.counts() == {"done": 16}
    here = api.sweep(path, store=tmp_path / "here.db", jobs=1)
    assert encode(here, "json") == encode(result, "json")


def wait_for(address: str) -> None:
    """Wait until the address accepts connections."""
    host, port = address.removeprefix("tcp://").split(":")
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.filterwarnings("ignore")  # Dask's own, about ports and closing
def test_a_cluster_object_of_dask(tmp_path: Path) -> None:
    from distributed import LocalCluster

    path = write(tmp_path)
    cluster: Any = LocalCluster
    with cluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    ) as local:
        result = api.sweep(path, cluster=local)
    assert result.counts() == {"done": 4}
    assert encode(result, "json") == encode(api.sweep(path, store=tmp_path / "x.db", jobs=1), "json")


@pytest.mark.filterwarnings("ignore")
def test_results_that_go_away_with_their_worker_are_made_again(tmp_path: Path) -> None:
    from distributed import LocalCluster

    tasks = [each.task for each in plan(read_spec(write(tmp_path)).configurations, api.kernel)]
    cluster: Any = LocalCluster
    with cluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        results = cluster_module.run_on_cluster(tasks, local)
        first = next(results)
        deadline = time.monotonic() + 120
        while any(task.state not in ("memory", "released") for task in local.scheduler.tasks.values()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (address,) = local.scheduler.workers
        local.sync(local.scheduler.remove_worker, address, stimulus_id="killed", expected=False)
        time.sleep(0.5)  # the client hears of it
        threading.Timer(0.5, local.scale, [2]).start()
        assert {key for key, _ in (first, *results)} == {task.key for task in tasks}


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(cluster_module, "_WORKER_SECONDS", 0.2)
    cluster: Any = LocalCluster
    with (
        cluster(n_workers=0, processes=False, dashboard_address=None) as local,
        pytest.raises(PtxError, match=r"E504.*has no worker\n.*dask worker"),
    ):
        api.sweep(write(tmp_path), cluster=local)


def test_a_run_that_workers_die_of_is_lost(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from distributed import KilledWorker

    from ptxtool.results.sweeps import Configuration
    from ptxtool.sweep.cluster import _lost

    write(tmp_path)
    (planned,) = plan([Configuration(tmp_path / "scale.ptx")], api.kernel)
    worker: Any = SimpleNamespace(address="tcp://10.0.0.7:4567")
    reported = _lost(planned.task, KilledWorker("key", worker, 3))
    assert (reported.code, "the last was tcp://10.0.0.7:4567" in reported.message) == ("E504", True)
    assert "ModuleNotFoundError: no ptxtool" in _lost(planned.task, ModuleNotFoundError("no ptxtool")).message


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", r"error\[E502\]: 'nonsense' is no address of a cluster"),
        ("http://127.0.0.1:1", r"error\[E502\]: 'http://127.0.0.1:1' is no address"),
        ("tcp://127.0.0.1:x", r"error\[E502\]: 'tcp://127.0.0.1:x' is no address"),
        ("tcp://127.0.0.1:1", r"error\[E504\]: cannot reach the cluster at 'tcp://127.0.0.1:1'"),
    ],
)
def test_a_cluster_that_is_not_there(cli: Cli, tmp_path: Path, address: str, message: str) -> None:
    path = write(tmp_path)
    result = cli("sweep", path, "--cluster", address)
    assert result.exit_code == 1
    assert re.search(message, result.stderr)
    assert not (tmp_path / "tiny.db").exists()
    cli("sweep", path, "--jobs", 1)
    assert cli("sweep", path, "--cluster", address).exit_code == 0  # nothing to do for a cluster


def test_dask_that_is_not_installed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = cli("sweep", write(tmp_path), "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 1
    assert "needs Dask, which is not installed" in result.stderr
    assert "ptxtool[cluster]" in result.stderr
