"""What the commands share: arguments and options, loading a file, choosing kernels, where results go."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ptxtool import api
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.sizes import sizes
from ptxtool.cli import streams
from ptxtool.cli.completion import (
    complete_file,
    complete_gpu,
    complete_kernel,
    complete_path,
    complete_scheduler,
)
from ptxtool.cli.outputs import OUTPUT, reads
from ptxtool.cli.streams import print_diagnostics, print_note, print_text
from ptxtool.formats.gpu_names import AUTO, DEFAULT_GPU

if TYPE_CHECKING:
    from pathlib import Path

    from ptxtool.analysis.occupancy.cuda_limits import CudaTarget
    from ptxtool.formats.gpu import Gpu
    from ptxtool.formats.launch.launch_data import LaunchHead
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function, Module
    from ptxtool.report.tables import Part
    from ptxtool.results.register_counts import RegisterCounts

F = TypeVar("F", bound=Callable[..., Any])


def cta_threads(value: str) -> int:
    """Threads of a CTA: one number, or X,Y or X,Y,Z."""
    from ptxtool.analysis.occupancy.occupancy import MAX_THREADS

    numbers = sizes(value)
    if numbers is None or len(numbers) > 3:
        raise click.BadParameter(f"'{value}' is not one to three whole numbers, such as 256 or 16,16")
    n = prod(numbers)
    if n > MAX_THREADS:
        help = "use fewer threads per CTA and more CTAs"
        raise error("E402", f"a CTA of {n} threads does not fit: it has at most {MAX_THREADS}", help=help)
    return n


file_argument = click.argument("file", metavar="FILE", shell_complete=complete_file)
kernel_option = click.option(
    "--kernel", metavar="NAME", shell_complete=complete_kernel, help="The kernel to look at (default: all)."
)
one_kernel_option = click.option(
    "--kernel", metavar="NAME", shell_complete=complete_kernel, help="The kernel (default: the only one)."
)
launch_option = click.option(
    "--launch",
    "launch_file",
    metavar="FILE",
    shell_complete=complete_path,
    help="The launch file (default: launch.toml beside FILE).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
output_option = click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="OUT",
    help="Write to this file, whole or not at all, instead of printing.",
)
per_option = click.option(
    "--per",
    type=click.Choice(["warp", "thread"]),
    default="warp",
    show_default=True,
    help="Live for a warp, waiting lanes included, or for one thread by itself.",
)


no_ptxas_option = click.option(
    "--no-ptxas", is_flag=True, help="Do not ask ptxas how many registers it takes, where there is one."
)

_SETTINGS, _ALLOW_OUTSIDE = "ptxtool.settings", "ptxtool.allow_outside"


def _keep_settings(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    """Keep the values of --set for `machine`: a command has one parameter for its machine."""
    context.meta[_SETTINGS] = given


_A_MACHINE = (
    "A packaged machine, the path of a GPU file or of a gpgpusim.config, or auto: the one that fits .target."
)


def gpu_option(function: F) -> F:
    """`--gpu NAME|FILE`, and `--set KEY=VALUE` for single keys of the machine."""
    return _gpu_option(function, "NAME|FILE", _A_MACHINE)


def launch_gpu_option(otherwise: str) -> Callable[[F], F]:
    """`--gpu` and `--set` of a command that takes the launch file's machine, or else `otherwise`."""
    help = f"{_A_MACHINE}  [default: the launch file's, or {otherwise}]"
    return lambda function: _gpu_option(function, "NAME|FILE|auto", help, has_default=False)


def gpu_or_target_option(function: F) -> F:
    """`--gpu`, which may also name a compute capability; without it the launch file's, or the one that fits."""
    help = (
        "A packaged machine, the path of a GPU file or of a gpgpusim.config, a compute capability, such as sm_90, or "
        "auto: the machine that fits .target.  [default: the launch file's, or auto]"
    )
    return _gpu_option(function, "NAME|FILE|sm_NN|auto", help, has_default=False)


def _gpu_option(function: F, metavar: str, help: str, has_default: bool = True) -> F:
    with_set = click.option(
        "--set",
        metavar="KEY=VALUE",
        multiple=True,
        expose_value=False,
        callback=_keep_settings,
        help="Change a key of the machine, such as sm.count=7; may be repeated.",
    )(function)
    return click.option(
        "--gpu",
        metavar=metavar,
        shell_complete=complete_gpu,
        default=DEFAULT_GPU if has_default else None,
        show_default=has_default,
        help=help,
    )(with_set)


def machine(name: str, target: str | None = None) -> "Gpu":
    """The machine of --gpu and --set; options of a GPGPU-Sim file that are not modelled are printed as warnings.

    `target` is that of the text, for `--gpu auto`; None: the command has none.
    """
    if name == AUTO:
        if target is None:
            raise click.UsageError("--gpu auto takes the machine that fits a text: there is none here")
        name = api.fitting_gpu(target)
    warnings: list[Diagnostic] = []
    settings = click.get_current_context().meta.get(_SETTINGS, ())
    found = api.gpu(name, warnings.append, settings=settings)
    print_diagnostics(warnings, most=0)
    for layer in found.origin.layers if found.origin else ():
        reads(layer.source.name, "GPU file")
    return found


