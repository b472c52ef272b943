"""`ptxtool run FILE`: one launch without time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.cli.common import (
    exit_code,
    file_argument,
    json_option,
    limits_options,
    load,
    load_job,
    one_kernel_option,
    output_option,
    ptxplus_semantics_option,
    put_json,
    put_parts,
    with_limits,
)
from ptxtool.cli.progress import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxsim.tracing import Trace
    from ptxtool.formats.launch import Launch
    from ptxtool.formats.outcome import Outcome
    from ptxtool.ir.nodes import Function


@click.command(short_help="Run one launch without time; print, save and compare its results.")
@file_argument
@click.option(
    "--launch", "launch_file", metavar="FILE", help="The launch file (default: launch.toml beside FILE)."
)
@click.option("--grid", metavar="X,Y,Z", help="CTAs of the grid, instead of a launch file.")
@click.option("--block", metavar="X,Y,Z", help="Threads of a CTA.")
@click.option(
    "--arg", "args", metavar="VALUE", multiple=True, help="An argument, in the order of the parameters."
)
@click.option(
    "--dynamic-shared", type=click.IntRange(0), metavar="N", default=0, help="Bytes of dynamic shared memory."
)
@one_kernel_option
@click.option(
    "--check", "checks", metavar="WHAT,...", help="Look for faults: memory, init, races, barriers, or all."
)
@click.option(
    "--trace", metavar="WHAT", help='Print instructions with values: "cta 0; warp 0-1; lane 0,5; line 40-60".'
)
@click.option("--save", metavar="DIR", help="Write every changed buffer to DIR/NAME.npy.")
@click.option("--max-instructions", type=click.IntRange(1), metavar="N", help="Give a CTA up after so many.")
@limits_options
@ptxplus_semantics_option
@json_option
@output_option
def command(
    file: str,
    launch_file: str | None,
    grid: str | None,
    block: str | None,
    args: tuple[str, ...],
    dynamic_shared: int,
    kernel: str | None,
    checks: str | None,
    trace: str | None,
    save: str | None,
    max_instructions: int | None,
    stack_bytes: int | None,
    heap_bytes: int | None,
    ptxplus_semantics: str,
    as_json: bool,
    output: str | None,
) -> int:
    """Run one launch without time, print its buffers, and compare them with what the launch file expects.

    With --grid and --block no launch file is needed: give an --arg for every parameter, such as 5, 0.5, f32[1024],
    "f32[64,64]=np.eye(64)", f32[1024]=random(1) or data.npy; NAME: in front names it. What the
    kernel prints goes to standard output as it comes (with --json into `printed`). Exits 1 where the results are wrong.
    """
    from ptxtool.report.outcome import outcome_parts

    if grid or block or args:
        function, launch = _from_options(file, launch_file, kernel, grid, block, args, dynamic_shared)
    else:
        if dynamic_shared:
            raise click.UsageError("--dynamic-shared goes with --grid and --block")
        function, launch = load_job(file, launch_file, kernel)
    steps: list[str] = []
    printed = Status().printed
    outcome = api.run(
        function,
        with_limits(launch, stack_bytes, heap_bytes),
        check=_checks(checks),
        max_instructions=max_instructions,
        output=None if as_json else printed,
        trace=_trace(trace, steps.append if as_json else lambda step: printed(f"{step}\n")),
        ptxplus_semantics=ptxplus_semantics,
    )
    if save is not None:
        _save(outcome, Path(save))
    if as_json:
        put_json({**outcome.to_dict(), **({} if trace is None else {"trace": steps})}, output)
    else:
        put_parts(outcome_parts(outcome), output)
    return exit_code(outcome.problems)


def _checks(given: str | None) -> tuple[str, ...]:
    if given == "all":
        from ptxsim.checks.prepare import CHECK_NAMES

        return tuple(CHECK_NAMES)
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def _trace(given: str | None, emit: "Callable[[str], object]") -> "Trace | None":
    if given is None:
        return None
    from ptxsim.tracing import Trace, selection

    return Trace(selection(given), lambda step: emit(str(step)))


def _from_options(
    file: str,
    launch_file: str | None,
    kernel: str | None,
    grid: str | None,
    block: str | None,
    args: tuple[str, ...],
    dynamic_shared: int,
) -> "tuple[Function, Launch]":
    from ptxtool.formats.launch_options import launch_from_options

    if launch_file is not None:
        raise click.UsageError("give --launch, or --grid, --block and --arg, not both")
    if not grid or not block:
        raise click.UsageError("--grid, --block and --arg go together")
    function = api.kernel(load(file), kernel)
    return function, launch_from_options(function, grid, block, args, dynamic_shared)


def _save(outcome: "Outcome", folder: Path) -> None:
    """Write the buffers that changed. Raises E503."""
    from io import BytesIO

    import numpy as np

    from ptxtool.formats.files import make_folder, write_output

    make_folder(folder)
    for buffer in outcome.buffers:
        if buffer.changed:
            data = BytesIO()
            np.save(data, buffer.array)
            write_output(folder / f"{buffer.name}.npy", data.getvalue())
