"""The timeline of a run: a valid file of events, cycles worked out by hand, the counters' own numbers, no influence."""

import gzip
import json
import os
import signal
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernel import kernel, loop
from uncompiled import output_of

import ptxsim
from ptxsim.observe.timeline import _undisturbed
from ptxtool.base.diag import PtxError

Event = dict[str, Any]

# a load, a barrier, an atomic, a fence, and lanes that go different ways
MIXED = (
    "\tcvt.u32.u16 $r1, $r0.lo;\n"
    "\tshl.u32 $r1, $r1, 0x00000002;\n"
    "\tadd.u32 $r1, $r1, s[0x0010];\n"
    "\tld.global.u32 $r2, [$r1];\n"
    "\tadd.u32 $r3, $r2, $r2;\n"
    "\tbar.sync 0x00000000;\n"
    "\tst.global.u32 [$r1], $r3;\n"
    "\tmembar.gl;\n"
    "\tmov.u32 $r4, s[0x0010];\n"
    "\tatom.global.add.u32 $r5, [$r4], $r3;\n"
    "\tadd.u32 $r6, $r5, $r5;\n"
)


class Read:
    """A timeline as read from its file, held against the rules of the format."""

    def __init__(self, path: Path):
        data = path.read_bytes()
        file = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        self.about = file["otherData"]
        self.events: list[Event] = file["traceEvents"]
        self.processes: dict[int, str] = {}
        self.tracks: dict[int, tuple[int, str]] = {}
        self.slices: dict[tuple[str, str], list[Event]] = defaultdict(list)
        self.spans: list[tuple[str, int, int, Event]] = []
        self.counters: dict[tuple[str, str], list[tuple[int, dict[str, float]]]] = defaultdict(list)
        open_spans: dict[str, Event] = {}
        for event in self.events:
            kind, pid = event["ph"], event["pid"]
            assert kind in "MXbeC"
            if kind == "M":
                self._name(event, pid)
                continue
            assert pid in self.processes, "a process is named before it is used"
            assert isinstance(event["ts"], int)
            assert event["ts"] >= 0
            if kind == "X":
                assert event["dur"] > 0
                of, name = self.tracks[event["tid"]]
                assert of == pid
                self.slices[self.processes[pid], name].append(event)
            elif kind == "b":
                assert open_spans.setdefault(event["id"], event) is event
            elif kind == "e":
                begin = open_spans[event["id"]]
                assert [begin[k] for k in ("cat", "name", "pid")] == [
                    event[k] for k in ("cat", "name", "pid")
                ]
                assert event["ts"] > begin["ts"]
                self.spans.append((self.processes[pid], begin["ts"], event["ts"], begin))
            else:
                assert all(isinstance(v, int | float) for v in event["args"].values())
                self.counters[self.processes[pid], event["name"]].append((event["ts"], event["args"]))
        assert 2 * len(self.spans) == sum(event["ph"] in "be" for event in self.events)
        assert not set(self.processes) & set(self.tracks)
        for found in self.slices.values():
            found.sort(key=lambda event: event["ts"])
            for one, other in pairwise(found):
                assert one["ts"] + one["dur"] <= other["ts"], "slices of a track overlap"
        for times in self.counters.values():
            assert times == sorted(times, key=lambda entry: entry[0])

    def _name(self, event: Event, pid: int) -> None:
        if event["name"] == "process_name":
            assert pid not in self.processes
            self.processes[pid] = event["args"]["name"]
        elif event["name"] == "thread_name":
            assert event["tid"] not in self.tracks, "Perfetto wants all tracks to have numbers of their own"
            self.tracks[event["tid"]] = pid, event["args"]["name"]
        else:
            assert event["name"] in ("process_sort_index", "thread_sort_index")

    def of_warps(self, name: str) -> list[Event]:
        """The slices of that name on tracks of warps."""
        return [
            e
            for (_, track), found in self.slices.items()
            if " warp " in track
            for e in found
            if e["name"] == name
        ]

    def ctas(self) -> dict[int, tuple[str, int, int]]:
        """Where each CTA was, from when to when."""
        found = {}
        for (process, track), events in self.slices.items():
            if track.startswith("slot") and " warp " not in track:
                for e in events:
                    number = int(e["name"].removeprefix("CTA "))
                    assert number not in found
                    found[number] = process, e["ts"], e["ts"] + e["dur"]
        return found


def run(
    path: Path, body: str, grid: Any = 1, block: Any = 32, **options: Any
) -> tuple[ptxsim.SimResult, Read]:
    options.setdefault("timeline", path)
    words = np.zeros(4096, np.uint32)
    return ptxsim.launch(kernel(body), grid, block, [words, 3], **options), Read(path)


def test_ctas_of_an_empty_kernel(tmp_path: Path) -> None:
    """Section 1.8: all SMs take a CTA in the first cycle; with one slot each, the next one comes in the cycle in which
    the one before is gone. A CTA of one warp is there for 9 cycles when its code is: launched in cycle c, fetch c + 1,
    issue of `exit` c + 3, its pipe is empty 6 cycles later."""
    result, timeline = run(tmp_path / "t.json", "", 14 * 3, registers=1000)
    ctas = timeline.ctas()
    assert sorted(ctas) == list(range(14 * 3))
    assert {ctas[n][1] for n in range(14)} == {0}
    by_sm = defaultdict(list)
    for number in sorted(ctas):
        sm, start, end = ctas[number]
        by_sm[sm].append((start, end))
    assert len(by_sm) == 14
    for of_sm in by_sm.values():  # the first one waits for the code
        for before, cta in pairwise(of_sm):
            assert cta == (before[1], before[1] + 9)
    assert max(end for _, _, end in ctas.values()) + 1 == result.cycles


