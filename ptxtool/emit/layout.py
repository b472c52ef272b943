"""The canonical layout of a file: what `ptxtool fmt` prints.

Statements are laid out one by one (`statements`); this file sets them under each other, in nested blocks one step to
the right, labels one step to the left, and puts what stands between them back: comments, each before the same
statement or after it as in the text, and blank lines, at most one, none inside braces at either end, one around every
function that has a body. Empty statements (`;`) go. Nothing else is added or taken away: numbers, names and modifiers
stay as they are written.

Line ends are those of the text's first line. A comment of several lines keeps its text and, where it began a line,
its indentation; one to the end of its line loses blanks at its end.
"""

import re
from functools import cache
from typing import NamedTuple

from ptxtool.emit.pieces import INDENT, comment_text, is_line_comment, with_comment
from ptxtool.emit.statements import Statements
from ptxtool.ir import nodes
from ptxtool.ir.symbols import LABEL_LISTS
from ptxtool.parse.grammar import terminals

MAX_LEVELS = 32
"""Blocks nested more deeply than this are not indented further, so that no input gives quadratic output."""


class Comment(NamedTuple):
    """A comment on a line of its own; `raw` is the text and what stood before it on its line."""

    text: str
    raw: str
    after_blank: bool


class Gap(NamedTuple):
    """What stands between two statements."""

    trailing: tuple[str, ...] = ()  # comments on the line of the statement before
    own: tuple[Comment, ...] = ()
    blank: bool = False  # a blank line before the next statement


_NOTHING = Gap()


@cache
def _gap_part() -> "re.Pattern[str]":
    t = terminals()
    return re.compile(
        f"(?P<spacing>{t['SPACING'].regex})|(?P<comment>{t['COMMENT'].regex})|(?P<empty>.)", re.DOTALL
    )


class _Gaps(dict[str, Gap]):
    """Text between two statements -> what is in it; most are alike."""

    def __missing__(self, text: str) -> Gap:
        found = self[text] = read_gap(text, True)
        return found


def read_gap(text: str, after_statement: bool) -> Gap:
    """Read the text between two statements, or before the first."""
    trailing: list[str] = []
    own: list[Comment] = []
    same_line, newlines, spacing = after_statement, 0, ""
    for match in _gap_part().finditer(text):
        found = match[0]
        if match.lastgroup == "spacing":
            spacing = found
            newlines += found.count("\n")
            same_line = same_line and newlines == 0
        elif match.lastgroup == "comment":
            if same_line:
                trailing.append(found)
            else:
                own.append(Comment(found, spacing.rpartition("\n")[2] + found, newlines > 1))
            newlines, spacing = 0, ""
    if not trailing and not own and newlines < 2:
        return _NOTHING
    return Gap(tuple(trailing), tuple(own), newlines > 1)


class _ModuleLayout:
    """The lines of one module, as far as they are written."""

    def __init__(self, module: nodes.Module) -> None:
        self.text = module.source.text
        self.statements = Statements(self.text)
        self.gaps = _Gaps()
        self.lines: list[str] = []
        self.first = 0  # the number of lines before which no blank one may stand

    def module(self, module: nodes.Module) -> str:
        position = 1 if self.text.startswith("\ufeff") else 0
        before: nodes.Directive | nodes.Declaration | nodes.Function | None = None
        for item in module.items:
            text = self.text[position : item.start]
            gap = read_gap(text, False) if before is None else self.gaps[text]
            defined = [i for i in (before, item) if isinstance(i, nodes.Function) and i.body is not None]
            self.between(gap, "", apart=before is not None and bool(defined))
            if isinstance(item, nodes.Function):
                self.function(item)
            elif isinstance(item, nodes.Declaration):
                self.lines.append(self.statements.declaration(item, ""))
            else:
                self.lines.append(self.statements.directive(item, ""))
            position, before = item.end, item
        self.between(self.gaps[self.text[position:]], "", closing=True)
        return "\n".join(self.lines) + "\n"

    def between(self, gap: Gap, indent: str, closing: bool = False, apart: bool = False) -> None:
        """Write what stands between two statements; `closing` before a brace or the end, `apart` to part them."""
        if gap.trailing:
            self.lines[-1] = " ".join(
                [with_comment(self.lines[-1], gap.trailing[0]), *map(comment_text, gap.trailing[1:])]
            )
        blank = gap.blank and not closing
        if apart and not blank and not any(comment.after_blank for comment in gap.own):
            if gap.own:
                self._blank_line()
            else:
                blank = True
        for comment in gap.own:
            if comment.after_blank:
                self._blank_line()
            self.lines.append(_own_line(comment, indent))
        if blank:
            self._blank_line()

    def _blank_line(self) -> None:
        if len(self.lines) > self.first and self.lines[-1]:
            self.lines.append("")

    def function(self, function: nodes.Function) -> None:
        head = self.statements.head(function)
        self.lines.append(head)
        if function.body is None:
            return
        self.open("")
        position = self.body(function)
        self.between(self.gaps[self.text[position : function.end - 1]], INDENT, closing=True)
        self.lines.append("}")

    def open(self, indent: str) -> None:
        self.lines.append(indent + "{")
        self.first = len(self.lines)

    def body(self, function: nodes.Function) -> int:
        """Write a body's statements; the end of the last one."""
        text, gaps, lines = self.text, self.gaps, self.lines
        instruction = self.statements.instruction
        position = function.body_start + 1
        level, indent, outer = 1, INDENT, ""
        label: nodes.Label | None = None
        for statement in function.body or ():
            kind = type(statement)
            gap = gaps[text[position : statement.start]]
            if gap is not _NOTHING:
                self.between(gap, indent, closing=kind is nodes.ScopeClose)
            position = statement.end
            if kind is nodes.Instruction:
                lines.append(instruction(statement, indent))  # type: ignore[arg-type]
            elif isinstance(statement, nodes.Label):
                lines.append(f"{outer}{statement.name}:")
            elif isinstance(statement, nodes.Declaration):
                lines.append(self.statements.declaration(statement, indent))
            elif isinstance(statement, nodes.Directive):
                line = self.statements.directive(statement, indent)
                if label is not None and gap is _NOTHING and statement.name in LABEL_LISTS:
                    line = f"{indent}{label.name}: {line.removeprefix(indent)}"
                    lines.pop()
                lines.append(line)
            elif kind is nodes.ScopeOpen:
                self.open(indent)
                level += 1
                indent, outer = _indents(level)
            else:
                level -= 1
                indent, outer = _indents(level)
                lines.append(indent + "}")
            label = statement if isinstance(statement, nodes.Label) else None
        return position


def _indents(level: int) -> tuple[str, str]:
    """The indentation of statements and of labels in a nested block."""
    steps = min(level, MAX_LEVELS)
    return INDENT * steps, INDENT * (steps - 1)


def _own_line(comment: Comment, indent: str) -> str:
    if not is_line_comment(comment.text):
        return comment.raw if "\n" in comment.text else indent + comment.text
    # `@@DWARF` begins its line
    return (indent if comment.text.startswith("//") else "") + comment_text(comment.text)


def layout(module: nodes.Module) -> str:
    """The module's text in the canonical layout."""
    source = module.source.text
    text = _ModuleLayout(module).module(module).replace("\r\n", "\n")
    if source.startswith("\ufeff"):
        text = "\ufeff" + text
    line_end = source.find("\n")
    return text.replace("\n", "\r\n") if source[max(0, line_end - 1) : line_end] == "\r" else text
