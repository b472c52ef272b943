"""`ptxtool rewrite -p PIPELINE FILE`: passes over a file."""

import click

from ptxtool import api
from ptxtool.cli.common import file_argument, json_option, load, output_option, put_bytes, put_json
from ptxtool.cli.streams import print_note


def _list_passes(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from ptxtool.passes import pass_infos

        click.echo("\n".join(map(str, pass_infos())))
        ctx.exit()


@click.command(short_help="Run passes over a file and print the new text.")
@file_argument
@click.option(
    "-p",
    "--passes",
    "pipeline",
    metavar="PIPELINE",
    required=True,
    help="Such as unroll-decls,reorder-decls{order=text}.",
)
@click.option(
    "--list-passes",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_list_passes,
    help="List the passes with their options and exit.",
)
@json_option
@output_option
def command(file: str, pipeline: str, as_json: bool, output: str | None) -> int:
    """Run passes over a file and print the new text, or write it to OUT.

    Lines that no pass touched stay as they are, byte for byte. Every pass is checked after it ran. Remarks go to
    standard error.
    """
    module = load(file)
    result = api.rewrite(module, pipeline)
    if as_json:
        put_json(result.to_dict(), output)
        return 0
    for remark in result.remarks:
        print_note(str(remark))
    put_bytes(result.module.source.to_bytes(), output)
    return 0
