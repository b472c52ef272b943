"""`ptxtool sweep SPEC`: many runs, resumable and in parallel; `sweep show` and `sweep export` for what they gave."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.base.diag import error
from ptxtool.base.phrases import counted
from ptxtool.cli import colour
from ptxtool.cli.common import (
    Sink,
    allow_outside_option,
    allows_outside,
    cluster_option,
    jobs_option,
    put_bytes,
    quiet_option,
    report_options,
)
from ptxtool.cli.completion import complete_path
from ptxtool.cli.outputs import OUTPUT, reads, reads_scheduler, reads_scheme
from ptxtool.cli.progress import SweepStatus
from ptxtool.cli.streams import MOST_SHOWN, print_note
from ptxtool.formats.gpu_names import DEFAULT_GPU

if TYPE_CHECKING:
    from ptxtool.passes.own import OwnPass
    from ptxtool.report.simulations.sweep import PivotChoice
    from ptxtool.results.sweeps import SweepResult

_BUG = 70


class WithSubcommands(click.Command):
    """A command whose first word may be that of another one; any other word is its own argument."""

    subcommands: Mapping[str, click.Command] = {}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self.subcommands:
            other = self.subcommands[args[0]]
            colour.add_option(other)
            return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Also"):
            formatter.write_dl(
                [
                    (f"{ctx.command_path} {name}", c.get_short_help_str(80))
                    for name, c in self.subcommands.items()
                ]
            )


_page_option = click.option(
    "--page", type=OUTPUT, metavar="FILE.html", help="Also write a page to filter, pivot and draw the runs."
)


@click.command(cls=WithSubcommands)
@click.argument("spec", metavar="SPEC", shell_complete=complete_path)
@click.option(
    "--store", metavar="FILE", help="Where results are kept (default: the file's, or SPEC with .db)."
)
@click.option(
    "--pass",
    "passes",
    metavar="FILE.py:CLASS",
    multiple=True,
    help="A pass of your own, which the sweep file has by its name; may be repeated.",
)
@jobs_option
@cluster_option
@allow_outside_option
@_page_option
@quiet_option
@report_options
def command(
    spec: str,
    store: str | None,
    passes: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    page: str | None,
    quiet: bool,
    sink: Sink,
) -> int:
    """Make the runs of a sweep file (docs/sweep.md) that have no result yet, and print a table of all.

    Kernels, GPUs, schedulers, sharing percentages, passes: every combination is a run. Results are kept as they come,
    so that a sweep that was stopped goes on where it was, and an equal run is never made twice. Runs that fail are
    listed at the end, with exit code 1. Ctrl-C keeps what there is and exits 130.
    """
    from ptxtool.passes.own import own_passes

    if cluster is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine; a cluster has as many as its workers")
    own = own_passes(passes)
    for each in own.values():
        if each.file:
            reads(each.file.source.name, "pass's file")
    _reads_of(spec, store, own)
    with SweepStatus(quiet) as status:
        result = api.sweep(
            spec,
            store=store,
            jobs=jobs,
            cluster=cluster,
            own_passes=own.values(),
            progress=status.progress,
            on_interrupt="return",
            allow_outside=allows_outside(),
        )
    from ptxtool.report.simulations.sweep import PivotChoice

    _put(result, PivotChoice(), sink, bars=False)
    _write_page(result, page)
    if not quiet:
        print_note(_origins(result))
        if result.removed:
            one = result.removed == 1
            print_note(
                f"sweep '{result.name}' of this store had {result.removed} run{'' if one else 's'} that "
                f"{'is' if one else 'are'} not in this file; two sweeps in a store need different names"
            )
    if result.interrupted:
        print_note("interrupted: the same command goes on with the rest")
        return status.code
    return _exit_code(result)


_where_option = click.option(
    "--where", metavar="AXIS=VALUE", multiple=True, help="Only these runs; may be repeated."
)


@click.command(short_help="Print tables, bars and charts of a store's results.")
@click.argument("store", metavar="STORE", shell_complete=complete_path)
@click.option("--sweep", "name", metavar="NAME", help="The sweep (default: the latest).")
@click.option("--rows", metavar="AXIS,...", default="kernel", show_default=True, help="What makes a row.")
@click.option("--columns", metavar="AXIS,...", help="What makes a column (default: all else that varies).")
@click.option("--value", metavar="NAME", default="thread_ipc", show_default=True, help="The counter shown.")
@click.option("--gain", is_flag=True, help="Show how much more it is than the baseline's, in percent.")
@click.option("--baseline", metavar="COLUMN", help="The column of --gain, by its title (default: the first).")
@_where_option
@click.option("--no-bars", is_flag=True, help="The table without bars.")
@click.option(
    "--plot", type=OUTPUT, metavar="FILE", help="Also draw a chart: .svg or .png (needs matplotlib)."
)
@_page_option
@report_options
def show(
    store: str,
    name: str | None,
    rows: str,
    columns: str | None,
    value: str,
    gain: bool,
    baseline: str | None,
    where: tuple[str, ...],
    no_bars: bool,
    plot: str | None,
    page: str | None,
    sink: Sink,
) -> int:
    """Print one value of every run of a sweep as a table with bars, in rows and columns of choice.

    AXIS is kernel, gpu, set, scheme, scheduler, share_registers, share_scratchpad, dynamic, register_scheme, passes or
    registers. A counter is one of those of 'sim --json', such as cycles, slots.stall, l1.misses, or a name of
    GPGPU-Sim's.
    """
    from ptxtool.report.simulations.sweep import PivotChoice

    if baseline is not None and not gain:
        raise click.UsageError("--baseline goes with --gain")
    choice = PivotChoice(
        rows=_names(rows),
        columns=_names(columns or ""),
        value=value,
        gain=gain,
        baseline=baseline or "",
        where=tuple(_condition(each) for each in where),
    )
    reads(store, "store")
    result = api.load_sweep(store, name)
    if plot is not None:
        _draw(result, choice, plot)
    _write_page(result.where(choice.where) if choice.where else result, page)
    _put(result, choice, sink, bars=not no_bars)
    return 0


@click.command(short_help="Write a sweep's results as CSV, JSON or Parquet.")
@click.argument("store", metavar="STORE", shell_complete=complete_path)
@click.option("--sweep", "name", metavar="NAME", help="The sweep (default: the latest).")
@_where_option
@click.option(
    "-o", "--output", type=OUTPUT, metavar="OUT", required=True, help="The file: .csv, .json or .parquet."
)
def export(store: str, name: str | None, where: tuple[str, ...], output: str) -> int:
    """Write a row for every run of a sweep, with all axes and counters; JSON has stall points and diagnostics too."""
    from ptxtool.sweep.export import encode, form_of

    form = form_of(output)
    conditions = [_condition(each) for each in where]
    reads(store, "store")
    result = api.load_sweep(store, name)
    put_bytes(encode(result.where(conditions) if conditions else result, form), output)
    return 0


WithSubcommands.subcommands = {"show": show, "export": export}


def _reads_of(path: str, store: str | None, own: "Mapping[str, OwnPass]") -> None:
    """What a sweep reads, by its file. Raises what is wrong with that, and E503 for an output that is among it."""
    from ptxtool.formats.files import find_input, launch_beside
    from ptxtool.formats.gpu import Gpu
    from ptxtool.sweep.spec import read_spec

    reads(path, "sweep file")
    spec = read_spec(path, own, allows_outside())
    reads(store or spec.store, "store of the results")
    for run in spec.configurations:
        kernel = find_input(run.kernel)
        launch = run.launch or launch_beside(kernel)
        reads(kernel, "kernel file")
        if isinstance(launch, str | Path):
            reads(launch, "launch file")
        if not isinstance(run.gpu, Gpu):
            reads(run.gpu, "GPU file")
        reads_scheduler(run.scheduler)
        reads_scheme(run.register_scheme)


def _origins(result: "SweepResult") -> str:
    """The number of runs by the origin of their results."""
    parts = [f"{result.simulated} simulated"]
    if result.equal:
        parts.append(counted(result.equal, "duplicate"))
    if result.declined:
        parts.append(f"{result.declined} stopped by a pass")
    return ", ".join([*parts, f"{result.stored} cached"])


def _put(result: "SweepResult", choice: "PivotChoice", sink: Sink, bars: bool) -> None:
    from ptxtool.report.simulations.sweep import sweep_parts

    sink.put(result.to_dict, lambda: sweep_parts(result, choice, bars=bars))


def _draw(result: "SweepResult", choice: "PivotChoice", path: str) -> None:
    from ptxtool.formats.files import write_output
    from ptxtool.report.simulations.sweep import pivot
    from ptxtool.report.simulations.sweep_plot import plot

    write_output(path, plot(pivot(result, choice), path.rpartition(".")[2].lower()))


def _write_page(result: "SweepResult", path: str | None) -> None:
    from ptxtool.formats.files import write_output
    from ptxtool.report.pages.sweep_page import sweep_page

    if path is not None:
        write_output(path, sweep_page(result).encode())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip().replace("-", "_") for name in text.split(",") if name.strip())


def _condition(text: str) -> tuple[str, str]:
    axis, equals, value = text.partition("=")
    if not equals:
        raise error("E502", f"'{text}' is no AXIS=VALUE", help=f"such as --where gpu={DEFAULT_GPU}")
    return axis.strip().replace("-", "_"), value.strip()


def _exit_code(result: "SweepResult") -> int:
    """List the runs that failed; 1 if any did, 70 for a bug of ours."""
    for record in result.failed[:MOST_SHOWN]:
        print_note(f"{record.label}:")
        for problem in record.outcome.problems:
            print_note(str(problem["text"]))
    if len(result.failed) > MOST_SHOWN:
        print_note(f"... and {len(result.failed) - MOST_SHOWN} more; --json has all")
    if any(record.status == "bug" for record in result.failed):
        return _BUG
    return 1 if result.failed else 0
