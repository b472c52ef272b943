"""`ptxtool gpus [NAME]`: the packaged machines, or every key of one."""

import click

from ptxtool import api
from ptxtool.cli.common import Sink, machine, report_options
from ptxtool.cli.completion import complete_gpu


@click.command()
@click.argument("gpu", metavar="[NAME|FILE]", required=False, shell_complete=complete_gpu)
@report_options
def command(gpu: str | None, sink: Sink) -> int:
    """The packaged machines; with a name, or the path of a GPU file or gpgpusim.config, every key of that machine.

    A key comes with its value, the file and line that set it, and the comment there: its meaning or its source.
    """
    from ptxtool.report.packaged import gpu_data, gpu_parts, gpu_row, gpus_parts

    if gpu is None:
        machines = api.gpus()
        sink.put(lambda: {"gpus": [gpu_row(each) for each in machines]}, lambda: gpus_parts(machines))
        return 0
    from ptxtool.formats.gpu_keys import machine_keys

    chosen = machine(gpu)
    keys = machine_keys(chosen)
    sink.put(lambda: gpu_data(chosen, keys), lambda: gpu_parts(chosen, keys))
    return 0
