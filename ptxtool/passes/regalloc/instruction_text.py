"""The text of one instruction with other names for its registers, comments and blanks kept.

For `renaming.py`. A name is looked up where it stands, so that labels, opcodes and variables keep theirs.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from ptxtool.ir.defuse import DefUse, roles
from ptxtool.ir.nodes import Function, Memory
from ptxtool.isa.table import table
from ptxtool.passes.regalloc.register_words import TOKEN

_HEAD = re.compile(r"(?:@\s*!?\s*[%$\w]+(?:\.\w+)?\s*)?[\w.:]+")
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")


class InstructionText:
    """The guard and opcode of an instruction (`head`), and its operands (`body`)."""

    def __init__(self, function: Function, index: int):
        self._function, self._index = function, index
        self._node = function.instructions[index]
        text = function.source.text[self._node.start : self._node.end]
        head = _HEAD.match(text)
        # without one, a comment is inside the head: no register can be mistaken for an opcode there
        end = head.end() if head is not None else 0
        self.head, self.body = text[:end], text[end:]

    def body_with(self, names: Callable[[int], str | None]) -> str:
        """The operands with the names of registers, which are passed by index; None keeps a name."""
        return self._with(names, TOKEN, self.body)

    def _with(
        self, names: Callable[[int], str | None], pattern: re.Pattern[str], text: str, count: int = 0
    ) -> str:
        resolve = self._function.registers.resolve_index

        def replace(hit: re.Match[str]) -> str:
            token = hit.group()
            k = resolve(token, self._index) if token[0] not in '/"' else -1
            return (names(k) if k >= 0 else None) or token

        return pattern.sub(replace, text, count=count)

    def renamed(self, def_use: DefUse, names: Sequence[str]) -> str:
        """The whole text with these names of the registers that the instruction reads and then of those it writes.

        A register may have one name where it is read and another one where it is written.
        """
        read = dict(zip(def_use.uses, names, strict=False))
        written = dict(zip(def_use.defs, names[len(def_use.uses) :], strict=True))
        head = self.head if self._node.guard is None else self._with(read.get, _NAME, self.head, count=1)
        either = {**read, **written}.get
        if all(read.get(k, new) == new for k, new in written.items()):
            return head + self.body_with(either)
        return head + "".join(self._operands(read, written))

    def _operands(self, read: Mapping[int, str], written: Mapping[int, str]) -> Sequence[str]:
        """The operands with the names of their roles, one by one."""
        node = self._node
        match = table().match(node.opcode.text, len(node.operands), self._function.registers.is_ptxplus)
        kinds = roles(node, match)
        found: list[str] = []
        for number, piece in enumerate(_pieces(self.body)):
            operand = node.operands[number] if number < len(node.operands) else None
            is_result = number < len(kinds) and kinds[number] == "w" and not isinstance(operand, Memory)
            names = {**read, **written} if is_result else {**written, **read}
            found.append(self._with(names.get, TOKEN, piece))
        return found


def _pieces(text: str) -> list[str]:
    """The operands as text, each after the first with the comma before it."""
    pieces: list[str] = []
    depth = start = position = 0
    while position < len(text):
        character = text[position]
        if text.startswith("//", position):
            position = text.find("\n", position) % (len(text) + 1)
        elif text.startswith("/*", position):
            position = text.find("*/", position) + 1
        elif character == '"':
            position = text.find('"', position + 1)
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            pieces.append(text[start:position])
            start = position
        position += 1
    pieces.append(text[start:])
    return pieces
