"""`ptxtool compare FILE`: the papers' ladder of schemes, or register schemes side by side."""

from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import reads_passes, reads_scheduler, reads_scheme
from ptxtool.cli.progress import INTERRUPTED, SimulationStatus, SweepStatus
from ptxtool.cli.streams import print_note
from ptxtool.formats.cuda_sources import CudaSources
from ptxtool.formats.gpu_names import DEFAULT_GPU

if TYPE_CHECKING:
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.formats.launch.launch_recording import LaunchRecording
    from ptxtool.ir.nodes import Function
    from ptxtool.results.recorded_comparisons import RecordedComparison


@click.command()
@job_options
@common.registers_option
@common.launch_gpu_option(DEFAULT_GPU)
@common.scheduler_option
@click.option(
    "--share-registers", metavar="P", help="Share registers by this percentage, 0 <= P < 100.  [default: 90]"
)
@common.as_written_option
@click.option("--share-scratchpad", metavar="P", help="Share scratchpad by this percentage instead.")
@click.option(
    "--release", is_flag=True, help="Add a rung that releases locks after the last use of what is shared."
)
@click.option(
    "-p",
    "--passes",
    metavar="PIPELINE",
    default="",
    help="Add a rung with these passes after the others', such as ./mine.py:CLASS:option=value, one of your own. "
    "With --schemes: the passes of all runs.",
)
@click.option(
    "--schemes",
    metavar="all|NAME,...",
    help="Compare register schemes instead, with each other and with none. FILE.py:FUNCTION is one of your own.",
)
@common.replicas_option
@common.jobs_option
@source_option()
@common.ptxplus_semantics_option
@common.quiet_option
@common.report_options
def command(
    job: Job,
    gpu: str | None,
    schemes: str | None,
    jobs: int | None,
    sources: "CudaSources | None",
    quiet: bool,
    sink: common.Sink,
    **options: Any,
) -> int:
    """Simulate the papers' ladder on one kernel: no sharing, sharing, then one optimisation after the other.

    Registers are shared unless --share-scratchpad is given. Every run's results are compared with the expected ones,
    and its memory with the first run's. Gains are of thread IPC over the first run. Another --scheduler takes the
    place of loose round robin. Exits 1 where results are wrong. Ctrl-C prints what there is so far and exits 130.

    With --schemes: one launch under each register scheme. Texts that a scheme needs are made; a
    scheme that cannot run the kernel, or one of your own that cannot be loaded, is a line with the reason.

    FILE may be a list of recorded launches (exec --record): each is compared by itself, with empty caches.
    """
    recording = job.recording()
    if schemes is not None:
        given = {
            "--source": sources,
            "--stack-bytes": job.stack_bytes,
            "--heap-bytes": job.heap_bytes,
            "--out-of-bounds": job.out_of_bounds,
        }
        _refuse_with_schemes(given, options)
        return _compare_schemes(job, recording, gpu, schemes, jobs, quiet, sink, options)
    options["jobs"] = jobs
    from ptxtool.report.kernels.cuda import place_text
    from ptxtool.report.simulations.comparison import comparison_parts

    if recording is not None:
        if job.out_of_bounds is not None or sources is not None:
            flag = "--source" if job.out_of_bounds is None else "--out-of-bounds"
            raise click.UsageError(f"{flag} goes with one launch: '{job.file}' is a list of recorded ones")
        options["ptxplus_semantics"] = options["ptxplus_semantics"] or "hardware"
        return _compare_all(recording, gpu, quiet, sink, options)
    function, launch = job.load(options["ptxplus_semantics"])
    options["ptxplus_semantics"] = launch.ptxplus_semantics or "hardware"
    reads_scheduler(options["scheduler"])
    reads_passes(options["passes"])
    if options["share_scratchpad"] is None and not options["allocate"]:
        _remark(function, launch, options["share_registers"], options["registers"])
    chosen = common.machine(gpu or launch.gpu or DEFAULT_GPU, function.module.target)
    status = SimulationStatus(quiet)
    try:
        comparison = api.compare(
            function,
            launch,
            gpu=chosen,
            announce=status.announce,
            progress=status.progress,
            on_interrupt="return",
            **options,  # have the names that they have here
        )
    finally:
        status.clear()
    sink.put(comparison.to_dict, lambda: comparison_parts(comparison, place_text(comparison.file, sources)))
    return common.exit_code(comparison.problems) if comparison.complete else INTERRUPTED


