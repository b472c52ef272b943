"""Operand places of the instruction table, for tests of what fits them."""

from ptxtool.isa.table import table
from ptxtool.sema.operands.wording import OperandPlace


def place(opcode: str, number: int, n_operands: int, is_64_bit: bool = True, form: int = 0) -> OperandPlace:
    """The place of an operand under one of an opcode's forms, the first if none is named."""
    match = table().matches(opcode, n_operands, False)[form]
    return OperandPlace(opcode, match, match.operands[number], is_64_bit)
