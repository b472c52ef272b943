"""The folder of machine code: private, or replaced, or a temporary one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxsim.base.cache_root import TEMPORARY, cache_root
from ptxtool.base.diag import PtxError

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of caches, and no folder chosen yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(TEMPORARY, "")
    cache_root.cache_clear()
    yield tmp_path / "cache" / "ptxtool"
    cache_root.cache_clear()


def test_it_is_made_for_its_user_alone(home: Path) -> None:
    assert cache_root() == home / "compiled"
    assert (home / "compiled").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
def test_a_folder_that_others_can_write_to_is_replaced(home: Path, mode: int) -> None:
    folder = home / "compiled"
    folder.mkdir(parents=True)
    (folder / "planted").touch()
    folder.chmod(mode)
    assert cache_root() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in home.rglob("*")] == ["compiled"]


def test_a_link_to_another_folder_is_replaced(home: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    (home / "compiled").symlink_to(tmp_path)
    assert cache_root() == home / "compiled"
    assert not cache_root().is_symlink()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_replaced(home: Path) -> None:
    (home / "compiled").mkdir(parents=True)
    os.chown(home / "compiled", 12345, 12345)
    assert cache_root() == home / "compiled"
    assert cache_root().stat().st_uid == 0


def _temporary(capsys: pytest.CaptureFixture[str], reason: str) -> None:
    found = cache_root()
    assert found.is_dir()
    assert found.name.startswith("ptxtool-")
    assert found.stat().st_mode & 0o777 == 0o700
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ptxtool: cannot keep machine code in ")
    assert reason in line
    assert os.environ[TEMPORARY] == str(found)
    cache_root.cache_clear()
    assert cache_root() == found  # as in a child of this process
    assert capsys.readouterr().err == ""
    found.rmdir()


def test_without_a_home_there_is_a_temporary_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    _temporary(capsys, "(Not a directory)")


def test_a_parent_that_others_can_write_to_is_not_used(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir(parents=True)
    home.chmod(0o777)
    _temporary(capsys, "(others can write to it)")


def test_a_full_disk(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    _temporary(capsys, "(No space left on device)")


def test_no_folder_at_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr("tempfile.tempdir", "/dev/null")
    with pytest.raises(PtxError, match=r"E503.*nor in a temporary folder"):
        cache_root()
