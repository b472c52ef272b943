"""Launches of compiled programs are recorded, and leave the same memory when they are run again."""

from pathlib import Path
from typing import Any

import pytest
from cuda_programs import compiled, run

from ptxtool import api


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def folders(recorded: Path) -> list[Path]:
    return sorted(recorded.iterdir())


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
        assert len(outcome.checked) >= 2


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
def test_textures_are_refused_by_name(
    programs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run(capfd, compiled("textures", programs), record=tmp_path / "out")
    assert ran.run.status == 0
    assert ran.notes
    assert all(note.endswith("are not recorded, as it uses textures or surfaces") for note in ran.notes)
    assert ran.run.recording is not None
    assert ran.run.recording.launches == len(folders(tmp_path / "out"))
