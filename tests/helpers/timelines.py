"""Kernels that leave all kinds of events in a timeline, and the file as read, held against the rules of the format."""

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from microkernel import kernel

import ptxsim

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


# $r8 (number 9) is shared, see test_registers.py: one CTA an SM has all of its registers, its partner waits
SHARED = "\tmov.u32 $r8, $r0;\n" + "\tadd.u32 $r8, $r8, 0x00000001;\n" * 40


PAIR = {"registers": 300, "share_registers": 99}
