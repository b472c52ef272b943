"""`ptxtool first-use FILE`: registers in order of first use, or shared variables in order of first access."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.cli import common
from ptxtool.cli.streams import print_note

if TYPE_CHECKING:
    from ptxtool.analysis.sharing.shared_use import SharedUse
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function

_MISSING = "--share-registers needs --registers N, the registers per thread"


@click.command()
@common.file_argument
@common.kernel_option
@click.option(
    "--space",
    type=click.Choice(["reg", "shared"]),
    default="reg",
    show_default=True,
    help="Registers, or shared variables.",
)
@click.option(
    "--order",
    type=click.Choice(["text", "cfg"]),
    default="text",
    show_default=True,
    help="Instructions as written, or along the control flow graph.",
)
@common.share_option("registers")
@click.option(
    "--registers",
    type=click.IntRange(1),
    metavar="N",
    help="Registers per thread, of which floor(N * (100 - P) / 100) are private.",
)
@common.share_option("scratchpad")
@click.option(
    "--scratchpad",
    type=click.IntRange(1),
    metavar="BYTES",
    help="Scratchpad per CTA, of which floor(BYTES * (100 - P) / 100) bytes are private.",
)
@common.allow_outside_option
@common.report_options
def command(
    file: str,
    kernel: str | None,
    space: str,
    order: str,
    share_registers: str,
    registers: int | None,
    share_scratchpad: str,
    scratchpad: int | None,
    sink: common.Sink,
) -> int:
    """Registers in order of first use, with their sequence numbers before and after reordering.

    With --share-registers P and --registers N: the first instruction that needs a shared register, before and after.
    For a file with a launch file beside it, N comes from there.

    With --space shared: shared variables in order of first access. With --share-scratchpad P also the first access that
    needs the shared part; BYTES are the kernel's static ones and the launch file's dynamic ones.
    """
    if space == "shared":
        if share_registers != "0" or registers is not None or order != "text":
            raise click.UsageError("--order, --share-registers and --registers go with --space reg")
        return _shared(file, kernel, share_scratchpad, scratchpad, sink)
    if share_scratchpad != "0" or scratchpad is not None:
        raise click.UsageError("--share-scratchpad and --scratchpad go with --space shared")
    from ptxtool.analysis.occupancy.sharing_plan import percentage
    from ptxtool.report.kernels.first_use import first_use_data, first_use_table

    percent = percentage(share_registers, "--share-registers")
    launch = _launch_for(file, percent, registers, "registers")
    if percent and registers is None and launch is None:
        raise click.UsageError(_MISSING)
    module = common.load_module(file)
    chosen = common.kernels(module, kernel)
    private = _private(chosen, launch, percent, registers)
    uses = {
        function.name: api.first_use(function, "cfg" if order == "cfg" else "text") for function in chosen
    }
    sink.put_kernels(
        module,
        chosen,
        lambda f: first_use_data(uses[f.name], private[f.name]),
        lambda f: [first_use_table(uses[f.name], private[f.name])],
    )
    return 0


def _shared(file: str, kernel: str | None, share: str, scratchpad: int | None, sink: common.Sink) -> int:
    """The report on shared variables."""
    from ptxtool.analysis.occupancy.sharing_plan import percentage
    from ptxtool.report.kernels.shared_use import shared_use_data, shared_use_table

    percent = percentage(share, "--share-scratchpad")
    launch = _launch_for(file, percent, scratchpad, "scratchpad")
    module = common.load_module(file)
    chosen = common.kernels(module, kernel)

    def used(function: "Function") -> "tuple[SharedUse, int | None]":
        """The shared variables, and the first shared byte."""
        use, entry = api.shared_use(function), common.of_kernel(launch, function)
        n_bytes = scratchpad or use.layout.bytes + (entry.dynamic_shared if entry else 0)
        return use, use.layout.boundary(percent, n_bytes) if percent else None

    sink.put_kernels(
        module,
        chosen,
        lambda f: shared_use_data(*used(f)),
        lambda f: [shared_use_table(*used(f))],
    )
    return 0


def _launch_for(file: str, percent: Fraction, given: int | None, resource: str) -> "Launch | None":
    """The launch file beside FILE where a CTA's need of a shared resource is to come from there."""
    if not percent and given is not None:
        raise click.UsageError(f"--{resource} says nothing without --share-{resource}")
    return common.launch_of(file, needed=True) if percent and given is None else None


def _private(
    chosen: "Iterable[Function]", launch: "Launch | None", percent: Fraction, registers: int | None
) -> "dict[str, int | None]":
    """How many registers of a thread are private, by kernel; None where none are shared.

    Of kernels that are not in the launch file it is None too, with a note; at least one must be in it.
    """
    from ptxtool.analysis.occupancy.sharing_plan import private_part

    found: dict[str, int | None] = {}
    for kernel in chosen:
        entry = common.of_kernel(launch, kernel)
        n = registers or (entry.registers if entry else None)
        found[kernel.name] = private_part(n, percent) if n and percent else None
    unsaid = [name for name, private in found.items() if percent and private is None]
    if unsaid and len(unsaid) == len(found):
        raise click.UsageError(_MISSING)
    if unsaid:
        print_note(f"no launch says how many registers {', '.join(unsaid)} takes: give --registers N")
    return found
