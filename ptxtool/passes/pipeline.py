"""Pipelines: their syntax, and running one pass after the other with a check after each.

    pipeline = pass ("," pass)*        pass = name ("{" option "=" value ("," option "=" value)* "}")?

After every pass the edits are spliced into the text, the text is parsed and verified, and the pass's claim is proved
again from the two modules; a failure is E303, a wrong result, which names the pass and ends the pipeline.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ptxtool.analysis.sharing.issue_counts import IssueCounts, ReadCounts
from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.base import Pass, Remark, WrongOption
from ptxtool.passes.registry import PASSES, Option, find_pass, pass_info
from ptxtool.passes.sharing.reorder_decls import ReorderDecls
from ptxtool.sema.verify import verify


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


def rewrite(module: Module, pipeline: str, read_counts: ReadCounts = _no_reader) -> RewriteResult:
    """Run a pipeline such as "unroll-decls,reorder-decls{order=text}" on a module.

    `read_counts` reads the files of issue counts that it names: passes read no files.

    Raises E302 for a wrong pipeline, the module's own errors if it has any, E301 where a pass declines, E303 for a
    wrong result.
    """
    return _run(module, _stages(pipeline), read_counts)


def run(module: Module, passes: Iterable[Pass], read_counts: ReadCounts = _no_reader) -> RewriteResult:
    """Run passes in order, each checked. Raises as `rewrite` does."""
    return _run(module, [_Stage(one) for one in passes], read_counts)


@dataclass(frozen=True)
class _Stage:
    """A pass, and where the pipeline's text names it."""

    run: Pass
    source: Source | None = None
    start: int = 0
    end: int = 0


def _run(module: Module, stages: Iterable[_Stage], read_counts: ReadCounts) -> RewriteResult:
    done: list[str] = []
    with paused_collector():
        errors = [d for d in verify(module) if d.is_error]
        if errors:
            raise PtxError(errors)
        remarks: list[Remark] = []
        for stage in stages:
            one = stage.run
            try:
                if isinstance(one, ReorderDecls) and one.counts:
                    result = one.run(module, read_counts(one.counts))
                else:
                    result = one.run(module)
            except PtxError as problem:
                raise PtxError([_placed(d, stage, module, done) for d in problem.diagnostics]) from problem
            done.append(one.name)
            remarks += result.remarks
            if result.edits:
                text = splice(module.source.text, result.edits)
                after = _checked(one, module, text)
                problems = result.claim(module, after)
                if problems:
                    raise _wrong_result(one, "broke its claim", problems)
                module = after
        return RewriteResult(module, tuple(remarks))


def _placed(diagnostic: Diagnostic, stage: _Stage, module: Module, done: Sequence[str]) -> Diagnostic:
    """A refusal of a pass with its place: the pass's name if it has none; the text after earlier passes is no file."""
    if diagnostic.source is None:
        return replace(diagnostic, source=stage.source, start=stage.start, end=stage.end)
    if diagnostic.source is module.source and done:
        source = Source(f"{module.source.name} (after {','.join(done)})", module.source.text)
        return replace(diagnostic, source=source)
    return diagnostic


def _checked(one: Pass, before: Module, text: str) -> Module:
    """The module of a pass's text. Raises E303 where it does not parse or has errors."""
    try:
        after = parse(text, before.source.name)
    except PtxError as problem:
        raise _wrong_result(one, "gave text that does not parse", problem.diagnostics) from problem
    errors = [d for d in verify(after) if d.is_error]
    if errors:
        raise _wrong_result(one, "gave a module with errors", errors)
    return after


def _wrong_result(one: Pass, what: str, problems: Sequence[Diagnostic]) -> PtxError:
    advice = "this is a bug of the pass, not of your file; the file is unchanged"
    return PtxError([Diagnostic("E303", f"pass '{one.name}' {what}", help=advice), *problems])


# ---- the syntax

_WORD = r"[A-Za-z0-9_.:/+-]+"
_PASS = re.compile(rf"\s*({_WORD})?\s*(\{{([^{{}}]*)\}}?)?\s*")
_SETTING = re.compile(rf"\s*({_WORD})?\s*(=)?\s*({_WORD})?\s*")


def parse_pipeline(text: str) -> tuple[Pass, ...]:
    """Read a pipeline. Raises E302 for every mistake in it, E301 or E502 for impossible values, with their places."""
    return tuple(stage.run for stage in _stages(text))


