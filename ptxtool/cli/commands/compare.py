"""`ptxtool compare FILE`: the papers' ladder of schemes."""

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
    quiet_option,
    registers_option,
    scheduler_option,
)
from ptxtool.cli.job import Job, job_options
from ptxtool.cli.outputs import reads_scheduler
from ptxtool.cli.progress import INTERRUPTED, SimulationStatus
from ptxtool.cli.streams import print_note

if TYPE_CHECKING:
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function


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
    "--release", is_flag=True, help="Add a rung that releases locks after the last use of what is shared."
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
    from ptxtool.report.simulations.comparison import comparison_parts

    function, launch = job.load()
    reads_scheduler(scheduler)
    if share_scratchpad is None:
        _remark(function, launch, share_registers, registers)
    chosen = machine(gpu)
    status = SimulationStatus(quiet)
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
