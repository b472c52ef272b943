"""Apply the fixes that diagnostics carry, each verified: what `ptxtool check --fix` does to a text.

A fix is an edit that leaves nothing to choose (`base/diag.py`). All fixes of a round that do not overlap are tried
together, and one by one where that does not help. An edit stays only if the text checked again has fewer syntax errors,
or as many and fewer errors, or as many and fewer warnings, and no new kind of error where it could be read before.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ptxtool.base.diag import Diagnostic, PtxError, by_place
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.parse import parse
from ptxtool.parse.broken import SyntaxErrors
from ptxtool.sema.module import check_module
from ptxtool.sema.recovered import check_recovered

_MOST_ROUNDS = 20


class FixedText(NamedTuple):
    """A text after all fixes, and the diagnostics that were fixed, with their places in the text of their round."""

    text: str
    applied: tuple[Diagnostic, ...]


class _Checked(NamedTuple):
    diagnostics: Sequence[Diagnostic]

    @property
    def rank(self) -> tuple[int, int, int]:
        """The numbers of syntax errors, of errors and of warnings."""
        syntax = sum(d.code.startswith("E1") for d in self.diagnostics)
        errors = sum(d.is_error for d in self.diagnostics)
        return syntax, errors, len(self.diagnostics) - errors

    @property
    def errors(self) -> frozenset[tuple[str, str]]:
        return frozenset((d.code, d.message) for d in self.diagnostics if d.is_error)


def fix_text(text: str, name: str) -> FixedText:
    """Apply every fix that helps, round after round. A text without fixes comes back as it is."""
    applied: list[Diagnostic] = []
    checked = _check(text, name)
    for _ in range(_MOST_ROUNDS):
        fixable = _apart([d for d in checked.diagnostics if d.fix is not None])
        better = _tried(text, name, checked, fixable) if fixable else None
        if better is not None:
            text, checked = better
            applied += fixable
            continue
        for one in fixable:
            better = _tried(text, name, checked, [one]) if len(fixable) > 1 else None
            if better is not None:
                text, checked = better
                applied.append(one)
                break
        else:
            break
    return FixedText(text, tuple(applied))


def _check(text: str, name: str) -> _Checked:
    try:
        return _Checked(check_module(parse(text, name)))
    except PtxError as problem:
        more = check_recovered(problem) if isinstance(problem, SyntaxErrors) else ()
        return _Checked(by_place((*problem.diagnostics, *more)))


def _apart(fixable: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics whose edits do not touch an earlier one."""
    found: list[Diagnostic] = []
    end = -1
    for one in sorted(fixable, key=lambda d: _edit(d)[:2]):
        edit = _edit(one)
        if edit.start > end:
            found.append(one)
            end = edit.end
    return found


def _edit(one: Diagnostic) -> TextEdit:
    assert one.fix is not None
    return TextEdit(one.fix.start, one.fix.end, one.fix.text)


def _tried(
    text: str, name: str, before: _Checked, chosen: Sequence[Diagnostic]
) -> tuple[str, _Checked] | None:
    """The text with the edits of some diagnostics, and what is left to report; None where that is no better."""
    after_text = splice(text, map(_edit, chosen))
    after = _check(after_text, name)
    is_readable = before.rank[0] == 0
    if after.rank >= before.rank or (is_readable and not after.errors <= before.errors):
        return None
    return after_text, after
