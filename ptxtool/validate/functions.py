"""The items of a module before and after a pass, compared as words; bodies of functions by a check of their own."""

from collections.abc import Callable, Iterable
from typing import TypeGuard

from msgspec.structs import replace

from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source
from ptxtool.ir.names import diagnostic_at
from ptxtool.ir.nodes import Directive, Function, Item, Module, Statement


def wrong(message: str, source: Source, node: Statement | Function, help: str = "") -> Diagnostic:
    """An E303 at a statement, or at the head of a function."""
    return diagnostic_at("E303", message, source, node, "", help)


def words(owner: Function | Module, start: int, end: int) -> list[str]:
    """The words between two offsets: edits may change blanks and line ends."""
    return owner.source.text[start:end].split()


def compare_functions(
    before: Module, after: Module, compare: Callable[[Function, Function], Iterable[Diagnostic]]
) -> tuple[Diagnostic, ...]:
    """E303 for items that changed, and the diagnostics of `compare` for each function with a body."""
    if len(before.items) != len(after.items):
        what = f"{len(before.items)} items became {len(after.items)}"
        return (Diagnostic("E303", what, after.source),)
    problems: list[Diagnostic] = []
    for old, new in zip(before.items, after.items, strict=True):
        if _has_body(old) and _has_body(new):
            problems += compare(old, new)
        elif words(before, old.start, old.end) != words(after, new.start, new.end):
            what = "text outside functions changed"
            problems.append(Diagnostic("E303", what, after.source, new.start, new.end))
    return tuple(problems)


def _has_body(item: Item) -> TypeGuard[Function]:
    return isinstance(item, Function) and item.body is not None


def same_words(old: str, new: str) -> bool:
    """Whether two texts differ in blanks at most."""
    return old.split() == new.split()


def same_statement(
    old: Item | Statement, new: Item | Statement, same_text: Callable[[str, str], bool] = same_words
) -> bool:
    """Whether two statements differ in their offsets at most; the texts of directives are compared by `same_text`."""
    if isinstance(old, Directive) and isinstance(new, Directive):
        return old.name == new.name and same_text(old.text, new.text)
    if isinstance(old, Function) or isinstance(new, Function):
        return False
    return type(old) is type(new) and replace(old, start=0, end=0) == replace(new, start=0, end=0)
