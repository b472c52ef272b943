"""`ptxtool rewrite -p PIPELINE FILE`: passes over a file."""

from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.cli.common import (
    Sink,
    file_argument,
    launch_of,
    limits_of,
    load_launch,
    load_module,
    put_bytes,
    put_json,
    report_options,
)
from ptxtool.cli.completion import complete_gpu, complete_passes
from ptxtool.cli.outputs import reads, reads_passes
from ptxtool.cli.progress import SimulationStatus
from ptxtool.cli.streams import MOST_SHOWN, print_diagnostics, print_note

if TYPE_CHECKING:
    from ptxtool.passes.syntax import Stage


def _list_passes(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from ptxtool.passes.registry import pass_infos

        click.echo("\n".join(map(str, pass_infos())))
        ctx.exit()


@click.command()
@file_argument
@click.option(
    "-p",
    "--passes",
    "pipeline",
    metavar="PIPELINE",
    shell_complete=complete_passes,
    required=True,
    multiple=True,
    help="Such as unroll-decls,reorder-decls:order=text, or ./mine.py:CLASS:option=value, a pass of your own; given "
    "again, these run after those before.",
)
@click.option(
    "--launch",
    "launch_file",
    metavar="FILE",
    help="The launch (default: launch.toml beside FILE): the size of CTAs for demote and spill=shared, and what the "
    "kernel is run with before and after a pass of your own.",
)
@click.option(
    "--gpu",
    metavar="NAME|FILE|sm_NN",
    shell_complete=complete_gpu,
    help="The machine of demote:occupancy=W (default: the limits of the file's .target).",
)
@click.option("--no-prove", is_flag=True, help="Do not run the kernel before and after a pass of your own.")
@click.option(
    "--list-passes",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_list_passes,
    help="List the passes with their options and exit.",
)
@click.option(
    "--max-errors",
    "most",
    type=click.IntRange(0),
    default=MOST_SHOWN,
    show_default=True,
    metavar="N",
    help="Print at most N errors, 0 for all.",
)
@report_options
def command(
    file: str,
    pipeline: tuple[str, ...],
    launch_file: str | None,
    gpu: str | None,
    no_prove: bool,
    most: int,
    sink: Sink,
) -> int:
    """Run passes over a file and print the new text, or write it to OUT.

    Lines that no pass touched stay as they are, byte for byte. Every pass is checked after it ran; after one of your
    own the kernel is run as well, as `ptxtool prove` does. Remarks go to standard error.
    """
    from ptxtool.passes.syntax import read_stages

    if no_prove and launch_file is not None:
        raise click.UsageError("--launch is for what --no-prove leaves out")
    module = load_module(file, in_place=not sink.as_json)
    passes = ",".join(pipeline)
    reads_passes(passes)
    stages = read_stages(passes)
    _reads_of(stages)
    launch = None
    if launch_file is not None:
        launch = load_launch(launch_file)
    elif not no_prove and any(stage.own for stage in stages):
        launch = launch_of(file, needed=True)
    elif not any(stage.own for stage in stages) and any(map(_asks_for_ctas, stages)):
        launch = launch_of(file, needed=False)
    status = SimulationStatus()
    try:
        result = api.rewrite(
            module,
            stages,
            launch=launch,
            gpu=None if gpu is None else limits_of(gpu, module.target),
            announce=status.announce,
            progress=status.progress,
        )
    except PtxError as problem:
        status.clear()
        print_diagnostics(problem.diagnostics, most, rest="--max-errors 0 prints all")
        return 1
    finally:
        status.clear()
    if sink.as_json:
        put_json(result.to_dict(), sink.output)
        return 0
    for remark in result.remarks:
        print_note(str(remark))
    put_bytes(result.module.source.to_bytes(), sink.output)
    return 0


def _asks_for_ctas(stage: "Stage") -> bool:
    """Whether a pass gives every thread of a CTA shared memory, and the pipeline does not say how many there are."""
    from ptxtool.passes.demotion.demote import Demote
    from ptxtool.passes.regalloc.allocate import Allocate

    run = stage.run
    if isinstance(run, Allocate) and run.spill != "shared":
        return False
    return isinstance(run, Allocate | Demote) and not run.threads


def _reads_of(stages: "tuple[Stage, ...]") -> None:
    """The files that passes read. Raises E503 for an output among them."""
    from ptxtool.passes.demotion.demote import Demote
    from ptxtool.passes.sharing.reorder_decls import ReorderDecls

    for stage in stages:
        if isinstance(stage.run, ReorderDecls | Demote) and stage.run.counts:
            reads(stage.run.counts, "file of issue counts")
