"""`ptxtool overhead`: storage bits of the sharing and register schemes."""

import click

from ptxtool import api
from ptxtool.cli.common import Sink, apart, gpu_option, machine, report_options


@click.command()
@gpu_option
@click.option(
    "--scheme", "schemes", metavar="NAME", multiple=True, help="This scheme, part by part; may be repeated."
)
@report_options
def command(gpu: str, schemes: tuple[str, ...], sink: Sink) -> int:
    """Storage bits that the sharing and register schemes add to a GPU."""
    from ptxtool.report.simulations.machines import storage_table, storage_totals

    found = api.overhead(machine(gpu), schemes)
    sink.put(
        lambda: {"schemes": [storage.to_dict() for storage in found]},
        lambda: apart([storage_table(storage)] for storage in found) if schemes else [storage_totals(found)],
    )
    return 0
