"""What launches on streams return that run at the same time: the share of each launch and stream, and the whole.

A launch's cycles are those from its first CTA to the end of its last; other launches run in them too. Caches, DRAM and
scheduler slots are counted for all launches together: `whole`.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ptxtool.base.mangled import shown_name
from ptxtool.results.simulation import SimResult


class _Rates:
    """The quotients of a launch's or a stream's counters."""

    cycles: int
    thread_instructions: int

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles if self.cycles else 0.0


@dataclass(frozen=True)
class LaunchCounts(_Rates):
    """The counters of one launch among others. Cycles are numbers from the beginning of the run of all.

    `ready_cycle` is the first cycle in which a CTA could be launched: what the launch waits for has ended, and its
    launch latency is over. `first_cycle` is the cycle in which one was, `end_cycle` that in which the last CTA ended;
    they are -1 where the run ended before.
    """

    kernel: str
    stream: int
    after: tuple[int, ...]
    """The launches, from 1, that it waits for."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    scratchpad_bytes: int
    n_ctas: int
    ctas_done: int
    ready_cycle: int
    first_cycle: int
    end_cycle: int
    cycles: int
    warp_instructions: int
    thread_instructions: int
    cta_cycles: int
    """From the launches of CTAs to their ends, summed over CTAs."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {**asdict(self), "thread_ipc": self.thread_ipc}


@dataclass(frozen=True)
class StreamCounts(_Rates):
    """The counters of the launches of a stream. `cycles` are those from the first CTA of the first to the end of the
    last."""

    stream: int
    launches: int
    ctas_done: int
    cycles: int
    warp_instructions: int
    thread_instructions: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {**asdict(self), "thread_ipc": self.thread_ipc}


@dataclass(frozen=True)
class ConcurrentResult:
    """The run of launches on streams. `whole` has the counters of all together; of several kernels its `grid` is the
    number of CTAs of all, its `kernel` their names, and what is a kernel's own is the first one's."""

    policy: str
    """How CTA dispatch chooses among launches: `dispatch.kernels` of the GPU file."""
    launches: tuple[LaunchCounts, ...]
    whole: SimResult

    @property
    def cycles(self) -> int:
        return self.whole.cycles

    @property
    def status(self) -> str:
        return self.whole.status

    @property
    def streams(self) -> tuple[StreamCounts, ...]:
        """The streams in the order of their numbers."""
        numbers = sorted({launch.stream for launch in self.launches})
        return tuple(_stream(n, [x for x in self.launches if x.stream == n]) for n in numbers)

    @property
    def overlap_cycles(self) -> int:
        """Cycles in which CTAs of two or more launches were on the GPU."""
        events = [
            (at, step)
            for x in self.launches
            if x.first_cycle >= 0
            for at, step in ((x.first_cycle, 1), (x.first_cycle + x.cycles, -1))
        ]
        total, running, before = 0, 0, 0
        for at, step in sorted(events):
            total += (at - before) * (running > 1)
            running, before = running + step, at
        return total

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "policy": self.policy,
            "status": self.status,
            "cycles": self.cycles,
            "overlap_cycles": self.overlap_cycles,
            "launches": [{"launch": k, **x.to_dict()} for k, x in enumerate(self.launches, 1)],
            "streams": [x.to_dict() for x in self.streams],
            "whole": self.whole.to_dict(),
        }

    def to_json(self) -> str:
        """The result as one JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        n = len(self.launches)
        lines = [
            f"{n} launch{'es' * (n != 1)} on streams, {self.policy}: {self.cycles} cycles, "
            f"{self.overlap_cycles} with two or more at a time"
        ]
        lines += [
            f"  {k} {shown_name(x.kernel)} on stream {x.stream}: cycles {x.first_cycle} to {x.end_cycle}, "
            f"{x.ctas_done} CTAs, {x.warp_instructions} warp instructions, thread IPC {x.thread_ipc:.2f}"
            for k, x in enumerate(self.launches, 1)
        ]
        return "\n".join([*lines, str(self.whole)])


def _stream(number: int, launches: Sequence[LaunchCounts]) -> StreamCounts:
    began = [x for x in launches if x.first_cycle >= 0]
    first = min((x.first_cycle for x in began), default=0)
    return StreamCounts(
        stream=number,
        launches=len(launches),
        ctas_done=sum(x.ctas_done for x in launches),
        cycles=max((x.first_cycle + x.cycles for x in began), default=0) - first,
        warp_instructions=sum(x.warp_instructions for x in launches),
        thread_instructions=sum(x.thread_instructions for x in launches),
    )
