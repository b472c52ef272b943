"""The text of one instruction with other names for its registers, comments and blanks kept.

For `renaming.py`. A name is looked up where it stands, so that labels, opcodes and variables keep theirs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptxtool.ir.defuse import DefUse, roles
from ptxtool.ir.nodes import Function, Memory
from ptxtool.isa.table import table
from ptxtool.passes.regalloc.register_words import TOKEN
from ptxtool.sema.operands.operand_spans import operand_spans

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

    def _operands(self, read: Mapping[int, str], written: Mapping[int, str]) -> Iterator[str]:
        """The operands with the names of their roles, and the text around them."""
        node, text = self._node, self._function.source.text
        match = table().match(node.opcode.text, len(node.operands), self._function.registers.is_ptxplus)
        done = node.end - len(self.body)
        spans = operand_spans(node, text)
        for (start, end), operand, role in zip(spans, node.operands, roles(node, match), strict=True):
            is_result = role == "w" and not isinstance(operand, Memory)
            names = {**read, **written} if is_result else {**written, **read}
            yield self._with(read.get, TOKEN, text[done:start])  # a guard, if a comment is inside the head
            yield self._with(names.get, TOKEN, text[start:end])
            done = end
        yield text[done : node.end]
