"""Values that are one constant wherever they are read: written once in the kernel, by a move of a number.

For instructions whose form in PTXPlus depends on a number that compilers keep in a register: masks of votes, segments
of shuffles. The set of active lanes (`activemask`), written once, counts as all lanes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ptxtool.ir.defuse import roles
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Immediate, Name
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.flatten import Copy, Item, Key, Step


def constants(items: Iterable[Item]) -> Mapping[Key, int | None]:
    """The 32 bits of each value that is a constant."""
    writes: Counter[Key] = Counter()
    found: dict[Key, int | None] = {}
    for item in items:
        written: list[Key | None] = []
        if isinstance(item, Copy) and item.is_store:
            written = [item.piece]
        elif isinstance(item, Copy) and isinstance(item.operand, Name):
            written = [item.step.key(item.operand.text)]
        elif isinstance(item, Step):
            written = list(_written(item))
            number = _number(item)
            found |= {key: number for key in written if key is not None}
        writes.update(key for key in written if key is not None)
    return {key: value for key, value in found.items() if value is not None and writes[key] == 1}


def _written(step: Step) -> Iterator[Key | None]:
    for operand, role in zip(step.instruction.operands, roles(step.instruction, step.match), strict=True):
        if role in ("w", "x"):
            for name in names(operand):
                yield step.key(name.text)


def _number(step: Step) -> int | None:
    instruction = step.instruction
    if instruction.guard is not None:
        return None
    if instruction.opcode.base == "activemask":
        return 0xFFFFFFFF
    if instruction.opcode.base == "mov" and isinstance(instruction.operands[1], Immediate):
        return literal(instruction.operands[1].text).bits(TYPES["u32"])
    return None
