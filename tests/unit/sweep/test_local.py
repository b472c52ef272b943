"""Sweeps that run: the results are those of single runs, in one process or several; what one process loses is lost."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scalekernel import LAUNCH
from tinysweep import long_sweep, swept, write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration
from ptxtool.sweep import local
from ptxtool.sweep.export import encode
from ptxtool.sweep.local import run_here
from ptxtool.sweep.plan import plan
from ptxtool.sweep.task import execute

SHARED = Configuration(
    "", share_registers=90, dynamic="period=100", passes="unroll-decls", scheduler="owf", registers=40
)


def test_a_result_is_that_of_a_single_run(tmp_path: Path) -> None:
    write(tmp_path)
    asked = replace(SHARED, kernel=tmp_path / "scale.ptx", settings=("sm.count=2",), label="it")
    record = api.sweep([asked], jobs=1)["it"]
    kernel = api.rewrite(api.load(tmp_path / "scale.ptx"), "unroll-decls").module.kernels["scale"]
    gpu = api.gpu(settings=["sm.count=2"])
    options: dict[str, Any] = {"dynamic": "period=100"}
    alone = api.simulate(
        kernel,
        tmp_path / "launch.toml",
        gpu=gpu,
        scheduler="owf",
        share_registers=90,
        registers=40,
        **options,
    )
    counters = alone.result.to_dict()
    assert record.ok
    kept = {k: v for k, v in counters.items() if k not in ("issues", "printed")}
    of_text = {"extended_marks": 0, "storage_bits": 0, "text_instructions": 12}
    assert record.counters == json.loads(json.dumps(kept)) | of_text
    assert record.outcome.checked == ("x",)
    assert record.value("cycles") == alone.result.cycles
    assert record.value("slots.stall") == alone.result.slots["stall"]
    assert record.value("l1d_misses") == alone.result.l1["misses"]
    assert record.counters["dynamic"]["options"]["period"] == 100
    expected = hashlib.sha256()
    for array in (np.float32(2.5) * np.arange(3584, dtype=np.float32), np.array(np.float32(2.5)).reshape(1)):
        expected.update(f"{array.dtype.str} {array.shape}\0".encode() + array.tobytes())
    assert record.memory == expected.hexdigest()
    with pytest.raises(PtxError, match=r"E502.*no counter 'cycels'\n.*did you mean 'cycles'"):
        record.value("cycels")
    with pytest.raises(PtxError, match=r"E502.*no single number: 'slots'"):
        record.value("slots")


def test_a_cycle_limit_is_a_failure_with_counters(tmp_path: Path) -> None:
    result = swept(write(tmp_path, 'kernels = ["scale.ptx"]\nmax_cycles = 50\n'))
    assert result["scale"].status == "failed"
    (problem,) = result["scale"].outcome.problems
    assert (problem["code"], "help: raise max_cycles (--max-cycles)" in problem["text"]) == ("E408", True)
    assert result["scale"].value("cycles") == 50


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks went to workers, each time that some were started."""
    started: list[int] = []

    def pool(tasks: Any, jobs: int) -> Any:
        started.append(len(tasks))
        return original(tasks, jobs)

    original = local._pool
    monkeypatch.setattr(local, "_pool", pool)
    return started


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(
    tmp_path: Path, processes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    one = swept(path, store=tmp_path / "one.db")
    short = swept(path, store=tmp_path / "short.db", jobs=2)
    assert processes == []
    monkeypatch.setattr(local, "_RUN_SECONDS", -1)
    monkeypatch.setattr(local, "_REST_SECONDS", -1)
    two = swept(path, store=tmp_path / "two.db", jobs=2)
    assert processes == [4]
    assert short.simulated == two.simulated == 4
    assert encode(one, "json") == encode(short, "json") == encode(two, "json")


def test_a_long_run_is_left_to_a_worker(
    tmp_path: Path, processes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = long_sweep(tmp_path, 2)
    alone = swept(path, store=tmp_path / "alone.db")
    monkeypatch.setattr(local, "_RUN_SECONDS", 0.001)
    there = swept(path, store=tmp_path / "there.db", jobs=2)
    assert processes == [2]
    assert encode(alone, "json") == encode(there, "json")


def test_a_run_that_kills_its_process_is_lost_and_the_others_are_not(tmp_path: Path) -> None:
    write(tmp_path)
    deadly = tmp_path / "deadly.py"
    body = "import os\nif os.environ.get('DEADLY') != str(os.getpid()):\n    os._exit(9)\n"
    code = (
        "from ptxsim.base.jit import ctz\ndef pick(sm, scheduler, candidates):\n    return ctz(candidates)\n"
    )
    deadly.write_text(code)
    names = ("lrr", f"{deadly}:pick", "gto")
    runs = [Configuration(tmp_path / "scale.ptx", scheduler=name, label=name) for name in names]
    tasks = [planned.task for planned in plan(runs, api.kernel)]
    deadly.write_text(body + code)  # it ends any process but one that does not read it
    digest = hashlib.sha256(deadly.read_bytes()).hexdigest()
    tasks[1] = replace(tasks[1], files=((str(deadly), digest),))
    found = dict(run_here(tasks, 2))
    assert [found[task.key].status for task in tasks] == ["done", "lost", "done"]
    assert found[tasks[1].key].problems[0]["code"] == "E504"


def test_a_worker_with_another_version_or_other_files_refuses(tmp_path: Path) -> None:
    write(tmp_path)
    np.save(tmp_path / "x.npy", np.arange(3584, dtype=np.float32))
    (tmp_path / "launch.toml").write_text(LAUNCH.replace("range = [0, 3584]", 'file = "x.npy"'))
    (planned,) = plan([Configuration(tmp_path / "scale.ptx")], api.kernel)
    assert execute(planned.task).status == "done"
    other = execute(replace(planned.task, version="another"))
    assert (other.status, other.problems[0]["code"]) == ("failed", "E504")
    (tmp_path / "x.npy").write_bytes(b"changed")
    assert "has changed since" in str(execute(planned.task).problems[0]["message"])
    (tmp_path / "x.npy").unlink()
    assert "cannot read" in str(execute(planned.task).problems[0]["message"])


LIST = """
[[launch]]
args = ["x", "a"]

[[launch]]
args = ["x", 3.0]
grid = 14
"""


def test_a_list_of_launches_counts_as_one_run(tmp_path: Path) -> None:
    write(tmp_path)
    head = LAUNCH.partition("[[expect]]")[0]
    (tmp_path / "launch.toml").write_text(head + LIST)
    asked = Configuration(tmp_path / "scale.ptx", settings=("sm.count=2",), label="it")
    record = api.sweep([asked], jobs=1)["it"]
    assert record.ok, record.outcome.problems
    gpu = api.gpu(settings=["sm.count=2"])
    alone = api.simulate_sequence(api.load(tmp_path / "scale.ptx"), tmp_path / "launch.toml", gpu=gpu)
    assert len(alone.results) == 2
    assert record.value("cycles") == alone.totals.cycles
    assert record.value("thread_ipc") == alone.totals.thread_ipc
    assert record.value("slots.stall") == sum(r.slots["stall"] for r in alone.results)
    assert record.value("l1d_misses") == alone.totals.stats["l1d_misses"]
    assert record.value("resident_ctas") == alone.results[0].resident_ctas


def test_a_list_whose_launches_have_schedulers_of_their_own_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    head = LAUNCH.partition("[[expect]]")[0]
    (tmp_path / "launch.toml").write_text(head + LIST + 'scheduler = "gto"\n')
    with pytest.raises(PtxError, match="different schedulers"):
        api.sweep([Configuration(tmp_path / "scale.ptx")], jobs=1)
    chosen = Configuration(tmp_path / "scale.ptx", scheduler="lrr", label="it")
    assert api.sweep([chosen], jobs=1)["it"].ok
