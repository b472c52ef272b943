"""`ptxtool live FILE`: live registers, beside the code or as a vector file."""

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
@source_option()
@common.report_options
def command(
    file: str,
    kernel: str | None,
    per: Literal["warp", "thread"],
    form: str,
    sources: CudaSources | None,
    sink: common.Sink,
) -> int:
    """Live registers beside every instruction, or as a vector file.

    The count is of registers live before the instruction. --json prints names before and after each instruction;
    --format json writes the vector file.
    """
    if sink.as_json and form != "text":
        raise click.UsageError("--json prints the listing as JSON: leave out --format")
    module = common.load_module(file)
    if form != "text":
        from ptxtool.formats.vectors import encode, live_vectors

        live = api.liveness(api.kernel(module, kernel), per)
        common.put_bytes(encode(live_vectors(live), FORMS[form]), sink.output)
        return 0
    from ptxtool.report.kernels.live import live_data, live_listing

    def live_in(function: "Function") -> "Liveness":
        return api.liveness(function, per)

    chosen = common.kernels(module, kernel)
    sink.put_kernels(
        module,
        chosen,
        lambda f: live_data(live_in(f)),
        lambda f: [live_listing(live_in(f), sources=sources)],
    )
    return 0
