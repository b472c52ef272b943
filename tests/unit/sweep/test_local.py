"""Sweeps that run: the results are those of single runs, nothing is run twice, what fails stops nothing else."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scalekernel import LAUNCH
from tinysweep import FAULTY, swept, write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration
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
    assert record.counters == json.loads(json.dumps(kept))
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


def test_nothing_is_run_twice_and_a_change_runs_what_it_concerns(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'kernels = ["scale.ptx", { file = "two.ptx", launch = "two.toml" }]\nschedulers = ["lrr", "gto"]\n',
    )
    (tmp_path / "two.ptx").write_text((tmp_path / "scale.ptx").read_text())
    (tmp_path / "two.toml").write_text(LAUNCH.replace("2.5", "3.5"))
    seen: list[Any] = []
    first = swept(path, progress=seen.append)
    assert (first.simulated, first.counts()) == (4, {"done": 4})
    assert [(p.total, p.stored, p.ended) for p in seen] == [(4, 0, n) for n in range(5)]
    again = swept(path)
    assert (again.simulated, again.records) == (0, first.records)
    (tmp_path / "two.toml").write_text(LAUNCH.replace("2.5", "4.5"))
    changed = swept(path)
    assert changed.simulated == 2
    assert changed["scale lrr"] == first["scale lrr"]
    assert changed["two lrr"].key != first["two lrr"].key
    same = api.sweep([replace(Configuration(tmp_path / "scale.ptx"), label=name) for name in "abc"], jobs=1)
    assert same.simulated == 1
    assert [record.memory for record in same] == [first["scale lrr"].memory] * 3


def test_what_fails_stops_nothing_else(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'kernels = ["faulty.ptx", "wrong.ptx", "scale.ptx"]\n'
        'passes = ["", "allocate{max-regs=1}"]\nregisters = ["", 60000]\n',
    )
    (tmp_path / "faulty.ptx").write_text(FAULTY)
    (tmp_path / "wrong.ptx").write_text((tmp_path / "scale.ptx").read_text().replace("mul.f32", "add.f32"))
    result = swept(path)
    status = {
        record.label: (record.status, *(p["code"] for p in record.outcome.problems)) for record in result
    }
    declined = {
        f"{kernel} {{allocate{{max-regs=1}}}}{many}": ("failed", "E301")
        for kernel in ("faulty", "wrong", "scale")
        for many in ("", " 60000 registers")
    }
    assert status == declined | {
        "faulty": ("failed", "E404"),
        "faulty 60000 registers": ("failed", "E402"),
        "wrong": ("wrong", "E409"),
        "wrong 60000 registers": ("failed", "E402"),
        "scale": ("done",),
        "scale 60000 registers": ("failed", "E402"),
    }
    (told,) = result["faulty"].outcome.problems
    assert told["line"] == 17
    assert str(told["text"]).startswith(f"{tmp_path / 'faulty.ptx'}:17:")
    assert result["faulty"].counters == {}
    assert result["wrong"].counters["status"] == "done"
    again = swept(path)
    assert (again.simulated, again.records) == (0, result.records)


def test_a_cycle_limit_is_a_failure_with_counters(tmp_path: Path) -> None:
    result = swept(write(tmp_path, 'kernels = ["scale.ptx"]\nmax_cycles = 50\n'))
    assert result["scale"].status == "failed"
    (problem,) = result["scale"].outcome.problems
    assert (problem["code"], "help: raise max_cycles (--max-cycles)" in problem["text"]) == ("E408", True)
    assert result["scale"].value("cycles") == 50


def test_a_bug_of_ours_is_told_and_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 'kernels = ["scale.ptx"]\n')

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("one two")

    with monkeypatch.context() as patched:
        patched.setattr("ptxtool.runs.launch_runs.run_launch", broken)
        result = swept(path)
    assert result["scale"].status == "bug"
    assert "ZeroDivisionError: one two" in str(result["scale"].outcome.problems[0]["text"])
    assert swept(path).counts() == {"done": 1}


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    path = write(tmp_path)
    one = swept(path, store=tmp_path / "one.db")
    two = swept(path, store=tmp_path / "two.db", jobs=2)
    assert two.simulated == 4
    assert encode(one, "json") == encode(two, "json")


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


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path)

    def interrupt(at: Any) -> None:
        if at.ended == 2:
            raise KeyboardInterrupt

    result = swept(path, progress=interrupt, on_interrupt="return")
    assert result.interrupted
    assert result.counts() == {"done": 2, "waiting": 2}
    with pytest.raises(KeyboardInterrupt):
        swept(path, progress=lambda at: interrupt(replace(at, ended=2)))
    rest = swept(path)
    assert (rest.simulated, rest.complete) == (2, True)


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_wrong_numbers_of_jobs(tmp_path: Path, jobs: Any) -> None:
    with pytest.raises(PtxError, match=r"E502.*jobs = "):
        swept(write(tmp_path), jobs=jobs)


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
