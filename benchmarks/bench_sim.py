"""Speed of the simulator on the packaged samples: warp instructions per second, warm. Prints JSON.

    python benchmarks/bench_sim.py [SAMPLE ...] [--runs N]

Each figure is the median of N runs in one process, the first run (loading the cached machine code) apart.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from ptxsim.launcher import launch
from ptxtool.base.resources import resource_dir
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.parse import parse


def measure(name: str, scheduler: str, runs: int) -> dict[str, object]:
    """Simulate one sample `runs` times."""
    folder = resource_dir("samples") / name
    source = next(p for p in (folder / "kernel.ptxplus", folder / "kernel.ptx") if p.exists())
    module = parse(source.read_bytes(), name=str(source))
    description = load_launch(folder / "launch.toml")
    kernel = module.kernels[description.kernel or next(iter(module.kernels))]
    speeds: list[float] = []
    result = None
    for _ in range(runs + 1):
        arguments = description.arguments()
        started = time.perf_counter()
        result = launch(
            kernel,
            description.grid,
            description.block,
            arguments,
            scheduler=scheduler,
            registers=description.registers,
            dynamic_shared=description.dynamic_shared,
        )
        speeds.append(result.warp_instructions / (time.perf_counter() - started))
    assert result is not None
    return {
        "sample": name,
        "scheduler": scheduler,
        "warp_instructions": result.warp_instructions,
        "cycles": result.cycles,
        "million_warp_instructions_per_second": round(statistics.median(speeds[1:]) / 1e6, 3),
        "runs": [round(s / 1e6, 3) for s in speeds[1:]],
    }


_FIRST_CYCLE = """
import time, sys
t = time.perf_counter()
from ptxsim.base.machine_code import address
from ptxsim.timing.core.cycle import simulator
address(simulator(False, ()))
print(time.perf_counter() - t)
"""


def start_seconds() -> float:
    """Seconds of a fresh process from its first import to a loop that is ready to run (machine code cached)."""
    out = subprocess.run([sys.executable, "-c", _FIRST_CYCLE], check=True, capture_output=True, text=True)
    return float(out.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", default=["sgemm", "hotspot", "reduction"])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    rows = [measure(s, scheduler, options.runs) for s in options.samples for scheduler in ("lrr", "owf")]
    start = statistics.median(start_seconds() for _ in range(3))
    print(json.dumps({"simulation": rows, "start_seconds_warm": round(start, 3)}, indent=2))


if __name__ == "__main__":
    main()
