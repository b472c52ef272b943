"""Prepared machine code: used where everything fits, and refused with the reason where anything does not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llvmlite import binding
from numba import types

from ptxsim.base import machine_code, notice, prepared_code
from ptxsim.base.jit import JIT_DISABLED, entry

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")

FEATURES = dict.fromkeys(prepared_code.LEVELS["x86-64-v3"][1].split(), True)


def _double() -> Any:
    def double(x: int) -> int:
        return 2 * x

    return entry(types.int64(types.int64))(double)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file for level v3, with one function; the folder of the user's own machine code is empty."""
    made, empty, folder = (tmp_path / name for name in ("made", "empty", "prepared"))
    monkeypatch.setattr(machine_code, "folder", lambda module: made)
    function = _double()
    assert function(21) == 42
    folder.mkdir()
    path = folder / "x86-64-v3.code"
    path.write_bytes(prepared_code.pack("x86-64-v3", [machine_code.stored(function)]))
    monkeypatch.setattr(machine_code, "folder", lambda module: empty)
    monkeypatch.setattr(prepared_code, "FOLDER", folder)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: _Features(FEATURES))
    _forget()
    yield path
    _forget()


class _Features(dict[str, bool]):
    def flatten(self) -> str:
        return ",".join(sorted(self))


def _forget() -> None:
    for cached in (prepared_code._files, prepared_code._fitting, machine_code._processor):
        cached.cache_clear()


def _compiles(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a call of the function needs the compiler."""
    from ptxsim.base.compiler import numba_compiler

    compiled: list[Any] = []

    def compiled_object(function: Any) -> Any:
        compiled.append(function)
        return original(function)

    original = numba_compiler.compiled_object
    with monkeypatch.context() as patched:
        patched.setattr(numba_compiler, "compiled_object", compiled_object)
        assert _double()(-4) == -8
    return bool(compiled)


def test_what_fits_is_used(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _compiles(monkeypatch)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")  # changes no machine code
    _forget()
    assert not _compiles(monkeypatch)
    sources, name = machine_code.sources(__name__), "test_prepared_code._double.<locals>.double"
    assert prepared_code.holds(sources, name)
    assert not prepared_code.holds(sources, name[:-1])


def test_the_users_own_comes_first(prepared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_code, "folder", lambda module: tmp_path / "made")
    path = machine_code._path(_double())
    path.write_bytes(next((tmp_path / "made").glob("*.o")).read_bytes())
    monkeypatch.setattr(prepared_code, "find", None)
    assert not _compiles(monkeypatch)


def _other_triple(path: Path, patch: pytest.MonkeyPatch) -> str:
    path.write_bytes(path.read_bytes().replace(b'"triple": "', b'"triple": "s390x-', 1))
    triple = binding.get_process_triple()
    return f"is for s390x-{triple}, not for {triple}"


def _less_capable_processor(path: Path, patch: pytest.MonkeyPatch) -> str:
    patch.setattr(
        binding, "get_host_cpu_features", lambda: _Features(FEATURES | {"bmi2": False, "fma": False})
    )
    return "needs a processor with bmi2, fma"


def _other_numba(path: Path, patch: pytest.MonkeyPatch) -> str:
    patch.setattr(prepared_code, "NUMBA_VERSION", "0.60.0")
    from importlib.metadata import version

    return f"is for numba {version('numba')}, not for 0.60.0"


def _numba_variable(path: Path, patch: pytest.MonkeyPatch) -> str:
    patch.setenv("NUMBA_OPT", "1")
    return "is not for NUMBA_OPT=1"


def _other_sources(path: Path, patch: pytest.MonkeyPatch) -> str:
    patch.setattr(machine_code, "sources", lambda module: "0123456789abcdef0123")
    return "is of other sources"


@pytest.mark.parametrize(
    "change", [_other_triple, _less_capable_processor, _other_numba, _numba_variable, _other_sources]
)
def test_what_does_not_fit_is_refused(
    change: Callable[[Path, pytest.MonkeyPatch], str],
    prepared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = change(prepared, monkeypatch)
    _forget()
    assert prepared_code.misfit() == reason
    assert _compiles(monkeypatch)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: False)
    notice.say_if_compiling("run")
    text = f"the simulator (once after installation, up to a minute; prepared machine code {reason})"
    assert capsys.readouterr() == ("", f"compiling {text} ...\n")


def test_damaged_files_are_refused(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = prepared.read_bytes()
    start = whole.index(b"\n") + 1
    flipped = bytearray(whole)
    flipped[start + 40] ^= 0xFF
    for damaged in (b"", b"{}\n", whole[: start - 9], whole[: start + 20], bytes(flipped)):
        prepared.write_bytes(damaged)
        _forget()
        monkeypatch.setattr(machine_code, "_write", lambda *_: None)
        assert _compiles(monkeypatch)
    prepared.write_bytes(whole)
    _forget()
    assert not _compiles(monkeypatch)


def test_the_best_level_that_fits_is_used(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = prepared.with_name("x86-64-v2.code")
    second.write_bytes(prepared.read_bytes().replace(b"x86-64-v3", b"x86-64-v2", 1))
    for features, path in ((FEATURES, prepared), (FEATURES | {"avx2": False}, second)):
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda f=features: _Features(f))
        _forget()
        found = prepared_code._fitting()
        assert found is not None
        assert found.path == path


def test_nothing_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_code, "FOLDER", tmp_path / "absent")
    _forget()
    assert prepared_code.misfit() == ""
    assert prepared_code.find("0", "a") is None
    _forget()
