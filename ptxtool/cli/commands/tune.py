"""`ptxtool tune FILE`: which number of registers pays."""

from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.outputs import OUTPUT, reads, reads_scheduler
from ptxtool.cli.progress import SweepStatus

if TYPE_CHECKING:
    from ptxtool.formats.launch.launch_file import Launch


@click.command()
@common.file_argument
@common.launch_option
@common.one_kernel_option
@common.gpu_option
@click.option("--predict", "mode", flag_value="predict", help="Predict only; nothing is simulated.")
@click.option("--simulate", "mode", flag_value="simulate", help="Simulate every variant.")
@click.option(
    "--both",
    "mode",
    flag_value="both",
    default="both",
    help="Simulate those predicted to be best.  [default]",
)
@click.option(
    "--best",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="K",
    help="How many variants --both simulates, the original not counted.",
)
@click.option(
    "--block",
    type=common.cta_threads,
    metavar="T|X,Y,Z",
    help="Threads per CTA, for --predict without a launch file.",
)
@common.scheduler_option
@click.option(
    "--store", metavar="FILE", help="Keep the results of simulations, so that they are not repeated."
)
@common.jobs_option
@common.no_ptxas_option
@common.allow_outside_option
@common.quiet_option
@common.json_option
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="OUT",
    help="Write the chosen text to this file, whole or not at all.",
)
def command(
    file: str,
    launch_file: str | None,
    kernel: str | None,
    gpu: str,
    mode: Any,
    block: int | None,
    no_ptxas: bool,
    quiet: bool,
    as_json: bool,
    output: str | None,
    **options: Any,
) -> int:
    """Rewrite a kernel for fewer registers in many ways, predict and simulate these, and say which is fastest.

    Variants spill to local or to shared memory, or demote registers to shared memory, for each number of registers
    that brings another CTA. Simulated results are compared with the original's. "nothing pays" where the original is
    fastest. Without a launch file only --predict works, with --block where the kernel
    does not bound its CTAs. Exits 1 where results are wrong. Ctrl-C prints what there is
    so far and exits 130.
    """
    from ptxtool.report.simulations.tuning import tuning_parts

    module = common.load_module(file, in_place=True)
    if block is not None and mode != "predict":
        raise click.UsageError("--block is for --predict: a simulation needs a launch file")
    launch = None if block is not None else _launch(file, launch_file, mode != "predict")
    function = api.kernel(module, kernel or (launch.kernel if launch else None))
    reads_scheduler(options["scheduler"])
    if options["store"] is not None:
        reads(options["store"], "store")
    with SweepStatus(quiet) as status:
        tuning = api.tune(
            function,
            launch,
            gpu=common.machine(gpu, module.target),
            mode=mode,
            threads=block,
            ptxas=not no_ptxas,
            progress=status.progress,
            on_interrupt="return",
            allow_outside=common.allows_outside(),
            **options,  # have the names that they have here
        )
    common.Sink(as_json, None).put(tuning.to_dict, lambda: tuning_parts(tuning))
    if output is not None:
        common.put_bytes(api.parse(tuning.chosen.text, file).source.to_bytes(), output)
    return status.code if tuning.interrupted else common.exit_code(tuning.problems)


def _launch(file: str, launch_file: str | None, needed: bool) -> "Launch | None":
    """The launch file that is given, or the one beside FILE."""
    if launch_file is not None:
        return common.load_launch(launch_file)
    return common.launch_of(file, needed=needed)
