"""The workers of one run, each in a thread of its own, and a slice that they share.

Before a slice they get copies of the run's records, after it their results are put together: the run is as the loop of
one thread leaves it. Reference: docs/performance.md.
"""

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from ptxsim.base.aligned import aligned
from ptxsim.base.jit import CACHE_LINE
from ptxsim.base.machine_code import address, call
from ptxsim.timing.build import COUNTED
from ptxsim.timing.memory.team.team import GONE, STAYS, TEAM
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers import work

_SCRATCH_WORDS = 32
_MEMORY_SHARE = 0.2
"""The time of the memory side at first, as a part of that of all SMs (measured: 0.05 to 0.6)."""
_LONG_WAIT = 2e-5
"""Seconds after which who waits lets others have the core."""
_PATIENCE = 5e-4 if os.name == "posix" else 4e-3
"""Seconds that a worker may be in longer waits in a slice: there are many where the cores have other work."""
_CLOCK_MEASURED = 1e-4
"""Seconds in which the rate of the processor's clock is measured, once a process."""
_SENT_BEFORE_STOP = 256
"""Requests that an SM may send until all workers have stopped, at most."""


def reserve(run: Any, memory: Any) -> int:
    """Free requests that are left when the workers stop because there are few."""
    return int(memory["sector_margin"]) + _SENT_BEFORE_STOP * int(run["n_sms"])


