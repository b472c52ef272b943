"""The items of a module before and after a pass, compared as words; bodies of functions by a check of their own."""

from collections.abc import Callable, Iterable
from typing import TypeGuard

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Declaration, Function, Item, Module


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


def same_declaration(old: Declaration, new: Declaration) -> bool:
    """Whether two declarations differ in their offsets at most."""
    return (old.linkage, old.space, old.qualifiers, old.align, old.declarators) == (
        *(new.linkage, new.space, new.qualifiers, new.align, new.declarators),
    )
