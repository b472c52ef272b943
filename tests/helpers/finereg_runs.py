"""FineReg's applications and their runs, invented: nothing is simulated here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.formats.gpu import load_gpu
from ptxtool.sweep.reproduction.finereg.kernels import StandIn
from ptxtool.sweep.reproduction.finereg.measured import Measured
from ptxtool.sweep.reproduction.finereg.paper import Application, paper
from ptxtool.sweep.reproduction.finereg.variants import STALLS

MACHINE = load_gpu(paper().gpu)
SWITCHING = {
    "active_average": 4.0,
    "resident_average": 8.0,
    "switches": 100,
    "switch_cycles": 640,
    "stalls": 200,
    "stall_cycles": 32000,
    "cycles_to_first_stall": 500.0,
    "cycles_to_stall": 300.0,
    "evictions": 50,
    "registers_evicted": 3200,
    "depletion_cycles": 160,
}


def run(cycles: int = 1000, *, resident: float | None = None, **others: Any) -> dict[str, Any]:
    """The counters of a run of CTAs of 256 threads with 32 registers on 16 SMs; with `resident` CTAs on average they
    are switched. `others` replace counters, those of switching by `switching_NAME`."""
    counters: dict[str, Any] = {
        "cycles": cycles,
        "n_sms": 16,
        "n_ctas": 1024,
        "resident_ctas": 8,
        "block": [256, 1, 1],
        "registers": 32,
        "slots": {"idle": 20, "scoreboard": 40, "stall": 10, "issued": 30},
        "l1": {"misses": 100},
        "dram": {"reads": 600, "writes": 400},
        "energy": {"total_uj": 100.0, "parts_uj": {"dram": 40.0, "leakage": 30.0, "register_read": 5.0}},
    }
    if resident is not None:
        inner = {k.removeprefix("switching_"): v for k, v in others.items() if k.startswith("switching_")}
        counters["switching"] = {**SWITCHING, "resident_average": resident, **inner}
    return counters | {k: v for k, v in others.items() if not k.startswith("switching_")}


def application(name: str) -> Application:
    """One of the paper's."""
    return next(each for each in paper().application if each.name == name)


def stand_in(name: str, sample: str = "", registers: int = 32, n_ctas: int = 1024) -> StandIn:
    """A kernel of CTAs of 256 threads that stands for an application."""
    file = Path(sample or name) / "kernel.ptx"
    plan = occupancy(MACHINE, 256, registers, 0)
    return StandIn(application(name), sample or name, file, file.with_name("launch.toml"), n_ctas, plan)


def benchmark(name: str, runs: Mapping[str, Mapping[str, Any]], **options: Any) -> Measured:
    """An application with one kernel, and counters by variant."""
    kernel = stand_in(name, **options)
    return Measured(
        kernel.application, (kernel,), {(kernel.sample, variant): c for variant, c in runs.items()}
    )


def compared(name: str, fine: int, virtual: int = 1000, **options: Any) -> Measured:
    """An application with runs without a scheme (1000 cycles, 8 CTAs), under Virtual Thread (10) and FineReg (16)."""
    runs = {
        "none": run(),
        STALLS.name: run(resident=8.0, switching_active_average=8.0),
        "virtual-thread": run(virtual, resident=10.0),
        "finereg": run(fine, resident=16.0),
    }
    return benchmark(name, runs, **options)
