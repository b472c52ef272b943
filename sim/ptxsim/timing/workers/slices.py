"""The workers of a run: who can share one, and the slices that they share or leave to one thread (`pace.py`)."""

import time
from collections.abc import Callable
from typing import Literal

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.machine_code import is_missing
from ptxsim.base.notice import say_if_compiling
from ptxsim.base.options import simulating_threads
from ptxsim.timing.core.cycle import PAUSED
from ptxsim.timing.core.plain_run import constant_fields, is_plain
from ptxsim.timing.memory.team.team import INBOX, MAX_WORKERS
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers import work
from ptxsim.timing.workers.crew import Crew, reserve
from ptxsim.timing.workers.pace import Experience, Pace
from ptxsim.timing.workers.slice_records import LEAVE
from ptxtool.base.cpus import has_free_cpus
from ptxtool.base.identity_cache import IdentityCache

_COMPILED_AFTER = 5.0
"""Seconds of a run before what only workers need is compiled, once after an installation, which takes longer."""


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
        or memory["pool"] < 2 * reserve(run, memory)
    )
    return 1 if alone else min(MAX_WORKERS, int(run["n_sms"]))


_experience: IdentityCache[Experience] = IdentityCache(32)
"""Of programs, by the numbers of SMs and of workers, and by the size of the grid."""


class Workers:
    """At most so many workers, who share the slices of a run while that is faster. "auto": as many as there are CPUs,
    and not before a run has taken some time if what they need has to be compiled."""

    def __init__(self, simulation: Simulation, policy: Policy, threads: int | Literal["auto"]):
        self._simulation, self._policy = simulation, policy
        self._compiled_after = _COMPILED_AFTER if threads == "auto" else 0.0
        wanted = simulating_threads(len(simulation.sms)) if threads == "auto" else threads
        self.n = min(wanted, most_workers(simulation, policy)) if wanted > 1 else 1
        self._crew: Crew | None = None
        run = simulation.run[0]
        warps = int(run["n_ctas"]) * int(run["warps_per_cta"])
        key = len(simulation.sms), self.n, warps.bit_length()  # larger or smaller by half
        self._known = _experience.get(simulation.program, key, Experience) if self.n > 1 else Experience()
        self._pace = Pace(self._known, self.n)
        self._is_compiled: bool | None = None
        """Whether a crew's loop is; None: it was not needed yet."""

    @property
    def first_cycles(self) -> int:
        """Cycles of the first slice; 0: it does not matter."""
        return 0 if self.n == 1 else self._pace.first_cycles

    @property
    def slice_seconds(self) -> float:
        """How long the next slice should take; 0: it does not matter."""
        return 0.0 if self.n == 1 or self._is_compiled is False else self._pace.slice_seconds

    def run_slice(self, alone: Callable[[], int]) -> int:
        """Run to the stop cycle of the run, with several threads or by `alone`, which says why a run has stopped."""
        if self.n == 1:
            return int(alone())
        simulation, pace = self._simulation, self._pace
        staying = self._crew.staying if self._crew else 0
        crew = self._crew_of_slice() if pace.is_shared and has_free_cpus(self.n - staying) else None
        if crew is None and self._crew is not None:
            self._crew.release()
        before, since, reason = simulation.cycles, time.perf_counter(), LEAVE
        if crew is not None:
            reason = crew.run_slice()
            if reason == PAUSED:  # the end of a run is not like its other parts
                self._known.share = crew.share
        if reason == LEAVE:
            reason = int(alone())
        pace.note(simulation.cycles - before, time.perf_counter() - since, was_shared=crew is not None)
        return reason

    def _crew_of_slice(self) -> Crew | None:
        """Who shares a slice; None while that has yet to be compiled, or if threads cannot be started."""
        if self._crew is None:
            simulation, constants = self._simulation, constant_fields(self._simulation.run, has_team=True)
            loop = work.simulator(simulation.is_wide, constants)
            if self._is_compiled is None:
                self._is_compiled = not is_missing(loop)
            if not self._is_compiled and self._pace.seconds < self._compiled_after:
                return None
            kind = f"threads{' wide' * simulation.is_wide}{'' if is_plain(constants) else ' any'}"
            say_if_compiling(kind, loop)
            self._crew = Crew(simulation, self._policy, self.n, loop, self._known.share)
        return self._crew if self._crew.has_threads else None

    def close(self) -> None:
        """No slice follows: threads end."""
        self._pace.learn()
        if self._crew is not None:
            self._crew.close()
