"""What each part of the machine is worth: cycles with the part simplified or switched off, against the whole model.

    python benchmarks/simplifications.py [--gpu NAME] [--scheduler NAME] [--kernels A,B] [--switches A,B] [--json]

For researchers who want to know which simplification they can afford, and for docs/simplifications.md, whose table
this prints (Markdown). Every switch is a setting of the GPU file, the same as `ptxtool sim --set`. Kernels are the
packaged samples and, where the reference material lies beside the checkout, small kernels from there (marked *).
Cycles are deterministic: no run is repeated.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests" / "helpers"))

from kernels import sample  # noqa: E402
from reference_kernels import launch_named, recorded_runs, simulate  # noqa: E402

import ptxsim  # noqa: E402
from ptxtool.formats.gpu import Gpu, load_gpu  # noqa: E402
from ptxtool.formats.gpu_names import DEFAULT_GPU  # noqa: E402
from ptxtool.formats.settings import with_settings  # noqa: E402

SAMPLES = ("sgemm", "hotspot", "reduction", "saxpy")
REFERENCE = (
    "fma_chain",
    "shared_conflict_s8",
    "black_scholes",
    "backprop_adjust",
    "conv_rows",
    "histogram",
    "pointer_chase",
    "srad1",
    "vecadd",
    "spmv_csr",
)


@dataclass(frozen=True)
class Kernel:
    """A launch that can be repeated on any machine: `run(gpu, parts)` with one `parts`-th of its grid."""

    name: str
    run: Callable[[Gpu, int], ptxsim.SimResult]


@dataclass(frozen=True)
class Switch:
    """A part of the model, and the settings that take it away. `parts`: into how many the grid is cut."""

    name: str
    settings: Callable[[Gpu], list[str]]
    parts: int = 1


def _always(*settings: str) -> Callable[[Gpu], list[str]]:
    return lambda gpu: list(settings)


def _one_clock(gpu: Gpu) -> list[str]:
    """DRAM at the core's clock, its times scaled and rounded up."""
    core, dram = gpu.clocks.core_mhz, gpu.clocks.dram_mhz
    names = [n for n in gpu.dram.__struct_fields__ if n[0] == "t" or n in ("CL", "WL")]
    times = [f"dram.{n}={math.ceil(getattr(gpu.dram, n) * core / dram)}" for n in names]
    return [f"clocks.dram_mhz={core}", *times]


def _half(gpu: Gpu) -> list[str]:
    """Half the SMs with half the memory."""
    return [
        f"sm.count={gpu.sm.count // 2}",
        f"l2.slices={gpu.l2.slices // 2}",
        f"dram.channels={gpu.dram.channels // 2}",
    ]


CORE = (
    Switch("bank conflicts", _always("pipeline.bank_conflicts=false")),
    Switch("result buses", lambda gpu: [f"pipeline.ex_wb={gpu.pipeline.sp_units + gpu.pipeline.sfu_units}"]),
    Switch("L1I of 32 KB", _always("fetch.sets=64")),
    Switch("perfect L1I", _always("fetch.perfect=true")),
    Switch("perfect L1C", _always("l1c.perfect=true")),
)
MEMORY = (
    Switch("head-of-line", _always("icnt.head_of_line=false")),
    Switch("packet gap", _always("icnt.packet_gap_cycles=0")),
    Switch("FR-FCFS of 4", _always("dram.reorder_window=4")),
    Switch("in order", _always("dram.reorder_window=1")),
    Switch("one clock", _one_clock),
    Switch("half of it", _half, parts=2),
)
CONTROL = Switch("control", lambda gpu: [f"dispatch.first_sm={(gpu.dispatch.first_sm + 1) % gpu.sm.count}"])
"""Takes nothing away: another SM gets the first CTA. What it changes is the noise of the others."""
SWITCHES = (*CORE, *MEMORY, CONTROL)


def samples(scheduler: str) -> Iterator[Kernel]:
    """The packaged samples."""
    for name in SAMPLES:
        launch, kernel = sample(name)

        def run(gpu: Gpu, parts: int, launch: Any = launch, kernel: Any = kernel) -> ptxsim.SimResult:
            return ptxsim.launch(
                kernel,
                _cut(launch.grid, parts),
                launch.block,
                launch.arguments(),
                gpu=gpu,
                scheduler=scheduler,
                registers=launch.registers,
                dynamic_shared=launch.dynamic_shared,
            )

        yield Kernel(name, run)


