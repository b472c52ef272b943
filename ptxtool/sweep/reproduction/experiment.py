"""Run an experiment on resource sharing: every scheme of every application as a sweep, and the exhibits of its results.

What the store has is not run again, so an experiment that was stopped goes on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import msgspec

from ptxtool.formats.gpu import load_gpu
from ptxtool.results.exhibits import Failure, Finding, Reproduction
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction import recorded as originals
from ptxtool.sweep.reproduction.configurations import configuration
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.findings import findings
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited, paper
from ptxtool.sweep.reproduction.recorded import Originals
from ptxtool.sweep.reproduction.schemes import compared_schemes, factored_schemes, schemes
from ptxtool.sweep.runner import run_sweep


def reproduce(
    name: str, kernel_named: KernelNamed, recorded: Path | None = None, **options: Any
) -> Reproduction:
    """Make all runs of an experiment (`papers.SHARING`) and put the results beside the papers'.

    With a folder of `recorded` launches their results stand beside both. `options` are those of `run_sweep`. Runs that
    fail are among `.failures`. Raises E501 and E502 for a folder without launches of the papers' applications.
    """
    chosen = paper(name)
    found = None if recorded is None else originals.originals(chosen, recorded)
    runs = configurations(chosen)
    if found is None:
        return reproduction(chosen, run_sweep(runs, kernel_named, name=name, **options))
    runs += originals.configurations(chosen, found)
    result = run_sweep(runs, kernel_named, name=f"{name}, {originals.RECORDED}", **options)
    return reproduction(chosen, result, found)


def configurations(chosen: Paper) -> tuple[Configuration, ...]:
    """All runs of an experiment."""
    applications: tuple[Application | Unlimited, ...] = (*chosen.application, *chosen.unlimited)
    on_the_first = tuple(
        configuration(chosen, application, scheme, application.launch)
        for application in applications
        for scheme in schemes(chosen, application)
    )
    return on_the_first + tuple(_others(chosen))


def _others(chosen: Paper) -> Iterator[Configuration]:
    """Another grid, kernels without faults: the schemes that are compared there. Loads in the order of the source, and
    scratchpad kernels as PTX: those of the gain's factors."""
    for application in chosen.application:
        as_written = msgspec.structs.replace(application, loads_first=0)
        two, three = compared_schemes(chosen), factored_schemes(chosen)
        others = (
            (application.second_name, application, application.second, "", two),
            (application.working_name, application, application.working, "", two),
            (application.unscheduled_name, as_written, application.launch, "", three),
            (
                application.as_ptx_name,
                application,
                application.as_ptx or application.launch,
                "kernel.ptx",
                three,
            ),
        )
        made = (
            bool(application.second),
            bool(application.working),
            bool(application.loads_first),
            chosen.resource == "scratchpad",
        )
        for name, which, launch, kernel, schemes_of in compress(others, made):
            for scheme in schemes_of:
                run = configuration(chosen, which, scheme, launch, kernel)
                yield replace(run, label=f"{name}/{scheme.name}", name=name)


def reproduction(chosen: Paper, result: SweepResult, recorded: Originals | None = None) -> Reproduction:
    """The exhibits of what has run, with those of recorded launches."""
    results: dict[tuple[str, str], Mapping[str, Any]] = {
        (str(r.axes["kernel"]), str(r.axes["scheme"])): r.counters for r in result if r.ok
    }
    if recorded is not None:
        results |= originals.results(chosen, recorded, result)
    exhibits = Exhibits(chosen, results, load_gpu(chosen.gpu)).all()
    failures = tuple(
        Failure(str(r.axes["kernel"]), str(r.axes["scheme"]), r.outcome.reason) for r in result.failed
    )
    found = (*memory_finding(result, "launches"), *findings(chosen, exhibits))
    if recorded is not None:
        theirs = findings(chosen, tuple(originals.alone(exhibit) for exhibit in exhibits))
        found = (*originals.findings(chosen, recorded), *originals.beside(found, theirs))
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
