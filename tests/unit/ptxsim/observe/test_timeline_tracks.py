"""The slices of a timeline: CTAs, states of their warps, loads and locks, in cycles worked out by hand."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from microkernels.switching import waiting_kernel
from timelines import MIXED, PAIR, SHARED, Read, run
from waiting_ctas import one_place, wait

import ptxsim
import ptxtool


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


def test_the_line_of_the_cuda_source(tmp_path: Path) -> None:
    _, timeline = run(tmp_path / "t.json", "\t.loc 1 7 5\n\tbar.sync 0x00000000;\n", 1, 128)
    waits = timeline.of_warps("barrier")
    assert {(e["args"]["line"], e["args"]["cuda"]) for e in waits} == {(11, "1:7")}
    _, timeline = run(tmp_path / "u.json", "\tbar.sync 0x00000000;\n", 1, 128)
    assert not any("cuda" in e["args"] for e in timeline.of_warps("barrier"))


def test_loads_and_who_waits_for_them(tmp_path: Path) -> None:
    result, timeline = run(tmp_path / "t.json", MIXED, 20, 96)
    names = [span["name"] for _, _, _, span in timeline.spans]
    assert names.count("load") == result.core["global_loads"] == 60
    assert names.count("atomic") == result.core["atomics"] == 60
    # one access for 32 words of a line; the addition after the load waits until it is back
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


def test_ctas_that_are_switched(tmp_path: Path) -> None:
    """CTA 0 resumes while its vector comes, and keeps its slot until its store is acknowledged. CTA 1 gives way to CTA
    2, comes back when its load is there, and CTA 2 comes back when it has ended: `waiting_ctas` on one place."""
    path = tmp_path / "t.json"
    found = wait(3, timeline=path).switching
    timeline = Read(path)
    (slot,) = (events for (_, track), events in timeline.slices.items() if track == "slot 0")
    assert [e["name"] for e in slot] == [f"CTA {n}" for n in (0, 1, 2, 1, 2)]
    # the place is empty during a switch, but not when a CTA has ended and a new one comes
    gaps = [other["ts"] - one["ts"] - one["dur"] for one, other in pairwise(slot)]
    assert gaps == [0, 45, 48, 47]
    assert sum(gaps) == found.switch_cycles
    # a load is one slice, though its CTA leaves the slot meanwhile
    loads = {s["args"]["CTA"]: back - sent for _, sent, back, s in timeline.spans}
    assert sorted(loads) == [0, 1, 2]
    assert all(40_000 < cycles < 40_300 for cycles in loads.values())


def test_a_warp_that_has_exited_does_not_come_back(tmp_path: Path) -> None:
    """Of each CTA the second warp exits before the first one loads."""
    exits = "\tmov.u32 %r73, %tid.x;\n\t.reg .pred %p;\n\tsetp.ge.u32 %p, %r73, 32;\n\t@%p exit;\n"
    kernel = ptxtool.parse(waiting_kernel(4).replace("\tld.param", f"{exits}\tld.param", 1)).kernels["k"]
    path = tmp_path / "t.json"
    gpu = one_place("switching.acrf_registers=2048")
    options: dict[str, Any] = {"gpu": gpu, "scheme": "finereg", "registers": 32, "timeline": path}
    found = ptxsim.launch(kernel, 3, 64, [np.zeros(192, np.uint32)], **options).switching
    assert found.switches == 2
    slices = Read(path).slices
    ctas = {track: [e["name"] for e in of] for (_, track), of in slices.items() if track == "slot 0"}
    warps = {track: [e["args"]["CTA"] for e in of] for (_, track), of in slices.items() if " warp " in track}
    assert ctas == {"slot 0": [f"CTA {n}" for n in (0, 1, 2, 1, 2)]}
    assert list(dict.fromkeys(warps["slot 0 warp 1"])) == [0, 1, 2]
    assert warps["slot 0 warp 1"] == sorted(warps["slot 0 warp 1"])
    assert warps["slot 0 warp 0"] != sorted(warps["slot 0 warp 0"])


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
