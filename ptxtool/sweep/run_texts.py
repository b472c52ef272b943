"""The texts that runs of a sweep execute: a kernel's own, after the passes of the run and those of its register scheme.

Every text is made once, however many runs have it. A pass that declines a kernel does not raise: that is the outcome of
the runs with that kernel and pass.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.marks import EXTENDED, marks
from ptxtool.runs.scheme_texts import SPLIT, scheme_passes

if TYPE_CHECKING:
    from ptxtool.formats.gpu import Gpu
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function, Module
    from ptxtool.passes.own import OwnPass
    from ptxtool.passes.syntax import Stage

_V = TypeVar("_V")


def once(known: dict[Any, _V], key: object, make: Callable[[], _V]) -> _V:
    """The value of a key, computed at the first request."""
    if key not in known:
        known[key] = make()
    return known[key]


@dataclass(frozen=True)
class RunText:
    """The text of a run and the `passes` that made it; digests of the user's own among them, and the remarks of the
    scheme's. With a `refusal`, the error of a pass, the text is the one before it."""

    text: str
    passes: str
    code: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    refusal: PtxError | None = None


class RunTexts:
    """Makes texts, each once. `own` are the user's own passes that pipelines may have, by name."""

    def __init__(
        self, kernel_named: "Callable[[Module, str | None], Function]", own: "Mapping[str, OwnPass]"
    ) -> None:
        self._kernel_named = kernel_named
        self._own = own
        self._stages: dict[str, tuple[Stage, ...]] = {}
        self._rewritten: dict[Any, tuple[Module, tuple[str, ...]] | PtxError] = {}

    def made(
        self,
        module: "Module",
        function: "Function",
        launch: "Launch",
        passes: str,
        scheme: str,
        gpu: "Gpu",
        gpu_digest: str,
    ) -> RunText:
        """The text of a run of `function` after `passes` ("": none), under a register scheme on a machine.

        Raises E302 for what is no pipeline.
        """
        code: tuple[str, ...] = ()
        if passes:
            rewritten, code = self._rewrite(module, passes, launch, function.name, gpu, gpu_digest)
            if isinstance(rewritten, PtxError):
                return RunText(module.source.text, passes, code, refusal=rewritten)
            module, _ = rewritten
        names = dict.fromkeys([step.kernel or function.name for step in launch.steps] or [function.name])
        needed = scheme_passes([module.functions[name] for name in names], scheme)
        if not needed:
            return RunText(module.source.text, passes, code)
        passes = ",".join(filter(None, (passes, needed)))
        rewritten, _ = self._rewrite(module, needed, launch, function.name, gpu, gpu_digest)
        if isinstance(rewritten, PtxError):
            return RunText(module.source.text, passes, code, refusal=rewritten)
        changed, remarks = rewritten
        if not any(any(marks(changed.functions[name], EXTENDED)) for name in names):
            return RunText(module.source.text, passes, code, remarks)  # there was nothing to split
        return RunText(changed.source.text, passes, code, remarks)

    def _rewrite(
        self, module: "Module", pipeline: str, launch: "Launch", entry: str, gpu: "Gpu", gpu_digest: str
    ) -> "tuple[tuple[Module, tuple[str, ...]] | PtxError, tuple[str, ...]]":
        """The module after the passes with the remarks about it, or the error of a pass; and the digests of the user's
        own passes.

        These are proved by runs without time; the runs with time are the sweep's. Raises E302 for what is no pipeline.
        """
        from ptxtool.formats.issue_counts import read_issue_counts
        from ptxtool.passes.pipeline import run, takes_context
        from ptxtool.passes.syntax import read_stages
        from ptxtool.runs.pass_context import pass_context
        from ptxtool.runs.proof import ProofOptions, prove

        def proved(before: "Module", after: "Module") -> tuple[str, tuple[Diagnostic, ...]]:
            proof = prove(before, after, launch, self._kernel_named, ProofOptions(entry, timed=False))
            return proof.summary, proof.problems

        stages = once(self._stages, pipeline, lambda: read_stages(pipeline, self._own))
        code = tuple(stage.own.digest for stage in stages if stage.own)
        in_context = any(takes_context(stage.run) for stage in stages)
        of_launch = (id(launch), entry) if code or in_context else None
        where = id(module), pipeline, of_launch, gpu_digest if in_context else None
        if where not in self._rewritten:
            try:
                context = pass_context(module, launch, gpu, entry)
                done = run(module, stages, read_issue_counts, proved, context)
                remarks = tuple(str(remark) for remark in done.remarks if remark.pass_name == SPLIT)
                self._rewritten[where] = done.module, remarks
            except PtxError as problem:
                self._rewritten[where] = problem
        return self._rewritten[where], code