class Crew:
    """The workers of one run, with the records that are theirs alone. The caller's thread is the first of them, so that
    it and the others, which wait between slices, find their cores again."""

    _ticks_per_second = 0.0
    """Of the processor's clock; 0: not measured yet."""

    def __init__(self, simulation: Simulation, policy: Policy, n: int, loop: Any, share: float | None = None):
        """`loop`: that of a worker, for such a run; `share`: the part of the SMs that the first worker has at first."""
        self._simulation, self._policy, self._n, self._loop = simulation, policy, n, loop
        run = simulation.run
        self._runs = np.zeros(n + 1, run.dtype)
        self._contexts = np.repeat(simulation.context, n)
        self._scratch = _apart(n, 2 * _SCRATCH_WORDS)
        for worker, context in enumerate(self._contexts):
            scratch = self._scratch[worker].ctypes.data
            context["scratch32"], context["scratch64"] = scratch, scratch + 8 * _SCRATCH_WORDS
        size = len(simulation.program.instructions)
        self._counted = {name: _apart(n, size, start) for name, start in COUNTED.items()}
        self._addresses = {
            name: [row.ctypes.data for row in counted] for name, counted in self._counted.items()
        }
        self._team = aligned(TEAM.itemsize, 2 * CACHE_LINE, zeroed=False).view(TEAM)
        self.share = max(0.0, 1 - (1 + _MEMORY_SHARE) / n * (n - 1)) if share is None else share
        """The part of the busy SMs that the first worker has, who has the memory side as well."""
        self._own = self._n_busy = 0
        self._divided: tuple[int, bytes] | None = None
        self._speed: dict[int, float] = {}
        """Cycles per second of the last slice with so many."""
        address(self._loop)  # compiled before a worker waits for another
        if not Crew._ticks_per_second:
            Crew._ticks_per_second = self._measured_clock()
        self._describe()
        self._threads = ThreadPoolExecutor(n - 1, "ptxsim")
        self.has_threads = self._start_threads()
        """Whether as many could be started as there are workers besides the first, which is the caller's."""

    def _measured_clock(self) -> float:
        """The rate of the processor's clock in ticks per second."""
        first, since, seconds = self._call(work.CLOCK), time.perf_counter(), 0.0
        while seconds < _CLOCK_MEASURED:
            seconds = time.perf_counter() - since
        return (self._call(work.CLOCK) - first) / seconds or 1.0

    def _start_threads(self) -> bool:
        hold = threading.Event()
        try:
            for _ in range(self._n - 1):
                self._threads.submit(hold.wait)
        except RuntimeError:  # no more threads can be started
            return False
        finally:
            hold.set()
        return True

    def release(self) -> None:
        """Let the threads that wait for the next slice go: it is not shared."""
        self._team[0]["thread"][: self._n, 0] = GONE

    @property
    def staying(self) -> int:
        """How many threads wait for the next slice, each on a processor."""
        return int((self._team[0]["thread"][1 : self._n, 0] == STAYS).sum())

    def close(self) -> None:
        """Add what workers have counted to the counts of the run, and let the threads end."""
        self.release()
        self._threads.shutdown(wait=False)
        self._add_counts()

    def run_slice(self) -> int:
        """Run to the stop cycle of the run, or until workers wait for long; returns PAUSED, or LEAVE where the run has
        ended. What a signal handler raises, such as `KeyboardInterrupt`, is raised when all workers have stopped."""
        before, since = self.cycle, time.perf_counter()
        gone = self._begin()
        left = self._team[0]["told"]["left"][: self._n]
        interrupt: BaseException | None = None
        numbers, started, reason = iter(gone), 0, None
        while reason is None:
            try:
                while started < len(gone):
                    self._threads.submit(self._call_next, numbers)
                    started += 1
                if not left[0]:
                    self._call(0)  # ends when all have stopped
                if left.all():
                    reason = self._end()
            except BaseException as problem:
                interrupt = problem
        self._balance(self.cycle - before, time.perf_counter() - since)
        if interrupt is not None:
            raise interrupt
        return reason

    @property
    def cycle(self) -> int:
        """The cycle of the run."""
        return self._simulation.cycles

    def _call_next(self, numbers: Iterator[int]) -> None:
        """Be the next worker, if any is left: an interrupt can come before it is known that a thread has begun."""
        for worker in islice(numbers, 1):
            self._call(worker)

    def _call(self, worker: int) -> int:
        simulation, policy = self._simulation, self._policy
        rest = simulation.memory, policy.pick, policy.window, simulation.decide
        return int(call(self._loop, (self._runs, self._contexts, *rest, worker)))

    def _describe(self) -> None:
        """What is the same in all slices."""
        run, memory, team = self._simulation.run[0], self._simulation.memory, self._team[0]
        team["thread"] = GONE
        team["n"], team["n_sms"], team["memory"] = self._n, run["n_sms"], memory.ctypes.data
        team["yield_cpu"] = _yield_address()
        team["long_wait"] = _LONG_WAIT * self._ticks_per_second
        team["patience"] = _PATIENCE * self._ticks_per_second
        team["lookahead"], team["response_hops"] = int(run["horizon"]) - 1, run["response_hops"]
        # an access, a miss and a code, a constant and a texture request
        team["most_flits"] = 2 * int(memory["requests"]["longest"][0]) + int(run["fetches"]) + 2
        team["reserve"], team["ahead"] = reserve(run, memory[0]), run["ahead"]

    # ---- between slices

    def _begin(self) -> list[int]:
        """Prepare the records; returns the workers whose threads have yet to be started."""
        self._divide()
        self._runs.view(np.uint8).reshape(self._n + 1, -1)[:] = self._simulation.run.view(np.uint8)
        self._runs["team"] = self._team.ctypes.data
        for name, addresses in self._addresses.items():
            self._runs[name][: self._n] = addresses
        gone = np.flatnonzero(self._team[0]["thread"][1 : self._n, 0] == GONE) + 1
        try:
            self._call(work.BEGIN)
        except BaseException:
            self._simulation.memory["has_team"] = 0
            raise
        return list(gone.tolist())

    def _divide(self) -> None:
        """Divide the busy SMs: those of the others than the first worker evenly."""
        n_sms, others, team = len(self._simulation.sms), self._n - 1, self._team[0]
        busy = self._busy_sms()
        if len(busy) != self._n_busy:
            self._n_busy, self._speed = len(busy), {}
            self._own = min(round(self.share * self._n_busy), max(0, self._n_busy - others))
        if self._divided == (division := (self._own, busy.tobytes())):
            return
        self._divided = division
        left = self._n_busy - self._own
        ends = np.append(busy[1:], n_sms)  # of the part up to a busy SM, with the idle ones after it
        counts = [self._own + left * k // others for k in range(self._n)]
        firsts = np.array([0, *(ends[count - 1] if count else 0 for count in counts)])
        team["first_sm"][: self._n], team["end_sm"][: self._n] = firsts[:-1], firsts[1:]
        team["worker_of"][:n_sms] = np.repeat(np.arange(self._n), np.diff(firsts))

    def _busy_sms(self) -> Any:
        """The SMs with CTAs; all while there are CTAs that have yet to be launched."""
        run, sms = self._simulation.run[0], self._simulation.sms
        if run["next_cta"] >= run["n_ctas"]:
            resident = np.ascontiguousarray(sms["resident"]).view(np.uint64).reshape(len(sms), -1)
            if resident.any():
                return np.flatnonzero(resident.any(axis=1))
        return np.arange(len(sms))

    def _balance(self, cycles: int, seconds: float) -> None:
        """Give the first worker as many busy SMs as make it wait as long as the others, if the next slice is like this
        one; no number that has been slower."""
        n_busy, others = self._n_busy, self._n - 1
        waited = self._team[0]["own"]["waited"][: self._n] / self._ticks_per_second
        first, other = seconds - waited[0], max(seconds - waited[1:].mean(), seconds / 100)
        per_sm = other * others / (n_busy - self._own)
        memory = max(0.0, first - self._own * per_sm)
        even = (n_busy - others * memory / per_sm) / self._n
        wanted = min(max(0, round(self._own + 0.6 * (even - self._own))), max(0, n_busy - others))
        self._speed[self._own] = speed = cycles / seconds
        if self._speed.get(wanted, speed) >= speed:
            self._own, self.share = wanted, wanted / n_busy

    def _end(self) -> int:
        reason = self._call(work.END)
        self._simulation.run.view(np.uint8)[:] = self._runs[self._n :].view(np.uint8)
        return reason

    def _add_counts(self) -> None:
        """Add what workers have counted for each instruction to the counts of the run."""
        arrays = self._simulation.arrays
        for name in ("issues", "stall_warps", "stall_cycles"):
            arrays[name] += self._counted[name].sum(axis=0)
        first, offset = arrays["stall_first"], arrays["stall_offset"]
        for cycles, offsets in zip(self._counted["stall_first"], self._counted["stall_offset"], strict=True):
            sooner = (cycles >= 0) & ((first < 0) | (cycles < first))
            first[sooner], offset[sooner] = cycles[sooner], offsets[sooner]


@cache
def _yield_address() -> int:
    try:
        function = ctypes.CDLL(None).sched_yield
    except (OSError, AttributeError, TypeError):  # not a POSIX system
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _apart(n: int, words: int, start: int = 0) -> Any:
    """Rows of int64, each of which begins as `start` and shares no cache line with another one."""
    line = 32  # words: two pairs of lines, wherever the array begins
    rows = np.full((n, -(-words // line) * line + line), start, np.int64)
    return rows[:, line // 2 : line // 2 + words]