def _stages(text: str) -> tuple[_Stage, ...]:
    source = Source("<pipeline>", text)
    passes: list[_Stage] = []
    problems: list[Diagnostic] = []
    position = 0
    while True:
        hit = _PASS.match(text, position)
        assert hit is not None  # every part of the expression is optional
        try:
            passes.append(_Stage(_pass(source, hit), source, *hit.span(1)))
        except PtxError as problem:
            problems += problem.diagnostics
        position = hit.end()
        if position == len(text):
            break
        if text[position] != ",":
            what = f"unexpected '{text[position]}'"
            problems += _complain(source, (position, position + 1), what, _SYNTAX).diagnostics
            break
        position += 1
    if problems:
        raise PtxError(problems)
    return tuple(passes)


_SYNTAX = "a pipeline reads pass,pass{option=value,option=value}"


def _pass(source: Source, hit: re.Match[str]) -> Pass:
    name, braces, settings = hit.group(1), hit.group(2), hit.group(3)
    if name is None:
        raise _complain(source, hit.span(), "a pass name is missing", f"there are {', '.join(PASSES)}")
    cls = find_pass(name)
    if cls is None:
        raise _complain(source, hit.span(1), f"no pass named '{name}'", _nearest(name, PASSES))
    if braces is not None and not braces.endswith("}"):
        raise _complain(source, hit.span(2), "'{' is not closed", _SYNTAX)
    options = {option.name: option for option in pass_info(cls).options}
    values: dict[str, object] = {}
    spans: dict[str, tuple[int, int]] = {}
    problems: list[Diagnostic] = []
    for key, value, start in _settings(source, hit.start(3), settings):
        try:
            option = _known(source, start, name, key, options, values)
            at = start + source.text[start:].index(value, len(key))
            spans[option.name] = (at, at + len(value))
            values[option.name] = _value(source, spans[option.name], option, value)
        except PtxError as problem:
            problems += problem.diagnostics
    if problems:
        raise PtxError(problems)
    try:
        return cls(**values)
    except WrongOption as wrong:
        start, end = spans.get(wrong.option, hit.span(1))
        raise PtxError([replace(d, source=source, start=start, end=end) for d in wrong.diagnostics]) from None


def _settings(source: Source, start: int, settings: str | None) -> Iterator[tuple[str, str, int]]:
    """Option, value and the option's offset for every setting between the braces."""
    if settings is None or not settings.strip():
        return
    for piece in settings.split(","):
        hit = _SETTING.fullmatch(piece)
        if hit is None or None in hit.groups():
            span = start, start + max(len(piece), 1)
            raise _complain(source, span, f"'{piece.strip()}' is no option=value", _SYNTAX)
        yield hit.group(1), hit.group(3), start + hit.start(1)
        start += len(piece) + 1


def _known(
    source: Source, start: int, name: str, key: str, options: dict[str, Option], values: dict[str, object]
) -> Option:
    """The option that a key means: `-` may stand for `_`."""
    option = options.get(key.replace("-", "_"))
    span = start, start + len(key)
    if option is None:
        known = [each.shown_name for each in options.values()]
        advice = _nearest(key, known) if known else f"'{name}' has no options"
        raise _complain(source, span, f"'{name}' has no option '{key}'", advice)
    if option.name in values:
        raise _complain(source, span, f"'{key}' is given twice", "give it once")
    return option


def _value(source: Source, span: tuple[int, int], option: Option, text: str) -> object:
    """The value that a text means for an option."""
    switch = {"true": True, "false": False}
    wrong = f"'{option.shown_name}' cannot be '{text}'"
    if option.kind == "choice" and text not in option.choices:
        raise _complain(source, span, wrong, _nearest(text, option.choices))
    if option.kind == "switch" and text not in switch:
        raise _complain(source, span, wrong, "give true or false")
    if option.kind == "switch":
        return switch[text]
    if option.kind != "number":
        return text
    try:
        return int(text)
    except ValueError:
        raise _complain(source, span, f"'{text}' is no number", "give an integer") from None


def _nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    return did_you_mean(word, names, then=f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}")


def _complain(source: Source, span: tuple[int, int], message: str, advice: str) -> PtxError:
    return error("E302", message, source, *span, help=advice)
