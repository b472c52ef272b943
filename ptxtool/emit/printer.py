"""Print statements and operands from their nodes, for statements that have no text yet.

One canonical layout: a tab, the guard, the opcode, operands separated by `, `, a semicolon. Parsing what is printed
gives the same node but for its offsets (tested on the whole corpus). Statements that came from a file keep their own
text and never pass through here.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ptxtool.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Dual,
    Group,
    Guard,
    Immediate,
    Instruction,
    Label,
    Memory,
    Name,
    Operand,
    ScopeClose,
    ScopeOpen,
    Statement,
    String,
    Unary,
    Vector,
)

# directives that a semicolon ends; the others end with their last word
_ENDED = frozenset({"pragma", "alias", "constptr", "branchtargets", "calltargets", "callprototype"})


def statement(node: Statement) -> str:
    """One statement on a line of its own, without the line end."""
    return _STATEMENTS[type(node)](node)


def operand(node: Operand) -> str:
    """One operand."""
    return _OPERANDS[type(node)](node)


def operands(nodes: Sequence[Operand]) -> str:
    return ", ".join(map(operand, nodes))


def guard(node: Guard) -> str:
    condition = f".{node.condition}" if node.condition else ""
    return f"@{'!' if node.negated else ''}{node.name}{condition}"


def parameter(node: Declaration) -> str:
    """A parameter: a declaration without its tab and semicolon."""
    words = [f".{word}" for word in (*node.linkage, node.space)]
    align = [f".align {node.align}"] if node.align is not None else []
    qualifiers = [f".{word}" for word in node.qualifiers]
    # a pointer's alignment stands behind the pointer, any other before the type
    words += qualifiers + align if "ptr" in node.qualifiers else align + qualifiers
    return " ".join([*words, ", ".join(map(declarator, node.declarators))]).rstrip()


def declarator(node: Declarator) -> str:
    count = "" if node.count is None else f"<{node.count}>"
    sizes = "".join(f"[{'' if size is None else size}]" for size in node.dimensions)
    value = "" if node.value is None else f" = {operand(node.value)}"
    return f"{node.name}{count}{sizes}{value}"


def _instruction(node: Instruction) -> str:
    words = [guard(node.guard)] if node.guard else []
    words.append(node.opcode.text)
    if node.operands:
        words.append(operands(node.operands))
    return f"\t{' '.join(words)};"


def _directive(node: Directive) -> str:
    indent = "\t" if node.name in ("loc", "pragma", "branchtargets", "calltargets", "callprototype") else ""
    return f"{indent}.{node.name} {node.text}".rstrip() + (";" if node.name in _ENDED else "")


def _memory(node: Memory) -> str:
    inside = "" if node.base is None else operand(node.base)
    if node.offset is not None:
        sign = "+=" if node.post_increment else "+" if inside else ""
        inside += sign + operand(node.offset)
    further = f", {operands(node.coordinates)}" if node.coordinates else ""
    return f"{node.symbol}[{inside}{further}]"


def _binary(node: Binary) -> str:
    # the blanks keep a% b from becoming a register
    return f"{operand(node.left)} {node.operator} {operand(node.right)}"


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    Instruction: _instruction,
    Label: lambda n: f"{n.name}:",
    Declaration: lambda n: f"\t{parameter(n)};",
    Directive: _directive,
    ScopeOpen: lambda _: "\t{",
    ScopeClose: lambda _: "\t}",
}

_OPERANDS: dict[type, Callable[[Any], str]] = {
    Name: lambda n: f"{n.text}.{n.part}" if n.part else n.text,
    Immediate: lambda n: n.text,
    String: lambda n: f'"{n.text}"',
    Unary: lambda n: n.operator + operand(n.operand),
    Binary: _binary,
    Conditional: lambda n: f"{operand(n.condition)} ? {operand(n.then)} : {operand(n.otherwise)}",
    Dual: lambda n: f"{operand(n.first)}{n.separator}{operand(n.second)}",
    Memory: _memory,
    Vector: lambda n: f"{{{operands(n.items)}}}",
    Group: lambda n: f"({operands(n.items)})",
    Apply: lambda n: n.function + "".join(map(operand, n.arguments)),
    Cast: lambda n: f"(.{n.type}){operand(n.operand)}",
}
