"""Build statement nodes from flat lists of tokens: declarations, parameters, function heads, directives, labels.

The tokens come from Lark or from the per-statement parser's own lexer; either has already checked that they follow the
grammar, so the builders only pick out the parts. An initialiser or array size that is more than one token arrives as an
operand node in the list.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ptxtool.base.source import Source
from ptxtool.ir import nodes
from ptxtool.isa.literals import integer
from ptxtool.parse.operands import NestedOperand, destination, name
from ptxtool.parse.specifiers import check_declared, check_tuning, syntax_error
from ptxtool.parse.tokens import Token

Item = Token | NestedOperand
_SPECIFIERS = frozenset({"SPACE", "DOTTED", "ALIGN", "ATTRIBUTE", "POINTER"})


class Head(NamedTuple):
    """What stands before a function's body."""

    start: int
    end: int
    kind: str
    name: str
    linkage: tuple[str, ...]
    params: tuple[nodes.Declaration, ...]
    returns: tuple[nodes.Declaration, ...]
    directives: tuple[nodes.Directive, ...]


@lru_cache(maxsize=4096)  # texts have much the same
def opcode(text: str) -> nodes.Opcode:
    """`add .s32` and `add.s32` are the same opcode."""
    words = "".join(text.split()).split(".")
    return nodes.Opcode(".".join(words), words[0], tuple(words[1:]))


def instruction(items: Sequence[Item], source: Source) -> nodes.Instruction:
    guard: nodes.Guard | None = None
    tokens = [i for i in items if isinstance(i, Token)]
    operands = [i.node for i in items if isinstance(i, NestedOperand)]
    if tokens[0].text == "@":
        negated = tokens[1].text == "!"
        guarded = name(tokens[2 if negated else 1].text)
        guard = nodes.Guard(guarded.text, negated, guarded.part)
    words = "".join(t.text for t in tokens if t.kind in ("OPCODE", "DOTTED"))
    if operands:
        operands[0] = destination(operands[0])
    return nodes.Instruction(tokens[0].start, tokens[-1].end, guard, opcode(words), tuple(operands), source)


def label(token: Token) -> nodes.Label:
    return nodes.Label(token.start, token.end, token.text[:-1].rstrip())


def directive(items: Sequence[Item], source: Source) -> nodes.Directive:
    """A keyword and everything after it, as written in the source."""
    first, last = _token(items[0]), _token(items[-1])
    if first.kind == "CALL_PROTOTYPE":
        _check_prototype(items, source)
    stop = last.start if last.text == ";" else last.end
    return nodes.Directive(first.start, last.end, first.text[1:], source.text[first.end : stop].strip())


def _check_prototype(items: Sequence[Item], source: Source) -> None:
    """A prototype is a function head whose name is `_`."""
    i = 1
    while i < len(items):
        item = _token(items[i])
        if item.text == "(":
            i, _ = _parameters(items, i + 1, source)
            continue
        if item.kind == "IDENTIFIER" and item.text != "_":
            help = "a prototype stands for any function: write '_' in place of its name"
            raise syntax_error(f"unexpected name '{item.text}'", item, source, help)
        i += 1
        if item.kind == "TUNING":
            i, numbers = _numbers(items, i)
            check_tuning(item, numbers, "callprototype", source)


def _numbers(items: Sequence[Item], i: int) -> tuple[int, list[Token]]:
    """The index after a list of numbers, and the numbers."""
    start = i
    while i < len(items) and (_is_kind(items[i], "NUMBER") or _is_text(items[i], ",")):
        i += 1
    return i, [_token(item) for item in items[start:i] if _is_kind(item, "NUMBER")]


def declaration(items: Sequence[Item], source: Source, *, parameter: bool = False) -> nodes.Declaration:
    """A declaration with its semicolon, or a parameter without one."""
    linkage: list[str] = []
    qualifiers: list[str] = []
    declarators: list[nodes.Declarator] = []
    space, align = "", None
    i, n = 0, len(items)
    specifiers: list[Token] = []
    while i < n:
        item = _token(items[i])
        i += 1
        if item.kind in _SPECIFIERS:
            specifiers.append(item)
        elif specifiers:
            check_declared(specifiers, source, item, parameter=parameter)
            specifiers = []
        match item.kind:
            case "LINKAGE":
                linkage.append(item.text[1:])
            case "SPACE" if not space:
                space = item.text[1:]
            case "DOTTED" | "SPACE" | "POINTER":
                qualifiers.append(item.text[1:])
            case "ALIGN":
                align = _integer(items[i], source)
                i += 1
            case "ATTRIBUTE":
                i, words = _attribute(items, i)
                qualifiers.append("attribute" + words)
            case "IDENTIFIER":
                i, found = _declarator(item, items, i, source, may_be_unnamed=parameter)
                declarators.append(found)
            case _:
                assert item.text in (",", ";"), item
    start, end, names = _token(items[0]).start, _token(items[-1]).end, tuple(declarators)
    return nodes.Declaration(start, end, tuple(linkage), space, tuple(qualifiers), align, names)


