"""The 32-bit registers of a thread that each instruction accesses, as physical ones.

For the count of registers that a run accesses within so many instructions. Registers of PTXPlus, and of PTX after
`allocate`, are the physical ones of their names; virtual ones are those that `allocate` assigns, without spilling.
Predicates and address registers are in files of their own and do not count.

Not handled: functions that only calls through registers reach, and registers of vector type.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.regalloc.register_need import register_need
from ptxtool.analysis.sharing.physical_numbers import PhysicalNumbers, physical_numbers
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class AccessedRegisters:
    """By the name of a function a set of registers for each of its instructions, a bit each; `per_thread` are those
    that a thread has, `most` is one more than the highest bit of all sets."""

    per_thread: int
    most: int
    functions: Mapping[str, tuple[int, ...]] = field(repr=False)


def accessed_registers(
    kernel: Function, registers: int, functions: Iterable[Function]
) -> AccessedRegisters | None:
    """What the instructions of `functions` access in a run with so many registers per thread; where the text needs
    more, a thread has those. The kernel is one of the functions. None for what is not handled.

    Raises `PtxError`: E202, an undeclared label.
    """
    try:
        physical = _physical_numbers(kernel, registers)
    except PtxError as problem:
        if any(d.code != "E301" for d in problem.diagnostics):
            raise
        return None
    found: dict[str, tuple[int, ...]] = {}
    bits: dict[int, int] = {}
    for function in functions:
        if physical is None:
            found[function.name] = _by_name(function, bits)
        elif function.name in physical.functions:
            found[function.name] = _assigned(function, physical)
        else:
            return None
    accessed = _union(each for sets in found.values() for each in sets)
    needed = physical.registers if physical else accessed.bit_count()
    return AccessedRegisters(max(registers, needed), accessed.bit_length(), found)


def _physical_numbers(kernel: Function, registers: int) -> PhysicalNumbers | None:
    if not kernel.registers.is_ptxplus:
        registers = max(registers, register_need(kernel).registers)
    return physical_numbers(kernel, registers)


def _assigned(function: Function, physical: PhysicalNumbers) -> tuple[int, ...]:
    """The registers that virtual ones are assigned: a number is that of the last one, from 1, or 0."""
    table = function.registers
    return tuple(
        _union(
            ((1 << table[k].units) - 1) << number >> table[k].units for k, number in each.items() if number
        )
        for each in physical.functions[function.name]
    )


def _by_name(function: Function, bits: dict[int, int]) -> tuple[int, ...]:
    """The registers of the names. `bits` are those of the units met so far, as numbers in names may be large."""
    masks: list[int] = []
    for register in function.registers:
        place, mask = units_of(register), 0
        if place is not None and place.file == "general":
            for unit in range(place.first, place.first + place.units):
                mask |= 1 << bits.setdefault(unit, len(bits))
        masks.append(mask)
    return tuple(_union(masks[k] for k in (*step.defs, *step.uses)) for step in function.def_uses)


def _union(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found
