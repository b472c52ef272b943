"""`ptxtool live FILE`: live registers, beside the code or as a vector file."""

import shutil
import sys
from typing import TYPE_CHECKING, Literal

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.cuda_source import source_option
from ptxtool.formats.cuda_sources import CudaSources

if TYPE_CHECKING:
    from ptxtool.analysis.flow.liveness import Liveness
    from ptxtool.ir.nodes import Function

FORMS = {"json": "json", "npz": "npz", "c": "c", "finereg": "binary"}
"""The vector formats of docs/live-vectors.md by the name of the option."""
LEAST_WIDTH = 60


@click.command()
@common.file_argument
@common.kernel_option
@common.per_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *FORMS]),
    default="text",
    show_default=True,
    help="A listing, or a live-register vector file of one kernel (docs/live-vectors.md).",
)
@click.option(
    "--width",
    type=click.IntRange(LEAST_WIDTH),
    help="Characters of a line of the listing [default: the terminal's; 120 elsewhere].",
)
@source_option()
@common.report_options
def command(
    file: str,
    kernel: str | None,
    per: Literal["warp", "thread"],
    form: str,
    width: int | None,
    sources: CudaSources | None,
    sink: common.Sink,
) -> int:
    """Live registers beside every instruction, or as a vector file.

    The counts are of registers live before the instruction: for a thread, and for a warp, in which lanes may wait while
    others run a side of a branch. Where a column for every register is too wide there is one for every register that
    'allocate' needs. --json prints names before and after each instruction; --format json writes the vector file.
    """
    if sink.as_json and form != "text":
        raise click.UsageError("--json prints the listing as JSON: leave out --format")
    if width and (sink.as_json or form != "text"):
        raise click.UsageError("--width is of the listing: leave it out")
    module = common.load_module(file)
    if form != "text":
        from ptxtool.formats.vectors import encode, live_vectors

        live = api.liveness(api.kernel(module, kernel), per)
        common.put_bytes(encode(live_vectors(live), FORMS[form]), sink.output)
        return 0
    from ptxtool.report.kernels.live import live_data, live_listing

    def live_in(function: "Function") -> "tuple[Liveness, Liveness, Liveness]":
        both = {each: api.liveness(function, each) for each in ("thread", "warp")}
        return both["thread"], both["warp"], both[per]

    chosen = common.kernels(module, kernel)
    columns = width or _terminal_width(sink.output)
    sink.put_kernels(
        module,
        chosen,
        lambda f: live_data(*live_in(f)),
        lambda f: [live_listing(*live_in(f), columns, sources)],
    )
    return 0


def _terminal_width(output: str | None) -> int:
    """Characters of a line: a terminal's own, 120 everywhere else, so that files do not depend on it."""
    from ptxtool.report.tables import WIDTH

    if output is not None or not sys.stdout.isatty():
        return WIDTH
    return max(LEAST_WIDTH, shutil.get_terminal_size().columns)
