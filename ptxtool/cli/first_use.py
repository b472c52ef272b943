"""`ptxtool first-use FILE`: registers in order of first use."""

import click

from ptxtool import api
from ptxtool.cli.common import (
    file_argument,
    json_option,
    kernel_option,
    kernels,
    kernels_json,
    launch_of,
    load,
    output_option,
    per_kernel,
    put_json,
    put_parts,
    share_registers_option,
)


@click.command(short_help="Registers in order of first use; where sharing stops first.")
@file_argument
@kernel_option
@click.option(
    "--order",
    type=click.Choice(["text", "cfg"]),
    default="text",
    show_default=True,
    help="Instructions as written, or along the control flow graph.",
)
@share_registers_option()
@click.option(
    "--registers",
    type=click.IntRange(1),
    metavar="N",
    help="Registers per thread, of which floor(N * (100 - P) / 100) are private.",
)
@json_option
@output_option
def command(
    file: str,
    kernel: str | None,
    order: str,
    share_registers: str,
    registers: int | None,
    as_json: bool,
    output: str | None,
) -> int:
    """Registers in order of first use, with their sequence numbers before and after reordering.

    With --share-registers P and --registers N: the first instruction that needs a shared register, before and after.
    For a file with a launch file beside it, N comes from there.
    """
    from ptxtool.report.first_use import first_use_data, first_use_table

    private = _private(file, share_registers, registers)
    module = load(file)
    chosen = kernels(module, kernel)
    uses = {
        function.name: api.first_use(function, "cfg" if order == "cfg" else "text") for function in chosen
    }
    if as_json:
        put_json(kernels_json(module, [first_use_data(u, private) for u in uses.values()]), output)
    else:
        put_parts(per_kernel(chosen, lambda f: [first_use_table(uses[f.name], private)]), output)
    return 0


def _private(file: str, share_registers: str, registers: int | None) -> int | None:
    """How many registers of a thread are private; None if none are shared."""
    from fractions import Fraction

    from ptxtool.analysis.sharing import percentage, private_part

    percent: Fraction = percentage(share_registers, "--share-registers")
    if not percent:
        if registers is not None:
            raise click.UsageError("--registers says nothing without --share-registers")
        return None
    if registers is None:
        launch = launch_of(file)
        if launch is None or launch.registers is None:
            raise click.UsageError("--share-registers needs --registers N, the registers per thread")
        registers = launch.registers
    return private_part(registers, percent)
