"""Parse a text again after an edit: for editors, where a keystroke changes one statement of twenty thousand.

`read(source)` parses a whole text, `reread(before, source)` a text that differs in one place. Where that place lies in
the body of a function, the statements before it stay as they are, those around it are read again until one ends where
one ended before, and those after it are moved. The state of the parser between two statements of a body is the open
braces and whether a label came last, so that equal text from there on means equal statements.

An erroneous statement may depend on the text that follows it, up to `_LOOKAHEAD` characters: it is read again with what
changed there. Everything else that is unusual is parsed whole: an edit outside of bodies, an error outside of
instructions, a block that is no longer closed.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic, Fix, PtxError
from ptxtool.base.source import Source
from ptxtool.ir import nodes
from ptxtool.ir.nodes import Declaration, Directive, Function, Instruction, Label, ScopeClose, ScopeOpen
from ptxtool.parse import build
from ptxtool.parse.broken import SyntaxErrors
from ptxtool.parse.driver import MAX_ERRORS, Driver, parse_source
from ptxtool.parse.grammar import is_ptx
from ptxtool.parse.long_numbers import refuse_long_numbers

_BACK = 8
"""Statements read again before an edit."""
_LOOKAHEAD = 4000
"""Characters after an erroneous statement that its message may depend on."""
_LINE = re.compile(r"\blines? [0-9]")
_TRIES = (2, 16, 128)
"""Statements after an edit, of which one may end where it ended before."""


@dataclass(frozen=True)
class ParsedText:
    """What a text was read as: `module` is None where it cannot be read; with `errors` it lacks the broken statements.

    `skipped` is where these stand.
    """

    source: Source
    module: nodes.Module | None
    errors: tuple[Diagnostic, ...] = ()
    skipped: tuple[tuple[int, int], ...] = ()

    @property
    def problem(self) -> PtxError | None:
        """The error that `parse` raises for the text."""
        if not self.errors:
            return None
        return SyntaxErrors(self.errors, self.module, self.skipped)


def read(source: Source) -> ParsedText:
    """Parse a whole text."""
    try:
        return ParsedText(source, parse_source(source))
    except SyntaxErrors as found:
        return ParsedText(source, found.rest, found.diagnostics, found.skipped)
    except PtxError as found:
        return ParsedText(source, None, found.diagnostics)


def reread(before: ParsedText, source: Source) -> ParsedText:
    """Parse a text that was edited: the same as `read(source)`, sooner where the edit is small."""
    if source.text == before.source.text:
        return before if source == before.source else read(source)
    if before.module is None or any(e.code != "E101" for e in before.errors):
        return read(source)
    edit = _Edit.between(before.source.text, source.text)
    at, function = _function_around(before.module, edit)
    if function is None:
        return read(source)
    with paused_collector():
        return _Window(before, before.module, source, edit, at, function).run() or read(source)


def moved_diagnostics(found: Iterable[Diagnostic], old: str, source: Source) -> tuple[Diagnostic, ...]:
    """Diagnostics of an old text at their places in an edited one; those of the edited characters are left out."""
    edit = _Edit.between(old, source.text)
    return tuple(
        _placed(one, edit.end, edit.delta, source)
        for one in found
        if one.end <= edit.start or one.start >= edit.end
    )


@dataclass(frozen=True)
class _Edit:
    """The characters from `start` to `end` became others, and the text `delta` characters longer."""

    start: int
    end: int
    delta: int

    @classmethod
    def between(cls, old: str, new: str) -> "_Edit":
        start = _common_prefix(old, new)
        end, delta = len(old), len(new) - len(old)
        low, high = 0, min(len(old), len(new)) - start + 1
        while high - low > 1:  # the last `low` characters are the same
            middle = (low + high) // 2
            if old[end - middle : end - low] == new[end + delta - middle : end + delta - low]:
                low = middle
            else:
                high = middle
        return cls(start, end - low, delta)


def _common_prefix(old: str, new: str) -> int:
    """Its length, by bisection: comparing slices takes no time per character."""
    low, high = 0, min(len(old), len(new)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _function_around(module: nodes.Module, edit: _Edit) -> tuple[int, Function | None]:
    """The function whose body an edit lies in, braces not included, and its number among the items."""
    at = bisect_right(module.items, edit.start, key=lambda item: item.start) - 1
    item = module.items[at] if at >= 0 else None
    if isinstance(item, Function) and item.body and item.body_start < edit.start and edit.end < item.end:
        return at, item
    return at, None


class _Window:
    """One attempt to read only a part of a body again."""

    def __init__(
        self,
        before: ParsedText,
        module: nodes.Module,
        source: Source,
        edit: _Edit,
        at: int,
        function: Function,
    ):
        self.before, self.module, self.source, self.edit = before, module, source, edit
        self.at, self.function = at, function
        self.body: Sequence[nodes.Statement] = function.body or ()

    def run(self) -> ParsedText | None:
        """The text read anew; None where that takes a whole parse."""
        try:
            refuse_long_numbers(self.source)
            driver = Driver(self.source)
        except PtxError:
            return None
        if driver.is_ptx != is_ptx(self.before.source, driver.start):
            return None
        first, start = self._first()
        braces = _open_braces(self.function, self.body[:first])
        driver.braces = list(braces)
        driver.body = list(_moved(self.body[:first], 0, self.source))
        driver.head = build.Head(0, 0, "entry", "", (), (), (), ())  # the function's own is kept
        position = start
        for tried in _TRIES:
            last = self._last(position, tried)
            if last is None:
                return None
            stop = self.body[last].end + self.edit.delta
            position = driver.advance(position, stop)
            if driver.items or not driver.braces or len(driver.errors) != driver.n_skipped:
                return None
            if position == stop and self._agrees(driver, last, braces):
                return self._joined(driver, start, last)
        return None

    def _first(self) -> tuple[int, int]:
        """The first statement to read again, and where the parser begins to."""
        start = self.edit.start
        while True:
            first = max(bisect_left(self.body, start, key=lambda s: s.end) - _BACK, 0)
            begin = self.body[first - 1].end if first else self.function.body_start + 1
            broken = [
                a
                for a, b in self.before.skipped
                if a < begin <= b + _LOOKAHEAD and a > self.function.body_start
            ]
            if not broken or not first:
                return first, begin
            start = min(broken)

    def _last(self, position: int, tried: int) -> int | None:
        """A statement after the edit and after `position`, which nothing broken spans the end of."""
        least = max(self.edit.end, position - self.edit.delta)
        last = bisect_right(self.body, least, key=lambda s: s.start) + tried
        while last < len(self.body):
            end = self.body[last].end
            if not any(a < end < b for a, b in self.before.skipped):
                return last
            last += 1
        return None

    def _agrees(self, driver: Driver, last: int, braces: Sequence[int]) -> bool:
        """Whether the parser is where it was after that statement."""
        old = self.body[last]
        if not driver.body or type(driver.body[-1]) is not type(old):
            return False
        if driver.body[-1].start != old.start + self.edit.delta:
            return False
        then = _open_braces(self.function, self.body[: last + 1])
        there = [b + self.edit.delta if b >= self.edit.end else b for b in then]
        return driver.braces == there

    def _joined(self, driver: Driver, start: int, last: int) -> ParsedText | None:
        """The whole text: what is before the window, in it and after it."""
        old_end, delta, source = self.body[last].end, self.edit.delta, self.source
        earlier = [k for k, (_, b) in enumerate(self.before.skipped) if b <= start]
        later = [k for k, (a, _) in enumerate(self.before.skipped) if a >= old_end]
        after = [e for e in self.before.errors if e.start >= old_end]
        if any(names_line(e) for e in after):  # its number may be another one now
            return None
        errors = (
            *(_placed(e, 0, 0, source) for e in self.before.errors if e.start < start),
            *driver.errors,
            *(_placed(e, old_end, delta, source) for e in after),
        )
        if len(errors) >= MAX_ERRORS:
            return None
        skipped = (
            *(self.before.skipped[k] for k in earlier),
            *driver.skipped,
            *((a + delta, b + delta) for a, b in (self.before.skipped[k] for k in later)),
        )
        body = (*driver.body, *_moved(self.body[last + 1 :], delta, source))
        own = self.function
        items: list[nodes.Item] = [_moved_item(item, 0, source) for item in self.module.items[: self.at]]
        items.append(
            replace(own, end=own.end + delta, body=body, module=None)  # type: ignore[arg-type]  # set by Module
        )
        items += [_moved_item(item, delta, source) for item in self.module.items[self.at + 1 :]]
        return ParsedText(source, nodes.Module(source, tuple(items)), errors, skipped)


def _open_braces(function: Function, body: Sequence[nodes.Statement]) -> list[int]:
    """Where the blocks begin that are open after these statements of a body."""
    braces = [function.body_start]
    for statement in body:
        if type(statement) is ScopeOpen:
            braces.append(statement.start)
        elif type(statement) is ScopeClose:
            braces.pop()
    return braces


def _moved(statements: Iterable[nodes.Statement], delta: int, source: Source) -> Iterable[nodes.Statement]:
    """Statements of another place of another text."""
    for s in statements:
        if type(s) is Instruction:
            yield Instruction(s.start + delta, s.end + delta, s.guard, s.opcode, s.operands, source)
        elif not delta:
            yield s
        else:
            yield _moved_node(s, delta)


def _moved_node(node: nodes.Statement, delta: int) -> nodes.Statement:
    match node:
        case Label():
            return Label(node.start + delta, node.end + delta, node.name)
        case Directive():
            return Directive(node.start + delta, node.end + delta, node.name, node.text)
        case Declaration():
            return _moved_declaration(node, delta)
        case ScopeOpen():
            return ScopeOpen(node.start + delta, node.end + delta)
        case ScopeClose():
            return ScopeClose(node.start + delta, node.end + delta)
    raise AssertionError(node)


def _moved_declaration(node: Declaration, delta: int) -> Declaration:
    start, end = node.start + delta, node.end + delta
    rest = node.linkage, node.space, node.qualifiers, node.align, node.declarators
    return Declaration(start, end, *rest)


def _moved_item(item: nodes.Item, delta: int, source: Source) -> nodes.Item:
    if isinstance(item, Declaration):
        return _moved_declaration(item, delta)
    if isinstance(item, Directive):
        return Directive(item.start + delta, item.end + delta, item.name, item.text)
    return Function(
        item.start + delta,
        item.end + delta,
        item.kind,
        item.name,
        item.linkage,
        tuple(_moved_declaration(p, delta) for p in item.params),
        tuple(_moved_declaration(p, delta) for p in item.returns),
        tuple(Directive(d.start + delta, d.end + delta, d.name, d.text) for d in item.directives),
        None if item.body is None else tuple(_moved(item.body, delta, source)),
        item.body_start + delta,
    )


def names_line(found: Diagnostic) -> bool:
    """Whether the words of a diagnostic have the number of a line."""
    return _LINE.search(f"{found.message} {found.help} {found.note and found.note.message}") is not None


def _placed(found: Diagnostic, old_end: int, delta: int, source: Source) -> Diagnostic:
    """A diagnostic of the old text in the new one: what is from `old_end` on moves."""

    def at(offset: int) -> int:
        return offset + delta if offset >= old_end else offset

    note, fix = found.note, found.fix
    return replace(
        found,
        source=source,
        start=at(found.start),
        end=at(found.end),
        note=note and replace(note, source=source, start=at(note.start), end=at(note.end)),
        fix=fix and Fix(at(fix.start), at(fix.end), fix.text),
    )
