"""A timeline of timed launches, in a file that Perfetto opens: which SMs and cycles, and where it goes.

    ptxsim.launch(kernel, grid, block, args, timeline="out.json.gz")
    ptxsim.launch(kernel, grid, block, args, timeline=Timeline("out.json.gz", sms=[0], last_cycle=5000))
    with Timeline("out.json.gz") as timeline:  # several launches, one after the other
        ...

A microsecond in the file is a core cycle. `timeline_tracks.py` and `timeline_counters.py` write its contents, which
docs/timeline.md describes. A run that fails or is interrupted leaves a complete file of the cycles until then.
"""

import signal
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from ptxsim.base.options import whole
from ptxsim.observe.timeline_counters import Counters
from ptxsim.observe.timeline_tracks import Tracks
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.timeline_codes import SIZE, WORDS
from ptxtool.base.diag import error
from ptxtool.formats.trace_events import TraceEvents

SAMPLE_CYCLES = 100
MAX_EVENTS = 1_000_000
"""About 100 MB of JSON, 5 to 10 MB packed: what a browser opens in some seconds."""


class Timeline:
    """The file of a timeline, and the part of a run that it covers: by default all SMs and cycles.

    `sms` are numbers of SMs; events from `first_cycle` to `last_cycle` are recorded; counters are read every
    `sample_cycles`. After `max_events` events recording ends. Without `with` every launch writes a new file.
    Raises E401 for invalid numbers; a launch raises E502 for an SM that its machine does not have, and E503 where the
    file cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        sms: Collection[int] | None = None,
        first_cycle: int = 0,
        last_cycle: int | None = None,
        sample_cycles: int = SAMPLE_CYCLES,
        max_events: int = MAX_EVENTS,
    ):
        whole("first_cycle", first_cycle, 0)
        if last_cycle is not None:
            whole("last_cycle", last_cycle, first_cycle + 1)
        whole("sample_cycles", sample_cycles, 1)
        whole("max_events", max_events, 1)
        for index in sms or ():
            whole("an SM of the timeline", index, 0)
        self.path = path
        self.sms = None if sms is None else tuple(sorted({int(index) for index in sms}))
        self.first_cycle, self.last_cycle = first_cycle, last_cycle
        self.sample_cycles, self.max_events = sample_cycles, max_events
        self.n_events = 0
        """Events in the file."""
        self.launches: list[Mapping[str, Any]] = []
        """Of each launch in the file its description, the recorded cycles, and why others are left out (`left_out`)."""
        self._events: TraceEvents | None = None
        self._origin = 0
        self._kept_open = False

    def __enter__(self) -> "Timeline":
        self._kept_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._kept_open = False
        self._close()

    def __str__(self) -> str:
        """The contents of the file in a line or two."""
        seen = "; ".join(
            f"{of['kernel']}, cycles {of['first_cycle']} to {of['last_cycle']} of {of['cycles']}"
            for of in self.launches
        )
        lines = [
            f"{self.path}: {seen}; {self.n_events} events; open it at https://ui.perfetto.dev (1 us = 1 cycle)"
        ]
        lines += [f"{self.path}: left out: {of['left_out']}" for of in self.launches if of["left_out"]]
        return "\n".join(lines)

    def start(self, simulation: Simulation, about: Mapping[str, Any]) -> "Recorder":
        """Begin with a launch that is built and has not run."""
        n_sms = len(simulation.sms)
        chosen = tuple(range(n_sms)) if self.sms is None else self.sms
        for index in chosen:
            if index >= n_sms:
                raise error(
                    "E502",
                    f"the timeline has no SM {index}: {simulation.gpu.name} has {n_sms}",
                    help=f"its SMs are 0 to {n_sms - 1}",
                )
        if self._events is None:
            self._events = TraceEvents(self.path)
            self.launches, self._origin = [], 0
        return Recorder(self, self._events, self._origin, chosen, simulation, about)

    def ended(self, cycles: int, about: Mapping[str, Any]) -> None:
        """A launch has ended after so many cycles."""
        assert self._events is not None
        self.launches.append(about)
        self._origin += cycles
        self.n_events = self._events.n_events
        if not self._kept_open:
            self._close()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Remove the incomplete file if the body fails."""
        try:
            yield
        except BaseException:
            if self._events is not None:
                self._events.drop()
                self._events = None
            raise

    def _close(self) -> None:
        with _undisturbed(), self.kept():
            if self._events is not None:
                self.n_events = self._events.n_events
                self._events.close({"time": "1 us is 1 core cycle", "launches": self.launches})
                self._events = None


