"""Values that are one constant everywhere: written once in the kernel, by a move of a number.

For instructions whose form in PTXPlus depends on a number that compilers keep in a register: masks of votes, segments
of shuffles. The set of active lanes (`activemask`), written once, counts as all lanes.
"""

from collections.abc import Iterable, Mapping

from ptxtool.ir.defuse import accessed, plain_sources
from ptxtool.ir.nodes import Immediate, Memory, Name
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.flatten import FlatItem, InlinedInstruction, ParameterCopy, ValueKey


def written_once(items: Iterable[FlatItem]) -> Mapping[ValueKey, FlatItem]:
    """The values that one instruction or copy of the kernel writes, each with what writes it."""
    found: dict[ValueKey, FlatItem | None] = {}
    for item in items:
        if isinstance(item, InlinedInstruction):
            for value in _written(item):
                found[value] = None if value in found else item
        elif isinstance(item, ParameterCopy):
            key = item.piece if item.is_store else item.at.key_of(item.operand)
            if key is not None:
                found[key] = None if key in found else item
    return {key: item for key, item in found.items() if item is not None}


def _written(inlined: InlinedInstruction) -> Iterable[ValueKey]:
    """The values that an instruction writes: what `def_uses` has, which few kernels need for more than this."""
    activation, operands = inlined.activation, inlined.instruction.operands
    first, last = plain_sources(inlined.instruction.opcode.text, len(operands), False)
    if last < 0:
        return map(activation.key_of, activation.function.def_uses[inlined.index].defs)
    target = operands[0] if first else None
    if target is None or isinstance(target, Memory):
        return ()
    if isinstance(target, Name):
        key = inlined.key(target.text)
        return () if key is None else (key,)
    keys = (inlined.key(name) for name, _ in accessed(target, "w").writes)
    return dict.fromkeys(key for key in keys if key is not None)


def constants(items: Iterable[FlatItem]) -> Mapping[ValueKey, int | None]:
    """The 32 bits of each value that is a constant."""
    numbers = (
        (key, _number(item))
        for key, item in written_once(items).items()
        if isinstance(item, InlinedInstruction)
    )
    return {key: number for key, number in numbers if number is not None}


def _number(inlined: InlinedInstruction) -> int | None:
    instruction = inlined.instruction
    if instruction.guard is not None:
        return None
    if instruction.opcode.base == "activemask":
        return 0xFFFFFFFF
    sources = instruction.operands[1:]
    if instruction.opcode.base == "mov" and sources and isinstance(sources[0], Immediate):
        return literal(sources[0].text).bits(TYPES["u32"])
    return None
