"""From Lark's reductions to nodes: one method per rule of the grammar, called while it parses.

What is more than a node goes to `operands`, statements go to `build`. A reduction of `module` gives the items of the
file, of `body` and `block` a flat list of statements, so that whole-file parsing needs no second walk. The parser is
shared and its callbacks are methods of one object, so the source they cut text from is set per parse and kept per
thread.
"""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import lark

from ptxtool.base.source import Source
from ptxtool.ir import nodes
from ptxtool.parse import build, operands
from ptxtool.parse.operands import Increment, NestedOperand, nested
from ptxtool.parse.specifiers import syntax_error
from ptxtool.parse.tokens import Token


class Body(NamedTuple):
    """The statements between two braces, braces included as scope marks."""

    statements: list[nodes.Statement]


def _token(item: Any) -> Any:
    """A Lark token as ours; nodes pass."""
    if isinstance(item, lark.Token):
        start, end = item.start_pos, item.end_pos
        assert start is not None
        assert end is not None
        return Token(item.type, str(item), start, end)
    return item


def _tokens(items: Sequence[Any]) -> list[Any]:
    return [_token(i) for i in items]


def _parts(items: Sequence[Any]) -> list[NestedOperand]:
    """The operands of a list: Lark shares the helper rule of `("," operand)*` with rules that keep their commas."""
    return [i for i in items if isinstance(i, NestedOperand)]


class NodeBuilder(threading.local):
    """The callbacks of the parser; `source` is what the coming parse of this thread reads."""

    source: Source

    # ---- operands

    def name(self, items: Sequence[Any]) -> NestedOperand:
        return NestedOperand(operands.name(str(items[0])), 0)

    def part(self, items: Sequence[Any]) -> NestedOperand:
        """`%tid .x`: the part stands apart from its name."""
        name, part = _token(items[0]), _token(items[1])
        if "." in name.text:
            help = f"remove '{part.text}', or the part before it"
            raise syntax_error(f"'{part.text}' is a second part", part, self.source, help)
        return NestedOperand(operands.name(name.text + part.text), 0)

    def immediate(self, items: Sequence[Any]) -> NestedOperand:
        return NestedOperand(nodes.Immediate(str(items[0])), 0)

    bits = immediate

    def prefix(self, items: Sequence[Any]) -> NestedOperand:
        return operands.prefix(str(items[0]), items[1])

    def infix(self, items: Sequence[Any]) -> NestedOperand:
        return operands.infix([i if isinstance(i, NestedOperand) else str(i) for i in items])

    def conditional(self, items: Sequence[Any]) -> NestedOperand:
        condition, then, otherwise = items
        return nested(nodes.Conditional(condition.node, then.node, otherwise.node), items)

    def cast(self, items: Sequence[Any]) -> NestedOperand:
        type_, operand = items
        return nested(nodes.Cast(type_[1:], operand.node), [operand])

    def vector(self, items: Sequence[Any]) -> NestedOperand:
        parts = _parts(items)
        return nested(nodes.Vector(tuple(part.node for part in parts)), parts)

    def group(self, items: Sequence[Any]) -> NestedOperand:
        parts = _parts(items)
        return nested(nodes.Group(tuple(part.node for part in parts)), parts)

    arguments = group

    def apply(self, items: Sequence[Any]) -> NestedOperand:
        function, argument = items
        return nested(nodes.Apply(str(function), (nodes.Group((argument.node,)),)), [argument])

    def assignment(self, items: Sequence[Any]) -> NestedOperand:
        target, value = items
        return nested(nodes.Binary("=", operands.name(str(target)), value.node), [value])

    def increment(self, items: Sequence[Any]) -> Increment:
        return Increment(items[0], items[2])

    def memory(self, items: Sequence[Any]) -> NestedOperand:
        return operands.memory("", items[0], _parts(items[1:]))

    def indexed(self, items: Sequence[Any]) -> NestedOperand:
        return operands.memory(str(items[0]), items[1], _parts(items[2:]))

    # ---- statements

    def instruction(self, items: Sequence[Any]) -> nodes.Statement:
        return build.instruction(_tokens(items), self.source)

    plus_instruction = instruction

    def label(self, items: Sequence[Any]) -> nodes.Label:
        return build.label(_token(items[0]))

    def declaration(self, items: Sequence[Any]) -> nodes.Declaration:
        return build.declaration(_tokens(items), self.source)

    local_declaration = declaration

    def directive(self, items: Sequence[Any]) -> nodes.Directive:
        return build.directive(_tokens(items), self.source)

    version = target = address_size = file = loc = pragma = section = alias = constptr = directive
    branch_targets = call_targets = call_prototype = directive

    def label_list(self, items: Sequence[Any]) -> "Body":
        return Body(list(items))

    def function_head(self, items: Sequence[Any]) -> build.Head:
        return build.head(_tokens(items), self.source)

    def open(self, items: Sequence[Any]) -> nodes.ScopeOpen:
        token = _token(items[0])
        return nodes.ScopeOpen(token.start, token.end)

    def close(self, items: Sequence[Any]) -> nodes.ScopeClose:
        token = _token(items[0])
        return nodes.ScopeClose(token.start, token.end)

    def body(self, items: Sequence[Any]) -> Body:
        statements: list[nodes.Statement] = []
        for item in items:
            if isinstance(item, Body):
                statements += item.statements
            elif not isinstance(item, lark.Token):
                statements.append(item)
        return Body(statements)

    block = plus_body = plus_block = body

    def function(self, items: Sequence[Any]) -> nodes.Function:
        head, rest = items
        if not isinstance(rest, Body):
            end = _token(rest).end
            return build.function(head, None, end, end)
        statements = rest.statements
        return build.function(head, statements[1:-1], statements[0].start, statements[-1].end)

    plus_function = function

    def statement(self, items: Sequence[Any]) -> Any:
        return items[0]

    item = plus_item = plus_statement = statement

    def module(self, items: Sequence[Any]) -> list[Any]:
        return list(items)

    plus_module = module
