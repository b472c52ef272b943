"""The result of launches that ran at the same time, read from their simulation: the share of each, and the whole."""

import math
from dataclasses import replace
from typing import Any

from ptxsim.observe.launch_result import launch_result
from ptxsim.timing.concurrent.members import Member
from ptxsim.timing.simulation import Simulation
from ptxtool.results.concurrency import ConcurrentResult, LaunchCounts


def concurrent_result(simulation: Simulation, scheduler: str, status: str) -> ConcurrentResult:
    """The result of a run that ended with this status."""
    members, records = simulation.members, simulation.arrays["kernels"]
    cycles = simulation.cycles
    counts = [_counts(member, record, cycles) for member, record in zip(members, records, strict=True)]
    first = members[0]
    whole = launch_result(first.kernel, simulation, scheduler, status, first.registers)
    if len(members) > 1:
        names = " + ".join(dict.fromkeys(member.kernel.name for member in members))
        whole = replace(whole, kernel=names, grid=(int(records["n_ctas"].sum()), 1, 1))
    return ConcurrentResult(simulation.gpu.dispatch.kernels, tuple(counts), whole)


def _counts(member: Member, record: Any, cycles: int) -> LaunchCounts:
    """The share of a launch; of one that has not ended up to cycle `cycles`."""
    n_ctas, done, first = math.prod(member.plan.grid), int(record["ctas_done"]), int(record["first_cycle"])
    ended = done == n_ctas
    last = int(record["end_cycle"]) if ended else cycles
    running = int(record["next_cta"]) - done
    return LaunchCounts(
        kernel=member.kernel.name,
        stream=member.stream,
        after=tuple(k + 1 for k in member.after),
        grid=member.plan.grid,
        block=member.plan.block,
        registers=member.registers,
        scratchpad_bytes=member.plan.sharing.needs.scratchpad,
        n_ctas=n_ctas,
        ctas_done=done,
        ready_cycle=int(record["ready_cycle"]) if first >= 0 else -1,
        first_cycle=first,
        end_cycle=last if ended else -1,
        cycles=last - first if first >= 0 else 0,
        warp_instructions=int(record["warp_instructions"]),
        thread_instructions=int(record["thread_instructions"]),
        cta_cycles=int(record["cta_cycles"]) + cycles * running,
    )
