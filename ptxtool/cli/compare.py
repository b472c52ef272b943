"""`ptxtool compare FILE`: the papers' ladder of schemes."""

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
    quiet_option,
    registers_option,
    scheduler_option,
)
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.progress import INTERRUPTED, Status


@click.command(short_help="Simulate the papers' ladder of schemes on one kernel.")
@job_options
@registers_option
@gpu_option
@scheduler_option
@click.option(
    "--share-registers", metavar="P", help="Share registers by this percentage, 0 <= P < 100.  [default: 90]"
)
@click.option("--share-scratchpad", metavar="P", help="Share scratchpad by this percentage instead.")
@click.option(
    "--release", is_flag=True, help="Add a rung: locks given back behind the last use of what is shared."
)
@ptxplus_semantics_option
@quiet_option
@json_option
@output_option
def command(
    job: Job,
    gpu: str,
    scheduler: str | None,
    share_registers: str | None,
    share_scratchpad: str | None,
    release: bool,
    registers: int | None,
    ptxplus_semantics: str,
    quiet: bool,
    as_json: bool,
    output: str | None,
) -> int:
    """Simulate the papers' ladder on one kernel: no sharing, sharing, then one optimisation after the other.

    Registers are shared unless --share-scratchpad is given. Every run's results are compared with the expected ones,
    and its memory with the first run's. Gains are of thread IPC over the first run. Another --scheduler takes the
    place of loose round robin. Exits 1 where results are wrong. Ctrl-C prints what there is so far and exits 130.
    """
    from ptxtool.report.comparison import comparison_parts

    function, launch = job.load()
    chosen = machine(gpu)
    status = Status(quiet)
    try:
        comparison = api.compare(
            function,
            launch,
            gpu=chosen,
            scheduler=scheduler,
            share_registers=share_registers,
            share_scratchpad=share_scratchpad,
            release=release,
            registers=registers,
            announce=status.announce,
            progress=status.progress,
            on_interrupt="return",
            ptxplus_semantics=ptxplus_semantics,
        )
    finally:
        status.clear()
    if as_json:
        put_json(comparison.to_dict(), output)
    else:
        put_parts(comparison_parts(comparison), output)
    if not comparison.complete:
        return INTERRUPTED
    return exit_code(comparison.problems)
