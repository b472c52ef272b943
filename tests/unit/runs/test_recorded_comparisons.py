"""Every launch of a recording is compared by itself; one that cannot be is part of the result."""

from pathlib import Path

import pytest
from recorded_program import recorded

from ptxtool import api
from ptxtool.applications.launch_choice import launch_choice
from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_recording import LaunchRecording


def recording_of(folder: Path) -> LaunchRecording:
    found = api.load_recording(folder / "launch.toml")
    assert found is not None
    return found


@pytest.mark.slow
def test_each_launch_has_the_comparison_of_its_folder(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    told: list[str] = []
    found = api.compare_recording(recording_of(tmp_path / "out"), scheduler="gto", announce=told.append)
    folder = tmp_path / "out" / "0004-sum"
    alone = api.compare(
        api.kernel(api.load(folder / "kernel.ptx"), "sum"), folder / "launch.toml", scheduler="gto"
    )
    assert (found.of, found.complete, found.problems) == (2, True, ())
    assert [each.number for each in found.launches] == [2, 4]
    second = found.launches[1].comparison
    assert second is not None
    assert second.to_dict() == alone.to_dict()
    assert found.names == tuple(rung.name for rung in alone.rungs)
    assert told[0].startswith("launch 2, scale: Unshared-GTO")
    assert found.left_out == ("launch 1", "launch 3")


@pytest.mark.slow
def test_register_schemes(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    found = api.compare_recording_schemes(recording_of(tmp_path / "out"), ["virtual-thread"], jobs=1)
    assert found.names == ("none", "virtual-thread")
    assert [total.launches for total in found.totals] == [(2, 4), (2, 4)]
    assert found.problems == ()


def test_what_one_launch_cannot_do_stops_no_other(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    kernel = tmp_path / "out" / "0002-scale" / "kernel.ptx"
    kernel.write_text(kernel.read_text().replace("[%rd3];", "[%rd3+4096];", 1))
    found = api.compare_recording(recording_of(tmp_path / "out"))
    assert [each.comparison is None for each in found.launches] == [True, False]
    assert [problem.code for problem in found.problems] == ["E404"]
    assert found.problems[0].message.startswith("launch 2: ")


def test_wrong_options_are_no_refusals(tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2"))
    with pytest.raises(PtxError, match="E502"):
        api.compare_recording(recording_of(tmp_path / "out"), scheduler="none-such")
