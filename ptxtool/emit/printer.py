"""Print statements and operands from their nodes, for statements that have no text yet.

One canonical layout: a tab, the guard, the opcode, operands separated by `, `, a semicolon. Parsing what is printed
gives the same node but for its offsets (tested on the whole corpus). Statements that came from a file keep their own
text and never pass through here.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ptxtool.ir import nodes

# directives that a semicolon ends; the others end with their last word
_ENDED = frozenset({"pragma", "alias", "constptr", "branchtargets", "calltargets", "callprototype"})


def statement(node: nodes.Statement) -> str:
    """One statement on a line of its own, without the line end."""
    return _STATEMENTS[type(node)](node)


def operand(node: nodes.Operand) -> str:
    """One operand."""
    return _OPERANDS[type(node)](node)


def operands(items: Sequence[nodes.Operand]) -> str:
    return ", ".join(map(operand, items))


def guard(node: nodes.Guard) -> str:
    condition = f".{node.condition}" if node.condition else ""
    return f"@{'!' if node.negated else ''}{node.name}{condition}"


def parameter(node: nodes.Declaration) -> str:
    """A parameter: a declaration without its tab and semicolon."""
    words = [f".{word}" for word in (*node.linkage, node.space)]
    align = [f".align {node.align}"] if node.align is not None else []
    qualifiers = [f".{word}" for word in node.qualifiers]
    # a pointer's alignment follows the pointer, any other before the type
    words += qualifiers + align if "ptr" in node.qualifiers else align + qualifiers
    return " ".join([*words, ", ".join(map(declarator, node.declarators))]).rstrip()


def declarator(node: nodes.Declarator) -> str:
    count = "" if node.count is None else f"<{node.count}>"
    sizes = "".join(f"[{'' if size is None else size}]" for size in node.dimensions)
    value = "" if node.value is None else f" = {operand(node.value)}"
    return f"{node.name}{count}{sizes}{value}"


def _instruction(node: nodes.Instruction) -> str:
    words = [guard(node.guard)] if node.guard else []
    words.append(node.opcode.text)
    if node.operands:
        words.append(operands(node.operands))
    return f"\t{' '.join(words)};"


def _directive(node: nodes.Directive) -> str:
    indent = "\t" if node.name in ("loc", "pragma", "branchtargets", "calltargets", "callprototype") else ""
    return f"{indent}.{node.name} {node.text}".rstrip() + (";" if node.name in _ENDED else "")


def _memory(node: nodes.Memory) -> str:
    inside = "" if node.base is None else operand(node.base)
    if node.offset is not None:
        sign = "+=" if node.post_increment else "+" if inside else ""
        inside += sign + operand(node.offset)
    further = f", {operands(node.coordinates)}" if node.coordinates else ""
    return f"{node.symbol}[{inside}{further}]"


def _binary(node: nodes.Binary) -> str:
    # the blanks keep a% b from becoming a register
    return f"{operand(node.left)} {node.operator} {operand(node.right)}"


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    nodes.Instruction: _instruction,
    nodes.Label: lambda n: f"{n.name}:",
    nodes.Declaration: lambda n: f"\t{parameter(n)};",
    nodes.Directive: _directive,
    nodes.ScopeOpen: lambda _: "\t{",
    nodes.ScopeClose: lambda _: "\t}",
}

_OPERANDS: dict[type, Callable[[Any], str]] = {
    nodes.Name: lambda n: f"{n.text}.{n.part}" if n.part else n.text,
    nodes.Immediate: lambda n: n.text,
    nodes.String: lambda n: f'"{n.text}"',
    nodes.Unary: lambda n: n.operator + operand(n.operand),
    nodes.Binary: _binary,
    nodes.Conditional: lambda n: f"{operand(n.condition)} ? {operand(n.then)} : {operand(n.otherwise)}",
    nodes.Dual: lambda n: f"{operand(n.first)}{n.separator}{operand(n.second)}",
    nodes.Memory: _memory,
    nodes.Vector: lambda n: f"{{{operands(n.items)}}}",
    nodes.Group: lambda n: f"({operands(n.items)})",
    nodes.Apply: lambda n: n.function + "".join(map(operand, n.arguments)),
    nodes.Cast: lambda n: f"(.{n.type}){operand(n.operand)}",
}
