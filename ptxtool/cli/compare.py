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
    share_registers_option,
)
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.progress import INTERRUPTED, Status


@click.command(short_help="Simulate the papers' ladder of schemes on one kernel.")
@job_options
@registers_option
@gpu_option
@scheduler_option
@share_registers_option("90")
@ptxplus_semantics_option
@quiet_option
@json_option
@output_option
def command(
    job: Job,
    gpu: str,
    scheduler: str | None,
    share_registers: str,
    registers: int | None,
    ptxplus_semantics: str,
    quiet: bool,
    as_json: bool,
    output: str | None,
) -> int:
    """Simulate the papers' ladder on one kernel: no sharing, sharing, sharing with declarations rewritten, owner first.

    Every run's results are compared with the expected ones, and its memory with the first run's. Gains are of thread
    IPC over the first run. Another --scheduler takes the place of loose round robin. Exits 1 where results are wrong.
    Ctrl-C prints what there is so far and exits 130.
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
