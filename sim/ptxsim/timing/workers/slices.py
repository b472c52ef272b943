"""Slices of a run that several workers simulate, each in a thread of its own; between slices the run is as the loop of
one thread leaves it.

`Pace` says which slices: those of the kind that was faster, as it depends on the kernel, on the machine, and on what
else the cores have to do. Reference: docs/performance.md.
"""

import ctypes
import threading
from typing import Any

import numpy as np

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.machine_code import address, call
from ptxsim.base.notice import say_if_compiling
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.core.plain_run import constant_fields, is_plain
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.team.team import INBOX, MAX_WORKERS, PORT, TEAM
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers import work

_COUNTS = (
    *("asleep", "idle", "left", "stops_soon", "posted", "ready", "seen"),
    *("delivered", "drained", "arrived", "applied", "entered", "full_until"),
)
"""Fields of the team's record that begin with 0."""
_COUNTED = ("stall_warps", "stall_cycles", "issues")
_SENT_BEFORE_STOP = 256
"""Requests that an SM may send until all workers have stopped, at most."""
_SCRATCH_WORDS = 32
_MEMORY_SHARE = 0.2
"""The time of the memory side, as a part of that of all SMs (measured: 0.05 to 0.4)."""
_TRIED_AGAIN = 8
"""Slices after which the slower kind of slice is tried again; twice as many each time that it was slower."""
_SHARED_AFTER = 0.2
"""Seconds of a run before a slice is shared: the end of a shorter one is near."""
_PATIENCE = 0.02
"""Seconds that a shared slice may take, at least: a shared slice is slow where the cores have other work."""


def most_workers(simulation: Simulation, policy: Policy) -> int:
    """How many workers can share a run: 1 where SMs share something besides memory, or someone looks on."""
    run, memory = simulation.run[0], simulation.memory[0]
    alone = (
        JIT_DISABLED
        or run["ahead"] == 0
        or simulation.program.multiplies_tiles
        or run["has_window"]
        or run["hotspots"]
        or run["timeline"]
        or run["clusters"]
        or run["concurrent"]
        or policy.own is not None
        or simulation.own_scheme is not None
        or simulation.observer is not None
        or simulation.context[0]["tolerated_end"]
        or simulation.context[0]["bulk"]
        or memory["replies"]["output_packets"] > INBOX
        or memory["pool"] < 2 * _reserve(run, memory)
    )
    return 1 if alone else min(MAX_WORKERS, int(run["n_sms"]))


def _reserve(run: Any, memory: Any) -> int:
    """Free requests that are left when the workers stop because there are few."""
    return int(memory["sector_margin"]) + _SENT_BEFORE_STOP * int(run["n_sms"])


class Pace:
    """Whether the workers share the next slice: the kind of slice that was faster, once both were tried."""

    def __init__(self) -> None:
        self.is_shared = False
        self._speed: dict[bool, float] = {}
        self._seconds, self._slices, self._next_try, self._interval = 0.0, 0, 4, _TRIED_AGAIN

    def note(self, cycles: int, seconds: float) -> None:
        """The slice has taken so long."""
        self._speed[self.is_shared] = cycles / max(seconds, 1e-9)
        self._seconds += seconds
        if self._seconds < _SHARED_AFTER:
            return
        self._slices += 1
        if self._slices < self._next_try:
            self.is_shared = self._slices < 3 or self._speed[True] > self._speed[False]  # the first is slow
        elif self._slices == self._next_try:
            self.is_shared = not self.is_shared
        else:
            better = self._speed[True] > self._speed[False]
            self._interval = _TRIED_AGAIN if better == self.is_shared else 2 * self._interval
            self._next_try, self.is_shared = self._slices + self._interval, better

    def patience(self, cycles: int) -> float:
        """The seconds after which a shared slice is slow: twice those of a slice that is not."""
        return max(_PATIENCE, 2 * cycles / self._speed[False])


