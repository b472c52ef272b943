"""The processors of a process."""

import os
import subprocess
import sys

import pytest

from ptxtool.base.cpus import available_cpus


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to processors")
def test_those_that_a_process_is_bound_to() -> None:
    first = min(os.sched_getaffinity(0))
    code = f"""import os; from ptxtool.base.cpus import available_cpus
print(available_cpus()); os.sched_setaffinity(0, {{{first}}}); print(available_cpus())"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(len(os.sched_getaffinity(0))), "1"]
    assert available_cpus() == len(os.sched_getaffinity(0))
