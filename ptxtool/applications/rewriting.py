"""Passes over the kernels of an application, each before it runs: `exec --passes`.

A kernel is rewritten at its first launch, in a text of its module without the other kernels: what a pass refuses is
about this kernel alone, which then keeps its text. The new text is loaded beside the module and has the module's
variables. Passes that depend on the size of CTAs run again for another size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.diag import PtxError
from ptxtool.base.mangled import shown_name
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.issue_counts import read_issue_counts
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize, PassContext
from ptxtool.passes.pipeline import run, takes_context
from ptxtool.passes.syntax import Stage
from ptxtool.results.applications import RewrittenKernel

if TYPE_CHECKING:
    from ptxsim.loaded_modules import LoadedKernel
    from ptxsim.machine import Machine


@dataclass
class Rewriter:
    """The kernels of one process after the passes."""

    stages: Sequence[Stage]
    machine: "Machine"
    limits: Gpu | None
    """Of an SM, for passes that ask; None: those of the text's target."""
    report: Callable[[PtxError, str], object]
    """Called with what a pass refuses, and the kernel."""
    rewritten: Callable[[RewrittenKernel], object]
    """Called after the passes over each kernel."""
    _kernels: dict[tuple["LoadedKernel", CtaSize | None], "LoadedKernel"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._needs_size = any(takes_context(stage.run) for stage in self.stages)

    def kernel(self, kernel: "LoadedKernel", size: CtaSize | None) -> "LoadedKernel":
        """A kernel after the passes, for CTAs of a size; itself where a pass refuses it, and where the size is unknown
        (None) but decides."""
        if not self.stages or (self._needs_size and size is None):
            return kernel
        key = kernel, size if self._needs_size else None
        if key not in self._kernels:
            self._kernels[key] = self._after_passes(*key)
        return self._kernels[key]

    def _after_passes(self, kernel: "LoadedKernel", size: CtaSize | None) -> "LoadedKernel":
        before = registers_per_thread(kernel.function)
        threads = size.threads if size else 0
        try:
            alone = _alone(kernel.function)
            context = PassContext(self.limits, {kernel.name: size} if size else {})
            after = run(alone, self.stages, read_issue_counts, context=context).module
            if after is alone:
                self.rewritten(RewrittenKernel(kernel.name, threads, before, before))
                return kernel
            loaded = self.machine.load(after, like=kernel.module)
        except PtxError as problem:
            self.report(problem, f"{shown_name(kernel.name)} runs as it is")
            self.rewritten(RewrittenKernel(kernel.name, threads, before, before, problem.diagnostics[0].code))
            return kernel
        found = loaded.kernels[kernel.name]
        self.rewritten(RewrittenKernel(kernel.name, threads, before, registers_per_thread(found.function)))
        return found


def _alone(kernel: Function) -> Module:
    """A kernel's module without the other kernels; lines keep their numbers."""
    source = kernel.source
    others = (other for other in kernel.module.kernels.values() if other is not kernel)
    edits = [TextEdit(o.start, o.end, "\n" * source.text.count("\n", o.start, o.end)) for o in others]
    return parse(splice(source.text, edits), source.name)
