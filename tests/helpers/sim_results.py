"""Results of simulated launches that were not run: for tests of what is computed from counters and how it is shown."""

from dataclasses import replace
from typing import Any

from ptxtool.analysis.energy.breakdown import EnergyBreakdown
from ptxtool.results.simulation import SimResult, StallPoint

_RESULT = SimResult(
    kernel="k",
    gpu="tesla-c2050",
    scheduler="lrr",
    share_registers=0,
    share_scratchpad=0,
    status="done",
    grid=(10, 1, 1),
    block=(64, 1, 1),
    n_ctas=10,
    ctas_done=10,
    registers=20,
    scratchpad_bytes=32,
    resident_ctas=5,
    unshared_ctas=5,
    shared_pairs=0,
    private_registers=0,
    private_scratchpad=0,
    limiter="registers",
    cycles=1000,
    warp_instructions=400,
    thread_instructions=12000,
    active_cycles=900,
    cta_cycles=5000,
    n_sms=2,
    n_schedulers=2,
    slots={"idle": 10, "scoreboard": 20, "stall": 30, "issued": 40},
    issued_by_lanes={16: 100, 32: 300},
    l1={"hits": 7, "misses": 3},
    l2={"hits": 2, "misses": 1},
    dram={"reads": 1},
    core={"stall_shared_memory": 4},
    energy=EnergyBreakdown({"instruction": 3.0, "leakage": 5.0}, 2.0),
)


def sim_result(**changes: Any) -> SimResult:
    """A launch of 1000 cycles with some counters, or others."""
    return replace(_RESULT, **changes)


def stall_point(instruction: int, **changes: Any) -> StallPoint:
    """A place where warps waited for a register."""
    text = "add.u32 $r1, $r2, $r3;"
    return replace(StallPoint(instruction, instruction + 5, text, "$r3", 7, 12, 340, 5), **changes)
