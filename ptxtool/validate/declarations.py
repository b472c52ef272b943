"""Re-prove that only register declarations changed: what the declaration passes claim.

Both modules are walked side by side, from their texts and statements alone, without the register tables. It holds when
- every item outside functions, every function head and every statement that is no register declaration has the same
  text, in the same order and the same block;
- every block declares the same registers: names and types as a multiset, ranges expanded, in any order;
- every name in a statement means a register of the same block as before: a declaration that moved after a use, or
  before the use of an outer register of the same name, is reported.
Comments are not compared: a pass may have to move them with their declaration.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Declaration, Function, Module, ScopeClose, ScopeOpen, Statement
from ptxtool.validate.functions import compare_functions, words, wrong

_NAME = re.compile(r"[A-Za-z_$%][\w$]*")


def check_only_declarations_changed(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that differs but register declarations; () if nothing does."""
    return compare_functions(before, after, _compare)


@dataclass
class _Block:
    """One `{ }`: the registers that it declares, and their names so far."""

    registers: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Statement:
    """One statement that is no register declaration: its text, and per register name in it the depth of its block."""

    text: str
    meanings: tuple[tuple[str, int], ...]
    statement: Statement


def _compare(old: Function, new: Function) -> Iterator[Diagnostic]:
    def complain(what: str, node: Function | Statement = new) -> Diagnostic:
        return wrong(f"{what} in '{new.name}'", new.source, node)

    if words(old, old.start, old.body_start) != words(new, new.start, new.body_start):
        yield complain("the head changed")
    old_statements, old_blocks = _walk(old)
    new_statements, new_blocks = _walk(new)
    if len(old_statements) != len(new_statements):
        yield complain(f"{len(old_statements)} statements became {len(new_statements)}")
        return
    for a, b in zip(old_statements, new_statements, strict=True):
        if a.text != b.text:
            yield complain(f"'{a.text}' became '{b.text}'", b.statement)
            return
        if a.meanings != b.meanings:
            first = min(name for name, _ in set(a.meanings) ^ set(b.meanings))
            yield complain(f"'{first}' means another register than before", b.statement)
    for number, (x, y) in enumerate(zip(old_blocks, new_blocks, strict=True)):
        lost, gained = x.registers - y.registers, y.registers - x.registers
        for what, registers in (("lost", lost), ("gained", gained)):
            for name, type_ in sorted(registers):
                yield complain(f"block {number} {what} '{name}' of type '{type_}'")


def _walk(function: Function) -> tuple[list[_Statement], list[_Block]]:
    """The statements of a body that are no register declarations, and its blocks in the order in which they open."""
    outermost = _Block()
    for parameter in (*function.returns, *function.params):
        outermost.names.update(d.name for d in parameter.declarators)
    blocks, open_blocks, statements = [outermost], [outermost], list[_Statement]()
    for statement in function.body or ():
        if isinstance(statement, Declaration) and statement.space == "reg":
            for name in _declared(statement):
                open_blocks[-1].registers[name, " ".join(statement.qualifiers)] += 1
                open_blocks[-1].names.add(name)
            continue
        text = " ".join(words(function, statement.start, statement.end))
        meanings: list[tuple[str, int]] = []
        for name in _NAME.findall(text):
            depth = next((i for i in range(len(open_blocks) - 1, -1, -1) if name in open_blocks[i].names), -1)
            if depth >= 0:
                meanings.append((name, depth))
        statements.append(_Statement(text, tuple(meanings), statement))
        if isinstance(statement, ScopeOpen):
            open_blocks.append(_Block())
            blocks.append(open_blocks[-1])
        elif isinstance(statement, ScopeClose) and len(open_blocks) > 1:
            open_blocks.pop()
    return statements, blocks


def _declared(declaration: Declaration) -> Iterator[str]:
    for declarator in declaration.declarators:
        if declarator.count is None:
            yield declarator.name
        else:
            yield from (f"{declarator.name}{i}" for i in range(declarator.count))
