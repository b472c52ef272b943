"""Launches of compiled programs are recorded, and leave the same memory when they are run again."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from cuda_programs import compiled, run

from ptxtool import api
from ptxtool.formats.launch.launch_recording import LaunchRecording


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def folders(recorded: Path) -> list[Path]:
    return sorted(path for path in recorded.iterdir() if path.is_dir())


def recording_of(recorded: Path) -> LaunchRecording:
    found = api.load_recording(recorded / "launch.toml")
    assert found is not None
    return found


def kernel_of(folder: Path) -> tuple[Any, Any]:
    launch = api.load_launch(folder / "launch.toml")
    return api.kernel(api.load(folder / "kernel.ptx"), launch.kernel), launch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_launches"), [("pointers", 3), ("symbols", 1), ("launches", 6), ("matrix_multiply", 2)]
)
def test_every_launch_leaves_the_same_memory(
    name: str, n_launches: int, programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled(name, programs), record=tmp_path / "out")
    assert ran.run.recording is not None
    assert ran.run.recording.launches == len(folders(tmp_path / "out")) == n_launches
    assert ran.notes == []
    for folder, launched in zip(folders(tmp_path / "out"), ran.run.launches, strict=True):
        outcome = api.run(*kernel_of(folder))
        assert (outcome.wrong, outcome.warp_instructions) == ((), launched.warp_instructions)
        assert len(outcome.checked) >= 1
    outcome = api.run_recording(recording_of(tmp_path / "out"))
    assert (outcome.problems, outcome.left_out) == ((), ())
    assert [step.warp_instructions for step in outcome.steps] == [
        launched.warp_instructions for launched in ran.run.launches
    ]


@pytest.mark.slow
def test_a_launch_with_time_has_the_same_cycles(
    programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first one: the later ones found warm caches in the application."""
    program = compiled("pointers", programs)
    ran = run(capfd, program, timed=True, gpu_chosen=True, record=tmp_path / "out")
    results = [api.simulate(*kernel_of(folder)) for folder in folders(tmp_path / "out")]
    assert [result.problems for result in results] == [()] * 3
    launched = [launch.cycles for launch in ran.run.launches]
    again = [result.cycles for found in results for result in found.results]
    assert again[0] == launched[0]
    assert all(cold > warm for cold, warm in zip(again[1:], launched[1:], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_launches"),
    [("pointers", 3), ("symbols", 1), ("launches", 6), ("matrix_multiply", 2), ("wavefront", 7)],
)
def test_a_whole_recording_has_the_same_cycles(
    name: str, n_launches: int, programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled(name, programs)
    ran = run(capfd, program, timed=True, gpu_chosen=True, record=tmp_path / "out")
    again = api.simulate_recording(recording_of(tmp_path / "out"))
    assert again.problems == ()
    assert [result.cycles for result in again.results] == [launch.cycles for launch in ran.run.launches]
    assert len(again.results) == n_launches


@pytest.mark.slow
def test_what_a_launch_does_not_change_is_not_stored_again(
    programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A matrix of 257 x 257, four rows a page: 31 launches change 1 to 16 tiles of 16 rows. Of fewer than 8 tiles the
    changed pages are stored, less than half of all."""
    ran = run(capfd, compiled("wavefront", programs), 256, record=tmp_path / "out")
    recording = ran.run.recording
    assert recording is not None
    assert recording.content_bytes == 31 * 2 * 257 * 257 * 4
    files = {
        path.stat().st_ino: path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert recording.file_bytes == sum(files.values()) < recording.content_bytes / 12
    changes = {path.stat().st_ino for path in (tmp_path / "out").rglob("*.changes*")}
    assert len(changes) == 2 * 7
    assert api.run_recording(recording_of(tmp_path / "out")).problems == ()
    alone = tmp_path / "elsewhere"
    shutil.copytree(folders(tmp_path / "out")[20], alone)
    assert api.run(*kernel_of(alone)).problems == ()


@pytest.mark.slow
def test_textures_are_refused_by_name(
    programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled("textures", programs), record=tmp_path / "out")
    assert ran.run.status == 0
    assert ran.notes
    assert all(note.endswith("are not recorded, as it uses textures or surfaces") for note in ran.notes)
    assert ran.run.recording is not None
    assert ran.run.recording.launches == len(folders(tmp_path / "out"))
    if (tmp_path / "out" / "launch.toml").exists():
        assert api.run_recording(recording_of(tmp_path / "out")).left_out
