"""One run of a launch file: arguments checked and made, the kernel simulated, the results compared.

For `sim`, for the ladder of `compare`, and for everything that runs kernels many times.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.formats.launch.launch_file import Launch, check_arguments
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function
from ptxtool.results.run_results import Run
from ptxtool.results.simulation import SimResult
from ptxtool.runs.texture_arguments import given

if TYPE_CHECKING:
    from ptxsim.timing.schedulers import Policy


def run_launch(
    kernel: Function,
    launch: Launch,
    gpu: str | Path | Gpu = DEFAULT_GPU,
    registers: int | None = None,
    scheduler: "str | Policy | None" = None,
    **options: Any,
) -> Run:
    """Simulate a launch with fresh arguments and compare the results with the expected ones.

    `registers` per thread and `scheduler` override the launch file's. Raises E401 where the arguments do not fit the
    kernel, and what `ptxsim.launch` raises. A run that did not end (E408) is not compared.
    """
    problems = check_arguments(only_one(launch), kernel)
    if problems:
        raise PtxError(problems)
    machine = machine_of(gpu)
    import ptxsim

    arguments = launch.arguments()
    values, textures = given(launch, arguments)
    result = ptxsim.launch(
        kernel,
        launch.grid,
        launch.block,
        values,
        gpu=machine,
        scheduler=chosen_policy(launch, machine, scheduler),
        registers=launch.registers if registers is None else registers,
        dynamic_shared=launch.dynamic_shared,
        constants=launch.constants(),
        textures=textures,
        names=[i.name for i in launch.inputs],
        **launch.limits,
        **options,
    )
    found: tuple[Diagnostic, ...] = ()
    checked: tuple[str, ...] = ()
    if result.status == "done":
        found = launch.check(arguments)
        checked = launch.compared
    elif result.status == "max-cycles":
        found = (limit_reached(kernel, result),)
    return Run(result, tuple(arguments), checked, found)


def limit_reached(kernel: Function, result: SimResult) -> Diagnostic:
    """E408: a launch that the cycle limit ended."""
    done = f"{result.ctas_done} of {result.n_ctas} CTAs done"
    what = f"'{kernel.name}' had not ended after {result.cycles} cycles: {done}"
    advice = "raise max_cycles (--max-cycles), or leave it out to run to the end"
    return Diagnostic("E408", what, kernel.source, kernel.start, kernel.body_start, advice)


def chosen_policy(launch: Launch, machine: Gpu, scheduler: "str | Policy | None") -> "Policy":
    """The scheduler asked for, otherwise the launch file's, otherwise the machine's. Raises E501, E502."""
    from ptxsim.timing.schedulers import Policy, policy

    if isinstance(scheduler, Policy):
        return scheduler
    if scheduler is not None or launch.scheduler is None:
        return policy(scheduler or machine.scheduler)
    try:
        return policy(launch.scheduler)
    except PtxError as problem:
        start, end = launch.scheduler_place
        raise PtxError(
            d if d.source else replace(d, source=launch.source, start=start, end=end)
            for d in problem.diagnostics
        ) from None