def limits_of(gpu: str, target: str | None = None) -> "Gpu | CudaTarget":
    """The machine of --gpu and --set, or the limits of a compute capability; `target` as of `machine`."""
    from ptxtool.analysis.occupancy.cuda_limits import cuda_target, is_target

    if not is_target(gpu):
        return machine(gpu, target)
    if click.get_current_context().meta.get(_SETTINGS):
        raise click.UsageError(f"--set changes keys of a machine: '{gpu}' is a compute capability")
    return cuda_target(gpu)


def _keep_allow_outside(context: click.Context, _: click.Parameter, given: bool) -> None:
    """Keep --allow-outside for `load_launch` and `launch_of`."""
    context.meta[_ALLOW_OUTSIDE] = given


def allows_outside() -> bool:
    """Whether launch files may name files outside their folders."""
    return bool(click.get_current_context().meta.get(_ALLOW_OUTSIDE))


allow_outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    expose_value=False,
    callback=_keep_allow_outside,
    help="Let a launch file name files outside its folder.",
)
registers_option = click.option(
    "--registers", type=click.IntRange(1), metavar="N", help="Registers per thread, for allocation."
)
scheduler_option = click.option(
    "--scheduler",
    metavar="NAME",
    shell_complete=complete_scheduler,
    help="lrr, gto, old, rrr, two_level:N, static_limit:N, owf or owf_greedy, or FILE.py:FUNCTION, one of your own."
    "  [default: the launch file's, or the machine's]",
)


def share_option(resource: str) -> Callable[[F], F]:
    """`--share-registers P`, `--share-scratchpad P`: a percentage, kept as text so that it stays exact."""
    return click.option(
        f"--share-{resource}",
        metavar="P",
        default="0",
        show_default=True,
        help=f"Share {resource} by this percentage, 0 <= P < 100.",
    )


as_written_option = click.option(
    "--as-written",
    "allocate",
    flag_value=False,
    default=True,
    help="Share virtual registers in the order of their declaration, not as allocate assigns them.",
)


SCHEMES = (
    "none",
    "virtual-thread",
    "reg-dram",
    "regmutex",
    "virtual-thread-regmutex",
    "finereg",
    "unified",
    "virtual-thread-unified",
    "finereg-unified",
    "release-by-name",
)
"""The names in `ptxtool.analysis.occupancy.register_schemes`, which is not imported before a command needs it."""


PLANNED_SCHEMES = tuple(
    name for name in SCHEMES if not name.endswith("regmutex") and name != "release-by-name"
)
"""Those whose CTAs follow from what a CTA needs; under the others they depend on the kernel's text."""


class _SchemeType(click.Choice):  # type: ignore[type-arg]
    """The name of a scheme, or `FILE.py:FUNCTION` for one of the user's own."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and (value.endswith(".py") or ".py:" in value):
            return value
        return super().convert(value, param, ctx)


def scheme_option(help: str, names: tuple[str, ...] = SCHEMES) -> Callable[[F], F]:
    """`--scheme NAME`, or `--switching NAME`, of these names; of all of them or one of the user's own."""
    kind = _SchemeType(names) if names == SCHEMES else click.Choice(names)
    return click.option("--scheme", "--switching", "scheme", type=kind, help=help)


ptxplus_semantics_option = click.option(
    "--ptxplus-semantics",
    metavar="NAME",
    help="PTXPlus as hardware (the default) or gpgpu-sim has it; PTX has one meaning.",
)


def out_of_bounds_option(default: str | None) -> Callable[[F], F]:
    """`--out-of-bounds error|count`; None: as the launch file says, or else "error"."""
    return click.option(
        "--out-of-bounds",
        type=click.Choice(("error", "count")),
        default=default,
        help="Global accesses outside of all buffers: stop (the default), or go on and count them.",
    )


jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Runs at a time (default: one per CPU)."
)
replicas_option = click.option(
    "--replicas",
    type=click.IntRange(1, 1000),
    default=1,
    metavar="N",
    help="Runs that differ in accidents (the first SM, a cycle of the L2): mean and spread of the results.",
)
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Run on a Dask cluster instead, such as tcp://HOST:8786."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on the terminal.")


def load_module(file: str, *, in_place: bool = False) -> "Module":
    """Parse and verify a file; warnings are printed, errors raised.

    With `in_place` an output of the command may be the file itself. An unknown instruction is a warning here: only
    `check` holds every instruction against the table.
    """
    from ptxtool.sema.verify import verify

    module = api.load(file)
    if not in_place:
        reads(module.source.name, "kernel file")
    streams.raise_errors(verify(module))
    return module


def kernels(module: "Module", name: str | None) -> "tuple[Function, ...]":
    """The kernel of that name, or all kernels of the file. Raises E205."""
    if name is not None or not module.kernels:
        return (api.kernel(module, name),)
    return tuple(module.kernels.values())


