"""Run FineReg's evaluation as a sweep, and put its tables and figures beside the paper's.

The runs of Figure 18's larger baselines depend on the results of others: they are a second sweep. What the store has is
not run again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.results.exhibits import Failure, Reproduction
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.experiment import memory_finding
from ptxtool.sweep.reproduction.finereg.assumptions import assumptions
from ptxtool.sweep.reproduction.finereg.comparisons import compared
from ptxtool.sweep.reproduction.finereg.findings import findings
from ptxtool.sweep.reproduction.finereg.kernels import StandIn, stand_ins
from ptxtool.sweep.reproduction.finereg.limits import limits
from ptxtool.sweep.reproduction.finereg.measured import Measured, RunCounters
from ptxtool.sweep.reproduction.finereg.paper import Paper, paper
from ptxtool.sweep.reproduction.finereg.sensitivity import resourced, sensitivity
from ptxtool.sweep.reproduction.finereg.variants import Variant, variants
from ptxtool.sweep.runner import run_sweep

NAME, LATER = "finereg", "finereg, larger baselines"


def reproduce(kernel_named: KernelNamed, **options: Any) -> Reproduction:
    """Simulate every variant of every application and put the results beside the paper's.

    `options` are those of `run_sweep`. Runs that fail are among `.failures`.
    """
    printed = paper()
    gpu = load_gpu(printed.gpu)
    kernels = stand_ins(printed, gpu, kernel_named)
    first = run_sweep(configurations(printed, kernels, gpu), kernel_named, name=NAME, **options)
    if first.interrupted:
        return reproduction(printed, kernels, first, gpu)
    later = [configuration(*each, gpu) for each in resourced(kernels, counters(first), gpu)]
    second = run_sweep(later, kernel_named, name=LATER, **options)
    return reproduction(printed, kernels, replace(first, records=first.records + second.records), gpu)


def configurations(printed: Paper, kernels: Sequence[StandIn], gpu: Gpu) -> list[Configuration]:
    """The runs that do not depend on others, those of one variant after the other."""
    return [
        configuration(kernel, variant, gpu)
        for variant in variants(printed, gpu)
        for kernel in kernels
        if not (variant.passes and kernel.is_ptxplus)
    ]


def configuration(kernel: StandIn, variant: Variant, gpu: Gpu) -> Configuration:
    """A run."""
    own = variant.of(kernel)
    return Configuration(
        kernel.file,
        launch=kernel.launch,
        gpu=gpu,
        settings=own.settings,
        passes=own.passes,
        hotspots=own.hotspots,
        label=f"{kernel.sample}/{own.name}",
        scheme=own.name,
        name=kernel.sample,
    )


def counters(result: SweepResult) -> dict[tuple[str, str], RunCounters]:
    """Those of the runs that ended well, by sample and variant."""
    return {(str(r.axes["kernel"]), str(r.axes["scheme"])): r.counters for r in result if r.ok}


def reproduction(printed: Paper, kernels: Sequence[StandIn], result: SweepResult, gpu: Gpu) -> Reproduction:
    """The exhibits of what has run."""
    found = counters(result)
    benchmarks = [
        Measured(each, tuple(k for k in kernels if k.application == each), found)
        for each in printed.application
    ]
    exhibits = (
        *limits(printed, benchmarks, gpu),
        *compared(printed, benchmarks),
        *sensitivity(printed, benchmarks, gpu),
        *assumptions(benchmarks, gpu),
    )
    answers = (*memory_finding(result, "kernels"), *findings(printed, benchmarks, exhibits, gpu))
    failures = tuple(
        Failure(str(r.axes["kernel"]), str(r.axes["scheme"]), r.outcome.reason) for r in result.failed
    )
    return Reproduction(
        printed.title, gpu.name, printed.sources, exhibits, answers, failures, len(result), result.complete
    )
