"""Run RegDem's evaluation: every variant of the nine benchmarks as a sweep, and the tables of its results.

The variants are those of `ptxtool tune`; of equal texts one is simulated. What the store has is not run again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ptxtool.formats.files import find_input, launch_beside, read_input
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.launch.launch_file import Launch, load_launch
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.results.exhibits import Failure, Reproduction
from ptxtool.results.sweeps import Configuration, Record, SweepResult
from ptxtool.results.tuning import Tuning
from ptxtool.runs.tuning_variants import enumerate_variants
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.regdem.exhibits import exhibits
from ptxtool.sweep.reproduction.regdem.findings import findings
from ptxtool.sweep.reproduction.regdem.measured import Measured
from ptxtool.sweep.reproduction.regdem.paper import Benchmark, Paper, paper
from ptxtool.sweep.runner import run_sweep
from ptxtool.sweep.tuning import cta_size, variant_run, with_record


@dataclass(frozen=True)
class Candidates:
    """A benchmark with its kernel, its launch and the variants to be measured."""

    benchmark: Benchmark
    kernel: Function
    launch: Launch
    tuning: Tuning


def reproduce(kernel_named: KernelNamed, **options: Any) -> Reproduction:
    """Simulate every variant of every benchmark and put the results beside the paper's.

    `options` are those of `run_sweep`. Runs that fail are among `.failures`.
    """
    printed = paper()
    gpu = load_gpu(printed.gpu)
    candidates = [enumerated(row, gpu, kernel_named) for row in printed.benchmark]
    result = run_sweep(configurations(candidates, gpu), kernel_named, name="regdem", **options)
    return reproduction(printed, candidates, result, gpu)


def enumerated(benchmark: Benchmark, gpu: Gpu, kernel_named: KernelNamed) -> Candidates:
    """The variants of a benchmark, predicted. Raises E501 where its files are missing."""
    file = find_input(benchmark.sample)
    launch = load_launch(launch_beside(file) or file.with_name("launch.toml"))
    name, text = read_input(file)
    kernel = kernel_named(parse(text, name), launch.kernel)
    cta = cta_size(kernel, launch)
    found = enumerate_variants(kernel, cta, gpu)
    tuning = Tuning(name, kernel.name, gpu.name, cta.threads, found.variants, found.declined, found.end)
    return Candidates(benchmark, kernel, launch, tuning)


def configurations(candidates: Iterable[Candidates], gpu: Gpu) -> tuple[Configuration, ...]:
    """The runs: one for each different text."""
    return tuple(
        replace(
            variant_run(variant, each.kernel, each.launch, gpu),
            label=f"{each.benchmark.name}/{variant.name}",
            scheme=variant.name,
            name=each.benchmark.name,
        )
        for each in candidates
        for variant in each.tuning.variants
        if not variant.same_as
    )


def reproduction(
    printed: Paper, candidates: Sequence[Candidates], result: SweepResult, gpu: Gpu
) -> Reproduction:
    """The tables of what has run."""
    records: dict[str, dict[str, Record]] = {each.benchmark.name: {} for each in candidates}
    for record in result:
        records[str(record.axes["kernel"])][str(record.axes["scheme"])] = record
    benchmarks = [measured(each, records[each.benchmark.name]) for each in candidates]
    tables = exhibits(printed, benchmarks, gpu)
    failures = tuple(
        Failure(m.benchmark.name, v.name, v.problem)
        for m in benchmarks
        for v in m.tuning.variants
        if v.problem and not v.same_as
    )
    return Reproduction(
        printed.title,
        gpu.name,
        printed.sources,
        tables,
        findings(printed, benchmarks, tables),
        failures,
        len(result),
        result.complete,
    )


def measured(candidates: Candidates, records: dict[str, Record]) -> Measured:
    """A benchmark's variants with the results of its runs, by the names of variants."""
    tuning = candidates.tuning
    first = records[tuning.original.name]
    variants = tuple(with_record(v, records.get(v.same_as or v.name), first) for v in tuning.variants)
    counters = {name: record.counters for name, record in records.items() if record.ok}
    return Measured(candidates.benchmark, replace(tuning, variants=variants), counters)
