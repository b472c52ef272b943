"""Python code in a process of its own, with numba's compiler and without: for tests that both give the same."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from checkout import TESTS


def output_of(code: str, *arguments: str, compiled: bool, beside: str = __file__) -> str:
    """What a program prints that imports as the test `beside` does, and its neighbours. Warnings are errors."""
    paths = os.pathsep.join([*sys.path, str(TESTS), str(TESTS / "helpers"), str(Path(beside).parent)])
    environment = os.environ | {"PYTHONPATH": paths} | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_python(function: Any) -> Any:
    """The Python function of a compiled one that calls no other: quick to test, and not compiled anew."""
    return getattr(function, "py_func", function)
