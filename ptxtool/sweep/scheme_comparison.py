"""One kernel under several register schemes: the runs of `compare --schemes`.

They are runs of a sweep, so that several processes share the work and a scheme that declines the kernel, or fails,
stops no other; nor does one of the user's own that cannot be loaded. The texts that schemes need are made on the way
(`run_texts.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ptxtool.analysis.occupancy.register_schemes import SCHEMES, own_parts, scheme_named
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function
from ptxtool.results.scheme_comparison import SchemeComparison, SchemeRun
from ptxtool.results.sweeps import Configuration, Record
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.run_schemes import RunSchemes
from ptxtool.sweep.runner import OnProgress, run_sweep
from ptxtool.sweep.task import failed

BASELINE = "none"
ALL = "all"


@dataclass(frozen=True)
class ComparisonOptions:
    """How to compare schemes: the options that `sim` has under the same names, and those of `run_sweep`."""

    scheduler: str = ""
    passes: str = ""
    registers: int | None = None
    ptxplus_semantics: str = "hardware"
    jobs: int | None = None
    progress: OnProgress | None = None
    on_interrupt: Literal["raise", "return"] = "raise"


def scheme_names(asked: Iterable[str]) -> tuple[str, ...]:
    """The schemes to run, in the order given after `none`, which is always one; "all" are those of the table.

    FILE.py:FUNCTION is one of the user's own. Raises E502 for an unknown name.
    """
    named = [each for name in asked for each in ([s.name for s in SCHEMES] if name == ALL else [name])]
    for name in named:
        if own_parts(name) is None:
            scheme_named(name)
    return tuple(dict.fromkeys([BASELINE, *named]))


def compare_schemes(
    kernel: Function,
    launch: Launch,
    gpu: Gpu,
    schemes: Iterable[str],
    kernel_named: KernelNamed,
    options: ComparisonOptions,
) -> SchemeComparison:
    """Run a launch under each scheme and under `none`.

    A scheme of the user's own that cannot be loaded is a run with the reason. Raises E502 for an unknown scheme and a
    list of launches, and what `run_sweep` raises.
    """
    names = scheme_names(schemes)
    faults = _faults(names, gpu)
    runs = [
        Configuration(
            kernel.source.name,
            only_one(launch),
            gpu,
            scheduler=options.scheduler,
            passes=options.passes,
            register_scheme=name,
            registers=options.registers,
            label=name,
            entry=kernel.name,
            text=kernel.module.source.text,
            ptxplus_semantics=options.ptxplus_semantics,
        )
        for name in names
        if name not in faults
    ]
    result = run_sweep(
        runs,
        kernel_named,
        name=f"schemes of {kernel.name}",
        jobs=options.jobs,
        progress=options.progress,
        on_interrupt=options.on_interrupt,
    )
    first = result[BASELINE]
    by_name = {r.label: SchemeRun(r.label, r.outcome, _is_same(first, r)) for r in result} | faults
    found = tuple(by_name[name] for name in names)
    return SchemeComparison(kernel.source.name, kernel.name, gpu.name, found, result.complete)


def _faults(names: Iterable[str], gpu: Gpu) -> dict[str, SchemeRun]:
    """The schemes of the user's own that cannot be loaded, by name."""
    schemes, found = RunSchemes(), {}
    for name in names:
        try:
            schemes.on(name, gpu)
        except PtxError as problem:
            found[name] = SchemeRun(name, failed(problem.diagnostics), faults=problem.diagnostics)
    return found


def _is_same(first: Record, record: Record) -> bool:
    """Whether two runs that ended left the same memory."""
    return not (first.memory and record.memory) or first.memory == record.memory
