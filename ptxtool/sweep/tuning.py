"""Tuning a kernel's registers: its variants, simulations of the promising ones, and which is best.

Simulations are runs of a sweep, so that equal texts are simulated once, several processes share the work, and with a
store a tuning that was stopped goes on where it was. A variant whose run fails or leaves other results than the
original's is not chosen. Results are the same if all memory is, or if the launch file says what is expected and that
holds: sums of floats by atomics depend on the order of the warps.
"""

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Literal

from ptxtool.base.cpus import available_cpus
from ptxtool.base.diag import PtxError, error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.blocks import block_bound, threads_problem
from ptxtool.ir.nodes import Function
from ptxtool.passes.context import CtaSize
from ptxtool.results.sweeps import Configuration, Record, SweepResult
from ptxtool.results.tuning import AssembledSpills, Tuning, Variant
from ptxtool.runs.assembled_spills import assembled_spills
from ptxtool.runs.tuning_variants import Made, Make, Planned, enumerate_variants
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.runner import OnProgress, run_sweep

TuningMode = Literal["predict", "simulate", "both"]


@dataclass(frozen=True)
class TuningOptions:
    """How to tune: predict only, simulate every variant, or simulate the `best` predicted ones (`both`).

    `store`, `jobs` and `progress` are those of `run_sweep`. With `allow_outside` the launch file may name files outside
    its folder. `ptxas`: ask ptxas what its own spilling to shared memory gives. `threads` are those of a CTA where
    there is no launch.
    """

    mode: TuningMode = "both"
    best: int = 3
    scheduler: str = ""
    store: str | Path | None = None
    jobs: int | None = None
    progress: OnProgress | None = None
    on_interrupt: Literal["raise", "return"] = "raise"
    allow_outside: bool = False
    ptxas: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.best, bool) or not isinstance(self.best, int) or self.best < 1:
            raise error(
                "E502", f"best = {self.best!r}", help="give the number of variants to simulate, at least 1"
            )


def tune(
    kernel: Function, launch: Launch | None, gpu: Gpu, kernel_named: KernelNamed, options: TuningOptions
) -> Tuning:
    """The variants of a kernel with fewer registers, predicted and simulated for a machine.

    `launch` may be None where nothing is simulated and the kernel says how large its CTAs are. Raises E402, E501 where
    that is not so, and what `enumerate_variants` and `run_sweep` raise.
    """
    if launch is not None:
        only_one(launch)
    cta = cta_size(kernel, launch, options.threads)
    if launch is None and options.mode != "predict":
        help = "give a launch file (--launch), threads (--block), or predict only (--predict)"
        raise error("E501", f"no launch to simulate '{kernel.name}' with", help=help)
    enumerated = enumerate_variants(kernel, cta, gpu, partial(in_processes, options.jobs))
    ptxas, assembled = "", tuple[AssembledSpills, ...]()
    if options.ptxas:
        targets = tuple(dict.fromkeys(v.target for v in enumerated.variants if v.target is not None))
        ptxas, assembled = assembled_spills(kernel, targets, cta.threads)
    tuning = Tuning(
        kernel.source.name,
        kernel.name,
        gpu.name,
        cta.threads,
        enumerated.variants,
        enumerated.declined,
        enumerated.end,
        assembled,
        ptxas,
    )
    if launch is None or options.mode == "predict":
        return tuning
    n = len(tuning.distinct) if options.mode == "simulate" else options.best
    chosen = dict.fromkeys((tuning.original.name, *(v.name for v in tuning.distinct[:n])))
    result = _simulated(
        [v for v in tuning.variants if v.name in chosen], kernel, launch, gpu, kernel_named, options
    )
    records = {record.label: record for record in result}
    first = records[tuning.original.name]
    found = tuple(with_record(v, records.get(v.same_as or v.name), first) for v in tuning.variants)
    return replace(tuning, variants=found, interrupted=result.interrupted)


def cta_size(kernel: Function, launch: Launch | None, threads: int | None = None) -> CtaSize:
    """The CTAs of the launch, of so many `threads`, or of the kernel's head.

    Raises E402 where none of these says their size, or the head forbids it.
    """
    if launch is not None:
        x, y, z = launch.block
        return CtaSize(x * y * z, launch.dynamic_shared)
    if threads is not None:
        problem = threads_problem(kernel, threads)
        if problem is not None:
            raise PtxError([problem])
        return CtaSize(threads)
    bound = block_bound(kernel)
    if bound is None:
        what = f"the size of the CTAs of '{kernel.name}' is unknown"
        help = "give a launch file (--launch), threads (--block), or '.reqntid' or '.maxntid' in the kernel's head"
        raise error("E402", what, kernel.source, kernel.start, kernel.body_start, help=help)
    return CtaSize(bound.threads)


def _simulated(
    variants: Sequence[Variant],
    kernel: Function,
    launch: Launch,
    gpu: Gpu,
    kernel_named: KernelNamed,
    options: TuningOptions,
) -> SweepResult:
    """The runs of some variants, by their names."""
    configurations = [variant_run(variant, kernel, launch, gpu, options.scheduler) for variant in variants]
    return run_sweep(
        configurations,
        kernel_named,
        store=options.store,
        name=f"tune {kernel.name} on {gpu.name}",
        jobs=options.jobs,
        progress=options.progress,
        on_interrupt=options.on_interrupt,
        allow_outside=options.allow_outside,
    )


def variant_run(
    variant: Variant, kernel: Function, launch: Launch, gpu: Gpu, scheduler: str = ""
) -> Configuration:
    """The run of a variant of a kernel, under the variant's name; by default with the machine's scheduler."""
    return Configuration(
        kernel.source.name,
        launch.source.name,
        gpu,
        scheduler=scheduler,
        registers=variant.registers,
        label=variant.name,
        entry=kernel.name,
        text=variant.text,
    )


def with_record(variant: Variant, record: Record | None, first: Record) -> Variant:
    """A variant with what its run found, `first` being the original's; unchanged without one."""
    if record is None or record.status == "waiting":
        return variant
    if not record.ok:
        cycles = record.counters.get("cycles") if record.counters else None
        return replace(variant, problem=record.outcome.reason, cycles=cycles)
    is_same = record.memory == first.memory or bool(record.outcome.checked)
    problem = "" if is_same else "memory differs from the original's"
    return replace(variant, cycles=record.counters["cycles"], problem=problem)


_WORTH_A_PROCESS = 20_000
"""Instructions of the variants that a process should have to make: about a second of work."""
_make: Make
"""What the forked processes call: it has the kernel and its original variant, which do not travel."""


def in_processes(jobs: int | None, plans: Sequence[Planned], instructions: int, make: Make) -> Made:
    """Make variants of a kernel of so many instructions in several processes, by default one per CPU.

    Fewer where there is little to make; and all in this one where processes cannot be forked, or one is killed.
    """
    global _make
    worth = len(plans) * instructions // _WORTH_A_PROCESS
    jobs = min(available_cpus() if jobs is None else jobs, worth)
    if jobs <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        return make(plans)
    runs = [list(run) for _, run in groupby(plans, key=lambda planned: (planned.target, planned.rule))]
    parts = [[planned for run in runs[k::jobs] for planned in run] for k in range(jobs)]
    _make = make
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _leave_interrupts) as pool:
            by_name = {found.name: found for part in pool.map(_part, parts) for found in part}
    except BrokenProcessPool:
        return make(plans)
    return [by_name[planned.name] for planned in plans]


def _leave_interrupts() -> None:
    """In a new process: Ctrl-C is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part(plans: Sequence[Planned]) -> Made:
    return _make(plans)
