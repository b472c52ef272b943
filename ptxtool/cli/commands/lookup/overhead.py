"""`ptxtool overhead`: storage bits of the sharing schemes."""

import click

from ptxtool import api
from ptxtool.cli.common import Sink, apart, gpu_option, machine, report_options


@click.command()
@gpu_option
@report_options
def command(gpu: str, sink: Sink) -> int:
    """Storage bits that each sharing scheme adds to a GPU, item by item."""
    from ptxtool.report.simulations.machines import storage_table

    found = api.overhead(machine(gpu))
    sink.put(
        lambda: {"schemes": [storage.to_dict() for storage in found]},
        lambda: apart([storage_table(storage)] for storage in found),
    )
    return 0
