"""The layout of one statement: its lines, from its text. For the layout of a whole file.

An instruction is a guard, its opcode, and operands that begin 16 columns after the statement's beginning or at the
next multiple of 8 after a longer opcode; the names of declarations likewise. So a line's layout depends on that
statement alone, and a change of one line never moves its neighbours. A statement is one line, however long, but for:

* a function's head, with a parameter and a directive a line;
* an initialiser that was broken into lines: it keeps its lines, indented by its braces;
* a comment inside that ends a line.

Debug sections keep their lines, indented anew.
"""

import re

from ptxtool.emit.pieces import FIELD, INDENT, PiecePlace, pad, pieces, write
from ptxtool.ir.nodes import Declaration, Directive, Function, Instruction

_WORD = r"%?+[\w$.]++"
_OPERAND = rf"[\[{{(!~-]*+{_WORD}[\]}})]*+(?:(?:[\[{{(!~-]|\+=?)++{_WORD}[\]}})]*+)*+"
_COMMA = r"[ \t]*+,[ \t]*+"
# an instruction with nothing to lay out but the blanks around its commas
_PLAIN = re.compile(
    rf"(?:(@!?+{_WORD})[ \t]++)?+([A-Za-z_][\w.:]*+)"  # 1 guard, 2 opcode
    rf"(?:[ \t]*+((?:{_WORD}[|/]{_WORD}(?=,)|{_OPERAND})(?:{_COMMA}{_OPERAND})*+))?+[ \t]*+;"  # 3 operands
)
_COMMAS = re.compile(_COMMA)
_WRONG_COMMA = re.compile(r",(?! (?![ \t]))|[ \t],")
_LINE_INFORMATION = re.compile(r"\.loc[ \t]++(\d++)[ \t]++(\d++)[ \t]++(\d++)")
_SECTION = re.compile(r"\.section\s++([\w$.]++)\s*+\{(.*)\}", re.DOTALL)
_SECTION_LABEL = re.compile(rf"^{INDENT}(?=[\w$]+:$)", re.MULTILINE)
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class Statements:
    """Lays out the statements of one text; remembers the opcodes it has seen."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fields: dict[tuple[str | None, str], str] = {}

    def instruction(self, node: Instruction, indent: str) -> str:
        """An instruction's line or lines."""
        plain = _PLAIN.fullmatch(self._text, node.start, node.end)
        if plain is None or plain[2] != node.opcode.text:
            return self._instruction(node, indent)
        guard, opcode, operands = plain.groups()
        if operands is None:
            return f"{indent}{guard} {opcode};" if guard else f"{indent}{opcode};"
        if _WRONG_COMMA.search(operands):
            operands = _COMMAS.sub(", ", operands)
        field = self._fields.get((guard, opcode))
        if field is None:
            field = self._fields[guard, opcode] = pad(f"{guard} {opcode}" if guard else opcode, FIELD)
        return f"{indent}{field}{operands};"

    def _instruction(self, node: Instruction, indent: str) -> str:
        """One that has comments in it, or blanks where none should be, or operators."""
        found = list(pieces(self._text, node.start, node.end))
        tokens = [k for k, piece in enumerate(found) if piece.kind != "comment"]
        guard = 0 if found[0].text != "@" else 3 if found[tokens[1]].text == "!" else 2
        field = next(k for k in tokens[guard + 1 :] if found[k].kind != "dotted")
        places: list[PiecePlace] = []
        close, depth = ".", 0
        for k, piece in enumerate(found):
            if k == field:
                close = "|/"
            elif piece.text == "," and depth == 0:
                close = ""
            depth += _BRACKETS.get(piece.text, 0)
            places.append(PiecePlace(indent + INDENT if k else indent, close=close))
        return "\n".join(write(found, places, -1 if found[field].text == ";" else field))

    def declaration(self, node: Declaration, indent: str) -> str:
        """A declaration's lines."""
        found = list(pieces(self._text, node.start, node.end))
        places = [PiecePlace(indent)]
        field, depth, value = -1, 0, False
        for k, piece in enumerate(found):
            change = _BRACKETS.get(piece.text, 0)
            depth += change
            inside = depth > 0 or change < 0
            level = depth - max(0, change) if change else max(1, depth)
            if k:
                breaks = value and inside and piece.begins_line
                places.append(PiecePlace(indent + INDENT * level, breaks, "" if value else "<>"))
            if field < 0 and depth == 0 and piece.kind == "name":
                field = k
            value = value or piece.text == "="
        return "\n".join(write(found, places, field))

    def directive(self, node: Directive, indent: str) -> str:
        """A directive's lines."""
        if node.name == "section":
            return self._section(node, indent)
        numbers = _LINE_INFORMATION.fullmatch(self._text, node.start, node.end)
        if numbers is not None:
            return f"{indent}.loc {numbers[1]} {numbers[2]} {numbers[3]}"
        found = list(pieces(self._text, node.start, node.end))
        places = [PiecePlace(indent), *[PiecePlace(indent + INDENT)] * (len(found) - 1)]
        return "\n".join(write(found, places))

    def _section(self, node: Directive, indent: str) -> str:
        """A debug section: its lines, without blank ones, in braces; as it is where comments make that unsure."""
        section = _SECTION.fullmatch(self._text, node.start, node.end)
        if section is None or "/*" in section[2]:
            return indent + self._text[node.start : node.end]
        lines = [line.strip() for line in section[2].split("\n")]
        body = "".join(f"{INDENT}{line}\n" for line in lines if line)
        return f".section {section[1]}\n{{\n{_SECTION_LABEL.sub('', body)}}}"

    def head(self, node: Function) -> str:
        """A function's head, to its body or semicolon."""
        end = node.end if node.body is None else node.body_start
        found = list(pieces(self._text, node.start, end))
        parameters = {parameter.start for parameter in node.params}
        directives = {directive.start for directive in node.directives}
        places: list[PiecePlace] = []
        depth, opened, named = 0, 0, False  # `opened`: the depth inside the parameters, 0 outside
        for piece in found:
            closes = bool(opened) and piece.text == ")" and depth == opened
            depth += _BRACKETS.get(piece.text, 0)
            if closes:
                opened = 0
            breaks = closes or piece.start in parameters or (named and piece.start in directives)
            places.append(PiecePlace(INDENT if opened else "", breaks and bool(node.params or not closes)))
            if piece.text == "(" and named and depth == 1:
                opened = 1
            named = named or (depth == 0 and piece.kind == "name")
        return "\n".join(write(found, places))
