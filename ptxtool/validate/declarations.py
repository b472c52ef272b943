"""Re-prove that only register declarations changed: what the declaration passes claim.

Both modules are walked side by side, from their texts and statements alone; the register tables and the passes are not
asked. It holds when
- every item outside functions, every function head and every statement that is no register declaration has the same
  text, in the same order and the same block;
- every block declares the same registers: names and types as a multiset, ranges expanded, in any order;
- every name in a statement means a register of the same block as before: a declaration that moved behind a use, or in
  front of the use of an outer register of the same name, is found.
Comments are not compared: a pass may have to move them with their declaration.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Declaration, Function, Item, Module, ScopeClose, ScopeOpen, Statement

_NAME = re.compile(r"[A-Za-z_$%][\w$]*")


def check_only_declarations_changed(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that differs but register declarations; () if nothing does."""
    if len(before.items) != len(after.items):
        what = f"{len(before.items)} items became {len(after.items)}"
        return (Diagnostic("E303", what, after.source),)
    problems: list[Diagnostic] = []
    for old, new in zip(before.items, after.items, strict=True):
        if (
            isinstance(old, Function)
            and isinstance(new, Function)
            and old.body is not None
            and new.body is not None
        ):
            problems += _compare_functions(old, new)
        elif _text(before, old) != _text(after, new):
            problems.append(
                Diagnostic("E303", "text outside functions changed", after.source, new.start, new.end)
            )
    return tuple(problems)


@dataclass
class _Block:
    """One `{ }`: what it declares, and how many of it are declared so far."""

    registers: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Step:
    """One statement that is no register declaration: its text, and per register name in it the depth of its block."""

    text: str
    meanings: tuple[tuple[str, int], ...]
    statement: Statement


def _compare_functions(old: Function, new: Function) -> Iterator[Diagnostic]:
    def complain(what: str, start: int, end: int) -> Diagnostic:
        return Diagnostic("E303", f"{what} in '{new.name}'", new.source, start, end)

    old_head = _words(old.source.text[old.start : old.body_start])
    if old_head != _words(new.source.text[new.start : new.body_start]):
        yield complain("the head changed", new.start, new.body_start)
    old_steps, old_blocks = _walk(old)
    new_steps, new_blocks = _walk(new)
    if len(old_steps) != len(new_steps):
        yield complain(f"{len(old_steps)} statements became {len(new_steps)}", new.start, new.body_start)
        return
    for a, b in zip(old_steps, new_steps, strict=True):
        if a.text != b.text:
            yield complain(f"'{a.text}' became '{b.text}'", b.statement.start, b.statement.end)
            return
        if a.meanings != b.meanings:
            lost = sorted({name for name, _ in set(a.meanings) ^ set(b.meanings)})
            yield complain(
                f"'{lost[0]}' means another register than before", b.statement.start, b.statement.end
            )
    for number, (x, y) in enumerate(zip(old_blocks, new_blocks, strict=True)):
        for name, type_ in sorted((x.registers - y.registers).keys()):
            yield complain(f"block {number} lost '{name}' of type '{type_}'", new.start, new.body_start)
        for name, type_ in sorted((y.registers - x.registers).keys()):
            yield complain(f"block {number} gained '{name}' of type '{type_}'", new.start, new.body_start)


def _walk(function: Function) -> tuple[list[_Step], list[_Block]]:
    """The statements of a body that are no register declarations, and its blocks in the order in which they open."""
    outermost = _Block()
    for parameter in (*function.returns, *function.params):
        outermost.names.update(d.name for d in parameter.declarators)
    blocks, open_blocks, steps = [outermost], [outermost], list[_Step]()
    for statement in function.body or ():
        if isinstance(statement, Declaration) and statement.space == "reg":
            for name in _declared(statement):
                open_blocks[-1].registers[name, " ".join(statement.qualifiers)] += 1
                open_blocks[-1].names.add(name)
            continue
        text = _words(function.source.text[statement.start : statement.end])
        meanings: list[tuple[str, int]] = []
        for name in _NAME.findall(text):
            depth = next((i for i in range(len(open_blocks) - 1, -1, -1) if name in open_blocks[i].names), -1)
            if depth >= 0:
                meanings.append((name, depth))
        steps.append(_Step(text, tuple(meanings), statement))
        if isinstance(statement, ScopeOpen):
            open_blocks.append(_Block())
            blocks.append(open_blocks[-1])
        elif isinstance(statement, ScopeClose) and len(open_blocks) > 1:
            open_blocks.pop()
    return steps, blocks


def _declared(declaration: Declaration) -> Iterator[str]:
    for declarator in declaration.declarators:
        if declarator.count is None:
            yield declarator.name
        else:
            yield from (f"{declarator.name}{i}" for i in range(declarator.count))


def _text(module: Module, item: Item) -> str:
    return _words(module.source.text[item.start : item.end])


def _words(text: str) -> str:
    """The text with every run of blanks as one: edits of declarations may share a line with other statements."""
    return " ".join(text.split())
