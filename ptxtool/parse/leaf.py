"""Operands without Lark: the few forms that make up nearly all real code, and a memo over their texts.

A 5 MB file holds 109,000 different statements but only 28,000 different operand texts, so an operand is read once and
its node shared. The expressions are put together from the grammar's terminals; any other operand is refused with a
`KeyError` and goes to Lark. Both ways give the same nodes (tested).
"""

import re
from functools import cache

from ptxtool.ir.nodes import Binary, Group, Immediate, Memory, Operand, Unary, Vector
from ptxtool.parse.grammar import terminals
from ptxtool.parse.operands import name

MAX_BRACKETS = 8  # in one operand read here, so that no input makes it recurse deeply
_BLANKS = " \t\r\n\f\v"


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
        rf"|({t['MINUS']}|{t['NOT']}|{t['COMPLEMENT']}){blank}({t['NAME']})"  # 12 13
        # 14 15 16 17: two destinations, a symbol and an offset
        rf"|({t['NAME']}){blank}({t['OPERATOR']}|{t['PLUS']}|{t['MINUS']}){blank}(?:({t['NAME']})|({t['NUMBER']}))"
        rf"|({t['NOT']}|{t['COMPLEMENT']}){blank}({t['NUMBER']})"  # 18 19
    )


@cache
def _pieces() -> "re.Pattern[str]":
    """One operand of a list: no comma outside brackets. Nested brackets of one kind are left to Lark."""
    return re.compile(r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[[^\[\]]*+\]|\([^()]*+\))*+")


class Operands(dict[str, Operand]):
    """Operand text -> node; a text no leaf form fits raises `KeyError`."""

    def __missing__(self, text: str) -> Operand:
        stripped = text.strip(_BLANKS)
        if stripped != text:
            node = self[stripped]
        else:
            # most are leaves; a text with brackets that are no plain address is a compound
            node = _read(stripped) or self._compound(stripped)
        self[text] = node
        return node

    def _compound(self, text: str) -> Operand:
        """Vectors, call arguments and addresses with coordinates, of leaves."""
        if sum(map(text.count, "{([")) > MAX_BRACKETS:
            raise KeyError(text)
        inner = text[1:-1]
        match text[:1] + text[-1:]:
            case "{}" if inner:
                return Vector(tuple(map(self.__getitem__, inner.split(","))))
            case "()":
                return Group(self.read_list(inner))
            case "[]":
                first, *further = self._split(inner)
                address = self[f"[{first}]"] if further else None
                if type(address) is Memory and not address.coordinates:
                    coordinates = tuple(map(self.__getitem__, further))
                    return Memory("", address.base, address.offset, address.post_increment, coordinates)
            case "-}" if text[1] == "{":
                return Unary("-", self[inner + "}"])
        raise KeyError(text)

    def read_list(self, text: str) -> tuple[Operand, ...]:
        """The operands of a comma-separated list."""
        text = text.strip(_BLANKS)
        return tuple(map(self.__getitem__, self._split(text))) if text else ()

    @staticmethod
    def _split(text: str) -> list[str]:
        """Cut at the commas outside brackets."""
        pieces: list[str] = []
        position = 0
        while True:
            match = _pieces().match(text, position)
            assert match is not None
            pieces.append(match[0])
            if match.end() == len(text):
                return pieces
            if text[match.end()] != ",":
                raise KeyError(text)
            position = match.end() + 1


def _read(text: str) -> Operand | None:
    match = _leaf().fullmatch(text)
    if match is None:
        return None
    g = match.groups()
    if g[0] is not None:
        return name(g[0])
    if g[2] is not None:
        return Immediate("-" + g[2] if g[1] else g[2])
    if g[12] is not None:
        return Unary(g[11], name(g[12]))
    if g[13] is not None:
        return Binary(g[14], name(g[13]), Immediate(g[16]) if g[15] is None else name(g[15]))
    if g[18] is not None:
        return Unary(g[17], Immediate(g[18]))
    symbol = g[3] or ""
    if g[10] is not None:
        return Memory(symbol, None, Immediate("-" + g[10] if g[9] else g[10]))
    base = name(g[4])
    if g[5] is None:
        return Memory(symbol, base)
    offset: Operand = name(g[8]) if g[8] is not None else Immediate("-" + g[7] if g[6] else g[7])
    return Memory(symbol, base, offset, g[5] == "+=")
