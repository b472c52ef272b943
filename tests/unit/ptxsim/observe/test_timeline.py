"""The timeline of a run: a valid and whole file of events whatever ends the run, its parts, and no influence."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernel import kernel, loop
from timelines import MIXED, PAIR, SHARED, Read, run
from uncompiled import output_of

import ptxsim
from ptxsim.observe.timeline import _undisturbed
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

SWITCHED = {
    "gpu": with_settings(load_gpu("gtx980-finereg"), ["sm.count=2", "sm.ctas=3"]),
    "scheme": "finereg",
}


@pytest.mark.parametrize(
    "options", [{}, PAIR, {"gpu": "gpgpusim42-c2050"}, {"scheduler": "two_level:2"}, SWITCHED]
)
def test_nothing_depends_on_a_timeline_nor_it_on_skipping(tmp_path: Path, options: dict[str, Any]) -> None:
    body = MIXED + SHARED
    files, results = [], []
    for k, more in enumerate(({}, {"event_skip": False}, {})):
        path = tmp_path / f"{k}" / "t.json.gz"
        path.parent.mkdir()
        results.append(run(path, body, 40, 64, **options, **more)[0].to_dict())
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]
    without = ptxsim.launch(kernel(body), 40, 64, [np.zeros(4096, np.uint32), 3], **options).to_dict()
    assert [result == without for result in results] == [True, True, True]


def test_only_some_sms_and_cycles(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    result, whole = run(path, MIXED, 60, 96)
    _, part = run(
        path, MIXED, 60, 96, timeline=ptxsim.Timeline(path, sms=[3, 5], first_cycle=100, last_cycle=500)
    )
    assert set(part.processes.values()) == {"GPU", "SM 3", "SM 5"}
    assert result.cycles > 500
    for key, events in part.slices.items():
        if key[0] != "GPU":
            cut = [(max(e["ts"], 100), min(e["ts"] + e["dur"], 500), e["name"]) for e in whole.slices[key]]
            assert [(e["ts"], e["ts"] + e["dur"], e["name"]) for e in events] == [
                c for c in cut if c[0] < c[1]
            ]
    times = [time for of in part.counters.values() for time, _ in of]
    assert min(times) >= 100
    assert max(times) <= 500
    (about,) = part.about["launches"]
    assert (about["first_cycle"], about["last_cycle"], about["cycles"]) == (100, 500, result.cycles)


def test_a_part_behind_the_end_is_empty(tmp_path: Path) -> None:
    _, timeline = run(
        tmp_path / "t.json", "", timeline=ptxsim.Timeline(tmp_path / "t.json", first_cycle=10**6)
    )
    assert timeline.events == []


def test_recording_ends_with_the_most_events(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    timeline = ptxsim.Timeline(path, max_events=200)
    result, read = run(path, MIXED, 60, 96, timeline=timeline)
    (about,) = read.about["launches"]
    end = about["last_cycle"]
    assert 0 < end < result.cycles
    assert f"cycles from {end} on" in about["left_out"]
    assert about["left_out"] in str(timeline)
    assert max(e["ts"] + e.get("dur", 0) for e in read.events if "ts" in e) == end
    assert sorted(read.ctas()) == list(range(60))  # what had not ended is there, up to that cycle


@pytest.mark.parametrize("on_interrupt", ["raise", "return"])
def test_an_interrupted_run_leaves_a_whole_file(tmp_path: Path, on_interrupt: Any) -> None:
    path = tmp_path / "t.json.gz"

    def interrupt(at: object) -> None:
        raise KeyboardInterrupt

    words = np.zeros(4096, np.uint32)
    arguments = (kernel(loop("", MIXED)), 14, 96, [words, 1000])
    options: dict[str, Any] = {"timeline": path, "progress": interrupt, "on_interrupt": on_interrupt}
    if on_interrupt == "raise":
        with pytest.raises(KeyboardInterrupt):
            ptxsim.launch(*arguments, **options)
    else:
        assert ptxsim.launch(*arguments, **options).status == "interrupted"
    timeline = Read(path)
    (about,) = timeline.about["launches"]
    assert about["last_cycle"] == about["cycles"] == timeline.ctas()[0][2]
    assert os.listdir(tmp_path) == ["t.json.gz"]


def test_a_run_that_fails_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    with pytest.raises(PtxError, match="E404"):
        run(path, MIXED + "\tmov.u32 $r1, 0x00000010;\n\tld.global.u32 $r2, [$r1];\n", 2)
    assert Read(path).ctas().keys() == {0, 1}


def test_a_cycle_limit_cuts_what_goes_on(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", MIXED, 2, max_cycles=50)
    assert result.status == "max-cycles"
    assert {end for _, _, end in timeline.ctas().values()} == {50}


def test_launches_one_behind_the_other(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    with ptxsim.Timeline(path) as timeline:
        cycles = [
            ptxsim.launch(kernel(""), grid, 32, [np.zeros(4, np.uint32), 1], timeline=timeline).cycles
            for grid in (14, 28)
        ]
        assert not path.exists()
    read = Read(path)
    kernels = read.slices["GPU", "kernels"]
    assert [(e["ts"], e["dur"]) for e in kernels] == [(0, cycles[0]), (cycles[0], cycles[1])]
    starts = sorted(e["ts"] for e in read.slices["SM 0", "slot 0"])
    assert starts == [0, cycles[0]]


def test_what_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for options in (
        {"first_cycle": -1},
        {"last_cycle": 0},
        {"first_cycle": 5, "last_cycle": 5},
        {"sample_cycles": 0},
        {"max_events": 0},
        {"sms": [-1]},
    ):
        with pytest.raises(PtxError, match="E401"):
            ptxsim.Timeline(path, **options)  # type: ignore[arg-type]
    with pytest.raises(PtxError, match="no SM 14: tesla-c2050 has 14"):
        run(path, "", timeline=ptxsim.Timeline(path, sms=[14]))
    with pytest.raises(PtxError, match="E503"):
        run(tmp_path / "nowhere" / "t.json", "")
    assert os.listdir(tmp_path) == []


def test_ctrl_c_waits_for_the_file() -> None:
    done = []

    def write() -> None:
        with _undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("written")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert done == ["written"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk() -> None:
    with pytest.raises(PtxError, match="E503"):
        ptxsim.launch(kernel(""), 14, 32, [np.zeros(4, np.uint32), 1], timeline="/dev/full")


WITHOUT = """
import sys
from pathlib import Path
import timelines
from microkernels.measure import one_sm
body = timelines.MIXED + timelines.SHARED
timelines.run(Path(sys.argv[1]), body, 4, 64, gpu=one_sm("tesla-c2050"), **timelines.PAIR)
"""


@pytest.mark.slow
def test_the_same_without_compilation(tmp_path: Path) -> None:
    def run_in(folder: str, compiled: bool) -> bytes:
        path = tmp_path / folder / "t.json"
        path.parent.mkdir()
        output_of(WITHOUT, str(path), compiled=compiled, beside=__file__)
        return path.read_bytes()

    assert run_in("without", compiled=False) == run_in("with", compiled=True)
