"""Build operand nodes from their parts, where that takes more than naming the node.

The grammar leaves operator precedence open (layered rules parse 1.3 times slower); `infix` resolves it with two
stacks. An address splits into base and offset at its last `+` or `-`. Nothing here recurses, and nodes deeper than
`MAX_DEPTH` are refused, so that no input can exhaust the stack of a later walk over the operand.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ptxtool.ir import nodes
from ptxtool.ir.constants import constant
from ptxtool.isa.literals import literal

MAX_DEPTH = 100

# C's precedences; a higher number binds tighter
_PRECEDENCE = {
    symbol: level
    for level, symbols in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"), start=1
    )
    for symbol in symbols.split()
}


class TooDeep(ValueError):
    """An operand nested deeper than `MAX_DEPTH`."""


class NestedOperand(NamedTuple):
    """An operand under construction and how deeply it nests."""

    node: nodes.Operand
    depth: int


def nested(node: nodes.Operand, parts: Sequence[NestedOperand]) -> NestedOperand:
    """An operand of parts. Raises `TooDeep`."""
    depth = 1 + max((p.depth for p in parts), default=0)
    if depth > MAX_DEPTH:
        raise TooDeep
    return NestedOperand(node, depth)


def name(text: str) -> nodes.Name:
    """`$r1.lo`: the identifier and the part after its dot."""
    whole, _, part = text.partition(".")
    return nodes.Name(whole, part)


def prefix(sign: str, operand: NestedOperand) -> NestedOperand:
    """`-x`; the minus of a literal joins the literal."""
    node = operand.node
    if sign == "-" and type(node) is nodes.Immediate and not node.text.startswith("-"):
        return NestedOperand(nodes.Immediate("-" + node.text), operand.depth)
    return nested(nodes.Unary(sign, node), [operand])


def infix(items: Sequence[NestedOperand | str]) -> NestedOperand:
    """`a op b op c ...`, operands and operators alternating, as a tree."""
    operands: list[NestedOperand] = []
    operators: list[str] = []

    def reduce() -> None:
        right, left = operands.pop(), operands.pop()
        operands.append(nested(nodes.Binary(operators.pop(), left.node, right.node), (left, right)))

    for item in items:
        if isinstance(item, NestedOperand):
            operands.append(item)
            continue
        while operators and _PRECEDENCE[operators[-1]] >= _PRECEDENCE[item]:
            reduce()
        operators.append(item)
    while operators:
        reduce()
    return operands[0]


class Increment(NamedTuple):
    """`$ofs1+=4` on its way into a memory operand."""

    base: NestedOperand
    step: NestedOperand


def memory(
    symbol: str, address: "NestedOperand | Increment", further: Sequence[NestedOperand] = ()
) -> NestedOperand:
    """`symbol[address, further ...]`."""
    coordinates = tuple(c.node for c in further)
    if isinstance(address, Increment):
        base, step = address
        return nested(nodes.Memory(symbol, base.node, step.node, True, coordinates), [base, step, *further])
    node = address.node
    base_node: nodes.Operand | None
    offset: nodes.Operand | None
    if is_constant(node):
        base_node, offset = None, node
    elif (
        type(node) is nodes.Binary
        and node.operator == "-"
        and type(node.right) in (nodes.Immediate, nodes.Group)
    ):
        base_node, offset = node.left, prefix("-", NestedOperand(node.right, address.depth)).node
    elif type(node) is nodes.Binary and node.operator == "+":
        base_node, offset = node.left, node.right
    else:
        base_node, offset = node, None
    return nested(nodes.Memory(symbol, base_node, offset, False, coordinates), [address, *further])


def is_constant(node: nodes.Operand) -> bool:
    """True for an expression of literals alone."""
    pending: list[nodes.Operand] = [node]
    while pending:
        item = pending.pop()
        if type(item) is nodes.Immediate:
            continue
        if type(item) is nodes.Unary or type(item) is nodes.Cast:
            pending.append(item.operand)
        elif type(item) is nodes.Binary:
            pending += (item.left, item.right)
        elif type(item) is nodes.Conditional:
            pending += (item.condition, item.then, item.otherwise)
        elif type(item) is nodes.Group and len(item.items) == 1:
            pending += item.items
        else:
            return False
    return True


def destination(node: nodes.Operand) -> nodes.Operand:
    """The first operand of an instruction: `p|q` and `$p0/$r1` there are two destinations, not an expression."""
    if type(node) is nodes.Binary and node.operator in ("|", "/"):
        left, right = node.left, node.right
        if type(right) is nodes.Name and (type(left) is nodes.Name or type(left) is nodes.Vector):
            return nodes.Dual(left, right, node.operator)
    return node


def fold(node: nodes.Operand) -> int | None:
    """The value of an integer expression of literals, or None where it is no such thing."""
    number = number_of(node)
    return number if isinstance(number, int) else None


def number_of(node: nodes.Operand) -> int | float | None:
    """The value of an expression of literals, None where it is no such thing."""
    try:
        return literal(node.text).value if type(node) is nodes.Immediate else constant(node).number
    except ValueError:
        return None
