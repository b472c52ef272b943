"""numba's own cache files, of functions that other machine code calls: damaged ones are not read."""

from pathlib import Path

from ptxsim.base.compiler.numba_compiler import _CheckedFiles


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
