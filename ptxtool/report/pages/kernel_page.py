"""The page of one kernel: its text, and what runs of it showed, side by side.

A text is shown once, however many runs it has. A run after passes has another text, whose instructions are paired with
those of the first as `ptxtool diff` does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ptxtool.analysis.compare.difference import difference
from ptxtool.analysis.occupancy.cuda_limits import CudaTarget
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.mangled import shown_name
from ptxtool.formats.cuda_sources import CudaSources
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.report.pages.kernel_code import code_data
from ptxtool.report.pages.page import page
from ptxtool.report.pages.resident import CtaTakes, resident_data
from ptxtool.report.pages.run_figures import reasons_data, run_data
from ptxtool.results.kernel_runs import KernelRun, RefusedRun
from ptxtool.results.register_counts import RegisterCounts
from ptxtool.sema.called import reached

STYLES = ("kernel.css",)
SCRIPTS = ("code.js", "lanes.js", "graph.js", "panels.js", "kernel.js")
"""The parts of the view of a kernel; the page of an application has them too."""
_LINES_AROUND = 4
"""Lines of a CUDA source before and after one that instructions come from."""
_MOST_DIAGNOSTICS = 500


@dataclass(frozen=True)
class KernelView:
    """What a page shows of a kernel. `takes` is None where the threads of a CTA are not known, with `silence`."""

    kernel: Function = field(repr=False)
    machine: "Gpu | CudaTarget"
    counts: RegisterCounts
    takes: CtaTakes | None
    diagnostics: tuple[Diagnostic, ...] = ()
    runs: tuple[KernelRun, ...] = ()
    refused: tuple[RefusedRun, ...] = ()
    sources: CudaSources | None = None


def kernel_page(kernel: dict[str, Any]) -> str:
    """The page as HTML, of what `kernel_data` returned."""
    data = {"reasons": reasons_data(), "kernel": kernel}
    return page(f"{kernel['shown']} - ptxtool", STYLES, (*SCRIPTS, "kernel_page.js"), data)


def kernel_data(view: KernelView) -> dict[str, Any]:
    """The data of the view of one kernel."""
    texts = list(dict.fromkeys((view.kernel, *(run.kernel for run in view.runs))))
    return {
        "name": view.kernel.name,
        "shown": shown_name(view.kernel.name),
        "machine": view.machine.name,
        "counts": view.counts.to_dict(),
        "occupancy": _resident(view),
        "diagnostics": [_diagnostic(each) for each in view.diagnostics[:_MOST_DIAGNOSTICS]],
        "n_diagnostics": len(view.diagnostics),
        "texts": [_text(view, text) for text in texts],
        "runs": [
            {
                "name": run.name,
                "changes": dict(run.changes),
                "text": texts.index(run.kernel),
                "verdict": run.run.verdict,
                "problems": [str(problem.message) for problem in run.run.problems],
                **run_data(run.run.result, reached(run.kernel).functions),
            }
            for run in view.runs
        ],
        "refused": [run.to_dict() for run in view.refused],
    }


def _resident(view: KernelView) -> dict[str, Any]:
    """The occupancy, or why there is none."""
    if view.takes is None:
        return {"reason": "the threads of a CTA are not known: give a launch, or --block T"}
    try:
        return resident_data(view.machine, view.takes)
    except PtxError as problem:
        return {"reason": problem.diagnostics[0].message}


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    return found.to_dict() | {"rendered": str(found)}


def _text(view: KernelView, kernel: Function) -> dict[str, Any]:
    """A text: its functions, the kernel first, its CUDA sources, and its pairs with the text of the page's kernel."""
    functions = [code_data(function) for function in reached(kernel).functions]
    data: dict[str, Any] = {
        "file": kernel.source.name,
        "target": kernel.module.target,
        "ptxplus": kernel.module.is_ptxplus,
        "functions": functions,
        "sources": _sources(view, functions),
    }
    if kernel is not view.kernel:
        data |= _pairs(view.kernel, kernel)
    return data


def _pairs(before: Function, after: Function) -> dict[str, Any]:
    """For each instruction of `after` the one of `before` that it corresponds to, -1 for none, and what is removed."""
    pairs = [-1] * len(after.instructions)
    kinds = ["added"] * len(after.instructions)
    removed: list[int] = []
    for step in difference(before, after).steps:
        if step.after is not None and step.after.is_instruction:
            kinds[step.after.instruction] = step.kind
            if step.before is not None:
                pairs[step.after.instruction] = step.before.instruction
        elif step.before is not None and step.before.is_instruction:
            removed.append(step.before.instruction)
    return {
        "before": pairs,
        "changed": [i for i, kind in enumerate(kinds) if kind == "changed"],
        "removed": removed,
    }


def _sources(view: KernelView, functions: Sequence[dict[str, Any]]) -> dict[str, list[tuple[int, str]]]:
    """Lines of the CUDA sources, by path: those that instructions come from, with a few around each; {} where they are
    not wanted or not there."""
    if view.sources is None:
        return {}
    wanted: dict[str, set[int]] = {}
    for function in functions:
        for place in function["places"]:
            around = range(place["line"] - _LINES_AROUND, place["line"] + _LINES_AROUND + 1)
            wanted.setdefault(place["path"], set()).update(around)
    found: dict[str, list[tuple[int, str]]] = {}
    for path, numbers in wanted.items():
        lines = view.sources.lines(view.kernel.source.name, path)
        shown = [(n, lines[n - 1].rstrip()) for n in sorted(numbers) if 1 <= n <= len(lines)]
        if shown:
            found[path] = shown
    return found
