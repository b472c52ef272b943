"""Operands without Lark: the few forms that make up nearly all real code, and a memo over their texts.

A 5 MB file holds 109,000 different statements but only 28,000 different operand texts, so an operand is read once and
its node shared. The expressions are put together from the grammar's terminals; any other operand is refused with a
`KeyError` and goes to Lark. Both ways give the same nodes (tested).
"""

import re
from functools import cache

from ptxtool.ir.nodes import Binary, Immediate, Memory, Operand, Unary, Vector
from ptxtool.parse.grammar import terminals
from ptxtool.parse.operands import name


@cache
def _leaf() -> "re.Pattern[str]":
    t = {n: f"(?>{terminal.regex})" for n, terminal in terminals().items()}
    blank = f"(?:{t['SPACING']})?+"
    number = f"({t['MINUS']})?{blank}({t['NUMBER']})"
    return re.compile(
        rf"({t['NAME']})"  # 1
        rf"|{number}"  # 2 3
        # an address: 4 symbol, 5 base, 6 plus or post-increment, 7 8 offset, 9 register offset, 10 11 absolute
        rf"|({t['NAME']})?+{blank}\[{blank}(?:({t['NAME']}){blank}"
        rf"(?:({t['PLUS']}|{t['INCREMENT']}){blank}(?:{number}|({t['NAME']})){blank})?+|{number}{blank})\]"
        rf"|({t['MINUS']}|{t['NOT']}){blank}({t['NAME']})"  # 12 13
        rf"|({t['NAME']}){blank}({t['OPERATOR']}){blank}({t['NAME']})"  # 14 15 16: two destinations
    )


@cache
def _pieces() -> "re.Pattern[str]":
    """One operand of a list: no comma outside brackets. Nested brackets of one kind are left to Lark."""
    return re.compile(r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[[^\[\]]*+\]|\([^()]*+\))*+")


class Operands(dict[str, Operand]):
    """Operand text -> node; a text no leaf form fits raises `KeyError`."""

    def __missing__(self, text: str) -> Operand:
        stripped = text.strip(" \t\r\n\f\v")
        if stripped != text:
            node = self[stripped]
        elif stripped.startswith("{") and stripped.endswith("}") and len(stripped) > 2:
            node = Vector(tuple(map(self.__getitem__, stripped[1:-1].split(","))))
        else:
            node = _read(stripped)
        self[text] = node
        return node

    def list(self, text: str) -> tuple[Operand, ...]:
        """The operands of a comma-separated list with vectors or call arguments in it."""
        text = text.strip(" \t\r\n\f\v")
        if not text:
            return ()
        pieces: list[str] = []
        position = 0
        while True:
            match = _pieces().match(text, position)
            assert match is not None
            pieces.append(match[0])
            if match.end() == len(text):
                break
            if text[match.end()] != ",":
                raise KeyError(text)
            position = match.end() + 1
        return tuple(map(self.__getitem__, pieces))


def _read(text: str) -> Operand:
    match = _leaf().fullmatch(text)
    if match is None:
        raise KeyError(text)
    g = match.groups()
    if g[0] is not None:
        return name(g[0])
    if g[2] is not None:
        return Immediate("-" + g[2] if g[1] else g[2])
    if g[12] is not None:
        return Unary(g[11], name(g[12]))
    if g[15] is not None:
        return Binary(g[14], name(g[13]), name(g[15]))
    symbol = g[3] or ""
    if g[10] is not None:
        return Memory(symbol, None, Immediate("-" + g[10] if g[9] else g[10]))
    base = name(g[4])
    if g[5] is None:
        return Memory(symbol, base)
    offset: Operand = name(g[8]) if g[8] is not None else Immediate("-" + g[7] if g[6] else g[7])
    return Memory(symbol, base, offset, g[5] == "+=")
