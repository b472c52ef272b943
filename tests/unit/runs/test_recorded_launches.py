"""A recording is run again on one machine: the same memory and, with time, the same cycles for every launch."""

from pathlib import Path

import pytest
from recorded_program import SCALE, recorded

from ptxtool import api
from ptxtool.applications.launch_choice import launch_choice
from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_recording import LaunchRecording


def recording_of(folder: Path) -> LaunchRecording:
    found = api.load_recording(folder / "launch.toml")
    assert found is not None
    return found


@pytest.mark.slow
def test_every_launch_has_the_same_memory_and_cycles(tmp_path: Path) -> None:
    cycles = recorded(tmp_path / "out")
    assert cycles[2] < cycles[0]  # warm caches
    announced: list[str] = []
    run = api.simulate_recording(recording_of(tmp_path / "out"), announce=announced.append)
    assert run.problems == ()
    assert [result.cycles for result in run.results] == cycles
    assert (run.of, run.numbers, run.left_out, run.status) == (5, (1, 2, 3, 4, 5), (), "done")
    assert announced[3] == "4 of 5, sum"
    assert len(run.checked) >= 4


@pytest.mark.slow
def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """Without the first launch, the third one reads from DRAM: memory is right, cycles are more."""
    cycles = recorded(tmp_path / "out", launch_choice("3-5"))
    run = api.simulate_recording(recording_of(tmp_path / "out"))
    assert (run.problems, run.numbers, run.left_out) == ((), (3, 4, 5), ("launches 1-2",))
    assert run.results[0].cycles > cycles[2]
    assert run.to_dict()["left_out"] == ["launches 1-2"]


@pytest.mark.slow
def test_launches_without_time_have_the_same_memory_but_no_cycles(tmp_path: Path) -> None:
    cycles = recorded(tmp_path / "out")
    path = tmp_path / "out" / "launch.toml"
    path.write_text(path.read_text().replace("number = 1\n", "number = 1\ntime = false\n"))
    run = api.simulate_recording(recording_of(tmp_path / "out"))
    assert (run.problems, run.numbers) == ((), (2, 3, 4, 5))
    assert run.results[1].cycles > cycles[2]


def test_without_time(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1-2,4-5"))
    outcome = api.run_recording(recording_of(tmp_path / "out"))
    assert (outcome.problems, outcome.numbers, outcome.left_out) == ((), (1, 2, 4, 5), ("launch 3",))
    assert [step.kernel for step in outcome.steps] == ["sum", "scale", "sum", "sum"]
    assert {"arg0", "arg1"} <= {buffer.name for buffer in outcome.buffers}


def test_another_result_is_found_and_does_not_spread(tmp_path: Path) -> None:
    """Every launch begins with its recorded memory: what one computes wrongly is not what the next one reads."""
    recorded(tmp_path / "out")
    kernel = tmp_path / "out" / "0002-scale" / "kernel.ptx"
    kernel.write_text(kernel.read_text().replace("%r2, 3", "%r2, 4"))
    outcome = api.run_recording(recording_of(tmp_path / "out"))
    (wrong,) = outcome.problems
    assert wrong.source is not None
    assert wrong.source.name == str(tmp_path / "out" / "0002-scale" / "launch.toml")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("grid = 1\nblock = 1\n", "does not say which file its kernel is in"),
        ('file = "kernel.ptx"\ngrid = 1\nblock = 1\n', "no memory of it has an address"),
        ('file = "kernel.ptx"\ngrid = 1\nblock = 1\n[module]\ncode = 0\n', "E401.*takes 1 argument, 0 given"),
    ],
)
def test_launch_files_that_are_no_recorded_ones(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "launch.toml").write_text(text)
    (tmp_path / "a" / "kernel.ptx").write_text(SCALE)
    (tmp_path / "launch.toml").write_text('[[launch]]\nfile = "a/launch.toml"\n')
    with pytest.raises(PtxError, match=f"(?s){what}"):
        api.run_recording(recording_of(tmp_path))
