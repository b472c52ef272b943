"""The text of a pipeline, and the passes that it means.

    pipeline = pass ("," pass)*
    pass     = name (":" option "=" value)*  |  name "{" option "=" value ("," option "=" value)* "}"
    name     = a pass of ptxtool  |  FILE.py:CLASS, one of the user's own (own.py)

The spelling with colons needs no quotes in a shell; a value that has a colon in it needs the one with braces.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.base.user_file import exception_text
from ptxtool.passes.base import Pass, WrongOption
from ptxtool.passes.own import OWN_NAME, OwnPass, load_pass
from ptxtool.passes.registry import PASSES, Option, find_pass, pass_info

_NAME = r"[A-Za-z0-9_./+-]+"
_WORD = r"[A-Za-z0-9_.:/+-]+"
_PASS = re.compile(rf"\s*({OWN_NAME}|{_NAME})?\s*(\{{(?P<braces>[^{{}}]*)\}}?|:(?P<colons>[^,{{}}]*))?\s*")
_SETTING = re.compile(rf"\s*({_WORD})?\s*(=)?\s*({_WORD})?\s*")
_SYNTAX = "a pipeline reads pass,pass:option=value:option=value"


@dataclass(frozen=True)
class Stage:
    """A pass of a pipeline, and where the pipeline's text names it. `own` is what the user's own pass came from."""

    run: Pass
    source: Source | None = None
    start: int = 0
    end: int = 0
    own: OwnPass | None = None


def parse_pipeline(text: str) -> tuple[Pass, ...]:
    """The passes of a pipeline. Raises as `read_stages` does."""
    return tuple(stage.run for stage in read_stages(text))


def read_stages(text: str, own: Mapping[str, OwnPass] | None = None) -> tuple[Stage, ...]:
    """Read a pipeline.

    Without `own` it may name the user's own passes, whose files are run. With `own`, passes by name, it has only these
    beside ptxtool's: for a text that is not the user's own word, such as a sweep file.

    Raises E302 for every mistake in it, E301 or E502 for impossible values, with their places, and E501 for the file
    of a pass that cannot be read.
    """
    source = Source("<pipeline>", text)
    reader = _Reader(source, own)
    stages: list[Stage] = []
    problems: list[Diagnostic] = []
    position = 0
    while True:
        hit = _PASS.match(text, position)
        assert hit is not None  # every part of the expression is optional
        try:
            stages.append(reader.stage(hit))
        except PtxError as problem:
            problems += problem.diagnostics
        position = hit.end()
        if position == len(text):
            break
        if text[position] != ",":
            what = f"unexpected '{text[position]}'"
            problems += reader.wrong((position, position + 1), what, _SYNTAX).diagnostics
            break
        position += 1
    if problems:
        raise PtxError(problems)
    return tuple(stages)


@dataclass(frozen=True)
class _Reader:
    source: Source
    own: Mapping[str, OwnPass] | None

    def stage(self, hit: re.Match[str]) -> Stage:
        name = hit[1]
        own, cls = self.find(name, hit.span(1) if name else hit.span())
        if hit["braces"] is not None and not hit[2].endswith("}"):
            raise self.wrong(hit.span(2), "'{' is not closed", _SYNTAX)
        kind = "braces" if hit["braces"] is not None else "colons"
        listed = self.settings(hit.start(kind), hit[kind], "," if kind == "braces" else ":")
        info = own.info if own else pass_info(cls)
        options = {option.name: option for option in info.options}
        values: dict[str, object] = {}
        spans: dict[str, tuple[int, int]] = {}
        problems: list[Diagnostic] = []
        for key, value, start in listed:
            try:
                option = self.known(start, name, key, options, values)
                at = start + self.source.text[start:].index(value, len(key))
                spans[option.name] = (at, at + len(value))
                values[option.name] = self.value(spans[option.name], option, value)
            except PtxError as problem:
                problems += problem.diagnostics
        if problems:
            raise PtxError(problems)
        try:
            return Stage(cls(**values), self.source, *hit.span(1), own)
        except WrongOption as wrong:
            start, end = spans.get(wrong.option, hit.span(1))
            raise PtxError(
                [replace(d, source=self.source, start=start, end=end) for d in wrong.diagnostics]
            ) from None
        except PtxError:
            raise
        except Exception as raised:
            if own is None:
                raise
            message = f"'{cls.__name__}' cannot be constructed: {exception_text(raised)}"
            raise own.problem("E302", message, raised) from None

    def find(self, name: str | None, span: tuple[int, int]) -> tuple[OwnPass | None, type[Any]]:
        """The class of a pass. Raises E302 if there is none."""
        named = [*PASSES, *(self.own or ())]
        if name is None:
            raise self.wrong(span, "a pass name is missing", f"there are {', '.join(named)}")
        if re.fullmatch(OWN_NAME, name):
            if self.own is None:
                own = load_pass(name)
                return own, own.cls
            help = (
                "a sweep runs no file that its own file names: start it with --pass FILE.py:CLASS, or "
                "own_passes=[...], and write the pass's name here"
            )
            raise self.wrong(span, f"'{name}' names a file", help)
        if self.own and name in self.own:
            return self.own[name], self.own[name].cls
        cls = find_pass(name)
        if cls is None:
            raise self.wrong(span, f"no pass named '{name}'", _nearest(name, named))
        return None, cls

    def settings(self, start: int, settings: str | None, separator: str) -> Iterator[tuple[str, str, int]]:
        """Option, value and the option's offset for every setting of a pass."""
        if settings is None or (separator == "," and not settings.strip()):
            return
        for piece in settings.split(separator):
            hit = _SETTING.fullmatch(piece)
            if hit is None or None in hit.groups():
                span = start, start + max(len(piece), 1)
                raise self.wrong(span, f"'{piece.strip()}' is no option=value", _SYNTAX)
            yield hit.group(1), hit.group(3), start + hit.start(1)
            start += len(piece) + 1

    def known(
        self, start: int, name: str, key: str, options: dict[str, Option], values: dict[str, object]
    ) -> Option:
        """The option that a key means: `-` may stand for `_`."""
        option = options.get(key.replace("-", "_"))
        span = start, start + len(key)
        if option is None:
            known = [each.shown_name for each in options.values()]
            advice = _nearest(key, known) if known else f"'{name}' has no options"
            raise self.wrong(span, f"'{name}' has no option '{key}'", advice)
        if option.name in values:
            raise self.wrong(span, f"'{key}' is given twice", "give it once")
        return option

    def value(self, span: tuple[int, int], option: Option, text: str) -> object:
        """The value that a text means for an option."""
        switch = {"true": True, "false": False}
        wrong = f"'{option.shown_name}' cannot be '{text}'"
        if option.kind == "choice" and text not in option.choices:
            raise self.wrong(span, wrong, _nearest(text, option.choices))
        if option.kind == "switch" and text not in switch:
            raise self.wrong(span, wrong, "give true or false")
        if option.kind == "switch":
            return switch[text]
        if option.kind != "number":
            return text
        try:
            return int(text)
        except ValueError:
            raise self.wrong(span, f"'{text}' is no number", "give an integer") from None

    def wrong(self, span: tuple[int, int], message: str, advice: str) -> PtxError:
        return error("E302", message, self.source, *span, help=advice)


def _nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    return did_you_mean(word, names, then=f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}")
