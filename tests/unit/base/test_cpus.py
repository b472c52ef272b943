"""The processors of a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxtool.base import cpus
from ptxtool.base.cpus import available_cpus, has_free_cpus


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to processors")
def test_those_that_a_process_is_bound_to() -> None:
    first = min(os.sched_getaffinity(0))
    code = f"""import os; from ptxtool.base.cpus import available_cpus
print(available_cpus()); os.sched_setaffinity(0, {{{first}}}); print(available_cpus())"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(len(os.sched_getaffinity(0))), "1"]
    assert available_cpus() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.20 0.18 0.12 1/80 11206", True),
        ("0.20 0.18 0.12 3/80 11206", True),  # two others on four processors
        ("0.20 0.18 0.12 4/80 11206", False),
        ("no such numbers", True),
        (None, True),
    ],
)
def test_free_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, expected: bool
) -> None:
    if text is not None:
        (tmp_path / "loadavg").write_text(text)
    monkeypatch.setattr(cpus, "_LOAD", tmp_path / "loadavg")
    monkeypatch.setattr(cpus.os, "cpu_count", lambda: 4)
    assert has_free_cpus(2) is expected
