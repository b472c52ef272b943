"""`ptxtool pressure FILE`: the most live registers, where and whose."""

import click

from ptxtool import api
from ptxtool.cli.common import (
    file_argument,
    json_option,
    kernel_option,
    kernels,
    kernels_json,
    load,
    output_option,
    per_kernel,
    per_option,
    put_json,
    put_parts,
    scope,
)


@click.command(short_help="Where most registers are live, and who holds them.")
@file_argument
@kernel_option
@per_option
@json_option
@output_option
def command(file: str, kernel: str | None, per: str, as_json: bool, output: str | None) -> int:
    """Where most registers are live, who holds them, and the curve over the kernel.

    Counts are in 32-bit registers; predicates and PTXPlus address registers are counted apart.
    """
    from ptxtool.report.pressure import pressure_parts

    module = load(file)
    chosen = kernels(module, kernel)
    if as_json:
        put_json(kernels_json(module, [api.pressure(f, scope(per)).to_dict() for f in chosen]), output)
    else:
        put_parts(per_kernel(chosen, lambda f: pressure_parts(api.pressure(f, scope(per)))), output)
    return 0
