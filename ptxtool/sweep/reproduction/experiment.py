"""Run an experiment on resource sharing: every scheme of every application as a sweep, and the exhibits of its results.

What the store has is not run again, so an experiment that was stopped goes on.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ptxtool.formats.gpu import load_gpu
from ptxtool.results.exhibits import Failure, Finding, Reproduction
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.configurations import configuration
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.findings import findings
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited, paper
from ptxtool.sweep.reproduction.schemes import compared_schemes, schemes
from ptxtool.sweep.runner import run_sweep


def reproduce(name: str, kernel_named: KernelNamed, **options: Any) -> Reproduction:
    """Make all runs of an experiment (`papers.SHARING`) and put the results beside the papers'.

    `options` are those of `run_sweep`. Runs that fail are among `.failures`.
    """
    chosen = paper(name)
    result = run_sweep(configurations(chosen), kernel_named, name=name, **options)
    return reproduction(chosen, result)


def configurations(chosen: Paper) -> tuple[Configuration, ...]:
    """All runs of an experiment."""
    applications: tuple[Application | Unlimited, ...] = (*chosen.application, *chosen.unlimited)
    on_the_first = tuple(
        configuration(chosen, application, scheme, application.launch)
        for application in applications
        for scheme in schemes(chosen, application)
    )
    on_the_second = tuple(
        replace(
            configuration(chosen, application, scheme, application.second),
            label=f"{application.second_name}/{scheme.name}",
            name=application.second_name,
        )
        for application in chosen.application
        if application.second
        for scheme in compared_schemes(chosen)
    )
    return on_the_first + on_the_second


def reproduction(chosen: Paper, result: SweepResult) -> Reproduction:
    """The exhibits of what has run."""
    results = {(str(r.axes["kernel"]), str(r.axes["scheme"])): r.counters for r in result if r.ok}
    exhibits = Exhibits(chosen, results, load_gpu(chosen.gpu)).all()
    failures = tuple(
        Failure(str(r.axes["kernel"]), str(r.axes["scheme"]), r.outcome.reason) for r in result.failed
    )
    found = (*memory_finding(result, "launches"), *findings(chosen, exhibits))
    return Reproduction(
        chosen.title, chosen.gpu, chosen.sources, exhibits, found, failures, len(result), result.complete
    )


def memory_finding(result: SweepResult, rows: str) -> Iterator[Finding]:
    """Whether every scheme leaves the same memory; `rows` is what the kernels are called."""
    digests: dict[str, set[str]] = {}
    for record in result:
        if record.ok:
            digests.setdefault(str(record.axes["kernel"]), set()).add(record.memory)
    if digests:
        same = sum(len(found) == 1 for found in digests.values())
        ours = f"{same} of {len(digests)} {rows}"
        yield Finding("memory identical under all schemes", ours, "all", same == len(digests))
