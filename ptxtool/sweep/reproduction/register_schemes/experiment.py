"""Run every kernel under every register scheme on every machine, as a sweep, and put the results into tables.

What the store has is not run again. A scheme that declines a kernel is no failure: the tables say why.
"""

from typing import Any

from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.phrases import series
from ptxtool.formats.files import launch_beside, read_input
from ptxtool.formats.launch.launch_file import load_launch
from ptxtool.parse import parse
from ptxtool.results.exhibits import Failure, Reproduction
from ptxtool.results.sweeps import Configuration, SweepResult
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction.experiment import memory_finding
from ptxtool.sweep.reproduction.register_schemes.exhibits import Exhibits
from ptxtool.sweep.reproduction.register_schemes.findings import findings
from ptxtool.sweep.reproduction.register_schemes.matrix import Matrix, Restriction, kernel_file, matrix
from ptxtool.sweep.runner import run_sweep

TITLE = "Register schemes"


def reproduce(kernel_named: KernelNamed, only: Restriction, **options: Any) -> Reproduction:
    """Simulate all kernels under all schemes, or `only` some, and compare them with runs without a scheme.

    `options` are those of `run_sweep`. Runs that fail are among `.failures`. Raises E502 for a name in `only` that
    does not exist.
    """
    chosen = matrix(only)
    result = run_sweep(configurations(chosen, kernel_named), kernel_named, name="schemes", **options)
    return reproduction(chosen, result)


def configurations(chosen: Matrix, kernel_named: KernelNamed) -> tuple[Configuration, ...]:
    """All runs. A thread has the registers of the launch file, or more where the kernel needs more."""
    return tuple(
        Configuration(
            file,
            gpu=machine.name,
            settings=(*machine.settings, *column.settings),
            register_scheme=column.scheme,
            passes=passes,
            registers=registers,
            label=f"{machine.name}/{kernel}/{column.name}",
            scheme=column.name,
            name=kernel,
        )
        for kernel in chosen.kernels
        for file, passes, registers in [_prepared(kernel, kernel_named)]
        for machine in chosen.machines
        for column in chosen.columns
    )


def _prepared(sample: str, kernel_named: KernelNamed) -> tuple[str, str, int]:
    """A sample's file, the passes that all schemes run after, and its registers per thread."""
    file = kernel_file(sample)
    name, text = read_input(file)
    launch = load_launch(launch_beside(file) or file.with_name("launch.toml"))
    module = parse(text, name)
    needed = registers_per_thread(kernel_named(module, launch.kernel))
    return str(file), "" if module.is_ptxplus else "allocate", max(needed, launch.registers or 0)


def reproduction(chosen: Matrix, result: SweepResult) -> Reproduction:
    """The tables of what has run."""
    exhibits = Exhibits(chosen, result)
    failures = tuple(
        Failure(str(r.axes["kernel"]), f"{r.axes['scheme']} on {r.axes['gpu']}", r.outcome.reason)
        for r in result.failed
        if not r.outcome.is_refused
    )
    found = (*memory_finding(result, "kernels"), *findings(chosen, exhibits))
    machines = series([machine.name for machine in chosen.machines], "and")
    return Reproduction(TITLE, machines, (), exhibits.all(), found, failures, len(result), result.complete)
