"""How the timing model scales: event skipping, grid sizes, and GPGPU-Sim 4.2's processor seconds. Prints tables.

    python benchmarks/bench_machine.py [skip] [grids] [gpgpusim [CONFIG|LAUNCH ...]] [threads [CONFIG|LAUNCH ...]]

* `skip`: a chain of dependent loads that miss, one warp; every cycle against only those that matter.
* `grids`: the sample `saxpy` over a hundredfold range of CTAs: time per CTA, and the memory of the process.
* `gpgpusim`: recorded runs of GPGPU-Sim 4.2 (`../shared/reference`) against ours: the processor seconds
  of its simulation thread by those of a warm `ptxsim.launch`, the best of three. A configuration is what runs were
  recorded with, such as C2050-gto or QV100q; C2050-lrr where none is named.

* `threads`: the same launches with one thread and with two: seconds of the clock, the best of three each.

All other times are processor times; figures of one call belong together, as machines differ and are shared.
"""

import math
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / folder) for folder in ("tests", "tests/helpers", "benchmarks")]

import accuracy  # noqa: E402
from modern_runs import modern_runs, simulate_modern  # noqa: E402
from reference_kernels import recorded_runs  # noqa: E402

import ptxsim  # noqa: E402
import ptxtool  # noqa: E402

CHAIN = """
.version 6.0
.target sm_35
.address_size 64
.visible .entry chase(.param .u64 table, .param .u32 steps)
{
	.reg .b64 %p<2>;
	.reg .b32 %n;
	.reg .pred %more;
	ld.param.u64 %p0, [table];
	ld.param.u32 %n, [steps];
LOOP:
	ld.global.u64 %p1, [%p0];
	add.u64 %p0, %p0, %p1;
	sub.u32 %n, %n, 1;
	setp.ne.u32 %more, %n, 0;
	@%more bra LOOP;
	st.global.u64 [%p0], %p0;
	exit;
}
"""


def best(run: Callable[[], object], times: int = 3) -> float:
    """The least processor time of some runs."""
    least = math.inf
    for _ in range(times):
        started = time.process_time()
        run()
        least = min(least, time.process_time() - started)
    return least


def skip() -> None:
    """Event skipping on a latency-bound run."""
    kernel = ptxtool.parse(CHAIN).kernels["chase"]
    steps, stride = 4000, 4096 + 256
    table = np.full(steps * stride // 8 + 512, stride, np.uint64)
    run = {
        event_skip: lambda e=event_skip: ptxsim.launch(kernel, 1, 32, [table.copy(), steps], event_skip=e)
        for event_skip in (True, False)
    }
    cycles = ptxsim.launch(kernel, 1, 32, [table.copy(), steps]).cycles
    seconds = {event_skip: best(go) for event_skip, go in run.items()}
    print(
        f"event skipping, {cycles} cycles of dependent loads: {seconds[True]:.3f} s with, {seconds[False]:.3f} s"
    )
    print(f"it makes this {seconds[False] / seconds[True]:.1f} times as fast\n")


def grids() -> None:
    """Time per CTA over a hundredfold range of grids, and the memory it takes."""
    kernel = ptxtool.load("saxpy").kernels["saxpy"]
    print(f"{'CTAs':>8}{'cycles':>10}{'us per CTA':>12}{'MiB':>8}")
    for ctas in (64, 320, 1280, 6400):
        n = ctas * 256
        x, y = np.ones(n, np.float32), np.ones(n, np.float32)
        result = ptxsim.launch(kernel, ctas, 256, [y, x, 2.0, n])
        seconds = best(lambda ctas=ctas, n=n, x=x, y=y: ptxsim.launch(kernel, ctas, 256, [y, x, 2.0, n]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{ctas:>8}{result.cycles:>10}{seconds / ctas * 1e6:>12.1f}{peak:>8.0f}")
    print()


def launch_seconds(
    simulate: Callable[[], ptxsim.SimResult],
    times: int = 3,
    clock: Callable[[], float] = time.process_time,
    **more: Any,
) -> tuple[ptxsim.SimResult, float]:
    """A warm simulation, and the least processor time of its launch, without what prepares and checks its buffers."""
    launch, seconds = ptxsim.launch, []

    def timed(*arguments: object, **options: object) -> ptxsim.SimResult:
        started = clock()
        result = launch(*arguments, **options, **more)  # type: ignore[arg-type]
        seconds.append(clock() - started)
        return result

    ptxsim.launch = timed
    try:
        results = [simulate() for _ in range(times + 1)]
    finally:
        ptxsim.launch = launch
    return results[0], min(seconds[1:])


def recorded_launches(names: list[str]) -> list[tuple[dict[str, Any], Callable[[], ptxsim.SimResult]]]:
    """Recorded launches and configurations with these names: what was recorded, and a function that simulates it."""
    if not accuracy.SHARED.is_dir():
        print(f"no {accuracy.SHARED}: nothing to compare with")
        return []
    fermi = [(row, accuracy.simulate) for row in recorded_runs(accuracy.SHARED)]
    later = [(row, partial(simulate_modern, accuracy.SHARED)) for row in modern_runs(accuracy.SHARED)]
    recorded = [(row, simulate) for row, simulate in [*fermi, *later] if row.get("cpu_s")]
    configs = {row["config"] for row, _ in recorded} & set(names) or {"C2050-lrr"}
    launches = set(names) - configs
    return [
        (row, partial(simulate, row))
        for row, simulate in recorded
        if row["config"] in configs and not (launches and row["launch"] not in launches)
    ]


def gpgpusim(names: list[str]) -> None:
    """Processor seconds against those recorded of GPGPU-Sim 4.2."""
    ratios = []
    head = f"{'launch':<24}{'config':>12}{'warp insn':>10}{'cycles':>9}"
    print(f"{head}{'GPGPU-Sim s':>13}{'ours s':>9}{'ratio':>8}{'M/s':>7}")
    for row, simulate in recorded_launches(names):
        result, seconds = launch_seconds(simulate)
        ratios.append(row["cpu_s"] / seconds)
        insn = result.warp_instructions
        print(
            f"{row['launch']:<24}{row['config']:>12}{insn:>10}{result.cycles:>9}{row['cpu_s']:>13.2f}{seconds:>9.3f}"
            f"{ratios[-1]:>8.1f}{insn / seconds / 1e6:>7.2f}",
            flush=True,
        )
    if ratios:
        print(f"{len(ratios)} launches: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.1f}")


def threads(names: list[str]) -> None:
    """Seconds of launches with one thread and with two."""
    ratios = []
    print(f"{'launch':<24}{'config':>12}{'one s':>9}{'two s':>9}{'ratio':>8}")
    for row, simulate in recorded_launches(names):
        of = {n: launch_seconds(simulate, clock=time.perf_counter, threads=n)[1] for n in (1, 2)}
        ratios.append(of[1] / of[2])
        print(
            f"{row['launch']:<24}{row['config']:>12}{of[1]:>9.3f}{of[2]:>9.3f}{ratios[-1]:>8.2f}", flush=True
        )
    if ratios:
        print(f"{len(ratios)} launches: geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")


def main() -> None:
    wanted = sys.argv[1:] or ["skip", "grids", "gpgpusim"]
    if "skip" in wanted:
        skip()
    if "grids" in wanted:
        grids()
    if "gpgpusim" in wanted:
        gpgpusim(wanted[wanted.index("gpgpusim") + 1 :])
    if "threads" in wanted:
        threads(wanted[wanted.index("threads") + 1 :])


if __name__ == "__main__":
    main()
