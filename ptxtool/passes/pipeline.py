"""Running one pass after the other, with a check after each.

After every pass the edits are spliced into the text, the text is parsed and verified, and the pass's claim is proved
again from the two modules; a failure is E303, a wrong result, which names the pass and ends the pipeline. A user's own
pass may claim nothing: where a launch is at hand, the kernel is run before and after it, and other results are E305.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ptxtool.analysis.sharing.issue_counts import IssueCounts, ReadCounts
from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.source import Source
from ptxtool.base.user_file import exception_text
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Module
from ptxtool.passes.base import Claim, Pass, PassResult, Remark
from ptxtool.passes.context import PassContext
from ptxtool.passes.demotion.demote import NOTHING_KNOWN, Demote
from ptxtool.passes.own import READ_MORE, is_own
from ptxtool.passes.parsed import parsed
from ptxtool.passes.regalloc.allocate import Allocate
from ptxtool.passes.registers.split_registers import SplitRegisters
from ptxtool.passes.sharing.reorder_decls import ReorderDecls
from ptxtool.passes.syntax import Stage, read_stages
from ptxtool.sema.verify import verify

Prove = Callable[[Module, Module], tuple[str, tuple[Diagnostic, ...]]]
"""Runs the kernels of two modules with the same inputs: what was run, in words, and what is not the same."""
NOT_RUN = (
    "nothing was run to compare the kernel before and after this pass: give a launch (--launch FILE), or compare the "
    "files with ptxtool prove"
)


@dataclass(frozen=True)
class RewriteResult:
    """The module after all passes (the same object if there were no edits) and the remarks in order."""

    module: Module
    remarks: tuple[Remark, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {"text": self.module.source.text, "remarks": [remark.to_dict() for remark in self.remarks]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.remarks))


def _no_reader(path: str) -> IssueCounts:
    raise error("E501", f"cannot read '{path}' here", help="ptxtool.rewrite reads the files of a pipeline")


def rewrite(
    module: Module,
    pipeline: str,
    read_counts: ReadCounts = _no_reader,
    prove: Prove | None = None,
    context: PassContext = NOTHING_KNOWN,
) -> RewriteResult:
    """Run a pipeline such as "unroll-decls,reorder-decls:order=text" on a module.

    `read_counts` reads the files of issue counts that it names: passes read no files. `prove` runs the kernel before
    and after every pass that is not ptxtool's; without it a remark says that nothing was run.

    Raises E302 for a wrong pipeline, the module's own errors if it has any, E301 where a pass declines, E303 for a
    wrong result, E305 for a kernel that computes something else.
    """
    return run(module, read_stages(pipeline), read_counts, prove, context)


def run(
    module: Module,
    passes: Iterable[Pass | Stage],
    read_counts: ReadCounts = _no_reader,
    prove: Prove | None = None,
    context: PassContext = NOTHING_KNOWN,
) -> RewriteResult:
    """Run passes in order, each checked. Raises as `rewrite` does; what a caller's own pass raises is not caught."""
    stages = [one if isinstance(one, Stage) else Stage(one) for one in passes]
    done: list[str] = []
    with paused_collector():
        errors = [d for d in verify(module) if d.is_error]
        if errors:
            raise PtxError(errors)
        remarks: list[Remark] = []
        for stage in stages:
            with _placed(stage, module, done):
                result = _result(stage, module, read_counts, context)
            remarks += (_with_cuda(remark, module) for remark in result.remarks)
            edits, claim = result.edits, result.claim
            del result
            if edits:
                after = _checked(stage, module, edits)
                del edits  # a large function's new text once more
                with _placed(stage, module, done):
                    problems = _claimed(stage, claim, module, after)
                if problems:
                    raise _wrong_result(stage, "broke its claim", problems)
                if is_own(stage.run):
                    remarks.append(_proved(stage, prove, module, after))
                module = after
            done.append(stage.run.name)
        return RewriteResult(module, tuple(remarks))


def takes_context(one: Pass) -> bool:
    """Whether what a pass does depends on the machine and the launches."""
    return (
        isinstance(one, Demote)
        or (isinstance(one, Allocate) and one.spill == "shared")
        or (isinstance(one, SplitRegisters) and one.base == "auto")
    )


def _with_cuda(remark: Remark, module: Module) -> Remark:
    """A remark about a line with the line of the CUDA source that it was compiled from."""
    source = module.source
    if ".loc" not in source.text or not 0 < remark.line <= len(source.line_starts):
        return remark
    end = source.line_starts[remark.line - 1] + len(source.line_text(remark.line))
    return replace(remark, cuda=source.cuda.at(end))


