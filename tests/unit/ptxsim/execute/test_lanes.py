"""Every lane operation against Python integers and exact fractions, compiled and uncompiled."""

import os
import subprocess
import sys

import lane_expectations as expect
import pytest
from checkout import TESTS

from ptxtool.isa.lanes import operations

NAMES = [name for name in operations() if name not in expect.DIRECTED]


def test_every_operation_has_an_expectation() -> None:
    assert set(NAMES) == set(expect.EXPECTED) | set(expect.APPROXIMATE)


@pytest.mark.parametrize("name", NAMES)
def test_lane_operation(name: str) -> None:
    assert expect.mismatches(operations()[name], rounds=20) == []


@pytest.mark.slow
def test_uncompiled_operations_give_the_same() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "helpers.lane_expectations", "2"]
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{len(NAMES)} operations checked\n"), done.stderr
