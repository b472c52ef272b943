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

    Counts are in 32-bit registers; predicates and PTXPlus address registers are counted apart. The first is per thread;
    per warp more may be live: what lanes hold that wait while others run a side of a branch. --per chooses whose
    registers and curve follow.
    """
    from ptxtool.report.kernels.cuda import cuda_data
    from ptxtool.report.kernels.pressure import pressure_parts

    module = common.load_module(file)
    chosen = common.kernels(module, kernel)
    counts = {c.kernel.name: c for c in common.register_counts(module, chosen, no_ptxas)}
    thread, warp = ({f.name: api.pressure(f, each) for f in chosen} for each in ("thread", "warp"))
    shown = thread if per == "thread" else warp
    sink.put_kernels(
        module,
        chosen,
        lambda f: {
            **shown[f.name].to_dict(),
            **cuda_data(f, shown[f.name].at),
            "maximum_per_thread": thread[f.name].maximum,
            "maximum_per_warp": warp[f.name].maximum,
            "register_counts": counts[f.name].to_dict(),
        },
        lambda f: pressure_parts(thread[f.name], warp[f.name], shown[f.name], counts[f.name], sources),
    )
    return 0