def _attribute(items: Sequence[Item], i: int) -> tuple[int, str]:
    """The parenthesised words of an attribute, blanks removed."""
    words: list[str] = []
    depth = 0
    while True:
        item = _token(items[i])
        i += 1
        words.append(item.text)
        depth += {"(": 1, ")": -1}.get(item.text, 0)
        if depth == 0:
            return i, "".join(words)


def _declarator(
    identifier: Token, items: Sequence[Item], i: int, source: Source, *, may_be_unnamed: bool
) -> tuple[int, nodes.Declarator]:
    if identifier.text == "_" and not may_be_unnamed:
        help = "'_' stands for what is not used; give it a name"
        raise syntax_error("'_' cannot be declared", identifier, source, help)
    count: int | None = None
    dimensions: list[int | None] = []
    value: nodes.Operand | None = None
    while i < len(items):
        item = items[i]
        if not isinstance(item, Token) or item.text not in ("<", "[", "="):
            break
        if item.text == "=":
            value = _operand(items[i + 1])
            i += 2
        elif item.text == "<":
            count = _integer(items[i + 1], source)
            i += 3
        elif isinstance(size := items[i + 1], Token) and size.text == "]":
            dimensions.append(None)
            i += 2
        else:
            dimensions.append(_integer(size, source))
            i += 3
    return i, nodes.Declarator(identifier.text, count, tuple(dimensions), value)


def _operand(item: Item) -> nodes.Operand:
    if isinstance(item, Token):
        return nodes.Immediate(item.text)
    assert isinstance(item, NestedOperand)
    return item.node


def _integer(item: Item, source: Source) -> int:
    token = _token(item)
    try:
        return integer(token.text)
    except ValueError:
        raise syntax_error(
            f"'{token.text}' is no integer", token, source, "write a whole number here"
        ) from None


def head(items: Sequence[Item], source: Source) -> Head:
    """What stands before a body: linkage, kind, results, name, parameters, directives."""
    linkage: list[str] = []
    directives: list[nodes.Directive] = []
    params: tuple[nodes.Declaration, ...] = ()
    returns: tuple[nodes.Declaration, ...] = ()
    kind = identifier = ""
    i, n = 0, len(items)
    while i < n:
        item = _token(items[i])
        start = i
        i += 1
        match item.kind:
            case "LINKAGE":
                linkage.append(item.text[1:])
            case "ENTRY" | "FUNC":
                kind = item.text[1:]
                if linkage == ["common"]:
                    help = "'.common' is for variables"
                    raise syntax_error("'.common' at a function", _token(items[0]), source, help)
            case "IDENTIFIER":
                identifier = item.text
            case "ATTRIBUTE":
                i, words = _attribute(items, i)
                directives.append(nodes.Directive(item.start, _token(items[i - 1]).end, "attribute", words))
            case "TUNING":
                i, numbers = _numbers(items, i)
                check_tuning(item, numbers, kind, source)
                directives.append(directive(items[start:i], source))
            case "SPACE" if item.text != ".tex":
                help = "a head declares textures ('.tex') alone; other variables belong into the body"
                raise syntax_error(f"'{item.text}' in a function's head", item, source, help)
            case "SPACE" | "PRAGMA":
                while i < n and not _is_kind(items[i], "TUNING", "SPACE", "PRAGMA"):
                    i += 1
                directives.append(directive(items[start:i], source))
            case _:
                i, found = _parameters(items, i, source)
                if identifier:
                    params = found
                else:
                    returns = found
    start, end = _token(items[0]).start, _token(items[-1]).end
    return Head(start, end, kind, identifier, tuple(linkage), params, returns, tuple(directives))


def _parameters(items: Sequence[Item], i: int, source: Source) -> tuple[int, tuple[nodes.Declaration, ...]]:
    """The parameters after an opening parenthesis, and the index after the closing one."""
    found: list[nodes.Declaration] = []
    while not _is_text(items[i], ")"):
        start = i
        while not _is_text(items[i], ",", ")"):
            i += 1
        found.append(declaration(items[start:i], source, parameter=True))
        i += _is_text(items[i], ",")
    return i + 1, tuple(found)


def _is_kind(item: Item, *kinds: str) -> bool:
    return isinstance(item, Token) and item.kind in kinds


def _is_text(item: Item, *texts: str) -> bool:
    return isinstance(item, Token) and item.text in texts


def _token(item: Item) -> Token:
    assert isinstance(item, Token), item
    return item


def function(
    found: Head, body: Sequence[nodes.Statement] | None, body_start: int, end: int
) -> nodes.Function:
    """A function of its head and the statements of its body (None for a declaration)."""
    statements = None if body is None else tuple(body)
    return nodes.Function(found.start, end, *found[2:], statements, body_start)
