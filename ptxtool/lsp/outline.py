"""The outline of a text: functions with their labels and variables, and what can be folded."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ptxtool.ir.nodes import Declaration, Function, Label, Module, ScopeClose, ScopeOpen

_COMMENTS = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n){2,}", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Symbol:
    """A function, variable, register declaration or label: its whole text, its name, and what is in it."""

    name: str
    kind: str  # "kernel", "function", "variable", "label"
    detail: str
    start: int
    end: int
    name_start: int
    inner: "tuple[Symbol, ...]" = field(default=())


class Fold(NamedTuple):
    """What can be folded; `kind` is "region" or "comment"."""

    start: int
    end: int
    kind: str


def symbols(module: Module) -> tuple[Symbol, ...]:
    """Functions and variables in the order of the text."""
    found: list[Symbol] = []
    for item in module.items:
        if isinstance(item, Function):
            found.append(_function(item))
        elif isinstance(item, Declaration):
            found += _variables(item, module.source.text)
    return tuple(found)


def _function(function: Function) -> Symbol:
    text = function.source.text
    inner: list[Symbol] = []
    for _, statement in function.other_statements:
        if isinstance(statement, Label):
            name, start = statement.name, statement.start
            inner.append(Symbol(name, "label", "", start, statement.end, start))
        elif isinstance(statement, Declaration) and statement.space != "reg":
            inner += _variables(statement, text)
    kind = "kernel" if function.kind == "entry" else "function"
    detail = " ".join(f".{w}" for w in (*function.linkage, function.kind))
    name_start = text.find(function.name, function.start, function.body_start) if function.name else -1
    start = max(name_start, function.start)
    name = function.name or f".{function.kind}"
    return Symbol(name, kind, detail, function.start, function.end, start, tuple(inner))


def _variables(declaration: Declaration, text: str) -> list[Symbol]:
    start, end = declaration.start, declaration.end
    words = (declaration.space, *declaration.qualifiers)
    detail = " ".join(f".{word}" for word in words if not word.startswith("attribute"))
    return [
        Symbol(d.name, "variable", detail, start, end, max(text.find(d.name, start, end), start))
        for d in declaration.declarators
    ]


def folds(module: Module) -> tuple[Fold, ...]:
    """Bodies, blocks and comments of more than one line."""
    text = module.source.text
    found = [Fold(*match.span(), "comment") for match in _COMMENTS.finditer(text)]
    for item in module.items:
        if not isinstance(item, Function) or item.body is None:
            continue
        found.append(Fold(item.body_start, item.end - 1, "region"))
        opened: list[int] = []
        for _, statement in item.other_statements:
            if isinstance(statement, ScopeOpen):
                opened.append(statement.start)
            elif isinstance(statement, ScopeClose) and opened:
                found.append(Fold(opened.pop(), statement.start, "region"))
    return tuple(
        sorted((f for f in found if "\n" in text[f.start : f.end].rstrip("\n")), key=lambda f: f.start)
    )
