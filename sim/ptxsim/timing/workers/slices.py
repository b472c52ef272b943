"""Slices of a run that several workers simulate, each in a thread of its own; between them the run is as one has left it.

Reference: docs/performance.md.
"""

import ctypes
import threading
from typing import Any

import numpy as np

from ptxsim.base.machine_code import call
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.core.plain_run import constant_fields
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers import work
from ptxsim.timing.workers.team import INBOX, MAX_WORKERS, PORT, TEAM

_COUNTS = (
    *("asleep", "left", "posted", "ready", "seen"),
    *("delivered", "drained", "arrived", "applied", "applied_flits", "entered"),
)
"""Fields of the team's record that begin with 0."""
_COUNTED = ("stall_warps", "stall_cycles", "issues")
_SENT_BEFORE_STOP = 256
"""Requests that an SM may send until all workers have stopped, at most."""
_SCRATCH_BYTES = 32 * 8


def most_workers(simulation: Simulation, policy: Policy) -> int:
    """How many workers can share a run: 1 where all SMs share something besides memory, or someone looks on."""
    run, memory = simulation.run[0], simulation.memory[0]
    alone = (
        run["ahead"] == 0
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


class Crew:
    """The workers of one run, with the records that are theirs alone."""

    def __init__(self, simulation: Simulation, policy: Policy, n: int):
        self._simulation, self._policy, self._n = simulation, policy, n
        run = simulation.run
        self._runs = np.zeros(n + 1, run.dtype)
        self._contexts = np.repeat(simulation.context, n)
        self._scratch = np.zeros((n, 2, _SCRATCH_BYTES), np.uint8)
        for worker, context in enumerate(self._contexts):
            context["scratch32"], context["scratch64"] = (
                self._scratch[worker, k].ctypes.data for k in range(2)
            )
        size = len(simulation.program.instructions)
        self._counted = {name: np.zeros((n, size), np.int64) for name in _COUNTED}
        self._first = {name: np.full((n, size), -1, np.int64) for name in ("stall_first", "stall_offset")}
        self._team = np.zeros(1, TEAM)
        self._loop = work.simulator(simulation.is_wide, constant_fields(run, has_team=True))
        import os; self.memory_share = float(os.environ.get("X_SHARE","0.2"))

    def run_slice(self) -> int:
        """Run to the stop cycle of the run; returns PAUSED, or the reason of `core.loop` for which it has ended."""
        self._begin()
        threads = [threading.Thread(target=self._call, args=(k,), daemon=True) for k in range(1, self._n)]
        for thread in threads:
            thread.start()
        self._call(0)
        for thread in threads:
            thread.join()
        return self._end()

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
        team["last_step"][:, 0], team["last_memory"], team["idle"] = cycle, cycle, 0
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
        _fill_inboxes(memory, team, n_sms)
        memory["has_team"], memory["team"] = 1, self._team.ctypes.data
        self._runs[:] = simulation.run[0]
        for worker in range(self._n):
            mine = self._runs[worker]
            mine["has_team"], mine["team"], mine["worker"], mine["n_workers"] = 1, self._team.ctypes.data, worker, self._n
            mine["ctas_done"] = 0
            others = team["worker_of"][:n_sms] != worker
            mine["is_open"][:n_sms][others] = 0
            mine["open_sms"] = mine["is_open"].sum()
            for name, array in (*self._counted.items(), *self._first.items()):
                mine[name] = array[worker].ctypes.data

    def _divide(self, team: Any, n_sms: int) -> None:
        """Divide the SMs; the first worker has the memory side as well, and so fewer of them."""
        others = n_sms * (1 + self.memory_share) / self._n
        first = max(0, round(n_sms - others * (self._n - 1)))
        # spread the first worker's SMs evenly
        of_first = np.diff(np.arange(n_sms + 1) * first // n_sms) > 0
        workers = np.zeros(n_sms, np.int64)
        workers[~of_first] = 1 + np.arange(n_sms - int(of_first.sum())) % (self._n - 1)
        team["worker_of"][:n_sms] = workers
        for worker in range(self._n):
            sms = np.flatnonzero(workers == worker)
            team["sms_of"][worker] = len(sms)
            team["mine"][worker, : len(sms)] = sms

    def report(self):
        for w in range(self._n):
            v = self._team[0]["last_step"][w][:9].tolist()
            tot = v[7]
            print(f"  worker {w}: total {tot/1e6:.0f}M turn {v[1]/tot:.1%} x{v[2]} memory {v[3]/tot:.1%} x{v[4]} catch_up {v[5]/tot:.1%} cycles {v[6]} steps {v[8]}, {(tot-v[1]-v[3]-v[5])/max(v[8],1):.0f} per step")

    def _end(self) -> int:
        simulation, team, runs = self._simulation, self._team[0], self._runs
        run = simulation.run[0]
        n_sms = int(run["n_sms"])
        fault, ended = int(team["fault_at"][0]), int(team["end_at"][0])
        stop = int(team["stop"][0])
        cycle = min(fault >> 8, ended >> 8, stop)
        runs[0]["cycle"] = cycle
        self._call(work.SETTLE)
        simulation.memory[0]["has_team"] = 0
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
"""The run has ended: the loop of one worker says why."""


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
