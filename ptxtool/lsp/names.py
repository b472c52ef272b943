"""What the names of a text mean: every place of a register, label, variable or function.

`occurrences` walks one function and resolves each word as the language scopes it: a register or variable is seen from
its declaration to the end of its block, a label in its whole block, an inner declaration hides an outer one.
Registers of a range `%r<9>` share its declaration. For definition, references, highlights and rename.

Not resolved: names in a part of the text that is broken, files of `.file`, and words of debug sections.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ptxtool.ir.nodes import (
    Declaration,
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    ScopeClose,
    ScopeOpen,
    Statement,
)
from ptxtool.ir.scopes import Scopes
from ptxtool.ir.symbols import LABEL_LISTS
from ptxtool.isa.special import special
from ptxtool.sema.operands.operand_spans import word_span

_WORD = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"]*\"|(?<![\w$%.])((?:[A-Za-z]|[_$%](?=[\w$]))[\w$]*)", re.DOTALL
)
IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)


class Meaning(NamedTuple):
    """What a name means. Two names mean the same if their meanings are equal.

    `kind` is "register", "range" (all of one `%r<9>`), "label", "variable", "function" or "special"; `place` is the
    offset of its declaration, -1 for special registers and for functions, which have a name only.
    """

    kind: str
    name: str
    place: int = -1


@dataclass(frozen=True)
class Occurrence:
    """One place of a name. `role` is "declared", "written", "read" or "" (labels and functions that are used)."""

    start: int
    end: int
    meaning: Meaning
    role: str


def words(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The words of a stretch that may be names, outside of comments and strings, with their places."""
    for match in _WORD.finditer(text, start, end):
        if match[1]:
            yield match.start(1), match.end(1), match[1]


class _Walk:
    """One walk through a function."""

    def __init__(self, function: Function):
        self.function, self.module = function, function.module
        self.text = function.source.text
        self.variables = Scopes[int]()
        self.found: list[Occurrence] = []
        self.labels = _labels_by_block(function)
        self.open = [0]
        self.n_blocks = 0

    def run(self) -> tuple[Occurrence, ...]:
        function = self.function
        self._head()
        n = 0
        for statement in function.body or ():
            self._statement(statement, n)
            n += type(statement) is Instruction
        return tuple(self.found)

    def _head(self) -> None:
        function = self.function
        end = function.end if function.body is None else function.body_start
        declared = {d.name: p for p in (*function.returns, *function.params) for d in p.declarators}
        for declaration in (*function.returns, *function.params):
            self._declare(declaration)
        named = False
        for a, b, word in words(self.text, function.start, end):
            if word == function.name and not named and not _inside(a, function.returns):
                named = True
                self._add(a, b, Meaning("function", word), "declared")
            elif word in declared and _inside(a, (declared[word],)):
                self._add(a, b, self._declared(word, declared[word], 0), "declared")

    def _declare(self, declaration: Declaration) -> None:
        if declaration.space != "reg":
            for declarator in declaration.declarators:
                self.variables.declare(declarator.name, declaration.start)

    def _declared(self, word: str, declaration: Declaration, n: int) -> Meaning:
        """What a declared name means: a range as a whole."""
        if declaration.space != "reg":
            return Meaning("variable", word, declaration.start)
        ranged = any(d.name == word and d.count is not None for d in declaration.declarators)
        return Meaning("range" if ranged else "register", word, declaration.start)

    def _statement(self, statement: Statement, n: int) -> None:
        match statement:
            case Instruction():
                self._instruction(statement, n)
            case Declaration():
                self._declare(statement)
                names = {d.name for d in statement.declarators}
                for a, b, word in words(self.text, statement.start, statement.end):
                    if word in names:
                        self._add(a, b, self._declared(word, statement, n), "declared")
                    elif found := self._global(word):
                        self._add(a, b, found, "read")
            case Label():
                meaning = self._label(statement.name)
                if meaning:
                    place = statement.start
                    self._add(place, place + len(statement.name), meaning, "declared")
            case Directive() if statement.name in LABEL_LISTS:
                for a, b, word in words(self.text, statement.start, statement.end):
                    meaning = self._label(word) or self._global(word)
                    if meaning:
                        self._add(a, b, meaning, "")
            case ScopeOpen():
                self.n_blocks += 1
                self.open.append(self.n_blocks)
                self.variables.enter()
            case ScopeClose():
                self.open.pop()
                self.variables.leave()
            case _:
                pass

    def _instruction(self, node: Instruction, n: int) -> None:
        step = self.function.def_uses[n]
        registers = self.function.registers
        opcode = word_span(node, self.text, "")
        for a, b, word in words(self.text, node.start, node.end):
            if opcode[0] <= a < opcode[1]:
                continue
            index = registers.resolve_index(word, n)
            if index >= 0:
                role = "written" if index in step.defs and index not in step.uses else "read"
                self._add(a, b, self._register(word, index), role)
            elif special(word) is not None:
                self._add(a, b, Meaning("special", word), "read")
            elif meaning := self._other(word):
                self._add(a, b, meaning, "read" if meaning.kind == "variable" else "")

    def _register(self, word: str, index: int) -> Meaning:
        return Meaning("register", word, self.function.registers.declaration_of(index).start)

    def _other(self, word: str) -> Meaning | None:
        place = self.variables.get(word)
        if place is not None:
            return Meaning("variable", word, place)
        return self._label(word) or self._global(word)

    def _label(self, name: str) -> Meaning | None:
        for block in reversed(self.open):
            place = self.labels.get((block, name))
            if place is not None:
                return Meaning("label", name, place)
        return None

    def _global(self, word: str) -> Meaning | None:
        if word in self.module.functions:
            return Meaning("function", word)
        declaration = self.module.variables.get(word)
        return Meaning("variable", word) if declaration is not None else None

    def _add(self, start: int, end: int, meaning: Meaning, role: str) -> None:
        self.found.append(Occurrence(start, end, meaning, role))


def _labels_by_block(function: Function) -> dict[tuple[int, str], int]:
    """The labels of every block, by the number of the block and their name; the first of a name counts."""
    found: dict[tuple[int, str], int] = {}
    open_blocks, n = [0], 0
    for _, statement in function.other_statements:
        if type(statement) is ScopeOpen:
            n += 1
            open_blocks.append(n)
        elif type(statement) is ScopeClose and len(open_blocks) > 1:
            open_blocks.pop()
        elif type(statement) is Label:
            found.setdefault((open_blocks[-1], statement.name), statement.start)
    return found


def _inside(offset: int, declarations: tuple[Declaration, ...]) -> bool:
    return any(d.start <= offset < d.end for d in declarations)


def occurrences(function: Function) -> tuple[Occurrence, ...]:
    """Every name of a function that is known, in the order of the text."""
    return _Walk(function).run()


def outer_occurrences(module: Module) -> Iterator[Occurrence]:
    """The names of declarations and directives outside of functions."""
    text = module.source.text
    for item in module.items:
        if isinstance(item, Function):
            continue
        names = {d.name for d in item.declarators} if isinstance(item, Declaration) else set()
        if isinstance(item, Directive) and item.name not in ("alias", "constptr"):
            continue
        for a, b, word in words(text, item.start, item.end):
            if word in names:
                yield Occurrence(a, b, Meaning("variable", word), "declared")
            elif word in module.functions:
                yield Occurrence(a, b, Meaning("function", word), "")
            elif word in module.variables:
                yield Occurrence(a, b, Meaning("variable", word), "read")
