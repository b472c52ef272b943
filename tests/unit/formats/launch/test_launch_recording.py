"""Lists of recorded launches: reading them, and what is wrong with one."""

from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.formats.launch.launch_recording import load_recording

LIST = """
memory_bytes = 2097152

[[launch]]
file = "a/launch.toml"
number = 2

[[launch]]
file = "b/launch.toml"
number = 5
left_out = "launches 3-4"
time = false
"""


def written(folder: Path, text: str = LIST) -> Path:
    for name in "ab":
        (folder / name).mkdir()
        (folder / name / "launch.toml").write_text("grid = 1\nblock = 1\n")
    (folder / "launch.toml").write_text(text)
    return folder / "launch.toml"


def test_a_list_has_files_numbers_and_what_is_left_out(tmp_path: Path) -> None:
    recording = load_recording(written(tmp_path))
    assert recording is not None
    assert (recording.memory_bytes, recording.allow_outside) == (2 << 20, False)
    first, second = recording.launches
    assert (first.number, first.file, first.timed, first.left_out) == (
        2,
        tmp_path / "a" / "launch.toml",
        True,
        "",
    )
    assert (second.number, second.timed, second.left_out) == (5, False, "launches 3-4")


def test_without_numbers_launches_are_counted(tmp_path: Path) -> None:
    recording = load_recording(
        written(tmp_path, '[[launch]]\nfile = "b/launch.toml"\n[[launch]]\nfile = "a/launch.toml"\n')
    )
    assert recording is not None
    assert recording.memory_bytes == 1 << 30
    assert [(each.number, each.file.parent.name) for each in recording.launches] == [(1, "b"), (2, "a")]


def test_other_launch_files_are_none(tmp_path: Path) -> None:
    written(tmp_path)
    assert load_recording(tmp_path / "a" / "launch.toml") is None


def test_a_list_is_no_launch(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match="a list of 2 recorded launches, where one launch is needed"):
        load_launch(written(tmp_path))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("a/launch.toml", "c/launch.toml"), "E501.*no launch file 'c/launch.toml'"),
        (("a/launch.toml", "../launch.toml"), "'../launch.toml' is not in the folder of the launch file"),
        (("number = 2", "grid = 2"), "unknown key 'grid'"),
        (("number = 2", "number = 0"), "'number' must be a whole number >= 1"),
        (("2097152", "4096"), "'memory_bytes' must be a whole number >= 1048576"),
        (('file = "a/launch.toml"', ""), "missing key 'file'"),
        (("time = false", "time = 0"), "'time' must be true or false"),
    ],
)
def test_what_is_wrong_with_a_list_is_reported(tmp_path: Path, change: tuple[str, str], what: str) -> None:
    with pytest.raises(PtxError, match=f"(?s){what}"):
        load_recording(written(tmp_path, LIST.replace(*change)))
