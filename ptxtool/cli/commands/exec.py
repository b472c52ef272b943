"""`ptxtool exec -- APPLICATION ...`: a CUDA application without a GPU."""

import re
from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.base.diag import Diagnostic
from ptxtool.cli import common, streams
from ptxtool.cli.completion import complete_passes
from ptxtool.cli.outputs import OUTPUT, reads_passes, reads_scheduler, reads_scheme

if TYPE_CHECKING:
    from ptxtool.results.applications import ApplicationRun

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_LEAST, _MOST = 1 << 20, 0xFB00_0000 - 0x1000_0000
_LIMIT_TEXT = "1m to 3760m"


class _Bytes(click.ParamType[int]):
    """A size such as 512m or 2g."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,10})([kmg]?)i?b?", str(value).lower())
        n_bytes = int(found[1]) * _UNITS[found[2]] // 4096 * 4096 if found else 0
        if not _LEAST <= n_bytes <= _MOST:
            self.fail(f"'{value}' is not a size of {_LIMIT_TEXT}, such as 512m or 2g", param, ctx)
        return n_bytes


class _Target(click.ParamType[int]):
    """A compute capability such as sm_75."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(?:sm|compute)_(\d{2,3})", str(value))
        if found is None:
            self.fail(f"'{value}' is not a compute capability, such as sm_75", param, ctx)
        return int(found[1])


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", metavar="APPLICATION [ARGUMENT]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--sim", "timed", is_flag=True, help="Simulate every launch with time; without it, launches only compute."
)
@click.option(
    "--sim-launches",
    metavar="WHICH",
    help="Simulate these launches, and estimate the others: similar (launches that are alike stand for one another), "
    "3,7-9 (numbers), every:10 or first:2. With --sim or without.",
)
@click.option(
    "--check", "checks", metavar="WHAT,...", help="Look for faults: memory, init, races, barriers, or all."
)
@common.out_of_bounds_option("error")
@common.gpu_option
@common.scheduler_option
@common.share_option("registers")
@common.share_option("scratchpad")
@common.scheme_option("The register scheme. [default: as the GPU file says]")
@click.option(
    "--memory",
    "memory_bytes",
    type=_Bytes(),
    default="1g",
    show_default=True,
    metavar="SIZE",
    help="Device memory.",
)
@click.option(
    "--arch", "target", type=_Target(), metavar="sm_NN", help="The compute capability of the device."
)
@click.option(
    "-p",
    "--passes",
    metavar="PIPELINE",
    shell_complete=complete_passes,
    default="",
    help="Passes for every kernel before it runs, as those of rewrite: allocate:max-regs=32.",
)
@click.option(
    "--record",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Record launches in a new folder, as launch files for run, sim, compare, sweep.",
)
@click.option(
    "--record-launches",
    metavar="WHICH",
    help="Which launches to record: 3,7-9 (numbers), every:10 or first:2. [default: all]",
)
@click.option(
    "--page",
    type=OUTPUT,
    metavar="FILE.html",
    help="Also write a page: the kernels, and with --sim the lines of the longest launch of each.",
)
@common.report_options
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    timed: bool,
    sim_launches: str | None,
    checks: str | None,
    out_of_bounds: str,
    gpu: str,
    scheduler: str | None,
    share_registers: str,
    share_scratchpad: str,
    scheme: str | None,
    memory_bytes: int,
    target: int | None,
    passes: str,
    record: str | None,
    record_launches: str | None,
    page: str | None,
    sink: common.Sink,
) -> int:
    """Run a CUDA application with the simulator for its GPU.

    The application is linked with `nvcc -cudart shared` and runs as it is, with its own arguments, files and exit
    status, which is also that of this command. A table of its kernels follows on standard error, or in OUT.
    """
    from ptxsim.launch_options import LaunchOptions

    timed = timed or sim_launches is not None
    timing: dict[str, Any] = {"scheduler": scheduler, "scheme": scheme}
    shares = {"share_registers": share_registers, "share_scratchpad": share_scratchpad}
    given = [name for name, value in timing.items() if value is not None]
    given += [name for name, value in shares.items() if value != "0"]
    if given and not timed:
        raise click.UsageError(f"--{given[0].replace('_', '-')} is an option of the simulation: add --sim")
    if checks is not None and timed:
        raise click.UsageError("--check goes with a run without time: leave --sim out")
    if record_launches is not None and record is None:
        raise click.UsageError("--record-launches goes with --record")
    reads_scheduler(scheduler)
    reads_scheme(scheme)
    reads_passes(passes)
    chosen = common.machine(gpu)
    timing["threads"] = "auto"
    options = (
        LaunchOptions(gpu=chosen, out_of_bounds=out_of_bounds, hotspots=page is not None, **timing, **shares)  # type: ignore[arg-type]
        if timed
        else LaunchOptions(check=checks or (), out_of_bounds=out_of_bounds)  # type: ignore[arg-type]
    )
    source = context.get_parameter_source("gpu")
    is_chosen = timed or source is not click.core.ParameterSource.DEFAULT
    run = api.run_application(
        words,
        gpu=chosen if is_chosen else None,
        timed=timed,
        options=options,
        memory_bytes=memory_bytes,
        target=target,
        passes=passes,
        record=record,
        record_launches=record_launches,
        sim_launches=sim_launches,
        tell=_tell,
    )
    _put(run, sink)
    if page is not None:
        from ptxtool.formats.files import write_output
        from ptxtool.report.pages.application_page import application_page

        write_output(page, application_page(run, chosen).encode())
    return run.status or int(checks is not None and bool(run.problems))


def _tell(message: "Diagnostic | str") -> None:
    if isinstance(message, str):
        streams.print_note(message)
    else:
        streams.print_diagnostics([message])


def _put(run: "ApplicationRun", sink: common.Sink) -> None:
    """Write the report: to OUT, or to standard error, so that standard output is the application's alone."""
    import json

    from ptxtool.report.simulations.application import application_parts

    if sink.output is not None:
        sink.put(run.to_dict, lambda: application_parts(run))
    elif sink.as_json:
        streams.print_note(json.dumps(run.to_dict(), indent=2))
    else:
        streams.print_note("\n".join(map(str, application_parts(run))))
