"""The workers of one run, each in a thread of its own, and a slice that they share.

Before a slice they get copies of the run's records, after it their results are put together: the run is as the loop of
one thread leaves it. Reference: docs/performance.md.
"""

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from ptxsim.base.machine_code import address, call
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.team.team import TEAM
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers import work

LEAVE = -2
"""The loop of one thread has to go on: it says why a run has ended."""
_COUNTS = ("asleep", "idle", "idle_rounds", "left", "long_rounds", "stops_soon", "ready")
"""Fields of the team's record that begin with 0."""
_COUNTED = ("stall_warps", "stall_cycles", "issues")
_SCRATCH_WORDS = 32
_MEMORY_SHARE = 0.2
"""The time of the memory side at first, as a part of that of all SMs (measured: 0.05 to 0.6)."""
_ROUND = 4e-8
"""Seconds of a round in which a worker waits (measured)."""
_PATIENCE = 1000 if os.name == "posix" else 100_000
"""Rounds of waits of more than 20 microseconds in a slice, at most: there are many where the cores have other work."""
_SENT_BEFORE_STOP = 256
"""Requests that an SM may send until all workers have stopped, at most."""


def reserve(run: Any, memory: Any) -> int:
    """Free requests that are left when the workers stop because there are few."""
    return int(memory["sector_margin"]) + _SENT_BEFORE_STOP * int(run["n_sms"])


