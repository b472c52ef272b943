"""`ptxtool overhead`: storage bits of the sharing schemes."""

import click

from ptxtool import api
from ptxtool.cli.common import gpu_option, json_option, machine, output_option, put_json, put_parts
from ptxtool.report.tables import Table


@click.command(short_help="Storage bits that each sharing scheme adds to a GPU.")
@gpu_option
@json_option
@output_option
def command(gpu: str, as_json: bool, output: str | None) -> int:
    """Storage bits that each sharing scheme adds to a GPU, item by item."""
    from ptxtool.report.simulations.machines import storage_table

    found = api.overhead(machine(gpu))
    if as_json:
        put_json({"schemes": [storage.to_dict() for storage in found]}, output)
        return 0
    parts: list[Table | str] = []
    for k, storage in enumerate(found):
        parts += ([""] if k else []) + [storage_table(storage)]
    put_parts(parts, output)
    return 0
