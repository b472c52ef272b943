"""`ptxtool sim FILE`: one launch in the simulator, or a list of them."""

from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import reads_scheduler, reads_scheme
from ptxtool.cli.progress import INTERRUPTED, SimulationStatus
from ptxtool.cli.timeline import trace_options
from ptxtool.formats.cuda_sources import CudaSources
from ptxtool.formats.gpu_names import AUTO, DEFAULT_GPU

if TYPE_CHECKING:
    from ptxtool.report.tables import Part
    from ptxtool.results.run_results import Run
    from ptxtool.results.sequences import SequenceRun


@click.command()
@job_options
@common.registers_option
@common.launch_gpu_option("auto")
@common.scheduler_option
@common.share_option("registers")
@common.as_written_option
@common.share_option("scratchpad")
@click.option(
    "--dynamic", is_flag=True, help="Dynamic warp execution: hold back memory instructions of non-owners."
)
@click.option(
    "--dynamic-options",
    metavar="K=V,...",
    help="The same with options: period, step, stalls (window, cumulative), draws (cycle, sticky), seed.",
)
@common.scheme_option(
    "The register scheme: what becomes of CTAs that wait for memory. [default: as the GPU file says]"
)
@click.option("--max-cycles", type=click.IntRange(1), metavar="N", help="Stop after this many cycles.")
@common.replicas_option
@click.option(
    "--threads",
    type=click.IntRange(1, 32),
    metavar="N",
    help="Threads that may share the run where that is faster: same results. [default: one for each CPU; 1 with "
    "--replicas]",
)
@click.option("--no-event-skip", is_flag=True, help="Step through every cycle: slower, same results.")
@click.option("--hotspots", is_flag=True, help="Also print where the time goes, by reason and instruction.")
@click.option(
    "--stats",
    type=click.Choice(["table", "json", "gpgpusim"]),
    default="table",
    show_default=True,
    help="How counters are printed; gpgpusim: the lines of its logs.",
)
@source_option()
@trace_options
@common.ptxplus_semantics_option
@common.quiet_option
@common.report_options
def command(
    job: Job,
    gpu: str | None,
    scheduler: str | None,
    dynamic: bool,
    dynamic_options: str | None,
    no_event_skip: bool,
    hotspots: bool,
    stats: str,
    replicas: int,
    threads: int | None,
    sources: "CudaSources | None",
    quiet: bool,
    sink: common.Sink,
    **others: Any,
) -> int:
    """Simulate one launch, or the launch file's list, print counters, and compare results with the expected ones.

    FILE may also be a launch file that names its kernel file. What the kernel prints goes to standard output as it
    comes (with JSON into `printed`). Exits 1 where the results are wrong or the cycle limit was reached. Ctrl-C
    prints the counters so far and exits 130.
    """
    from ptxsim.launch_options import LaunchOptions

    if sink.as_json and stats == "gpgpusim":
        raise click.UsageError("--json and --stats gpgpusim are two ways to print the counters: choose one")
    if hotspots and stats == "gpgpusim":
        raise click.UsageError("--hotspots goes with --stats table or json")
    as_json = sink.as_json or stats == "json"
    recording = job.recording()
    if recording is None:
        module, launch = job.load_any(others["ptxplus_semantics"])
    reads_scheduler(scheduler)
    reads_scheme(others["scheme"])
    fitted: list[Part] = []
    if recording is None:
        name = gpu or launch.gpu or AUTO
        chosen = common.machine(name, module.target)
        if name == AUTO:
            text = f".target {module.target}" if module.target else "a text without .target"
            fitted = [f"{chosen.name} is the machine for {text}; --gpu names another"]
    else:
        chosen = common.machine(gpu or DEFAULT_GPU)  # that of `exec`, which recorded them
    status = SimulationStatus(quiet)
    options = LaunchOptions(
        gpu=chosen,
        scheduler=scheduler,
        event_skip=not no_event_skip,
        out_of_bounds=job.out_of_bounds or "error",
        hotspots=hotspots,
        dynamic=dynamic if dynamic_options is None else dynamic_options,
        progress=status.progress,
        threads=threads or (1 if replicas > 1 else "auto"),
        output=None if as_json else status.printed,
        on_interrupt="return",
        **others | {"ptxplus_semantics": others["ptxplus_semantics"] or "hardware"},
    )
    run: Run | SequenceRun
    try:
        if recording is not None:
            run = api.simulate_recording(
                recording, replicas=replicas, announce=status.announce, options=options
            )
        elif launch.steps:
            run = api.simulate_sequence(
                module, launch, replicas=replicas, announce=status.announce, options=options
            )
        else:
            kernel = job.kernel_of(module, launch)
            run = api.simulate(kernel, launch, replicas=replicas, announce=status.announce, options=options)
    finally:
        status.clear()
    if stats == "gpgpusim":
        from importlib.metadata import version

        from ptxtool.report.simulations.gpgpusim import counters

        common.put_text(counters(run.results, version("ptxtool")), sink.output)
    else:
        file = module.source.name if recording is None else job.file
        common.Sink(as_json, sink.output).put(run.to_dict, lambda: [*fitted, *_parts(run, file, sources)])
    return common.exit_code(run.problems) if run.complete else INTERRUPTED


def _parts(run: "Run | SequenceRun", file: str, sources: "CudaSources | None") -> "list[Part]":
    """The report of one launch, or of a list and its totals."""
    from ptxtool.report.kernels.cuda import place_text
    from ptxtool.report.simulations.sequence import sequence_parts
    from ptxtool.report.simulations.simulation import run_parts
    from ptxtool.results.run_results import Run

    return run_parts(run, place_text(file, sources)) if isinstance(run, Run) else sequence_parts(run)