class Recorder:
    """Records one launch: it says where the loop has to stop, and then writes the events since the last stop."""

    def __init__(
        self,
        timeline: Timeline,
        events: TraceEvents,
        origin: int,
        sms: tuple[int, ...],
        simulation: Simulation,
        about: Mapping[str, Any],
    ):
        self._timeline, self._simulation, self._about = timeline, simulation, dict(about)
        self._events, self._origin = events, origin
        self._first, self._last = timeline.first_cycle, timeline.last_cycle
        self._active = True
        self._left_out = ""
        self._end = 0
        self._tracks = Tracks(events, simulation, origin, self._first, self._last)
        self._counters = Counters(events, simulation, sms, origin)
        self._next_sample = self._first
        self._records = np.zeros(SIZE, np.int64)
        self._states = np.zeros(simulation.sms["ib_pc"].shape, np.int64)
        mask = sum(1 << index for index in sms)
        run = simulation.run
        run["timeline"] = self._records.ctypes.data
        run["timeline_states"] = self._states.ctypes.data
        run["timeline_sms"].view(np.uint64)[...] = mask

    def next_stop(self, cycle: int) -> int:
        """The cycle at which the loop has to stop, `cycle` at the latest."""
        if not self._active:
            return cycle
        stop = min(cycle, self._next_sample)
        return stop if self._last is None else min(stop, self._last)

    def loop_stopped(self) -> None:
        """Write the events since the last stop, and the counters when they are due."""
        with _undisturbed():
            self._take()

    def _take(self) -> None:
        run = self._simulation.run
        used, run["timeline_used"] = int(run["timeline_used"][0]), 0
        if not self._active:
            return
        for record in self._records[:used].reshape(-1, WORDS).tolist():
            if self._is_full(record[0]):
                return
            self._tracks.take(*record)
        cycle = self._simulation.cycles
        if cycle == self._next_sample and not self._is_full(cycle):
            self._counters.sample(cycle)
            self._next_sample = cycle + self._timeline.sample_cycles
        if self._last is not None and cycle >= self._last:
            self._counters.sample(cycle)
            self._stop(cycle)

    def _is_full(self, cycle: int) -> bool:
        """Whether the file has the maximal number of events; then events from this cycle on are left out."""
        most = self._timeline.max_events
        if self._events.n_events < most:
            return False
        self._left_out = f"cycles from {cycle} on, because the file has {most} events; choose SMs, or cycles"
        self._stop(cycle)
        return True

    def end(self) -> None:
        """The launch has ended, one way or another."""
        with _undisturbed(), self._timeline.kept():
            self._take()
            cycles = self._simulation.cycles
            if self._active:
                if cycles >= self._first:
                    self._counters.sample(cycles)
                self._stop(cycles)
            seen = {"first_cycle": min(self._first, cycles), "last_cycle": self._end, "cycles": cycles}
            self._tracks.launch(self._end, str(self._about["kernel"]), self._about)
            self._timeline.ended(cycles, self._about | seen | {"left_out": self._left_out})

    def _stop(self, cycle: int) -> None:
        """End the recording: open slices are cut here."""
        self._active = False
        self._end = cycle
        self._simulation.run["timeline"] = 0
        self._counters.end(cycle)
        self._tracks.close(cycle)


@contextmanager
def recorded(
    timeline: "Timeline | str | Path | None", simulation: Simulation, about: Mapping[str, Any]
) -> Iterator[None]:
    """Record a launch while the body drives it; with None nothing is recorded."""
    if timeline is None:
        yield
        return
    wanted = timeline if isinstance(timeline, Timeline) else Timeline(timeline)
    recorder = simulation.observer = wanted.start(simulation, about)
    try:
        yield
    finally:
        recorder.end()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Defer Ctrl-C while the file is written: half an event, or one twice, would make it invalid."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(*held[0])
