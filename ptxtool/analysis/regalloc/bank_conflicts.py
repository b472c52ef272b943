"""Register banks: the conflicts of a text's operands, and compaction that keeps registers in their bank.

An instruction reads its operands from the banks of the register file; the bank of unit u is u mod 4, as on Maxwell.
Units in one bank are read one after another, so n of them cost n - 1 conflicts.

`banked` closes the gaps in the registers that the text has (`relocation.py`), which stay in their bank if possible. The
result is this or the new assignment of the values: what needs fewer registers or, with as many, has fewer conflicts.

Not handled: registers that are not physical, of which two that share a unit are live at once, or beyond the hardware's
limit; and PTXPlus tuples of more than four registers. They have the new assignment alone.
Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.4.1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT, units_of
from ptxtool.analysis.regalloc.register_tuples import register_tuples
from ptxtool.analysis.regalloc.relocation import relocated
from ptxtool.analysis.regalloc.spills import FILES

BANKS = 4
"""Of the registers of a warp, on Maxwell."""


def bank_conflicts(assignment: Assignment) -> int:
    """Reads of units, over the instructions of the text, that have to wait for another one of their bank."""
    width, general = assignment.spills.values.width, {*_general(assignment)}
    n_conflicts = 0
    for i, webs in enumerate(assignment.ranges.reads):
        if len(webs) < 2:
            continue
        units: set[int] = set()
        for web in general.intersection(webs):
            first = assignment.place(web, i)
            units.update(range(first, first + int(width[web])))
        n_conflicts += sum(n - 1 for n in Counter(u % BANKS for u in units).values())
    return n_conflicts


def as_named(assignment: Assignment) -> Assignment | None:
    """The same function with the general registers that its text names, None where they are not physical."""
    ranges = assignment.ranges
    registers = ranges.function.registers
    units: dict[int, int] = {}
    for web in _general(assignment):
        place = units_of(registers[ranges.register[web]])
        if place is None or place.first + place.units > GENERAL_LIMIT:
            return None
        units[web] = place.first
    return _moved(assignment, units) if _are_apart(assignment, units) else None


def banked(assignment: Assignment) -> Assignment:
    """The better one of an assignment without spills and of the registers in the text, moved together by banks."""
    named = as_named(assignment)
    entries = _entries(named) if named else None
    if named is None or entries is None:
        return assignment
    pinned: frozenset[int] = frozenset()
    if assignment.ranges.function.registers.is_ptxplus:  # the thread id when the kernel starts
        entries, pinned = {0: 1} | entries, frozenset({0})
    places = relocated(entries, BANKS, pinned)
    first = {u: entry for entry, n in entries.items() for u in range(entry, entry + n)}
    units = {
        web: named.unit[web] + places[first[named.unit[web]]] - first[named.unit[web]]
        for web in _general(named)
    }
    moved = _moved(assignment, units)
    return min(moved, assignment, key=lambda each: (each.registers, bank_conflicts(each)))


def _general(assignment: Assignment) -> Sequence[int]:
    """The webs in the general file."""
    webs = assignment.spills.values.file[: len(assignment.ranges)] == FILES.index("general")
    found: list[int] = np.flatnonzero(webs).tolist()
    return found


def _moved(assignment: Assignment, units: Mapping[int, int]) -> Assignment:
    """The assignment with these first units of its general webs."""
    width = assignment.spills.values.width
    n = max((unit + int(width[web]) for web, unit in units.items()), default=0)
    return replace(assignment, unit={**assignment.unit, **units}, used={**assignment.used, "general": n})


def _are_apart(assignment: Assignment, units: Mapping[int, int]) -> bool:
    """Whether no unit has two of these webs at once."""
    values, webs = assignment.spills.values, np.array([*units], np.int64)
    intervals, width = values.intervals.at(webs), values.width[webs]
    index = np.repeat(np.arange(len(intervals.start)), width[intervals.owner])  # an interval for every unit
    offset = np.arange(len(index)) - np.searchsorted(index, index)
    unit = np.array([*units.values()], np.int64)[intervals.owner][index] + offset
    start, end = intervals.start[index], intervals.end[index]
    order = np.lexsort((start, unit))
    unit, start, end = unit[order], start[order], end[order]
    return not bool(((unit[1:] == unit[:-1]) & (start[1:] < end[:-1])).any())


def _entries(named: Assignment) -> dict[int, int] | None:
    """The entries of the relocation space, aligned blocks of the units that stay together; None if one is too large."""
    width, general = named.spills.values.width, {*_general(named)}
    together = [(named.unit[web], named.unit[web] + int(width[web]) - 1) for web in general]
    for adjacent in register_tuples(named.ranges).values():
        units = [named.unit[web] for web in adjacent.numbers if web in general]
        together += [(min(units), max(units))] if units else []
    blocks: dict[int, set[int]] = {4: set(), 2: set(), 1: set()}
    for low, high in together:
        n = next((n for n in (1, 2, 4) if low // n == high // n), 0)
        if n == 0:
            return None
        blocks[n].add(low // n)
    blocks[2] -= {block for block in blocks[2] if block // 2 in blocks[4]}
    blocks[1] -= {block for block in blocks[1] if block // 4 in blocks[4] or block // 2 in blocks[2]}
    return {block * n: n for n, some in blocks.items() for block in some}
