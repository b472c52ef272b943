"""Speed of the simulator on the packaged samples: warp instructions per second, warm. Prints JSON.

    python benchmarks/bench_sim.py [SAMPLE ...] [--runs N]

Each figure is the median of N runs in one process, the first run (loading the cached machine code) apart. `launch_ms`
is the CPU time of a launch of two warps in a process that has had some: on a machine of its own by `ptxsim.launch`, as
the first of a new `ptxsim.Machine`, and after others on one.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from ptxsim.launcher import launch
from ptxsim.machine import Machine
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


STORE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
"""


def launch_ms(gpu: str, repeats: int = 50) -> dict[str, float]:
    """Milliseconds of CPU of a launch, by the machine that it runs on: the least of five means."""
    kernel, out = parse(STORE).kernels["store"], np.zeros(64, np.uint32)
    kept = Machine(gpu)

    def milliseconds(machine_launch: Callable[[], object]) -> float:
        started = time.process_time()
        for _ in range(repeats):
            machine_launch()
        return (time.process_time() - started) / repeats * 1e3

    kinds: dict[str, Callable[[], object]] = {
        "launch": lambda: launch(kernel, 1, 64, [out], gpu=gpu),
        "new_machine": lambda: Machine(gpu).launch(kernel, 1, 64, [out]),
        "same_machine": lambda: kept.launch(kernel, 1, 64, [out]),
    }
    return {name: round(min(milliseconds(each) for _ in range(5)), 2) for name, each in kinds.items()}


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
    launches = {gpu: launch_ms(gpu) for gpu in ("tesla-c2050", "gpgpusim42-qv100")}
    figures = {"simulation": rows, "start_seconds_warm": round(start, 3), "launch_ms": launches}
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
