"""`ptxtool pressure FILE`: the most live registers, where and whose."""

from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.cli.common import (
    file_argument,
    json_option,
    kernel_option,
    kernels,
    kernels_json,
    load,
    no_ptxas_option,
    output_option,
    per_option,
    put_json,
    put_parts,
    register_counts,
    scope,
)

if TYPE_CHECKING:
    from ptxtool.report.listing import Part


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
    counts = register_counts(module, chosen, no_ptxas)
    if as_json:
        reports = [
            {**api.pressure(c.kernel, scope(per)).to_dict(), "register_counts": c.to_dict()} for c in counts
        ]
        put_json(kernels_json(module, reports), output)
    else:
        parts: list[Part] = []
        for count in counts:
            parts += [
                *([""] if parts else []),
                *pressure_parts(api.pressure(count.kernel, scope(per)), count),
            ]
        put_parts(parts, output)
    return 0
