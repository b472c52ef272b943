"""How the timing model scales: event skipping, grid sizes, and GPGPU-Sim 4.2's processor seconds. Prints tables.

    python benchmarks/bench_machine.py [skip] [grids] [gpgpusim [LAUNCH ...]]

* `skip`: a chain of dependent loads that miss, one warp; every cycle against only those that matter.
* `grids`: the sample `saxpy` over a hundredfold range of CTAs: time per CTA, and the memory of the process.
* `gpgpusim`: recorded runs of GPGPU-Sim 4.2 (`../shared/reference`) against ours: the processor seconds
  of its simulation thread by those of a warm `ptxsim.launch`, the best of three.

All times are processor times; figures of one call belong together, as machines differ and are shared.
"""

import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "helpers"))

from reference_kernels import launch_named, recorded_runs, simulate  # noqa: E402

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


def gpgpusim(names: list[str]) -> None:
    """Processor seconds against those recorded of GPGPU-Sim 4.2, loose round robin."""
    shared = CHECKOUT.parent / "shared"
    if not shared.is_dir():
        print(f"no {shared}: nothing to compare with")
        return
    ratios = []
    print(
        f"{'launch':<24}{'warp insn':>10}{'cycles':>9}{'GPGPU-Sim s':>13}{'ours s':>9}{'ratio':>8}{'M/s':>7}"
    )
    for row in recorded_runs(shared):
        if row["config"] != "C2050-lrr" or (names and row["launch"] not in names):
            continue
        launch = launch_named(shared, row["launch"])
        arguments = [launch.arguments()[0] for _ in range(4)]
        results = []

        def run(
            launch: object = launch, row: dict = row, arguments: list = arguments, results: list = results
        ) -> None:
            registers = row["registers_per_thread"]
            results.append(simulate(shared, launch, arguments.pop(), registers=registers))

        run()
        seconds = best(run)
        ratios.append(row["cpu_s"] / seconds)
        insn = results[0].warp_instructions
        print(
            f"{row['launch']:<24}{insn:>10}{results[0].cycles:>9}{row['cpu_s']:>13.2f}{seconds:>9.3f}{ratios[-1]:>8.1f}"
            f"{insn / seconds / 1e6:>7.2f}",
            flush=True,
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.1f}, least {min(ratios):.1f}")


def main() -> None:
    wanted = sys.argv[1:] or ["skip", "grids", "gpgpusim"]
    if "skip" in wanted:
        skip()
    if "grids" in wanted:
        grids()
    if "gpgpusim" in wanted:
        gpgpusim(wanted[wanted.index("gpgpusim") + 1 :])


if __name__ == "__main__":
    main()