def _compare_all(
    recording: "LaunchRecording", gpu: str | None, quiet: bool, sink: common.Sink, options: dict[str, Any]
) -> int:
    """The ladder of every recorded launch."""
    reads_scheduler(options["scheduler"])
    reads_passes(options["passes"])
    status = SimulationStatus(quiet)
    try:
        comparison = api.compare_recording(
            recording,
            gpu=common.machine(gpu or DEFAULT_GPU),
            announce=status.announce,
            progress=status.progress,
            on_interrupt="return",
            **options,
        )
    finally:
        status.clear()
    return _put_all(comparison, sink, INTERRUPTED)


def _put_all(comparison: "RecordedComparison", sink: common.Sink, interrupted: int) -> int:
    from ptxtool.report.simulations.recorded_comparison import recorded_comparison_parts

    sink.put(comparison.to_dict, lambda: recorded_comparison_parts(comparison))
    return common.exit_code(comparison.problems) if comparison.complete else interrupted


_OF_LADDER = {
    "share_registers": "--share-registers",
    "share_scratchpad": "--share-scratchpad",
    "release": "--release",
}
"""Options that say which rungs the ladder has."""


def _refuse_with_schemes(given: dict[str, Any], options: dict[str, Any]) -> None:
    """Raise a usage error for options that do not go with --schemes."""
    given |= {flag: options[name] for name, flag in _OF_LADDER.items()}
    given |= {"--as-written": not options["allocate"], "--replicas": options["replicas"] > 1}
    for flag, value in given.items():
        if value:
            raise click.UsageError(f"{flag} does not go with --schemes")


def _compare_schemes(
    job: Job,
    recording: "LaunchRecording | None",
    gpu: str | None,
    schemes: str,
    jobs: int | None,
    quiet: bool,
    sink: common.Sink,
    options: dict[str, Any],
) -> int:
    """Register schemes side by side, for one launch or every recorded one."""
    from ptxtool.report.simulations.scheme_comparison import scheme_comparison_parts

    one = job.load(options["ptxplus_semantics"]) if recording is None else None
    semantics = options["ptxplus_semantics"] if one is None else one[1].ptxplus_semantics
    reads_scheduler(options["scheduler"])
    reads_passes(options["passes"])
    names = [name.strip() for name in schemes.split(",")]
    for name in names:
        reads_scheme(name)
    if one is None:
        chosen = common.machine(gpu or DEFAULT_GPU)
    else:
        chosen = common.machine(gpu or one[1].gpu or DEFAULT_GPU, one[0].module.target)
    with SweepStatus(quiet) as status:
        given: dict[str, Any] = {
            "gpu": chosen,
            "scheduler": options["scheduler"],
            "passes": options["passes"],
            "registers": options["registers"],
            "ptxplus_semantics": semantics or "hardware",
            "jobs": jobs,
            "progress": status.progress,
            "on_interrupt": "return",
        }
        if one is None:
            assert recording is not None
            compared = api.compare_recording_schemes(recording, names, **given)
        else:
            comparison = api.compare_schemes(*one, names, **given)
    if one is None:
        return _put_all(compared, sink, status.code)
    sink.put(comparison.to_dict, lambda: scheme_comparison_parts(comparison))
    return common.exit_code(comparison.problems) if comparison.complete else status.code


def _remark(
    function: "Function", launch: "Launch", share_registers: str | None, registers: int | None
) -> None:
    """Say so where most registers count as shared because they are virtual. Raises E502 for a wrong percentage."""
    from ptxtool.analysis.occupancy.sharing_plan import percentage
    from ptxtool.passes.sharing.share import virtual_remark
    from ptxtool.runs.ladder import PERCENT

    percent = percentage(PERCENT if share_registers is None else share_registers, "--share-registers")
    for remark in virtual_remark("compare", function, percent, registers or launch.registers or 0):
        print_note(str(remark))
