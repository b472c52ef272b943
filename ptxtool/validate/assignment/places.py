"""The places that hold values: registers of the function after, by their indices, and spill slots.

For the check of register assignment. Places overlap by their names (`ptxtool.analysis.regalloc.physical`) and the
slots' bytes; a register in a function's head, or one whose name has no number, overlaps none.
Slots are bytes of the `.local` variables that a pass may add. Only inserted loads and stores can access them: in PTX
the name of the variable (`__ptxtool_spill...`) is new in the text, so no instruction of the original has its address.
PTXPlus addresses a thread's local memory by numbers from 0 on; there the one variable (`l0`) is allowed only in files
whose original neither declares nor accesses local memory.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.ir.constants import constant
from ptxtool.ir.nodes import Declaration, Function, Memory, Module, Name, Operand, Statement, Unary

_NAME = re.compile(r"__ptxtool_spill\w*")
_PTXPLUS_NAME = re.compile(r"l[0-9]+")
_PTXPLUS_ALIGN = 4
"""Local memory of PTXPlus is a thread's own from address 0 on; its accesses are words."""

_NOWHERE = ("", 0, 0)
"""In place of the units of a register that overlaps none."""


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
    name = _PTXPLUS_NAME if before.registers.is_ptxplus else _NAME
    return declares_bytes(statement, "local", name) and all(
        _is_new(d.name, before) for d in statement.declarators
    )


def declares_bytes(statement: object, space: str, name: re.Pattern[str]) -> TypeGuard[Declaration]:
    """Whether a statement declares arrays of bytes without values in a state space, all with such names."""
    if type(statement) is not Declaration or (statement.space, statement.qualifiers) != (space, ("b8",)):
        return False
    return all(
        name.fullmatch(d.name) and d.value is None and d.count is None and len(d.dimensions) == 1
        for d in statement.declarators
    )


def _is_new(name: str, before: Function) -> bool:
    if before.registers.is_ptxplus:
        return not _uses_local_memory(before.module)
    return is_new_name(name, before)


def is_new_name(name: str, before: Function) -> bool:
    """Whether no variable, function or parameter that a function of PTX sees has a name."""
    module = before.module
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


def plain_address(operand: Operand) -> tuple[Operand | None, int] | None:
    """The base and the constant offset of `[base+4]`; None for another operand."""
    if not isinstance(operand, Memory) or operand.symbol or operand.post_increment or operand.coordinates:
        return None
    offset: int | float = 0
    if operand.offset is not None:
        try:
            offset = constant(operand.offset).number
        except ValueError:
            return None
    return (operand.base, offset) if isinstance(offset, int) else None


def slot_of(operand: Operand, bits: int, variables: Mapping[str, Spills]) -> Slot | None:
    """The slot of `bits` bits at `[__ptxtool_spill+4]`, in PTXPlus `[0x0004]`; None for another operand."""
    address = plain_address(operand)
    if address is None:
        return None
    base, offset = address
    name = base.text if isinstance(base, Name) and not base.part else "" if base is None else None
    if name is None or name not in variables:
        return None
    spills, size = variables[name], bits // 8
    fits = 0 < size <= spills.align and offset % size == 0 and 0 <= offset <= spills.size - size
    return Slot(name, offset, size) if fits else None


class PlaceTable:
    """The numbers of the places in use, and their overlaps."""

    def __init__(self, after: Function) -> None:
        self.registers = after.registers
        self.head = frozenset(
            after.registers.resolve_index(d.name, 0)
            for p in (*after.returns, *after.params)
            if p.space == "reg"
            for d in p.declarators
        )
        self._slots: dict[Slot, int] = {}
        # by place: units of a register file or bytes of a spill variable, from the first to before the last
        self._extents: dict[int, tuple[str, int, int]] = {}

    def slot(self, slot: Slot) -> int:
        place = self._slots.get(slot)
        if place is None:
            place = self._slots[slot] = len(self.registers) + len(self._slots)
            name = f"[{slot.variable}]"  # no register file has this name
            self._extents[place] = name, slot.offset, slot.offset + slot.size
        return place

    def register(self, index: int) -> int:
        if index not in self._extents:
            found = None if index in self.head else units_of(self.registers[index])
            self._extents[index] = (found.file, found.first, found.first + found.units) if found else _NOWHERE
        return index

    def registers_from(self, unit: int) -> tuple[int, ...]:
        """The places of registers with that unit of the general file, or a higher one."""
        return tuple(p for p, (file, _, end) in self._extents.items() if file == "general" and end > unit)

    def overlap(self, a: int, b: int) -> bool:
        """Whether two places have bits in common."""
        file, first, end = self._extents[a]
        other, start, stop = self._extents[b]
        return file == other and max(first, start) < min(end, stop)

    def overlaps(self) -> dict[int, tuple[int, ...]]:
        """Per place those that a write to it overwrites, including itself."""
        found: dict[int, tuple[int, ...]] = {place: (place,) for place in self._extents}
        before: list[int] = []  # those that begin before the next one and may end after its beginning
        for place in sorted(found, key=self._extents.__getitem__):
            file, first, _ = self._extents[place]
            before = [p for p in before if self._extents[p][0] == file and self._extents[p][2] > first]
            for other in before:
                found[place] += (other,)
                found[other] += (place,)
            before.append(place)
        return found

    def name(self, place: int) -> str:
        """The name of a place in diagnostics."""
        if place < len(self.registers):
            return self.registers[place].name
        slot = next(s for s, number in self._slots.items() if number == place)
        return f"[{slot.variable}+{slot.offset}]"
