"""A few mutated inputs of every kind through the commands (tests/prop/fuzz_commands.py makes as many as one likes)."""

import os
import random
import sqlite3
from pathlib import Path

import pytest
from hostile_jobs import Job, jobs, mutated
from hostile_runs import problem, run_job

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="commands are run in forks"),
]
KINDS = ("text", "launch", "npy", "machine", "config", "store", "counts", "arguments")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Job]]:
    return jobs(tmp_path_factory.mktemp("jobs"))


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_inputs_end_with_diagnostics(made: dict[str, list[Job]], kind: str) -> None:
    for seed in range(4):
        choose = random.Random(seed)
        job = mutated(choose.choice(made[kind]), kind, choose)
        ended = run_job(job)
        assert problem(ended) == "", (seed, job.arguments, ended.stderr)


def test_the_jobs_are_valid_before_they_are_mutated(made: dict[str, list[Job]], tmp_path: Path) -> None:
    for kind in ("launch", "npy", "machine", "config", "counts"):
        assert run_job(made[kind][0]).exit_code == 0, kind
    (tmp_path / "tiny.db").write_bytes(made["store"][0].files["tiny.db"])
    assert sqlite3.connect(tmp_path / "tiny.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)
