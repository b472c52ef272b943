"""The result of a timed launch, read from its simulation: counters, and the instructions at which warps stopped.

The counters are defined in timing-model section 4.1.
"""

from typing import Any

import numpy as np

from ptxsim.base.sums import Sums
from ptxsim.memory_image.address_names import variable_at
from ptxsim.timing.deadlock import shared_register
from ptxsim.timing.energy.events import added, instruction_events, memory_events, switching_events
from ptxsim.timing.hotspots import read_hotspots
from ptxsim.timing.memory.counts import READONLY_COUNTS, l1_counts, memory_counts
from ptxsim.timing.sharing.sections_setup import pool_result
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.sm_state import IDLE, SCOREBOARD, SM, SM_WIDE, STALL
from ptxtool.analysis.energy.breakdown import energy_of
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import SimResult, StallPoint

_COUNTS = (
    "warp_instructions",
    "thread_instructions",
    "active_cycles",
    "instruction_miss_slots",
    "stall_shared_memory",
    "bank_conflict_cycles",
    "register_bank_conflicts",
    "global_loads",
    "texture_fetches",
    "global_stores",
    "atomics",
    "shared_accesses",
    "barriers",
    "divergent_branches",
    "lock_refused",
    "lock_wait_cycles",
    "locks_released_early",
)
_FIELDS = {name: name for name in _COUNTS} | {
    f"{cache}_{name}": f"{cache}.{name}" for cache in ("l1i", "l1c", "l1t") for name in READONLY_COUNTS
}
_narrow, _wide = Sums(SM, _FIELDS), Sums(SM_WIDE, _FIELDS)


def launch_result(
    kernel: Function, simulation: Simulation, scheduler: str, status: str, registers: int
) -> SimResult:
    """The result of a run that ended with this status; `registers` are those per thread."""
    plan = simulation.plan.sharing
    run, sms, configuration = simulation.run[0], simulation.sms, simulation.plan
    switching, active = configuration.switching, configuration.active
    limiter = active.limiter if active else plan.limiter
    if configuration.unified:
        limiter = configuration.unified.limiter
    counts = (_wide if simulation.is_wide else _narrow).of(sms)
    if run["entry_registers"]:
        counts |= {name: int(sms[name].sum()) for name in ("register_waits", "register_wait_cycles")}
    slots, by_lanes = _slot_counts(sms, int(run["n_schedulers"]))
    memory = memory_counts(simulation.memory)
    l1 = l1_counts(simulation.l1s)
    l2, dram = (_named(memory, prefix) for prefix in ("l2_", "dram_"))
    cycles, warp_instructions = int(run["cycle"]), counts.pop("warp_instructions")
    thread_instructions, active_cycles = counts.pop("thread_instructions"), counts.pop("active_cycles")
    core = counts | {k: v for k, v in memory.items() if k.startswith("icnt_")}
    switched = simulation.switcher.result(cycles) if simulation.switcher else None
    events = added(
        instruction_events(simulation.program.instructions, simulation.arrays["issues"]),
        memory_events(core, l1, l2, dram, simulation.gpu),
        switching_events(switched, switching.warps) if switched and switching else {},
    )
    return SimResult(
        kernel=kernel.name,
        gpu=simulation.gpu.name,
        scheduler=scheduler,
        share_registers=float(plan.percent) if plan.resource == "registers" else 0.0,
        share_scratchpad=float(plan.percent) if plan.resource == "scratchpad" else 0.0,
        status=status,
        grid=configuration.grid,
        block=configuration.block,
        n_ctas=int(run["n_ctas"]),
        ctas_done=int(run["ctas_done"]),
        registers=registers,
        scratchpad_bytes=plan.needs.scratchpad,
        resident_ctas=active.resident_ctas if active else plan.resident_ctas,
        unshared_ctas=active.resident_ctas if active else plan.unshared_ctas,
        shared_pairs=plan.shared_pairs,
        private_registers=plan.private_registers,
        private_scratchpad=plan.private_scratchpad,
        limiter=limiter,
        cycles=cycles,
        warp_instructions=warp_instructions,
        thread_instructions=thread_instructions,
        active_cycles=active_cycles,
        cta_cycles=int(sms["cta_cycles"].sum()) + cycles * int(run["next_cta"] - run["ctas_done"]),
        n_sms=len(sms),
        n_schedulers=int(run["n_schedulers"]),
        slots=slots,
        issued_by_lanes=by_lanes,
        l1=l1,
        l2=l2,
        dram=dram,
        core=core,
        energy=energy_of(events, simulation.gpu.energy, len(sms), cycles, simulation.gpu.clocks.core_mhz),
        stall_points=_stall_points(simulation),
        printed=simulation.printer.text,
        issues=tuple(simulation.arrays["issues"].tolist()),
        dynamic=simulation.dynamic.result() if simulation.dynamic else None,
        pool=pool_result(configuration.sections, sms) if configuration.sections else None,
        renaming=simulation.renamer.result(sms) if simulation.renamer else None,
        unified=configuration.unified,
        switching=switched,
        hotspots=read_hotspots(simulation.program, sms, simulation.arrays, configuration.lock_as_stall)
        if configuration.hotspots
        else None,
    )


def _named(counts: dict[str, int], prefix: str) -> dict[str, int]:
    """The counts whose names have a prefix, without it."""
    return {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix)}


def _slot_counts(sms: Any, n_schedulers: int) -> tuple[dict[str, int], dict[int, int]]:
    """Sum the slot counters over SMs and schedulers, and check that every slot was charged exactly once."""
    totals = np.asarray(sms["slots"])[:, :n_schedulers, :].sum(axis=(0, 1))
    active = n_schedulers * int(np.sum(sms["active_cycles"]))
    assert int(totals.sum()) == active, "scheduler slots do not sum to schedulers x active cycles"
    # index 2 + n: issued with n lanes active in the SIMT stack
    by_lanes = {lanes: int(totals[STALL + lanes]) for lanes in range(1, 33) if totals[STALL + lanes]}
    counts = {"idle": int(totals[IDLE]), "scoreboard": int(totals[SCOREBOARD]), "stall": int(totals[STALL])}
    return counts | {"issued": sum(by_lanes.values())}, by_lanes


def _stall_points(simulation: Simulation) -> tuple[StallPoint, ...]:
    """The instructions at which non-owner warps stopped, in the order of their text."""
    program, arrays = simulation.program, simulation.arrays
    if not simulation.run["shared_pairs"][0]:
        return ()
    points: list[StallPoint] = []
    for i in np.flatnonzero(arrays["stall_warps"]):
        record = program.instructions[i]
        offset = int(arrays["stall_offset"][i])
        register = shared_register(simulation, int(i)) if offset < 0 else -1
        function, index = program.positions[i]
        points.append(
            StallPoint(
                instruction=int(i),
                line=int(record["line"]),
                text=program.texts[i],
                register=program.register_names[register] if register >= 0 else "",
                sequence=program.sequence(int(i), register) if register >= 0 else 0,
                offset=offset,
                variable=variable_at(program, offset) if offset >= 0 else "",
                warps=int(arrays["stall_warps"][i]),
                warp_cycles=int(arrays["stall_cycles"][i]),
                first_cycle=int(arrays["stall_first"][i]),
                cuda=function.cuda_place(index) if index >= 0 else None,
            )
        )
    return tuple(points)
