"""The papers' ladder for one kernel: no sharing, sharing, and one optimisation after the other (`schemes.py`).

Every rung starts from the same inputs; its results are compared with the expected ones and its memory with that of the
first rung, bit by bit.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ptxtool.analysis.occupancy.sharing_plan import Percent, percentage
from ptxtool.base.diag import Diagnostic, error
from ptxtool.formats.gpu import machine_of
from ptxtool.formats.issue_counts import read_issue_counts
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.pipeline import rewrite
from ptxtool.results.run_results import Comparison, Run, Rung, first_stall
from ptxtool.runs.launch_runs import chosen_policy, run_launch
from ptxtool.runs.parallel.replicas import check_replicas, replicated
from ptxtool.runs.parallel.side_by_side import side_by_side
from ptxtool.runs.pass_context import pass_context
from ptxtool.runs.proof import ProofOptions, prove
from ptxtool.runs.schemes import Resource, ladder_schemes, with_passes

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions

PERCENT = 90
"""The sharing percentage of the papers, and the default."""

Announce = Callable[[str], None]
"""Called with a rung's name when it is the first that has not ended."""


def ladder(
    kernel: Function,
    launch: Launch,
    options: "LaunchOptions",
    *,
    share_registers: Percent | None = None,
    share_scratchpad: Percent | None = None,
    release: bool = False,
    passes: str = "",
    replicas: int = 1,
    jobs: int | None = None,
    announce: Announce | None = None,
) -> Comparison:
    """Run the ladder of one resource; registers by 90% if no percentage is given.

    `options` are those of all rungs; their scheduler is that of the rungs without owner warps first. `release` adds a
    rung, and `passes`, a pipeline, another one; the user's own passes in it are proved by runs without time. Every rung
    runs in as many `replicas`, and `jobs` rungs run at a time (None: one for each CPU). Raises what `rewrite`,
    `run_launch` and `replicated` raise; wrong results are among `.problems`.
    """
    only_one(launch)
    check_replicas(replicas)
    gpu = machine_of(options.gpu)
    resource, percent = _shared(share_registers, share_scratchpad)
    registers = launch.registers if options.registers is None else options.registers
    first, owner = chosen_policy(launch, gpu, options.scheduler), chosen_policy(launch, gpu, "owf")
    schemes = ladder_schemes(resource, percent, first, owner, release)
    if passes:
        schemes += (with_passes(schemes[-1], "Passes", passes),)

    def proved(before: Module, after: Module) -> tuple[str, tuple[Diagnostic, ...]]:
        by_name = ProofOptions(kernel.name, timed=False)
        proof = prove(before, after, launch, lambda module, _: module.kernels[kernel.name], by_name)
        return proof.summary, proof.problems

    context = pass_context(kernel.module, launch, gpu, kernel.name)
    texts = {"": kernel}
    pipelines = [scheme.pipeline(registers) for scheme in schemes]
    for pipeline in pipelines:
        if pipeline not in texts:
            module = rewrite(kernel.module, pipeline, read_issue_counts, proved, context).module
            texts[pipeline] = module.kernels[kernel.name]
    of_schemes = [
        replace(
            options,
            gpu=gpu,
            scheduler=scheme.scheduler,
            **{"share_registers": 0, "share_scratchpad": 0, "dynamic": False} | scheme.options,
        )
        for scheme in schemes
    ]

    def run_rung(k: int, chosen: "LaunchOptions") -> Run:
        return _replicated(texts[pipelines[k]], launch, chosen, replicas)

    def announced(k: int) -> None:
        if announce is not None:
            announce(schemes[k].name)

    rungs: list[Rung] = []
    with closing(side_by_side(run_rung, of_schemes, jobs, announced)) as runs:
        for scheme, pipeline, run in zip(schemes, pipelines, runs, strict=False):
            stall = first_stall(run.result.stall_points)
            rungs.append(
                Rung(
                    scheme.name,
                    run.result.scheduler,
                    scheme.percent,
                    pipeline,
                    run,
                    same_memory=run.result.status != "done"
                    or _same_memory(rungs[0].run if rungs else run, run),
                    stall_line=None if stall is None else kernel.line(stall.instruction),
                )
            )
            if not run.complete:
                break
    complete = rungs[-1].run.complete
    return Comparison(kernel.source.name, kernel.name, resource, percent, tuple(rungs), complete)


def _replicated(kernel: Function, launch: Launch, options: "LaunchOptions", replicas: int) -> Run:
    return replicated(lambda each: run_launch(kernel, launch, each), options, replicas)


def _shared(registers: Percent | None, scratchpad: Percent | None) -> tuple[Resource, Fraction]:
    """Which resource is shared, and by how much. Raises E502 for both."""
    if scratchpad is None:
        return "registers", percentage(PERCENT if registers is None else registers, "share_registers")
    if registers is not None:
        help = "share the resource that limits the kernel: give one of share_registers and share_scratchpad"
        raise error("E502", "registers and scratchpad shared at once", help=help)
    return "scratchpad", percentage(scratchpad, "share_scratchpad")


def _same_memory(first: Run, other: Run) -> bool:
    """True if every buffer has the same bytes after both runs."""
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(first.arguments, other.arguments, strict=True)
    )