class Crew:
    """The workers of one run, with the records that are theirs alone. The caller's thread is the first of them, so that
    it and the others, which wait between slices, find their cores again."""

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
        self._counted = {name: _apart(n, size) for name in _COUNTED}
        self._first = {name: _apart(n, size) for name in ("stall_first", "stall_offset")}
        for array in self._first.values():
            array[...] = -1
        arrays = (*self._counted.items(), *self._first.items())
        self._addresses = [[(name, array[k].ctypes.data) for name, array in arrays] for k in range(n)]
        self._team = np.zeros(1, TEAM)
        self.share = max(0.0, 1 - (1 + _MEMORY_SHARE) / n * (n - 1)) if share is None else share
        """The part of the busy SMs that the first worker has, who has the memory side as well."""
        self._own = self._n_busy = 0
        self._speed: dict[int, float] = {}
        """Cycles per second of the last slice with so many."""
        address(self._loop)  # compiled before a worker waits for another
        self._threads = ThreadPoolExecutor(n - 1, "ptxsim")
        self.has_threads = self._start_threads()
        """Whether as many could be started as there are workers besides the first, which is the caller's."""

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

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown()

    def run_slice(self) -> int:
        """Run to the stop cycle of the run, or until workers wait for long; returns PAUSED, or LEAVE where the run has
        ended. What a signal handler raises, such as `KeyboardInterrupt`, is raised when all workers have stopped."""
        self._begin()
        left = self._team[0]["left"][: self._n, 0]
        before, since = self.cycle, time.perf_counter()
        interrupt: BaseException | None = None
        numbers = iter(range(1, self._n))
        others: list[Future[None]] = []
        while not left.all():
            try:
                while len(others) < self._n - 1:
                    others.append(self._threads.submit(self._call_next, numbers))
                if not left[0]:
                    self._call(0)
                wait(others)
            except BaseException as problem:
                interrupt = problem
        reason = self._end()
        self._simulation.memory[0]["has_team"] = 0
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

    def _call(self, worker: int) -> None:
        simulation, policy = self._simulation, self._policy
        rest = simulation.memory, policy.pick, policy.window, simulation.decide
        call(self._loop, (self._runs, self._contexts, *rest, worker))

    # ---- between slices

    def _begin(self) -> None:
        simulation, team = self._simulation, self._team[0]
        run, memory = simulation.run[0], simulation.memory[0]
        n_sms, cycle = int(run["n_sms"]), int(run["cycle"])
        for name in _COUNTS:
            team[name] = 0
        team["last_step"], team["last_memory"] = cycle, cycle
        team["n"], team["n_sms"] = self._n, n_sms
        team["memory"] = simulation.memory.ctypes.data
        team["yield_cpu"], team["patience"] = _yield_address(), _PATIENCE
        team["lookahead"], team["response_hops"] = int(run["horizon"]) - 1, run["response_hops"]
        # an access, a miss and a code, a constant and a texture request
        team["most_flits"] = 2 * int(memory["requests"]["longest"]) + int(run["fetches"]) + 2
        team["reserve"], team["ahead"] = reserve(run, memory), run["ahead"]
        team["memory_cycle"], team["cycle"], team["turn"] = cycle, cycle, cycle << 8
        team["stop"], team["fault_at"], team["end_at"] = run["stop_cycle"], FOREVER, FOREVER
        team["ctas_done"] = run["ctas_done"]
        self._divide(team)
        memory["has_team"], memory["team"] = 1, self._team.ctypes.data
        self._runs.view(np.uint8).reshape(self._n + 1, -1)[:] = simulation.run.view(np.uint8)
        for worker in range(self._n):
            mine = self._runs[worker]
            mine["has_team"], mine["team"] = 1, self._team.ctypes.data
            mine["worker"], mine["n_workers"] = worker, self._n
            mine["ctas_done"] = 0
            first, end = team["first_sm"][worker], team["end_sm"][worker]
            mine["is_open"][:first], mine["is_open"][end:n_sms] = 0, 0
            mine["open_sms"] = mine["is_open"][first:end].sum()
            for name, address_of in self._addresses[worker]:
                mine[name] = address_of
        self._call(work.SET_UP)

    def _divide(self, team: Any) -> None:
        """Divide the busy SMs: those of the others than the first worker evenly."""
        n_sms, others = int(self._simulation.run["n_sms"][0]), self._n - 1
        busy = self._busy_sms()
        if len(busy) != self._n_busy:
            self._n_busy, self._speed = len(busy), {}
            self._own = min(round(self.share * self._n_busy), max(0, self._n_busy - others))
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
        waited = self._team["idle_rounds"][0, : self._n, 0] * _ROUND
        first, other = seconds - waited[0], max(seconds - waited[1:].mean(), seconds / 100)
        per_sm = other * others / (n_busy - self._own)
        memory = max(0.0, first - self._own * per_sm)
        even = (n_busy - others * memory / per_sm) / self._n
        wanted = min(max(0, round(self._own + 0.6 * (even - self._own))), max(0, n_busy - others))
        self._speed[self._own] = speed = cycles / seconds
        if self._speed.get(wanted, speed) >= speed:
            self._own, self.share = wanted, wanted / n_busy

    def _end(self) -> int:
        simulation, team, runs = self._simulation, self._team[0], self._runs
        run = simulation.run[0]
        fault, ended = int(team["fault_at"][0]), int(team["end_at"][0])
        stop = int(team["stop"][0])
        cycle = min(fault >> 8, ended >> 8, stop)
        runs[0]["cycle"] = cycle - (cycle == stop)  # the next slice begins with what memory does in its cycle
        self._call(work.SETTLE)
        dispatching = runs[self._n]
        for name in ("next_cta", "last_sm", "launched_sm", "port_turn"):
            run[name] = dispatching[name]
        for worker in range(self._n):
            first, end = team["first_sm"][worker], team["end_sm"][worker]
            for name in ("sm_next", "is_open"):
                run[name][first:end] = runs[worker][name][first:end]
        run["open_sms"] = run["is_open"].sum()
        run["ctas_done"] = team["ctas_done"][0]
        run["cycle"] = cycle
        self._add_counts()
        if fault < FOREVER:
            worker = next(k for k in range(self._n) if runs[k]["kept_fault"][0] == fault)
            run["kept_fault"] = runs[worker]["kept_fault"]
            run["cycle"] = cycle + 1
        elif ended < FOREVER:
            run["cycle"] = cycle + 1
        elif team["idle"][0]:
            run["cycle"] = max(int(team["last_memory"]), int(team["last_step"][: self._n, 0].max()))
        else:
            return PAUSED
        return LEAVE

    def _add_counts(self) -> None:
        """Add what workers have counted for each instruction to the counts of the run."""
        arrays = self._simulation.arrays
        for name, counted in self._counted.items():
            arrays[name] += counted.sum(axis=0)
            counted[...] = 0
        first, offset = self._first["stall_first"], self._first["stall_offset"]
        for worker in range(self._n):
            sooner = (first[worker] >= 0) & (
                (arrays["stall_first"] < 0) | (first[worker] < arrays["stall_first"])
            )
            arrays["stall_first"][sooner] = first[worker][sooner]
            arrays["stall_offset"][sooner] = offset[worker][sooner]
        first[...], offset[...] = -1, -1


@cache
def _yield_address() -> int:
    try:
        function = ctypes.CDLL(None).sched_yield
    except (OSError, AttributeError, TypeError):  # not a POSIX system
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _apart(n: int, words: int) -> Any:
    """Rows of int64, none of which shares a cache line with another one."""
    line = 32  # words: two pairs of lines, wherever the array begins
    return np.zeros((n, -(-words // line) * line + line), np.int64)[:, line // 2 : line // 2 + words]
