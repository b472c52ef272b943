"""Object files: read without the compiler; damaged ones are compiled anew, and a full disk stops nothing."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

from ptxsim.base import machine_code
from ptxsim.base.jit import JIT_DISABLED, array_of, entry, njit
from ptxsim.base.jit import types as expressions


def _double() -> Any:
    def double(x: int) -> int:
        return 2 * x

    return entry(types.int64(types.int64))(double)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_what_cannot_be_saved_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        assert _double()(21) == 42
    assert list(tmp_path.rglob("*.o")) == []
    assert _double()(21) == 42
    assert len(list(tmp_path.rglob("*.o"))) == 1


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_damaged_object_files_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path)
    assert _double()(-4) == -8
    (path,) = tmp_path.rglob("*.o")
    whole = path.read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:-3] + b"\0\0\0"):
        path.write_bytes(damaged)
        assert _double()(21) == 42
        assert path.read_bytes()[32:40] == whole[32:40]
        assert machine_code._checked(path.read_bytes())


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_function_of_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its object file, without the compiler: arrays, numbers, conditions, and functions that it calls."""

    def pick(x: int) -> int:
        return 10 * x

    record = np.dtype([("a", np.int64), ("b", np.int64)])

    def total(rows: Any, k: int, is_negative: bool, call: Any) -> int:
        found = rows[k].a + len(rows) + call(rows[k].b)
        return -found if is_negative else found

    def declared() -> tuple[Any, Any]:
        signature = types.int64(types.int64)
        arguments = array_of(record), types.int64, types.boolean, expressions.FunctionType(signature)
        return entry(expressions.int64(*arguments))(total), njit(signature)(pick)

    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path)
    rows = np.array([(1, 2), (3, 4)], record)
    for _ in range(2):
        function, called = declared()
        assert [function(rows, np.int64(1), minus, called) for minus in (False, True)] == [45, -45]
        monkeypatch.setattr("ptxsim.base.compiler.numba_compiler.compiled_object", None)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_record_with_another_layout_is_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy's source says nothing of the record that it is given: its signature does."""

    def first(rows: Any) -> int:
        return int(rows[0].b)

    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path)
    for before in ([], ["a"], ["a", "c"]):
        record = np.dtype([(name, np.int64) for name in (*before, "b")])
        values = np.array([(*range(len(before)), 7)], record)
        assert entry(expressions.int64(array_of(record)))(first)(values) == 7
    assert len(list(tmp_path.rglob("*.o"))) == 3


def test_a_compilation_that_was_interrupted_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The functions that a loop calls are on disk before it."""
    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path)
    monkeypatch.setattr(machine_code.prepared_code, "FOLDER", tmp_path)
    machine_code.prepared_code._files.cache_clear()
    loop = "ptxsim.functional.cta_loop.run_ctas"
    (tmp_path / "cta_loop._step-0123456789ab-0123456789ab.o").touch()
    assert not machine_code.is_compiled(loop)
    (tmp_path / "cta_loop.run_ctas-0123456789ab-0123456789ab.o").touch()
    assert machine_code.is_compiled(loop)


TWO = """
import os, sys
from ptxsim.base import machine_code
from ptxsim.base.compiler import numba_compiler
from ptxsim.base.jit import entry, types

process, compiled = os.getpid(), numba_compiler.compiled_object

def compiled_object(function):
    if os.getpid() == process:
        print("compiled here")
    elif sys.argv[1] == "fails":
        raise MemoryError
    return compiled(function)

def triple(x):
    return 3 * x

numba_compiler.compiled_object = compiled_object
machine_code._ENOUGH = 0
print(entry(types.int64(types.int64))(triple)(14))
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="one process compiles"
)
@pytest.mark.parametrize(("beside", "printed"), [("works", "42\n"), ("fails", "compiled here\n42\n")])
def test_a_second_process_compiles_the_caller(beside: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO)
    command = [sys.executable, "-W", "error", str(tmp_path / "two.py"), beside]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert (ran.stdout, ran.stderr) == (printed, "")
