"""`ptxtool occupancy`: resident CTAs, and the sharing plan."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.base.diag import error
from ptxtool.cli.common import (
    gpu_option,
    json_option,
    launch_of,
    load,
    machine,
    no_ptxas_option,
    one_kernel_option,
    output_option,
    put_json,
    put_parts,
    register_counts,
    share_registers_option,
    share_scratchpad_option,
)

if TYPE_CHECKING:
    from ptxtool.formats.gpu import Gpu
    from ptxtool.formats.register_counts import RegisterCounts


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
    help="Registers per thread; without them those of the launch file, or as many as 'allocate' needs; without FILE "
    "only --scratchpad, threads and CTAs limit.",
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
@share_scratchpad_option
@click.option("--curve", is_flag=True, help="Resident CTAs over registers per thread.")
@no_ptxas_option
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
    no_ptxas: bool,
    as_json: bool,
    output: str | None,
) -> int:
    """Resident CTAs of an SM and what limits them; with --share-..., the sharing plan.

    With FILE, what is not given comes from the file and the launch file beside it: registers per thread and block from
    the launch, scratchpad from the kernel's shared variables. Registers that nobody gives are those that
    'ptxtool rewrite -p allocate' needs (PTX only).
    """
    if file is None and kernel is not None:
        raise click.UsageError("--kernel needs FILE")
    chosen = machine(gpu)
    told: _Told | None = None
    if file is not None:
        told = _from_file(file, kernel, registers, block, scratchpad, no_ptxas or curve, chosen)
        registers, block, scratchpad = told.registers, told.block, told.scratchpad
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
        put_json({**plan.to_dict(), **(told.to_dict() if told else {})}, output)
    else:
        from ptxtool.report.machines import plan_parts

        put_parts(plan_parts(plan, told.counts if told else None, told.source if told else ""), output)
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


@dataclass(frozen=True)
class _Told:
    """What the command line, the launch file and the kernel say together. `source` is who says how many registers."""

    registers: int | None
    block: int | None
    scratchpad: int
    source: str
    counts: "RegisterCounts"

    def to_dict(self) -> dict[str, object]:
        return {"registers_from": self.source, "register_counts": self.counts.to_dict()}


def _from_file(
    file: str,
    kernel: str | None,
    registers: int | None,
    block: int | None,
    scratchpad: int | None,
    no_ptxas: bool,
    gpu: "Gpu",
) -> _Told:
    """What is not given, from the launch file beside FILE and from the kernel: its shared variables and registers."""
    launch = launch_of(file)
    module = load(file)
    function = api.kernel(module, kernel or (launch.kernel if launch else None))
    (counts,) = register_counts(module, [function], no_ptxas)
    if scratchpad is None:
        scratchpad = api.static_scratchpad(function)
        if launch is not None and gpu.dispatch.dynamic_scratchpad == "counted":
            scratchpad += launch.dynamic_shared
    source = "from the command line"
    if registers is None and launch is not None and launch.registers is not None:
        registers, source = launch.registers, "from the launch file"
    if registers is None and not module.is_ptxplus:
        if counts.need is None:
            help = "give the registers per thread with --registers N"
            raise error("E301", counts.problem, module.source, function.start, function.body_start, help=help)
        registers, source = counts.need.registers, "what allocate needs"
    if block is None and launch is not None:
        block = launch.threads
    return _Told(registers, block, scratchpad, source, counts)


def _or_file(file: str | None) -> str:
    return "" if file is None else "; FILE has no launch file beside it that says so"
