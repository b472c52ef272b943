"""`ptxtool samples`: the packaged samples."""

import click

from ptxtool import api
from ptxtool.cli.common import Sink, report_options


@click.command()
@report_options
def command(sink: Sink) -> int:
    """The packaged samples: what each computes, its files, and how to run one."""
    from ptxtool.report.packaged import samples_data, samples_parts

    found = api.samples()
    sink.put(lambda: samples_data(found), lambda: samples_parts(found))
    return 0
