"""numba's own cache files, of functions that other machine code calls: damaged ones are not read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxsim.base.compiler.numba_compiler import _CheckedFiles
from ptxsim.base.jit import JIT_DISABLED


def test_damaged_files_are_not_read(tmp_path: Path) -> None:
    def opened() -> _CheckedFiles:
        return _CheckedFiles(str(tmp_path), "f", (1.0, 2))

    opened().save("key", ["code"])
    assert opened().load("key") == ["code"]
    assert opened().load("other") is None
    index, data = tmp_path / "f.nbi", tmp_path / "f.1.nbc"
    for path in (data, index):
        whole = path.read_bytes()
        for damaged in (
            b"",
            whole[:-1],
            whole[:10],
            whole[:-3] + b"\0\0\0",
            b"cbuiltins\nKeyboardInterrupt\n)R.",
        ):
            path.write_bytes(damaged)
            assert opened().load("key") is None
        opened().save("key", ["new"])
        assert opened().load("key") == ["new"]


BY_SYMBOL = """
import numpy as np
from ptxsim.base import machine_code
from ptxsim.base.compiler import numba_compiler
numba_compiler.WORTH_SAVING = 0
from ptxsim.timing.memory.side.waits import wait_for_memory
from ptxsim.timing.memory.team.team import TEAM

def call(team):
    return wait_for_memory(team, 0, 3)

shared = np.zeros(1, TEAM)  # of a run that has ended
kept = []
load = numba_compiler._FunctionCache.load_overload
def loaded(self, *arguments):
    found = load(self, *arguments)
    kept.append(found is not None)
    return found
numba_compiler._FunctionCache.load_overload = loaded
ended = numba_compiler.dispatcher(call, None, False, {})(np.uint64(shared.ctypes.data))
print(ended, kept[0], sorted(machine_code._defined))
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_what_a_kept_function_calls_by_symbol_is_there(tmp_path: Path) -> None:
    """Here the memory side, which works while a worker waits."""
    for is_kept in (False, True):
        run = subprocess.run(
            [sys.executable, "-c", BY_SYMBOL],
            capture_output=True,
            text=True,
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
        )
        assert run.stdout == f"False {is_kept} ['ptxsim_catch_up']\n", run.stderr
