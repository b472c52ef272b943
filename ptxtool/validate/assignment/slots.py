"""Spill slots: the `.local` variables that a pass may add, and the bytes of them that an instruction accesses.

For the check of register assignment. Only inserted loads and stores can access a slot: in PTX the name of its variable
(`__ptxtool_spill...`) is new in the text, so no instruction of the original can compute its address.
PTXPlus addresses a thread's local memory by numbers from 0 on; there the one variable (`l0`) is allowed only in files
whose original neither declares nor accesses local memory.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Declaration, Function, Memory, Module, Name, Operand, Statement, Unary

_NAME = re.compile(r"__ptxtool_spill\w*")
_PTXPLUS_NAME = re.compile(r"l[0-9]+")
_PTXPLUS_ALIGN = 4
"""Local memory of PTXPlus is a thread's own from address 0 on; its accesses are words."""


class Slot(NamedTuple):
    """Bytes of a spill variable."""

    variable: str
    offset: int
    size: int


class Spills(NamedTuple):
    """A variable with spill slots: its size and alignment in bytes."""

    size: int
    align: int


def is_spill(statement: Statement, before: Function) -> bool:
    """Whether a statement of the new text declares spill slots that `before` has not."""
    if type(statement) is not Declaration or (statement.space, statement.qualifiers) != ("local", ("b8",)):
        return False
    name = _PTXPLUS_NAME if before.registers.is_ptxplus else _NAME
    return all(
        name.fullmatch(d.name) and d.value is None and d.count is None and len(d.dimensions) == 1
        for d in statement.declarators
    ) and all(_is_new(d.name, before) for d in statement.declarators)


def _is_new(name: str, before: Function) -> bool:
    module = before.module
    if before.registers.is_ptxplus:
        return not _uses_local_memory(module)
    inside = (s for s in before.body or () if isinstance(s, Declaration))
    return (
        name not in module.variables
        and name not in module.functions
        and all(d.name != name for s in (*before.returns, *before.params, *inside) for d in s.declarators)
    )


def _uses_local_memory(module: Module) -> bool:
    """PTXPlus: whether any local memory is declared or accessed, as `ld.local`, `st.local` or an operand `l0[..]`."""
    functions = [f for f in module.functions.values() if f.body is not None]
    declared = (s for f in functions for s in f.body or () if isinstance(s, Declaration))
    return any(d.space == "local" for d in (*module.variables.values(), *declared)) or any(
        "local" in i.opcode.modifiers or any(map(_is_local, i.operands))
        for f in functions
        for i in f.instructions
    )


def _is_local(operand: Operand) -> bool:
    while isinstance(operand, Unary):
        operand = operand.operand
    return isinstance(operand, Memory) and operand.symbol.startswith("l")


def spill_variables(before: Function, after: Function) -> dict[str, Spills]:
    """The variables that `after` adds for spill slots, except names that it declares twice.

    PTXPlus accesses slots without a name: its variable has the name "".
    """
    found: dict[str, Spills] = {}
    twice: set[str] = set()
    for statement in after.body or ():
        if not isinstance(statement, Declaration) or not is_spill(statement, before):
            continue
        align = _PTXPLUS_ALIGN if before.registers.is_ptxplus else statement.align or 1
        for declarator in statement.declarators:
            name = "" if before.registers.is_ptxplus else declarator.name
            if name in found:
                twice.add(name)
            found[name] = Spills(declarator.dimensions[0] or 0, align)
    return {name: spills for name, spills in found.items() if name not in twice}


def slot_of(operand: Operand, bits: int, variables: Mapping[str, Spills]) -> Slot | None:
    """The slot of `bits` bits at `[__ptxtool_spill+4]`, in PTXPlus `[0x0004]`; None for another operand."""
    if not isinstance(operand, Memory) or operand.symbol or operand.post_increment or operand.coordinates:
        return None
    offset: int | float = 0
    if operand.offset is not None:
        try:
            offset = constant(operand.offset).number
        except ValueError:
            return None
    base = operand.base
    name = base.text if isinstance(base, Name) and not base.part else "" if base is None else None
    if name is None or name not in variables or not isinstance(offset, int):
        return None
    spills, size = variables[name], bits // 8
    fits = 0 < size <= spills.align and offset % size == 0 and 0 <= offset <= spills.size - size
    return Slot(name, offset, size) if fits else None
