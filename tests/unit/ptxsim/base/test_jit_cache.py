"""The files of machine code: damaged ones are compiled anew, and a full disk stops nothing."""

from pathlib import Path

import pytest
from numba import types

from ptxsim.base.jit import JIT_DISABLED, _CheckedFiles, entry


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


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_what_cannot_be_saved_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_CheckedFiles, "save", full)
    monkeypatch.setattr("ptxsim.base.jit.folder", lambda module: tmp_path)

    def double(x: int) -> int:
        return 2 * x

    assert entry(types.int64(types.int64))(double)(21) == 42
    assert list(tmp_path.rglob("*.nbi")) == []
