"""`ptxtool occupancy`: resident CTAs, and the sharing plan."""

from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.cli.common import (
    gpu_option,
    json_option,
    launch_of,
    load,
    machine,
    one_kernel_option,
    output_option,
    put_json,
    put_parts,
    share_registers_option,
)

if TYPE_CHECKING:
    from ptxtool.formats.gpu import Gpu


class Extent(click.ParamType[int]):
    """Threads of a CTA: one number, or X,Y or X,Y,Z."""

    name = "T|X,Y,Z"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        words = str(value).replace("x", ",").split(",")
        if not 1 <= len(words) <= 3 or not all(word.strip().isdecimal() for word in words):
            self.fail(f"'{value}' is not one to three whole numbers, such as 256 or 16,16", param, ctx)
        n = 1
        for word in words:
            n *= int(word)
        return n


@click.command(short_help="Resident CTAs and their limiter; with sharing, the plan.")
@click.argument("file", metavar="[FILE]", required=False)
@one_kernel_option
@gpu_option
@click.option(
    "--registers",
    type=click.IntRange(0),
    metavar="N",
    help="Registers per thread; without them and FILE only --scratchpad, threads and CTAs limit.",
)
@click.option("--block", type=Extent(), metavar="T|X,Y,Z", help="Threads per CTA.")
@click.option(
    "--scratchpad", type=click.IntRange(0), metavar="BYTES", help="Scratchpad (shared memory) per CTA."
)
@click.option(
    "--scratchpad-per-sm",
    type=click.IntRange(1),
    metavar="BYTES",
    help="Scratchpad of an SM, instead of the GPU's.",
)
@share_registers_option()
@click.option(
    "--share-scratchpad",
    metavar="P",
    default="0",
    show_default=True,
    help="Share scratchpad by this percentage, 0 <= P < 100.",
)
@click.option("--curve", is_flag=True, help="Resident CTAs over registers per thread.")
@json_option
@output_option
def command(
    file: str | None,
    kernel: str | None,
    gpu: str,
    registers: int | None,
    block: int | None,
    scratchpad: int | None,
    scratchpad_per_sm: int | None,
    share_registers: str,
    share_scratchpad: str,
    curve: bool,
    as_json: bool,
    output: str | None,
) -> int:
    """Resident CTAs of an SM and what limits them; with --share-..., the sharing plan.

    With FILE, what is not given comes from the file and the launch file beside it: registers per thread and block from
    the launch, scratchpad from the kernel's shared variables.
    """
    if file is None and kernel is not None:
        raise click.UsageError("--kernel needs FILE")
    chosen = machine(gpu)
    if file is not None:
        registers, block, scratchpad = _from_file(file, kernel, registers, block, scratchpad, chosen)
    if block is None:
        raise click.UsageError("--block T is needed: threads per CTA" + _or_file(file))
    if registers is None and not curve and (scratchpad is None or file is not None):
        either = " (or --scratchpad BYTES alone)" if file is None else ""
        raise click.UsageError(f"--registers N is needed: registers per thread{either}" + _or_file(file))
    if curve:
        _curve(
            chosen,
            block,
            scratchpad or 0,
            scratchpad_per_sm,
            share_registers,
            share_scratchpad,
            as_json,
            output,
        )
        return 0
    plan = api.occupancy(
        block,
        registers or 0,
        scratchpad or 0,
        gpu=chosen,
        scratchpad_per_sm=scratchpad_per_sm,
        share_registers=share_registers,
        share_scratchpad=share_scratchpad,
    )
    if as_json:
        put_json(plan.to_dict(), output)
    else:
        from ptxtool.report.machines import plan_parts

        put_parts(plan_parts(plan), output)
    return 0


def _curve(
    gpu: "Gpu",
    block: int,
    scratchpad: int,
    scratchpad_per_sm: int | None,
    share_registers: str,
    share_scratchpad: str,
    as_json: bool,
    output: str | None,
) -> None:
    from ptxtool.report.machines import curve_table

    plans = api.register_curve(
        block,
        scratchpad,
        gpu=gpu,
        scratchpad_per_sm=scratchpad_per_sm,
        share_registers=share_registers,
        share_scratchpad=share_scratchpad,
    )
    if as_json:
        put_json({"curve": [plan.to_dict() for plan in plans]}, output)
    else:
        put_parts([curve_table(plans)], output)


def _from_file(
    file: str,
    kernel: str | None,
    registers: int | None,
    block: int | None,
    scratchpad: int | None,
    gpu: "Gpu",
) -> tuple[int | None, int | None, int | None]:
    """What is not given, from the launch file beside FILE and from the kernel's shared variables."""
    launch = launch_of(file)
    module = load(file)
    if scratchpad is None:
        function = api.kernel(module, kernel or (launch.kernel if launch else None))
        scratchpad = api.static_scratchpad(function)
        if launch is not None and gpu.dispatch.dynamic_scratchpad == "counted":
            scratchpad += launch.dynamic_shared
    if launch is not None:
        registers = launch.registers if registers is None else registers
        block = launch.threads if block is None else block
    return registers, block, scratchpad


def _or_file(file: str | None) -> str:
    return "" if file is None else "; FILE has no launch file beside it that says so"
