"""`ptxtool pressure FILE`: register pressure, its maximum and the registers live there."""

from typing import Literal

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.cuda_source import source_option
from ptxtool.formats.cuda_sources import CudaSources


@click.command()
@common.file_argument
@common.kernel_option
@common.per_option
@common.no_ptxas_option
@source_option()
@common.report_options
def command(
    file: str,
    kernel: str | None,
    per: Literal["warp", "thread"],
    no_ptxas: bool,
    sources: CudaSources | None,
    sink: common.Sink,
) -> int:
    """Where most registers are live, which ones, and the curve over the kernel; how many a thread takes.

    Counts are in 32-bit registers; predicates and PTXPlus address registers are counted apart.
    """
    from ptxtool.report.kernels.cuda import cuda_data
    from ptxtool.report.kernels.pressure import pressure_parts

    module = common.load_module(file)
    chosen = common.kernels(module, kernel)
    counts = {c.kernel.name: c for c in common.register_counts(module, chosen, no_ptxas)}
    pressures = {f.name: api.pressure(f, per) for f in chosen}
    sink.put_kernels(
        module,
        chosen,
        lambda f: {
            **pressures[f.name].to_dict(),
            **cuda_data(f, pressures[f.name].at),
            "register_counts": counts[f.name].to_dict(),
        },
        lambda f: pressure_parts(pressures[f.name], counts[f.name], sources),
    )
    return 0
