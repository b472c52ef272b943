"""Instructions that only copy a register."""

from ptxtool.ir.nodes import Function, Name
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES


def is_copy(function: Function, index: int) -> bool:
    """Whether an instruction copies a whole register, without a guard, into another one of its width and file."""
    node = function.instructions[index]
    if node.opcode.base != "mov" or node.guard is not None or len(node.operands) != 2:
        return False
    target, source = (
        function.registers.resolve(o.text, index) if isinstance(o, Name) and not o.part else None
        for o in node.operands
    )
    if target is None or source is None or target.role or source.role:
        return False
    match = table().match(node.opcode.text, 2, target.is_ptxplus)
    type_ = TYPES.get(match.type) if match is not None and not match.modifiers - {"half"} else None
    if type_ is None or target.is_predicate != source.is_predicate:
        return False
    if target.is_predicate:
        return type_.name == "pred"
    return target.bits == source.bits == type_.bits and (not target.is_ptxplus or target.kind == source.kind)
