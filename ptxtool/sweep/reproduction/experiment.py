"""Run an experiment on resource sharing: every scheme of every application as a sweep, and the exhibits of its results.

What the store has is not run again, so an experiment that was stopped goes on.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from ptxtool.formats.files import find_input, launch_beside
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.results.exhibits import Failure, Finding, Reproduction
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.runs.schemes import Scheme
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.exhibits import Exhibits
from ptxtool.sweep.reproduction.findings import findings
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited, paper
from ptxtool.sweep.reproduction.schemes import compared_schemes, full_scheme, schemes
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
        _configuration(chosen, application, scheme, application.launch)
        for application in applications
        for scheme in schemes(chosen, application)
    )
    return on_the_first + tuple(_others(chosen))


def _others(chosen: Paper) -> Iterator[Configuration]:
    """Another grid, kernels without faults, loads in the order of the source: the schemes that are compared there."""
    for application in chosen.application:
        unscheduled = msgspec.structs.replace(application, loads_first=0)
        for name, as_given, launch in (
            (application.second_name, application, application.second),
            (application.working_name, application, application.working),
            (application.unscheduled_name, unscheduled, application.launch),
        ):
            if launch or (as_given is unscheduled and application.loads_first):
                own = (full_scheme(chosen, 0),) if as_given is unscheduled else ()
                for scheme in (*compared_schemes(chosen), *own):
                    run = _configuration(chosen, as_given, scheme, launch)
                    yield replace(run, label=f"{name}/{scheme.name}", name=name)


def _configuration(
    chosen: Paper, application: Application | Unlimited, scheme: Scheme, launch_name: str
) -> Configuration:
    kernel = find_input(application.sample)
    launch = kernel.with_name(launch_name) if launch_name else launch_beside(kernel)
    registers = None if launch is None else load_launch(launch).registers
    lowering, count = "", application.loads_first if isinstance(application, Application) else 0
    if count:
        kernel, registers = kernel.with_suffix(".ptx"), count
        lowering = f"hoist-loads:registers={count},lower-ptxplus:regs={count}"
    return Configuration(
        kernel if count else application.sample,
        launch=launch,
        label=f"{application.name}/{scheme.name}",
        gpu=chosen.gpu,
        settings=scheme.settings,
        scheduler=str(scheme.scheduler),
        passes=",".join(filter(None, (lowering, scheme.pipeline(registers)))),
        registers=count or None,
        scheme=scheme.name,
        name=application.name,
        **scheme.options,
    )


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