def test_warps_fill_the_time_of_their_cta(tmp_path: Path) -> None:
    _, timeline = run(tmp_path / "t.json", MIXED, 20, 96)
    for (process, track), events in timeline.slices.items():
        if " warp " in track:
            slot = timeline.slices[process, track.partition(" warp ")[0]]
            for cta in slot:
                inside = [e for e in events if cta["ts"] <= e["ts"] < cta["ts"] + cta["dur"]]
                assert inside[0]["ts"] == cta["ts"]
                for one, other in pairwise(inside):
                    assert one["ts"] + one["dur"] == other["ts"]
                assert {f"CTA {e['args']['CTA']}" for e in inside} == {cta["name"]}
    assert {e["name"] for e in timeline.of_warps("fence")} == {"fence"}


def test_a_barrier_ends_for_all_at_once(tmp_path: Path) -> None:
    """Of four warps three wait, the last one comes and all go on."""
    result, timeline = run(tmp_path / "t.json", "\tbar.sync 0x00000000;\n", 1, 128)
    waits = timeline.of_warps("barrier")
    assert len(waits) == 3
    assert len({e["ts"] + e["dur"] for e in waits}) == 1
    assert {(e["args"]["line"], e["args"]["instruction"]) for e in waits} == {(10, "bar.sync 0x00000000;")}
    assert result.core["barriers"] == 4


def test_loads_and_who_waits_for_them(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", MIXED, 20, 96)
    names = [span["name"] for _, _, _, span in timeline.spans]
    assert names.count("load") == result.core["global_loads"] == 60
    assert names.count("atomic") == result.core["atomics"] == 60
    # one access for 32 words of a line; the addition behind the load waits until it is back
    loads = {
        (sm, s["args"]["CTA"], s["args"]["warp"]): (a, b)
        for sm, a, b, s in timeline.spans
        if s["name"] == "load"
    }
    assert {s["args"]["accesses"] for _, _, _, s in timeline.spans if s["name"] == "load"} == {1}
    waits = 0
    for (process, track), events in timeline.slices.items():
        for e in events:
            if e["name"] == "memory":
                sent, back = loads[process, e["args"]["CTA"], int(track.rpartition(" ")[2])]
                assert (e["ts"] > sent, e["ts"] + e["dur"]) == (True, back)
                assert e["args"]["instruction"] == "add.u32 $r3, $r2, $r2;"
                waits += 1
    assert waits == 60


# $r8 (number 9) is shared, see test_registers.py: one CTA an SM has all of its registers, its partner waits
SHARED = "\tmov.u32 $r8, $r0;\n" + "\tadd.u32 $r8, $r8, 0x00000001;\n" * 40
PAIR = {"registers": 300, "share_registers": 99}


def test_locks(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", SHARED, 14 * 6, 64, **PAIR)
    assert result.shared_pairs == 1
    waits = timeline.of_warps("lock")
    assert sum(e["dur"] for e in waits) == result.core["lock_wait_cycles"] > 0
    (point,) = result.stall_points
    assert {e["args"]["line"] for e in waits} == {point.line}
    held = [e for (_, track), events in timeline.slices.items() if " lock " in track for e in events]
    assert len(held) == 14 * 6 * 2  # each warp of each CTA takes its lock once
    owned = [e for (_, track), events in timeline.slices.items() if track.endswith(" owner") for e in events]
    assert sorted(int(e["name"][4:]) for e in owned) == list(range(14 * 6))  # each owns its pair in its turn
    # a warp waits until its partner of the owner has exited and given the lock back
    ends = {e["ts"] + e["dur"] for e in held}
    assert all(e["ts"] + e["dur"] - 1 in ends for e in waits)


def test_counters_have_the_sums_of_the_result(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", MIXED, 40, 96)

    def total(name: str, key: str) -> float:
        area = 0.0
        for (_, of), times in timeline.counters.items():
            if of == name:
                for (time, values), (until, _) in pairwise(times):
                    area += values[key] * (until - time)
                assert times[-1][1][key] == 0
        return area

    assert total("issue", "warp IPC") == pytest.approx(result.warp_instructions, rel=1e-4)
    assert total("L2", "accesses per cycle") == pytest.approx(result.l2["accesses"], rel=1e-4)
    assert total("L2", "misses per cycle") == pytest.approx(result.l2["misses"], rel=1e-4)
    assert total("DRAM", "reads per cycle") == pytest.approx(result.dram["reads"], rel=1e-4)
    assert total("DRAM", "writes per cycle") == pytest.approx(result.dram["writes"], rel=1e-4)


@pytest.mark.parametrize("options", [{}, PAIR, {"gpu": "gpgpusim42-c2050"}, {"scheduler": "two_level:2"}])
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
import test_timeline
from microkernels.measure import one_sm
body = test_timeline.MIXED + test_timeline.SHARED
test_timeline.run(Path(sys.argv[1]), body, 4, 64, gpu=one_sm("tesla-c2050"), **test_timeline.PAIR)
"""


@pytest.mark.slow
def test_the_same_without_compilation(tmp_path: Path) -> None:
    def run_in(folder: str, compiled: bool) -> bytes:
        path = tmp_path / folder / "t.json"
        path.parent.mkdir()
        output_of(WITHOUT, str(path), compiled=compiled, beside=__file__)
        return path.read_bytes()

    assert run_in("without", compiled=False) == run_in("with", compiled=True)
