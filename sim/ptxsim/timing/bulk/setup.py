"""The engine records of a launch: for `build.py`."""

from typing import Any

import numpy as np

from ptxsim.base.program import ENGINE, SUSPEND, Program
from ptxsim.timing.memory.memory_state import FOREVER
from ptxtool.formats.gpu import Gpu


def engine_records(gpu: Gpu, program: Program) -> Any:
    """A record for every SM, of a program with bulk copies or tests of mbarriers that wait; otherwise none."""
    if not (program.has_bulk_copies or (program.instructions["kind"] == SUSPEND).any()):
        return np.zeros(0, ENGINE)
    engines = np.zeros(gpu.sm.count, ENGINE)
    tma = gpu.tma
    engines["next"], engines["moved"] = FOREVER, -1
    engines["issue_cycles"], engines["requests"] = tma.issue_cycles, tma.requests_per_cycle
    engines["latency"] = tma.latency_cycles
    engines["cluster_cycles"], engines["cluster_bytes"] = tma.cluster_cycles, tma.cluster_bytes_per_cycle
    engines["wait_cycles"], engines["core_mhz"] = tma.try_wait_cycles, gpu.clocks.core_mhz
    return engines
