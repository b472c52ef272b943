"""Operands without Lark: the few forms that make up nearly all real code, and a memo over their texts.

A 5 MB file holds 109,000 different statements but only 28,000 different operand texts, so an operand is read once and
its node shared, by texts as well: all have a `%r1`, and the short ones little else. The expressions are put together
from the grammar's terminals and know nothing that the grammar does not; any other operand is refused with a `KeyError`
and goes to Lark. Both ways give the same nodes (tested).
"""

import re
from functools import cache

from ptxtool.ir.nodes import Binary, Group, Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.parse.grammar import terminals
from ptxtool.parse.operands import name

_MOST_KNOWN = 1 << 12
"""With more operands a memo is emptied between two texts."""
MAX_BRACKETS = 8  # in one operand read here, so that no input makes it recurse deeply
_BLANKS = " \t\r\n\f\v"


@cache
def _leaf(is_ptx: bool) -> "re.Pattern[str]":
    t = {n: f"(?>{terminal.regex})" for n, terminal in terminals().items()}
    blank = f"(?:{t['SPACING']})?+"
    literal = t["NUMBER"] if is_ptx else f"(?>{t['NUMBER']}|{t['FLOAT_BITS']})"
    number = f"({t['MINUS']})?{blank}({literal})"
    if is_ptx:
        inside = rf"({t['NAME']}){blank}(?:({t['PLUS']}){blank}(?:{number}|((?!))){blank})?+"
        prefix = rf"({t['MINUS']}|{t['NOT']}){blank}({t['NAME']})"
        pair = (
            rf"({t['NAME']}){blank}(?:({t['BAR']}){blank}({t['NAME']})|({t['PLUS']}){blank}({t['NUMBER']}))"
        )
    else:
        further = f"{t['PLUS']}|{t['INCREMENT']}"
        inside = rf"({t['NAME']}){blank}(?:({further}){blank}(?:{number}|({t['NAME']})){blank})?+"
        prefix = rf"({t['MINUS']}|{t['NOT']}|{t['COMPLEMENT']}){blank}({t['NAME']})"
        operator = f"({t['OPERATOR']}|{t['BAR']}|{t['PLUS']}|{t['MINUS']})"
        pair = rf"({t['NAME']}){blank}(?:{operator}{blank}({t['NAME']})|{operator}{blank}({literal}))"
    return re.compile(
        rf"({t['NAME']})"  # 1
        rf"|{number}"  # 2 3
        # an address: 4 symbol, 5 base, 6 plus or post-increment, 7 8 offset, 9 register offset, 10 11 absolute
        rf"|({t['NAME']})?+{blank}\[{blank}(?:{inside}|{number}{blank})\]"
        rf"|{prefix}"  # 12 13
        rf"|{pair}"  # 14 15 16: two names, 17 18: a name and a number
        rf"|({t['NOT']}|{t['COMPLEMENT']}){blank}({t['NUMBER']})"  # 19 20
        rf"|({t['FLOAT_BITS']})"  # 21
    )


_BRACKETS = r"\{[^{}]*+\}|\[[^\[\]]*+\]|\([^()]*+\)"
_FLAT = re.compile(rf"(?:[^{{}}\[\]()]++|{_BRACKETS})*+")
"""A list without nested brackets of one kind, and with both of each; others are left to Lark."""
_PIECE = re.compile(rf"((?:[^,{{}}\[\]()]++|{_BRACKETS})*+),")
"""One operand of such a list and its comma."""


@cache
def leaf_operands(is_ptx: bool) -> "LeafOperands":
    """The memo of all texts of one dialect."""
    return LeafOperands(is_ptx)


class LeafOperands(dict[str, Operand]):
    """Operand text -> node, in the one dialect or the other; a text no leaf form fits raises `KeyError`."""

    def __init__(self, is_ptx: bool):
        super().__init__()
        self._is_ptx = is_ptx
        self._leaf = _leaf(is_ptx).fullmatch

    def __missing__(self, text: str) -> Operand:
        node = self[text] = self._new(text)
        return node

    def limit(self) -> None:
        """Forget all operands if there are many."""
        if len(self) > _MOST_KNOWN:
            self.clear()

    def _new(self, text: str) -> Operand:
        stripped = text.strip(_BLANKS)
        if stripped != text:
            return self[stripped]
        # most are leaves; a text with brackets that are no plain address is a compound
        match = self._leaf(text)
        return self._read(match) if match else self._compound(text)

    def _compound(self, text: str) -> Operand:
        """Vectors, call arguments and addresses with coordinates, of leaves."""
        if sum(map(text.count, "{([")) > MAX_BRACKETS or (self._is_ptx and "WARP_SZ" in text):
            raise KeyError(text)
        inner = text[1:-1]
        match text[:1] + text[-1:]:
            case "{}" if inner:
                return Vector(self._elements(inner.split(",")))
            case "()" if self._is_ptx:
                return Group(
                    self._elements(self._split(inner.strip(_BLANKS))) if inner.strip(_BLANKS) else ()
                )
            case "()":
                return Group(self.read_list(inner))
            case "[]":
                first, *further = self._split(inner)
                address = self[f"[{first}]"] if further else None
                if type(address) is Memory and not address.coordinates:
                    coordinates = tuple(map(self.__getitem__, further))
                    if self._is_ptx and not all(type(c) in (Name, Vector) for c in coordinates):
                        raise KeyError(text)
                    return Memory("", address.base, address.offset, address.post_increment, coordinates)
            case "-}" if text[1] == "{" and not self._is_ptx:
                return Unary("-", self[inner + "}"])
        raise KeyError(text)

    def _elements(self, texts: list[str]) -> tuple[Operand, ...]:
        """The elements of a vector or an argument list, which in PTX are names and literals."""
        found = tuple(map(self.__getitem__, texts))
        if self._is_ptx and not all(type(e) is Name or type(e) is Immediate for e in found):
            raise KeyError(texts)
        return found

    def read_list(self, text: str) -> tuple[Operand, ...]:
        """The operands of a comma-separated list."""
        text = text.strip(_BLANKS)
        return tuple(map(self.__getitem__, self._split(text))) if text else ()

    @staticmethod
    def _split(text: str) -> list[str]:
        """Cut at the commas outside brackets."""
        if _FLAT.fullmatch(text) is None:
            raise KeyError(text)
        return _PIECE.findall(text + ",")

    def _read(self, match: "re.Match[str]") -> Operand:
        """The node of a leaf, of its groups; names and numbers in an address are most likely in the memo."""
        if match.lastindex == 1:
            return name(match[1])
        g = match.groups()
        if g[4] is not None or g[10] is not None:
            return self._address(g)
        if g[2] is not None:
            return Immediate("-" + g[2] if g[1] else g[2])
        if g[12] is not None:
            return Unary(g[11], name(g[12]))
        if g[13] is not None:
            if g[15] is not None:
                return Binary(g[14], name(g[13]), name(g[15]))
            return Binary(g[16], name(g[13]), Immediate(g[17]))
        if g[19] is not None:
            return Unary(g[18], Immediate(g[19]))
        return Immediate(g[20])

    def _address(self, g: tuple[str, ...]) -> Memory:
        """An address of the groups of a leaf."""
        symbol = g[3] or ""
        if g[10] is not None:
            return Memory(symbol, None, Immediate("-" + g[10] if g[9] else g[10]))
        base = self[g[4]]
        if g[5] is None:
            return Memory(symbol, base)
        offset = self[g[8]] if g[8] is not None else Immediate("-" + g[7] if g[6] else g[7])
        return Memory(symbol, base, offset, g[5] == "+=")
