"""Drive the compiled cycle loop in slices, until it says why it stopped.

The loop returns to Python every few hundred milliseconds, so that progress can be shown and Ctrl-C is obeyed. Several
threads may share a slice (timing/workers): results do not depend on their number.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.notice import say_if_compiling, say_if_one_more
from ptxsim.timing.core import cycle
from ptxsim.timing.core.plain_run import Constants, constant_fields, is_plain
from ptxsim.timing.livelock import Livelock, may_spin
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.workers.slices import Workers


@dataclass(frozen=True)
class ProgressSnapshot:
    """How far a launch is: cycles so far, CTAs that have ended and in all, instructions that were executed."""

    cycles: int
    ctas_done: int
    n_ctas: int
    warp_instructions: int
    thread_instructions: int


Progress = Callable[[ProgressSnapshot], object]
"""Called several times a second while a launch runs."""

LIVELOCK = -1
"""The run can only repeat itself (livelock.py)."""
_SLICE_SECONDS = 0.2
_FIRST_CYCLES = 2_000 if JIT_DISABLED else 16_000
"""Of the first slice: few enough for a large machine, enough for a short run to need one call only."""


def account_interrupted(simulation: Simulation, policy: Policy) -> None:
    """Bring the counters of an interrupted run up to the current cycle."""
    simulation.run["max_cycles"] = max(1, simulation.cycles)
    drive(simulation, policy)


def drive(
    simulation: Simulation,
    policy: Policy,
    progress: Progress | None = None,
    threads: int | Literal["auto"] = 1,
) -> int:
    """Run to the end, with at most so many threads; returns one of `core.cycle`'s reasons, or LIVELOCK.
    `KeyboardInterrupt` leaves the state readable."""
    _note_policy(simulation, policy)
    watch = Livelock(simulation) if may_spin(simulation.program) else None
    workers = Workers(simulation, policy, threads)
    try:
        return _drive(simulation, policy, watch, progress, workers)
    finally:
        workers.close()
        if watch is not None:
            watch.end()


def _note_policy(simulation: Simulation, policy: Policy) -> None:
    """Note what the policy needs in the records of the run."""
    run = simulation.run
    run["has_window"] = policy.has_window
    run["eager_slots"] = (
        policy.has_window | (run["sees_heads"] != 0) | (run["dynamic"] != 0) | (run["hotspots"] != 0)
    )
    run["long_lasting"] &= policy.may_ask_for_long
    simulation.sms["policy_number"] = policy.number
    if policy.own is not None:
        simulation.records.clear()  # a user's policy can write anywhere in a record


def _drive(
    simulation: Simulation,
    policy: Policy,
    watch: Livelock | None,
    progress: Progress | None,
    workers: Workers,
) -> int:
    run, observer = simulation.run, simulation.observer
    memory, decide = simulation.memory, simulation.decide
    loop = _loop(simulation.is_wide, constant_fields(run))
    alone = partial(loop, run, simulation.context, memory, policy.pick, policy.window, decide)
    step = workers.first_cycles or _FIRST_CYCLES
    stop, started = simulation.cycles + step, time.perf_counter()
    while True:
        run["stop_cycle"] = _next_stop(simulation, watch, stop)
        with np.errstate(all="ignore"):  # without compilation too, arithmetic wraps and rounds in silence
            reason = workers.run_slice(alone)
        for image in simulation.images:
            simulation.printer.drain(image)
        if observer is not None:
            observer.loop_stopped()
        if reason != cycle.PAUSED:
            return reason
        if simulation.dynamic is not None:
            simulation.dynamic.end_period(simulation, policy)
        if watch is not None and simulation.cycles >= watch.next_cycle and watch.only_repeats():
            return LIVELOCK
        if (
            simulation.cycles < stop
        ):  # a stop to empty a buffer, for the timeline, for dynamic warp execution, or to look at warps
            continue
        seconds = time.perf_counter() - started
        slice_seconds = workers.slice_seconds or _SLICE_SECONDS
        step = max(500, min(2 * step, int(step * slice_seconds / max(seconds, 1e-6)), 2_000_000))
        if progress is not None:
            progress(_snapshot(simulation))
        stop, started = simulation.cycles + step, time.perf_counter()


@cache
def _loop(is_wide: bool, constants: Constants) -> Any:
    """The loop of such runs; says so, once a process, where it has to be compiled and the launch has not said it."""
    loop = cycle.simulator(is_wide, constants)
    if is_plain(constants):
        say_if_one_more("wide" if is_wide else "launch", loop)
    else:
        say_if_compiling("any wide run" if is_wide else "any run", loop)
    return loop


def _next_stop(simulation: Simulation, watch: Livelock | None, stop: int) -> int:
    """The cycle of the next stop, at the latest `stop`."""
    if watch is not None:
        stop = min(stop, watch.next_cycle)
    if simulation.observer is not None:
        stop = simulation.observer.next_stop(stop)
    return stop if simulation.dynamic is None else min(stop, simulation.dynamic.next_cycle)


def _snapshot(simulation: Simulation) -> ProgressSnapshot:
    run, sms = simulation.run[0], simulation.sms
    executed = (int(sms[name].sum()) for name in ("warp_instructions", "thread_instructions"))
    return ProgressSnapshot(int(run["cycle"]), int(run["ctas_done"]), int(run["n_ctas"]), *executed)