def register_counts(
    module: "Module", chosen: "Sequence[Function]", no_ptxas: bool
) -> "tuple[RegisterCounts, ...]":
    """Registers per thread; why there is no figure of ptxas is printed."""
    counts = api.register_counts(module, chosen, ptxas=not no_ptxas)
    if counts and counts[0].ptxas_problem:
        print_note(counts[0].ptxas_problem)
    return counts


def put_text(text: str, output: str | None) -> None:
    """Print a text, or write it to `output`; where that fails (E503) it is printed all the same."""
    if output is None:
        print_text(text)
    else:
        from ptxtool.formats.files import write_output

        try:
            write_output(output, (text + "\n").encode("utf-8", "surrogateescape"))
        except PtxError:
            print_text(text)  # a result that took long to compute is not lost
            raise


def put_parts(parts: "Sequence[Part]", output: str | None) -> None:
    """Print tables, listings and texts, or write them to `output` as plain text."""
    if output is None:
        streams.print_parts(*parts)
    else:
        put_text("\n".join(map(str, parts)), output)


def put_json(data: Any, output: str | None) -> None:
    """Print JSON, or write it to `output`."""
    import json

    put_text(json.dumps(data, indent=2), output)


def put_bytes(data: bytes, output: str | None) -> None:
    """Write bytes to `output` or to standard output, but never binary ones to a terminal."""
    if output is not None:
        from ptxtool.formats.files import write_output

        write_output(output, data)
        return
    if sys.stdout is not None and sys.stdout.isatty() and b"\0" in data:
        raise click.UsageError("this is a binary file: give -o FILE, or pipe it somewhere")
    streams.print_bytes(data)


@dataclass(frozen=True)
class Sink:
    """Where the report of a command goes: as JSON or as text, to standard output or to a file."""

    as_json: bool
    output: str | None

    def put(self, data: Callable[[], Any], parts: "Callable[[], Sequence[Part]]") -> None:
        """Write a report: its data as JSON, or its tables, listings and texts."""
        if self.as_json:
            put_json(data(), self.output)
        else:
            put_parts(parts(), self.output)

    def put_kernels(
        self,
        module: "Module",
        functions: "Sequence[Function]",
        data: "Callable[[Function], Any]",
        parts: "Callable[[Function], Sequence[Part]]",
    ) -> None:
        """Write a report on kernels: as JSON the file, and an object per kernel."""
        from ptxtool.base.mangled import cpp_name_data

        self.put(
            lambda: {
                "file": module.source.name,
                "kernels": [data(f) | cpp_name_data(f.name) for f in functions],
            },
            lambda: apart(map(parts, functions)),
        )


def report_options(command: F) -> F:
    """`--json` and `-o OUT`; the command takes them as its `sink`."""

    @json_option
    @output_option
    @wraps(command)
    def with_sink(*args: Any, as_json: bool, output: str | None, **options: Any) -> Any:
        return command(*args, sink=Sink(as_json, output), **options)

    return with_sink  # type: ignore[return-value]


def apart(reports: "Iterable[Sequence[Part]]") -> "list[Part]":
    """Reports one after the other, with a blank line between."""
    parts: list[Part] = []
    for report in reports:
        parts += [*([""] if parts else []), *report]
    return parts


def exit_code(problems: Any) -> int:
    """Print what is wrong with results; 1 if anything is."""
    found = tuple(problems)
    print_diagnostics(found, rest="--json has all")
    return 1 if found else 0


def load_launch(path: "str | Path") -> "Launch":
    """Read a launch file. Raises E501, E502, and E503 where an output would replace one of its files."""
    reads(path, "launch file")
    return _all_read(api.load_launch(path, allow_outside=allows_outside()))


def _all_read(launch: "Launch") -> "Launch":
    """The launch, with its files noted as inputs. Raises E503 where an output would replace one."""
    for read in launch.files:
        reads(read, "file of an argument or expected result")
    return launch


def launch_of(file: str | None, *, needed: bool) -> "Launch | None":
    """The launch file beside FILE, if there is one: for what the command line leaves open.

    One that cannot be read raises E501 or E502 where it is `needed`; otherwise the command prints why and goes on
    without it.
    """
    from ptxtool.formats.files import STDIN, find_input, launch_beside

    beside = None if file is None or file == STDIN else launch_beside(find_input(file))
    if beside is None:
        return None
    reads(beside, "launch file")
    try:
        launch = api.load_launch(beside, allow_outside=allows_outside())
    except PtxError as problem:
        if needed:
            raise
        print_diagnostics(problem.diagnostics)
        print_note(f"going on without '{beside}'")
        return None
    return _all_read(launch)


def of_kernel(launch: "Launch | None", kernel: "Function") -> "LaunchHead | None":
    """The launch of a kernel in a launch file, the first one of a list; None where the file is for other kernels."""
    for entry in (launch.steps or (launch,)) if launch else ():
        if entry.kernel is None:
            return entry
        with contextlib.suppress(PtxError):  # a name that the file does not have
            if api.kernel(kernel.module, entry.kernel) is kernel:
                return entry
    return None
