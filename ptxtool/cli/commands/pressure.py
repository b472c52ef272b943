"""`ptxtool pressure FILE`: the most live registers, where and whose."""

import click

from ptxtool import api
from ptxtool.cli.common import (
    file_argument,
    json_option,
    kernel_option,
    kernels,
    load,
    no_ptxas_option,
    output_option,
    per_option,
    put_kernels,
    register_counts,
    scope,
)


@click.command(short_help="Where most registers are live, and who holds them.")
@file_argument
@kernel_option
@per_option
@no_ptxas_option
@json_option
@output_option
def command(
    file: str, kernel: str | None, per: str, no_ptxas: bool, as_json: bool, output: str | None
) -> int:
    """Where most registers are live, who holds them, and the curve over the kernel; how many a thread takes.

    Counts are in 32-bit registers; predicates and PTXPlus address registers are counted apart.
    """
    from ptxtool.report.kernels.pressure import pressure_parts

    module = load(file)
    chosen = kernels(module, kernel)
    counts = {c.kernel.name: c for c in register_counts(module, chosen, no_ptxas)}
    pressures = {f.name: api.pressure(f, scope(per)) for f in chosen}
    put_kernels(
        module,
        chosen,
        as_json,
        output,
        lambda f: {**pressures[f.name].to_dict(), "register_counts": counts[f.name].to_dict()},
        lambda f: pressure_parts(pressures[f.name], counts[f.name]),
    )
    return 0