def _result(stage: Stage, module: Module, read_counts: ReadCounts, context: PassContext) -> PassResult:
    """What a pass returns. Raises E303 for anything but a whole `PassResult`, and what the pass raises."""
    one = stage.run
    counts = read_counts(one.counts) if isinstance(one, ReorderDecls | Demote) and one.counts else None
    if isinstance(one, Allocate | SplitRegisters):
        return one.run(module, context)
    if isinstance(one, Demote):
        return one.run(module, counts, context)
    if isinstance(one, ReorderDecls):
        return one.run(module, counts)
    result: object = _guarded(stage, lambda: one.run(module))
    if not isinstance(result, PassResult):
        raise _wrong_result(stage, f"returned {type(result).__name__}, not a PassResult", ())
    for what, values, wanted in (("edits", result.edits, TextEdit), ("remarks", result.remarks, Remark)):
        if not isinstance(values, tuple) or not all(isinstance(each, wanted) for each in values):
            raise _wrong_result(stage, f"returned {what} that are no tuple of {wanted.__name__}", ())
    return result


def _guarded(stage: Stage, call: Callable[[], object]) -> object:
    """What a call of a pass returns. Raises E303, at the line of the user's file that raised an exception."""
    try:
        return call()
    except PtxError:
        raise
    except (Exception, SystemExit) as problem:
        if stage.own is None or stage.own.file is None:
            raise
        message = f"pass '{stage.run.name}' raised {exception_text(problem)}"
        help = f"the file with the kernel is unchanged; {READ_MORE}"
        raise stage.own.problem("E303", message, problem, help) from problem


def _claimed(stage: Stage, claim: Claim, before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """What does not hold of a pass's claim."""
    found = _guarded(stage, lambda: claim(before, after))
    if not isinstance(found, tuple) or not all(isinstance(each, Diagnostic) for each in found):
        raise _wrong_result(stage, "has a claim that returns no tuple of Diagnostic", ())
    return found


def _proved(stage: Stage, prove: Prove | None, before: Module, after: Module) -> Remark:
    """Run the kernel before and after a pass, if that is possible. Raises E305 where its results are others."""
    if prove is None:
        return Remark(stage.run.name, NOT_RUN)
    what, problems = prove(before, after)
    if problems:
        first, *others = problems
        message = f"pass '{stage.run.name}': {first.message}"
        placed = _at_pass(stage, first.code, message, first.help).diagnostics
        raise PtxError([*placed, *others])
    return Remark(stage.run.name, what)


@contextmanager
def _placed(stage: Stage, module: Module, done: Sequence[str]) -> Iterator[None]:
    """Raise refusals of a pass, or of its claim, with their places."""
    try:
        yield
    except PtxError as problem:
        raise PtxError([_with_place(d, stage, module, done) for d in problem.diagnostics]) from problem


def _with_place(diagnostic: Diagnostic, stage: Stage, module: Module, done: Sequence[str]) -> Diagnostic:
    """A refusal with its place: the pass's name if it has none; the text after earlier passes is no file."""
    if diagnostic.source is None:
        return replace(diagnostic, source=stage.source, start=stage.start, end=stage.end)
    if diagnostic.source is module.source and done:
        source = Source(f"{module.source.name} (after {','.join(done)})", module.source.text)
        return replace(diagnostic, source=source)
    return diagnostic


def _checked(stage: Stage, before: Module, edits: Sequence[TextEdit]) -> Module:
    """The module after a pass's edits. Raises E303 where these overlap, or the text does not parse or has errors."""
    try:
        text = splice(before.source.text, edits)
    except (ValueError, TypeError) as problem:
        raise _wrong_result(stage, f"returned edits that cannot be applied: {problem}", ()) from problem
    try:
        after = parsed(text, before.source.name)
    except PtxError as problem:
        raise _wrong_result(stage, "gave text that does not parse", problem.diagnostics) from problem
    errors = [d for d in verify(after) if d.is_error]
    if errors:
        raise _wrong_result(stage, "gave a module with errors", errors)
    return after


def _wrong_result(stage: Stage, what: str, problems: Sequence[Diagnostic]) -> PtxError:
    advice = "this is a bug of the pass, not of your file; the file is unchanged"
    placed = _at_pass(stage, "E303", f"pass '{stage.run.name}' {what}", advice)
    return PtxError([*placed.diagnostics, *problems])


def _at_pass(stage: Stage, code: str, message: str, help: str) -> PtxError:
    """An error at the code of a pass of the user's own; without a place for the others."""
    return stage.own.problem(code, message, help=help) if stage.own else error(code, message, help=help)
