"""One run of a launch file: arguments checked, the kernel simulated, the results compared.

For `sim`, for the ladder of `compare`, and for everything that runs kernels many times.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.mangled import shown_name
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.ir.nodes import Function
from ptxtool.results.run_results import Run
from ptxtool.results.simulation import SimResult
from ptxtool.runs.launch_inputs import prepared

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.timing.schedulers import Policy


def run_launch(kernel: Function, launch: Launch, options: "LaunchOptions | None" = None) -> Run:
    """Simulate a launch with fresh arguments and compare the results with the expected ones.

    The options' registers and scheduler take precedence over the launch file's. Raises E401 where the arguments do not
    fit the kernel, and what `ptxsim.launch` raises. A run that did not end (E408) is not compared.
    """
    contents, values, options = prepared(kernel, launch, options)
    import ptxsim

    gpu = machine_of(options.gpu)
    result = ptxsim.launch(
        kernel,
        launch.grid,
        launch.block,
        values,
        options=options,
        gpu=gpu,
        scheduler=chosen_policy(launch, gpu, options.scheduler),
        registers=launch.registers if options.registers is None else options.registers,
        scratchpad=launch.scratchpad if options.scratchpad is None else options.scratchpad,
    )
    found: tuple[Diagnostic, ...] = ()
    checked: tuple[str, ...] = ()
    if result.status == "done":
        found = launch.check(contents)
        checked = launch.compared
    elif result.status == "max-cycles":
        found = (limit_reached(kernel, result),)
    return Run(result, tuple(contents), checked, found)


def limit_reached(kernel: Function, result: SimResult) -> Diagnostic:
    """E408: a launch that the cycle limit ended."""
    done = f"{result.ctas_done} of {result.n_ctas} CTAs done"
    what = f"'{shown_name(kernel.name)}' had not ended after {result.cycles} cycles: {done}"
    advice = "raise max_cycles (--max-cycles), or leave it out to run to the end"
    return Diagnostic("E408", what, kernel.source, kernel.start, kernel.body_start, advice)


def chosen_policy(launch: Launch, machine: Gpu, scheduler: "str | Policy | None") -> "Policy":
    """The scheduler that is passed, else the launch file's, else the machine's. Raises E501, E502.

    Launch files and GPU files are data: a scheduler of the user's own is code, which only the caller names.
    """
    from ptxsim.timing.schedulers import Policy, built_in_policy, policy

    if isinstance(scheduler, Policy):
        return scheduler
    if scheduler is not None:
        return policy(scheduler)
    if launch.scheduler is None:
        return built_in_policy(machine.scheduler)
    try:
        return built_in_policy(launch.scheduler)
    except PtxError as problem:
        start, end = launch.scheduler_place
        raise PtxError(
            d if d.source else replace(d, source=launch.source, start=start, end=end)
            for d in problem.diagnostics
        ) from None
