"""`ptxtool sim FILE`: one launch in the simulator, or a list of them."""

from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.cli.common import (
    exit_code,
    gpu_option,
    json_option,
    machine,
    output_option,
    ptxplus_semantics_option,
    put_json,
    put_parts,
    put_text,
    quiet_option,
    registers_option,
    scheduler_option,
    share_registers_option,
    share_scratchpad_option,
    switching_option,
)
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import reads_scheduler
from ptxtool.cli.progress import INTERRUPTED, SimulationStatus
from ptxtool.cli.timeline import trace_options

if TYPE_CHECKING:
    from ptxsim.observe.timeline import Timeline
    from ptxtool.results.run_results import Run
    from ptxtool.results.sequences import SequenceRun


@click.command(short_help="Simulate one launch and print its counters.")
@job_options
@registers_option
@gpu_option
@scheduler_option
@share_registers_option()
@share_scratchpad_option
@click.option(
    "--dynamic", is_flag=True, help="Dynamic warp execution: hold back memory instructions of non-owners."
)
@click.option(
    "--dynamic-options",
    metavar="K=V,...",
    help="The same with options: period, step, stalls (window, cumulative), draws (cycle, sticky), seed.",
)
@switching_option("CTAs that wait for memory give way to others. [default: as the GPU file says]")
@click.option("--max-cycles", type=click.IntRange(1), metavar="N", help="Stop after this many cycles.")
@click.option("--no-event-skip", is_flag=True, help="Step through every cycle: slower, same results.")
@click.option("--hotspots", is_flag=True, help="Also print where the time goes, by reason and instruction.")
@click.option(
    "--stats",
    type=click.Choice(["table", "json", "gpgpusim"]),
    default="table",
    show_default=True,
    help="How counters are printed; gpgpusim: the lines of its logs.",
)
@trace_options
@ptxplus_semantics_option
@quiet_option
@json_option
@output_option
def command(
    job: Job,
    gpu: str,
    scheduler: str | None,
    share_registers: str,
    share_scratchpad: str,
    registers: int | None,
    dynamic: bool,
    dynamic_options: str | None,
    switching: str | None,
    max_cycles: int | None,
    no_event_skip: bool,
    hotspots: bool,
    stats: str,
    timeline: "Timeline | None",
    ptxplus_semantics: str,
    quiet: bool,
    as_json: bool,
    output: str | None,
) -> int:
    """Simulate one launch, or the launch file's list, print counters, and compare results with the expected ones.

    FILE may also be a launch file that names its kernel file. What the kernel prints goes to standard output as it
    comes (with JSON into `printed`). Exits 1 where the results are wrong or the cycle limit was reached. Ctrl-C
    prints the counters so far and exits 130.
    """
    from ptxsim.launch_options import LaunchOptions

    if as_json and stats == "gpgpusim":
        raise click.UsageError("--json and --stats gpgpusim are two ways to print the counters: choose one")
    if hotspots and stats == "gpgpusim":
        raise click.UsageError("--hotspots goes with --stats table or json")
    as_json = as_json or stats == "json"
    module, launch = job.load_any()
    reads_scheduler(scheduler)
    chosen = machine(gpu)
    status = SimulationStatus(quiet)
    options = LaunchOptions(
        gpu=chosen,
        scheduler=scheduler,
        share_registers=share_registers,
        share_scratchpad=share_scratchpad,
        registers=registers,
        max_cycles=max_cycles,
        event_skip=not no_event_skip,
        hotspots=hotspots,
        dynamic=dynamic if dynamic_options is None else dynamic_options,
        switching=switching,
        timeline=timeline,
        progress=status.progress,
        output=None if as_json else status.printed,
        on_interrupt="return",
        ptxplus_semantics=ptxplus_semantics,
    )
    run: Run | SequenceRun
    try:
        if launch.steps:
            run = api.simulate_sequence(module, launch, options=options, announce=status.announce)
        else:
            run = api.simulate(job.kernel_of(module, launch), launch, options=options)
    finally:
        status.clear()
    _put(run, "json" if as_json else stats, output)
    return INTERRUPTED if run.status == "interrupted" else exit_code(run.problems)


def _put(run: "Run | SequenceRun", stats: str, output: str | None) -> None:
    """The counters of one launch, or of a list and its totals, in the form that `stats` names."""
    if stats == "json":
        put_json(run.to_dict(), output)
    elif stats == "gpgpusim":
        from importlib.metadata import version

        from ptxtool.report.simulations.gpgpusim import counters

        put_text(counters(run.results, version("ptxtool")), output)
    else:
        from ptxtool.report.simulations.sequence import sequence_parts
        from ptxtool.report.simulations.simulation import run_parts
        from ptxtool.results.run_results import Run

        put_parts(run_parts(run) if isinstance(run, Run) else sequence_parts(run), output)