def reference(scheduler: str) -> Iterator[Kernel]:
    """Small kernels of the reference material; none where it is absent."""
    shared = CHECKOUT.parent / "shared"
    if not shared.is_dir():
        return
    registers = {row["launch"]: row["registers_per_thread"] for row in recorded_runs(shared)}
    for name in REFERENCE:
        launch = launch_named(shared, name)

        def run(gpu: Gpu, parts: int, launch: Any = launch) -> ptxsim.SimResult:
            grid = _cut(launch.data["grid"], parts)
            options = {"gpu": gpu, "scheduler": scheduler, "registers": registers[str(launch)]}
            return simulate(shared, launch, launch.arguments()[0], grid, **options)

        yield Kernel(f"{name}\\*", run)


def _cut(grid: Any, parts: int) -> list[int]:
    """A grid with one `parts`-th of its CTAs: its longest side cut."""
    sides = [grid] if isinstance(grid, int) else list(grid)
    longest = sides.index(max(sides))
    sides[longest] = -(-sides[longest] // parts)
    return sides


def measure(gpu: Gpu, kernels: list[Kernel], switches: list[Switch]) -> list[dict[str, Any]]:
    """One row for each kernel: its cycles, and the change with each part taken away."""
    machines = [with_settings(gpu, switch.settings(gpu)) for switch in switches]
    rows: list[dict[str, Any]] = []
    for kernel in kernels:
        whole = kernel.run(gpu, 1)
        row: dict[str, Any] = {"kernel": kernel.name, "cycles": whole.cycles}
        for switch, machine in zip(switches, machines, strict=True):
            row[switch.name] = _change(whole, kernel.run(machine, switch.parts), switch.parts)
        rows.append(row)
        print(kernel.name, file=sys.stderr, flush=True)
    return rows


def _change(whole: ptxsim.SimResult, other: ptxsim.SimResult, parts: int) -> float | None:
    """Cycles in percent more or less; None where a part of the grid does not do as small a part of the work."""
    work = other.warp_instructions * parts / whole.warp_instructions
    return round(100 * (other.cycles / whole.cycles - 1), 2) if 0.9 < work < 1.1 else None


def markdown(rows: list[dict[str, Any]], names: list[str]) -> str:
    """These columns as a table; below it the mean of the changes' sizes, and the largest."""
    lines = ["| kernel | cycles | " + " | ".join(names) + " |", "|---|---:" + "|---:" * len(names) + "|"]
    for row in rows:
        changes = " | ".join("" if row[name] is None else f"{row[name]:+.1f}%" for name in names)
        lines.append(f"| {row['kernel']} | {row['cycles']} | {changes} |")
    for title, combine in (("mean size", lambda v: sum(v) / len(v)), ("largest", max)):
        sizes = " | ".join(f"{combine(_sizes(rows, name)):.1f}%" for name in names)
        lines.append(f"| **{title}** | | {sizes} |")
    return "\n".join(lines)


def _sizes(rows: list[dict[str, Any]], name: str) -> list[float]:
    return [abs(row[name]) for row in rows if row[name] is not None] or [0.0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", default=DEFAULT_GPU)
    parser.add_argument("--scheduler", default="lrr")
    parser.add_argument("--kernels", help="only these, separated by commas")
    parser.add_argument("--switches", help="only these, separated by commas")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    kernels = [*samples(options.scheduler), *reference(options.scheduler)]
    if options.kernels:
        kernels = [k for k in kernels if k.name.rstrip("\\*") in options.kernels.split(",")]
    switches = [s for s in SWITCHES if options.switches is None or s.name in options.switches.split(",")]
    rows = measure(load_gpu(options.gpu), kernels, switches)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for part in (CORE, MEMORY):
        names = [s.name for s in (*part, CONTROL) if s in switches]
        if names:
            print(markdown(rows, names), end="\n\n")


if __name__ == "__main__":
    main()
