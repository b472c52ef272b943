"""Start-up: how long a command takes from nothing to its answer, as whole processes. Prints JSON (seconds, medians).

    python benchmarks/bench_start.py [--runs N] [--cold]

`--cold` also compiles the simulator into an empty cache folder, which takes half a minute.
`sweep_runs_per_cpu_second`: of a sweep of 1,500 runs of a small kernel, start and end included.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_sim import STORE

PTXTOOL = [sys.executable, "-c", "from ptxtool.cli.main import main; main()"]


def seconds(arguments: list[str], environment: dict[str, str] | None = None) -> float:
    """Wall-clock seconds of one run."""
    started = time.perf_counter()
    subprocess.run(
        [*PTXTOOL, *arguments], check=True, capture_output=True, env=os.environ | (environment or {})
    )
    return time.perf_counter() - started


def median(arguments: list[str], runs: int) -> float:
    seconds(arguments)  # warms the file cache
    return round(statistics.median(seconds(arguments) for _ in range(runs)), 3)


_LAUNCH = """file = "store.ptx"
kernel = "store"
grid = 1
block = 64
[[args]]
name = "out"
type = "u32"
count = 64
output = true
value = 0
"""


def sweep_rate() -> float:
    """Runs of a sweep per second of CPU."""
    registers = ", ".join(map(str, range(4, 254)))
    machines = '"", "l2.rop_cycles=110", "l2.rop_cycles=120"'
    axes = f'schedulers = ["lrr", "gto"]\nset = [{machines}]\nregisters = [{registers}]'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "store.ptx").write_text(STORE)
        (folder / "store.toml").write_text(_LAUNCH)
        (folder / "tiny.toml").write_text(f'kernels = ["store.ptx"]\n{axes}\n')
        before = os.times()
        seconds(["sweep", "-q", str(folder / "tiny.toml")])
        after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return round(1500 / used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    figures: dict[str, float] = {
        "bare_python": round(min(_python_start() for _ in range(options.runs)), 3),
        "help": median(["--help"], options.runs),
        "first_use_sgemm": median(["first-use", "sgemm"], options.runs),
        "check_sgemm": median(["check", "sgemm"], options.runs),
        "sim_reduction_warm": median(["sim", "reduction"], options.runs),
        "sweep_runs_per_cpu_second": sweep_rate(),
    }
    if options.cold:
        with tempfile.TemporaryDirectory() as folder:
            figures["sim_reduction_cold"] = round(
                seconds(["sim", "reduction"], {"XDG_CACHE_HOME": folder}), 1
            )
    print(json.dumps(figures, indent=2))


def _python_start() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
