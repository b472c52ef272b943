"""`ptxtool rewrite -p PIPELINE FILE`: passes over a file."""

import click

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.cli.common import Sink, file_argument, load_module, put_bytes, put_json, report_options
from ptxtool.cli.completion import complete_passes
from ptxtool.cli.outputs import reads
from ptxtool.cli.streams import MOST_SHOWN, print_diagnostics, print_note


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
    help="Such as unroll-decls,reorder-decls{order=text}; given again, these run after those before.",
)
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
def command(file: str, pipeline: tuple[str, ...], most: int, sink: Sink) -> int:
    """Run passes over a file and print the new text, or write it to OUT.

    Lines that no pass touched stay as they are, byte for byte. Every pass is checked after it ran. Remarks go to
    standard error.
    """
    passes = ",".join(pipeline)
    module = load_module(file, in_place=not sink.as_json)
    _reads_of(passes)
    try:
        result = api.rewrite(module, passes)
    except PtxError as problem:
        print_diagnostics(problem.diagnostics, most, rest="--max-errors 0 prints all")
        return 1
    if sink.as_json:
        put_json(result.to_dict(), sink.output)
        return 0
    for remark in result.remarks:
        print_note(str(remark))
    put_bytes(result.module.source.to_bytes(), sink.output)
    return 0


def _reads_of(pipeline: str) -> None:
    """The files that passes read. Raises E302 and the like for a wrong pipeline, E503 for an output among them."""
    from ptxtool.passes.pipeline import parse_pipeline
    from ptxtool.passes.sharing.reorder_decls import ReorderDecls

    for one in parse_pipeline(pipeline):
        if isinstance(one, ReorderDecls) and one.counts:
            reads(one.counts, "file of issue counts")
