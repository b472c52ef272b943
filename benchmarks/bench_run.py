"""Speed of runs without time on the packaged samples: warp instructions per second. Prints JSON.

    python benchmarks/bench_run.py [SAMPLE ...] [--runs N] [--threads N]

The best of N runs in one process, without checks and with all of them: on one thread in processor time (other work on
the machine counts less), on several in time that has passed. The first run, which loads the machine code, does not
count.
"""

import argparse
import json
import time

from ptxsim import run
from ptxtool import api
from ptxtool.base.resources import resource_dir

ALL_CHECKS = ("memory", "init", "races", "barriers")


def measure(name: str, check: tuple[str, ...], runs: int, threads: int) -> dict[str, object]:
    """Run one sample `runs` times."""
    module = api.load(name)
    launch = api.load_launch(resource_dir("samples") / name / "launch.toml")
    kernel = module.kernels[launch.kernel or next(iter(module.kernels))]
    best, executed = float("inf"), 0
    clock = time.process_time if threads == 1 else time.perf_counter
    for _ in range(runs + 1):
        arguments = launch.arguments()
        started = clock()
        how = launch.grid, launch.block, arguments
        result = run(kernel, *how, dynamic_shared=launch.dynamic_shared, check=check, threads=threads)
        best, executed = min(best, clock() - started), result.warp_instructions
    return {
        "sample": name,
        "checks": list(check),
        "warp_instructions": executed,
        "million_warp_instructions_per_second": round(executed / best / 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("samples", nargs="*", default=["sgemm", "hotspot", "reduction", "saxpy"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    how = options.runs, options.threads
    found = [measure(name, check, *how) for name in options.samples for check in ((), ALL_CHECKS)]
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
