"""`ptxtool page FILE [RUN]...`: one self-contained HTML page of a kernel."""

from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.completion import complete_change
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import reads_passes, reads_scheduler, reads_scheme
from ptxtool.cli.progress import INTERRUPTED, SimulationStatus
from ptxtool.cli.streams import print_note
from ptxtool.formats.gpu_names import AUTO

if TYPE_CHECKING:
    from ptxtool.formats.cuda_sources import CudaSources
    from ptxtool.results.kernel_runs import KernelPage


@click.command()
@job_options
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=complete_change)
@common.registers_option
@common.gpu_or_target_option
@common.scheduler_option
@common.share_option("registers")
@common.as_written_option
@common.share_option("scratchpad")
@common.scheme_option("The register scheme of the first run. [default: as the GPU file says]")
@click.option("--max-cycles", type=click.IntRange(1), metavar="N", help="Stop runs after this many cycles.")
@click.option("--no-run", is_flag=True, help="Show the text alone, simulate nothing.")
@source_option()
@common.ptxplus_semantics_option
@common.no_ptxas_option
@common.quiet_option
@common.report_options
def command(
    job: Job,
    runs: tuple[str, ...],
    gpu: str | None,
    no_run: bool,
    sources: "CudaSources | None",
    no_ptxas: bool,
    quiet: bool,
    sink: common.Sink,
    **others: Any,
) -> int:
    """Write one HTML page of a kernel: its code with live registers, control flow, stalls, memory and occupancy.

    With a launch (a launch file, or --grid, --block and --arg) the kernel is simulated as the options say, and once
    more for each RUN, which changes something: scheme=finereg, gpu=gtx480,scheduler=gto,
    passes=allocate:max-regs=20. Keys are name, gpu, set, scheduler, scheme, share-registers, share-scratchpad, dynamic,
    registers and passes. Runs are shown side by side; one that a pass or the
    machine refuses has the reason. --source embeds the lines of the CUDA source.

    The page needs no network and no other file. --json prints what it shows. Exits 1 where results are wrong.
    """
    from ptxtool.runs.kernel_runs import read_change

    for change in map(read_change, runs):
        reads_scheduler(change.get("scheduler"))
        reads_scheme(change.get("scheme"))
        reads_passes(change.get("passes", ""))
    if job.recording() is not None:
        raise click.UsageError(
            "FILE is a list of recorded launches: give one of them, such as DIR/0003-kernel"
        )
    if no_run or not job.has_launch:
        if runs:
            raise click.UsageError("RUN needs a launch: give --launch FILE, or --grid, --block and --arg")
        function = api.kernel(common.load_module(job.file), job.kernel)
        threads = common.cta_threads(job.block) if job.block else None
        machine = common.limits_of(gpu or AUTO, function.module.target)
        page = api.page(function, gpu=machine, threads=threads, sources=sources, ptxas=not no_ptxas)
        _put(page, sink)
        return 0
    function, launch = job.load(others["ptxplus_semantics"])
    reads_scheduler(others["scheduler"])
    reads_scheme(others["scheme"])
    others["ptxplus_semantics"] = launch.ptxplus_semantics or "hardware"
    machine = common.limits_of(gpu or launch.gpu or AUTO, function.module.target)
    status = SimulationStatus(quiet)
    try:
        page = api.page(
            function,
            launch,
            runs=runs,
            gpu=machine,
            sources=sources,
            ptxas=not no_ptxas,
            announce=status.announce,
            progress=status.progress,
            on_interrupt="return",
            out_of_bounds=job.out_of_bounds or "error",
            **others,  # have the names that they have here
        )
    finally:
        status.clear()
    for run in page.refused:
        print_note(f"{run.name} is refused: {run.reason}")
    _put(page, sink)
    return common.exit_code(page.problems) if page.complete else INTERRUPTED


def _put(page: "KernelPage", sink: common.Sink) -> None:
    if sink.as_json:
        common.put_json(page.to_dict(), sink.output)
    else:
        common.put_text(page.html.rstrip("\n"), sink.output)
