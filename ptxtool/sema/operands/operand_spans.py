"""Where the operands of an instruction stand in the text, for diagnostics and renaming: operands keep no offsets."""

import re

from ptxtool.ir.nodes import Instruction

_HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"", re.DOTALL)
"""Comments and strings, in which commas and brackets mean nothing."""
_HEAD = re.compile(r"(?:@\s*!?\s*[\w$%.]+\s*)?\w+(?:\s*\.\s*[\w:]+)*\s*")
_OPCODE = re.compile(r"(?:@\s*!?\s*[\w$%.]+\s*)?(\w+(?:\s*\.\s*[\w:]+)*)")
_WORD = re.compile(r"\.?\s*([\w:]+)")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def operand_spans(node: Instruction, text: str) -> list[tuple[int, int]]:
    """The offsets of an instruction's operands, in order; comments are not part of them."""
    statement = _HIDDEN.sub(
        lambda m: ('"' if m[0][0] == '"' else " ") * len(m[0]), text[node.start : node.end]
    )
    head = _HEAD.match(statement)
    start = head.end() if head else 0
    found: list[tuple[int, int]] = []
    depth = 0
    for i in range(start, len(statement)):
        character = statement[i]
        depth += _DEPTH.get(character, 0)
        if (character == "," and depth == 0) or i == len(statement) - 1:
            piece = statement[start:i] if character in ",;" else statement[start : i + 1]
            if piece.strip():
                left = start + len(piece) - len(piece.lstrip())
                found.append((node.start + left, node.start + start + len(piece.rstrip())))
            start = i + 1
    return found


def word_span(node: Instruction, text: str, word: str) -> tuple[int, int]:
    """The offsets of a modifier in an instruction's opcode, of the whole opcode for ""."""
    head = _OPCODE.match(text, node.start, node.end)
    if head is None:
        return node.start, node.end
    start, end = head.span(1)
    found = next((m for m in _WORD.finditer(text, start, end) if m[1] == word), None)
    return found.span() if found else (start, end)
