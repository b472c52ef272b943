"""The papers' ladder for one kernel: no sharing, sharing, and one optimisation after the other (`schemes.py`).

Every rung starts from the same inputs; its results are compared with the expected ones and its memory with that of the
first rung, bit by bit.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.analysis.occupancy.sharing_plan import Percent, percentage
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.issue_counts import read_issue_counts
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function
from ptxtool.passes import rewrite
from ptxtool.results.run_results import Comparison, Run, Rung, first_stall
from ptxtool.runs.launch_runs import chosen_policy, run_launch
from ptxtool.runs.schemes import UNROLL, Resource, ladder_schemes

PERCENT = 90
"""The sharing percentage where none is given: the papers'."""

Announce = Callable[[str], None]
"""Called with a rung's name before it runs."""


def ladder(
    kernel: Function,
    launch: Launch,
    gpu: str | Path | Gpu = "tesla-c2050",
    share_registers: Percent | None = None,
    registers: int | None = None,
    pipeline: str = UNROLL,
    announce: Announce | None = None,
    scheduler: str | None = None,
    share_scratchpad: Percent | None = None,
    release: bool = False,
    **options: Any,
) -> Comparison:
    """Run the ladder of one resource; registers by 90% if no percentage is given.

    `pipeline` is what unrolls the declarations, `scheduler` that of all rungs but those with owner warps first;
    `release` adds a rung. Raises what `rewrite` and `run_launch` raise; wrong results are among `.problems`.
    """
    only_one(launch)
    machine = machine_of(gpu)
    resource, percent = _shared(share_registers, share_scratchpad)
    shown = int(percent) if percent.denominator == 1 else float(percent)
    per_thread = launch.registers if registers is None else registers
    first, owner = chosen_policy(launch, machine, scheduler), chosen_policy(launch, machine, "owf")
    schemes = ladder_schemes(resource, percent, first, owner, pipeline, release)
    texts = {"": kernel}
    for passes in (scheme.pipeline(per_thread) for scheme in schemes):
        if passes not in texts:
            texts[passes] = rewrite(kernel.module, passes, read_issue_counts).module.kernels[kernel.name]
    rungs: list[Rung] = []
    for scheme in schemes:
        if announce is not None:
            announce(scheme.name)
        policy = scheme.scheduler if not isinstance(scheme.scheduler, str) else first
        passes = scheme.pipeline(per_thread)
        run = run_launch(
            texts[passes], launch, machine, registers, scheduler=policy, **scheme.options, **options
        )
        stall = first_stall(run.result.stall_points)
        rungs.append(
            Rung(
                scheme.name,
                policy.name,
                shown if scheme.percent else 0,
                passes,
                run,
                same_memory=run.result.status != "done" or _same_memory(rungs[0].run if rungs else run, run),
                stall_line=None if stall is None else kernel.line(stall.instruction),
            )
        )
        if run.result.status == "interrupted":
            break
    complete = rungs[-1].result.status != "interrupted"
    return Comparison(kernel.source.name, kernel.name, resource, shown, tuple(rungs), complete)


def _shared(registers: Percent | None, scratchpad: Percent | None) -> tuple[Resource, Fraction]:
    """Which resource is shared, and by how much. Raises E502 for both."""
    if scratchpad is None:
        return "registers", percentage(PERCENT if registers is None else registers, "share_registers")
    if registers is not None:
        raise error(
            "E502",
            "registers and scratchpad shared at once",
            help="share the resource that limits the kernel: give one of share_registers and share_scratchpad",
        )
    return "scratchpad", percentage(scratchpad, "share_scratchpad")


def _same_memory(first: Run, other: Run) -> bool:
    """True if every buffer has the same bytes after both runs."""
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(first.arguments, other.arguments, strict=True)
    )