class Crew:
    """The workers of one run, with the records that are theirs alone."""

    def __init__(self, simulation: Simulation, policy: Policy, n: int):
        self._simulation, self._policy, self._n = simulation, policy, n
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
        self._team = np.zeros(1, TEAM)
        constants = constant_fields(run, has_team=True)
        say_if_compiling(f"threads{' wide' * simulation.is_wide}{'' if is_plain(constants) else ' any'}")
        self._loop = work.simulator(simulation.is_wide, constants)
        address(self._loop)  # compiled before a worker waits for another

    def run_slice(self, patience: float) -> int:
        """Run to the stop cycle of the run, or until it has taken so many seconds; returns PAUSED, or LEAVE where the
        run has ended or threads cannot be started. `KeyboardInterrupt` is raised when all workers have stopped."""
        self._begin()
        self._all_started = False
        gate = threading.Event()
        threads = [
            threading.Thread(target=self._wait_and_call, args=(gate, k), name=f"ptxsim-{k}")
            for k in range(self._n)
        ]
        interrupt: KeyboardInterrupt | None = None
        try:
            for thread in threads:
                thread.start()
            self._all_started = True
            gate.set()
            threads[0].join(patience)  # the last to stop
        except KeyboardInterrupt as problem:
            interrupt = problem
        except RuntimeError:  # no more threads can be started
            pass
        self._team["stops_soon"] = 1
        gate.set()
        while alive := [thread for thread in threads if thread.is_alive()]:
            try:
                alive[0].join()
            except KeyboardInterrupt as problem:
                interrupt = problem
        reason = self._end() if self._all_started else LEAVE
        self._simulation.memory[0]["has_team"] = 0
        if interrupt is not None:
            raise interrupt
        return reason

    @property
    def cycle(self) -> int:
        """The cycle of the run."""
        return self._simulation.cycles

    def _wait_and_call(self, gate: threading.Event, worker: int) -> None:
        gate.wait()
        if self._all_started:
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
        team["port"], team["port"]["due"] = np.zeros((), PORT), FOREVER
        team["first_cycle"] = FOREVER
        team["last_step"], team["last_memory"] = cycle, cycle
        team["n"], team["n_sms"] = self._n, n_sms
        team["memory"] = simulation.memory.ctypes.data
        team["yield_cpu"] = _yield_address()
        team["lookahead"], team["response_hops"] = int(run["horizon"]) - 1, run["response_hops"]
        # an access, a miss and a code, a constant and a texture request
        team["most_flits"] = 2 * int(memory["requests"]["longest"]) + int(run["fetches"]) + 2
        team["reserve"], team["ahead"] = _reserve(run, memory), run["ahead"]
        team["memory_cycle"], team["cycle"], team["turn"] = cycle, cycle, cycle << 8
        team["stop"], team["fault_at"], team["end_at"] = run["stop_cycle"], FOREVER, FOREVER
        team["ctas_done"] = run["ctas_done"]
        self._divide(team, n_sms)
        team["left_flits"][:n_sms] = -memory["requests"]["input"]["flits"][:n_sms].astype(np.int64)
        _fill_inboxes(memory, team, n_sms)
        memory["has_team"], memory["team"] = 1, self._team.ctypes.data
        self._runs[:] = simulation.run[0]
        for worker in range(self._n):
            mine = self._runs[worker]
            mine["has_team"], mine["team"] = 1, self._team.ctypes.data
            mine["worker"], mine["n_workers"] = worker, self._n
            mine["ctas_done"] = 0
            others = team["worker_of"][:n_sms] != worker
            mine["is_open"][:n_sms][others] = 0
            mine["open_sms"] = mine["is_open"].sum()
            for name, array in (*self._counted.items(), *self._first.items()):
                mine[name] = array[worker].ctypes.data

    def _divide(self, team: Any, n_sms: int) -> None:
        """Divide the SMs; the first worker has the memory side as well, and so fewer of them."""
        others = n_sms * (1 + _MEMORY_SHARE) / self._n
        first = max(0, round(n_sms - others * (self._n - 1)))
        workers = np.zeros(n_sms, np.int64)
        workers[first:] = 1 + np.arange(n_sms - first) * (self._n - 1) // max(1, n_sms - first)
        team["worker_of"][:n_sms] = workers
        for worker in range(self._n):
            sms = np.flatnonzero(workers == worker)
            team["sms_of"][worker] = len(sms)
            team["mine"][worker, : len(sms)] = sms

    def _end(self) -> int:
        simulation, team, runs = self._simulation, self._team[0], self._runs
        run = simulation.run[0]
        n_sms = int(run["n_sms"])
        fault, ended = int(team["fault_at"][0]), int(team["end_at"][0])
        stop = int(team["stop"][0])
        cycle = min(fault >> 8, ended >> 8, stop)
        runs[0]["cycle"] = cycle - (cycle == stop)  # the next slice begins with what memory does in its cycle
        self._call(work.SETTLE)
        dispatching = runs[self._n]
        for name in ("next_cta", "last_sm", "launched_sm", "port_turn"):
            run[name] = dispatching[name]
        for sm in range(n_sms):
            mine = runs[team["worker_of"][sm]]
            run["sm_next"][sm], run["is_open"][sm] = mine["sm_next"][sm], mine["is_open"][sm]
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


LEAVE = -2
"""The loop of one thread has to go on: it says why a run has ended."""


def _fill_inboxes(memory: Any, team: Any, n_sms: int) -> None:
    """The replies that wait in the network's outputs."""
    replies = memory["replies"]
    for sm in range(n_sms):
        output = replies["output"][sm]
        r = int(output["first"])
        for k in range(int(output["count"])):
            if not replies["of_packets"]:
                r = int(replies["queue"][sm, (int(output["head"]) + k) % replies["queue"].shape[1]])
            team["inbox"][sm, k]["request"] = r
            team["inbox"][sm, k]["due"] = memory["request"][r]["due"]
            r = int(memory["request"][r]["following"])
        team["arrived"][sm] = output["count"]
        team["delivered"][team["worker_of"][sm], 0] += output["count"]


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
