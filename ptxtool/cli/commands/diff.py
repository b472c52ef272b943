"""`ptxtool diff A B`: what changed between two kernels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from ptxtool import api
from ptxtool.analysis.compare.difference import MEASURES
from ptxtool.base.diag import Diagnostic, error
from ptxtool.cli.common import Sink, apart, cta_threads, gpu_option, machine, report_options
from ptxtool.cli.completion import complete_file, complete_kernel
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.outputs import reads
from ptxtool.cli.streams import print_diagnostics, raise_errors
from ptxtool.formats.cuda_sources import CudaSources
from ptxtool.formats.files import STDIN

if TYPE_CHECKING:
    from ptxtool.analysis.compare.difference import Difference
    from ptxtool.ir.nodes import Function, Module


def measures(value: str) -> tuple[str, ...]:
    """Names of `MEASURES`, separated by commas."""
    names = tuple(word.strip() for word in value.split(","))
    for name in names:
        if name not in MEASURES:
            raise click.BadParameter(f"'{name}' is none of {', '.join(MEASURES)}")
    return names


def before_after(value: str) -> tuple[int, int]:
    """One number for both kernels, or two."""
    words = value.split(",")
    if not 1 <= len(words) <= 2 or not all(word.strip().isdecimal() and int(word) for word in words):
        raise click.BadParameter(f"'{value}' is not one or two whole numbers from 1 on, such as 36 or 36,40")
    return int(words[0]), int(words[-1])


@click.command()
@click.argument("before", metavar="A", shell_complete=complete_file)
@click.argument("after", metavar="B", shell_complete=complete_file)
@click.option(
    "--kernel",
    metavar="NAME|OLD=NEW",
    shell_complete=complete_kernel,
    help="The kernel, or one of A and one of B (default: all by name).",
)
@click.option("--exact", is_flag=True, help="Take names of registers and labels as they are written.")
@click.option(
    "--context",
    type=click.IntRange(0),
    metavar="N",
    default=2,
    show_default=True,
    help="Statements shown around every change.",
)
@click.option(
    "--block", type=cta_threads, metavar="T|X,Y,Z", help="Threads per CTA: also compare resident CTAs."
)
@click.option(
    "--registers",
    type=before_after,
    metavar="N|N,M",
    help="Registers per thread, for resident CTAs (default: the most live ones).",
)
@gpu_option
@click.option(
    "--fail-on",
    type=measures,
    metavar="WHAT,...",
    help=f"Exit 1 if one of these grew (occupancy: fell; any: differs): {', '.join(MEASURES)}.",
)
@source_option()
@report_options
def command(
    before: str,
    after: str,
    kernel: str | None,
    exact: bool,
    context: int,
    block: int | None,
    registers: tuple[int, int] | None,
    gpu: str,
    fail_on: tuple[str, ...] | None,
    sources: "CudaSources | None",
    sink: Sink,
) -> int:
    """What changed from A to B: instructions, registers, pressure, memory, barriers, with --block resident CTAs.

    Kernels are compared by name. Registers and labels that only have other names count as the same.
    """
    from ptxtool.report.kernels.difference import difference_parts

    if before == STDIN and after == STDIN:
        raise click.UsageError("A and B cannot both be standard input")
    if block is None and ("occupancy" in (fail_on or ()) or registers is not None):
        option = "--registers" if registers is not None else "--fail-on occupancy"
        raise click.UsageError(f"{option} needs --block T, the threads per CTA")
    modules = _load(before), _load(after)
    pairs, alone = _pairs(modules, kernel)
    chosen = gpu if block is None else machine(gpu, modules[1].target)
    found = [
        api.diff(old, new, exact=exact, threads=block, registers=registers, gpu=chosen) for old, new in pairs
    ]
    names = modules[0].source.name, modules[1].source.name
    sink.put(
        lambda: {
            "before": names[0],
            "after": names[1],
            "kernels": [d.to_dict() for d in found],
            "removed": list(alone[0]),
            "added": list(alone[1]),
        },
        lambda: [
            *apart(difference_parts(d, names, context, sources) for d in found),
            *(
                f"{kernel}: only in {name}"
                for name, only in zip(names, alone, strict=True)
                for kernel in only
            ),
        ],
    )
    failures = [*_grown(found, fail_on or ()), *_alone(modules, alone, fail_on or ())]
    print_diagnostics(failures)
    return 1 if failures else 0


def _load(file: str) -> "Module":
    """Parse and verify a file; its warnings are for `ptxtool check`."""
    module = api.load(file)
    reads(module.source.name, "kernel file")
    raise_errors(d for d in api.check(module) if d.is_error)
    return module


def _pairs(
    modules: "tuple[Module, Module]", kernel: str | None
) -> "tuple[list[tuple[Function, Function]], tuple[Sequence[str], Sequence[str]]]":
    """The kernels to compare, and the names of those that only one file has."""
    old, new = modules
    if kernel is not None:
        first, _, second = kernel.partition("=")
        return [(api.kernel(old, first), api.kernel(new, second or first))], ((), ())
    if len(old.kernels) == 1 and len(new.kernels) == 1:
        return [(api.kernel(old), api.kernel(new))], ((), ())
    for module in modules:
        if not module.kernels:
            api.kernel(module)  # says what there is instead
    common = [name for name in old.kernels if name in new.kernels]
    if not common:
        message = f"no kernel of '{old.source.name}' is in '{new.source.name}'"
        raise error("E205", message, help="name the two with --kernel OLD=NEW")
    alone = [n for n in old.kernels if n not in common], [n for n in new.kernels if n not in common]
    return [(old.kernels[name], new.kernels[name]) for name in common], alone


def _grown(found: "Iterable[Difference]", measures: Sequence[str]) -> Iterable[Diagnostic]:
    for difference in found:
        for measure in measures:
            if difference.is_worse(measure):
                values = difference.values(measure)
                how = (
                    f"{measure} went from {values[0]} to {values[1]}"
                    if values
                    else "it is not the same as before"
                )
                yield _complain(difference.after.kernel, how, measure)


def _alone(
    modules: "tuple[Module, Module]", alone: tuple[Sequence[str], Sequence[str]], measures: Sequence[str]
) -> Iterable[Diagnostic]:
    """Kernels that one file lacks are a difference."""
    if "any" in measures:
        for module, names in zip(modules, alone, strict=True):
            for name in names:
                yield _complain(module.kernels[name], "it is in one of the files only", "any")


def _complain(kernel: "Function", how: str, measure: str) -> Diagnostic:
    end = kernel.source.text.index(kernel.name, kernel.start) + len(kernel.name)
    help = f"the report says what changed; leave out --fail-on {measure} to accept it"
    return Diagnostic("E304", f"'{kernel.name}': {how}", kernel.source, kernel.start, end, help)
