"""`ptxtool overhead`: storage bits of the sharing schemes."""

import click

from ptxtool import api
from ptxtool.cli.common import apart, gpu_option, json_option, machine, output_option, put_report


@click.command(short_help="Storage bits that each sharing scheme adds to a GPU.")
@gpu_option
@json_option
@output_option
def command(gpu: str, as_json: bool, output: str | None) -> int:
    """Storage bits that each sharing scheme adds to a GPU, item by item."""
    from ptxtool.report.simulations.machines import storage_table

    found = api.overhead(machine(gpu))
    put_report(
        as_json,
        output,
        lambda: {"schemes": [storage.to_dict() for storage in found]},
        lambda: apart([storage_table(storage)] for storage in found),
    )
    return 0
