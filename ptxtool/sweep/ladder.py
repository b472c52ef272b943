"""The papers' ladder for one kernel: no sharing, sharing, sharing of the rewritten kernel, owner warps first.

    Unshared-LRR            the kernel as it is, loose round robin
    Shared-LRR-NoOpt        registers shared
    Shared-LRR-Unrolled     registers shared, declarations unrolled and put in order of first use
    Shared-OWF-Unrolled     the same with owner warps first

Every rung starts from the same inputs; its results are compared with the expected ones and its memory with that of the
first rung, bit by bit. Another scheduler may take the place of loose round robin, in the names too. The dynamic rung
(dynamic warp execution) is not among them.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016,
section VI.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxtool.analysis.sharing import Percent, percentage
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.launch import Launch
from ptxtool.formats.launch_steps import only_one
from ptxtool.formats.results import Comparison, Run, Rung, first_stall
from ptxtool.ir.nodes import Function
from ptxtool.passes import rewrite
from ptxtool.sweep.run import chosen_policy, run_launch

if TYPE_CHECKING:
    from ptxsim.schedulers import Policy

PIPELINE = "unroll-decls,reorder-decls{order=text}"

Announce = Callable[[str], None]
"""Called with a rung's name before it runs."""


@dataclass(frozen=True)
class Scheme:
    """One rung before it runs."""

    name: str
    scheduler: "Policy"
    shared: bool
    rewritten: bool


def schemes(scheduler: "Policy", owner_first: "Policy") -> tuple[Scheme, ...]:
    """The rungs with a scheduler in the place of loose round robin."""
    _, own, function = scheduler.name.rpartition(".py:")
    name = function if own else scheduler.name.upper()
    return (
        Scheme(f"Unshared-{name}", scheduler, shared=False, rewritten=False),
        Scheme(f"Shared-{name}-NoOpt", scheduler, shared=True, rewritten=False),
        Scheme(f"Shared-{name}-Unrolled", scheduler, shared=True, rewritten=True),
        Scheme("Shared-OWF-Unrolled", owner_first, shared=True, rewritten=True),
    )


def ladder(
    kernel: Function,
    launch: Launch,
    gpu: str | Path | Gpu = "tesla-c2050",
    share_registers: Percent = 90,
    registers: int | None = None,
    pipeline: str = PIPELINE,
    announce: Announce | None = None,
    scheduler: str | None = None,
    **options: Any,
) -> Comparison:
    """Run the ladder; `scheduler` is that of all rungs but the last.

    Raises what `rewrite` and `run_launch` raise; wrong results are among `.problems`.
    """
    only_one(launch)
    machine = machine_of(gpu)
    percent = percentage(share_registers, "share_registers")
    shown = int(percent) if percent.denominator == 1 else float(percent)
    rewritten = rewrite(kernel.module, pipeline).module.kernels[kernel.name]
    rungs: list[Rung] = []
    first: Run | None = None
    for scheme in schemes(chosen_policy(launch, machine, scheduler), chosen_policy(launch, machine, "owf")):
        if announce is not None:
            announce(scheme.name)
        run = run_launch(
            rewritten if scheme.rewritten else kernel,
            launch,
            machine,
            registers,
            scheduler=scheme.scheduler,
            share_registers=percent if scheme.shared else 0,
            **options,
        )
        first = first or run
        stall = first_stall(run.result.stall_points)
        rungs.append(
            Rung(
                scheme.name,
                scheme.scheduler.name,
                shown if scheme.shared else 0,
                scheme.rewritten,
                run,
                same_memory=run.result.status != "done" or _same_memory(first, run),
                stall_line=None if stall is None else kernel.line(stall.instruction),
            )
        )
        if run.result.status == "interrupted":
            break
    complete = rungs[-1].result.status != "interrupted"
    return Comparison(kernel.source.name, kernel.name, shown, pipeline, tuple(rungs), complete)


def _same_memory(first: Run, other: Run) -> bool:
    """True if every buffer has the same bytes after both runs."""
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(first.arguments, other.arguments, strict=True)
    )
