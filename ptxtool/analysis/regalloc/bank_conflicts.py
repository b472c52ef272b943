"""Register banks: the conflicts of a text's operands, and compaction that keeps registers in their bank.

An instruction reads its operands from the banks of the register file; the bank of unit u is u mod 4, as on Maxwell.
Units in one bank are read one after another, so n of them cost n - 1 conflicts.

`banked` closes the gaps in the registers that the text has (`relocation.py`), which stay in their bank if possible, or
takes the new assignment of the values: whichever needs fewer registers or, with as many, has fewer conflicts. A new
assignment ignores banks, so registers trade places then where that saves conflicts (`bank_swaps.py`).

Not handled: registers that are not physical, of which two that share a unit are live at once, or beyond the hardware's
limit, have the new assignment alone; and where a PTXPlus tuple is longer than four registers, none trade places.
Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.4.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ptxtool.analysis.flow.accesses import Numbers
from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.regalloc.bank_swaps import traded
from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT, units_of
from ptxtool.analysis.regalloc.register_tuples import register_tuples
from ptxtool.analysis.regalloc.relocation import relocated
from ptxtool.analysis.regalloc.spills import FILES

BANKS = 4
"""Of the registers of a warp, on Maxwell."""


def bank_conflicts(assignment: Assignment) -> int:
    """Reads of units, over the instructions of the text, that have to wait for another one of their bank."""
    instruction, unit = _reads(assignment)
    return len(unit) - len(np.unique(instruction * BANKS + unit % BANKS))


def _reads(assignment: Assignment) -> tuple[Numbers, Numbers]:
    """What instructions read in the general file: per unit, once for an instruction, the instruction and the unit.

    Both in ascending order.
    """
    web, instruction, is_def = assignment.ranges.mentions
    values = assignment.spills.values
    is_read = ~is_def & (values.file[web] == FILES.index("general"))
    web, instruction = web[is_read], instruction[is_read].astype(np.int64)
    width = values.width[web]
    places = map(assignment.place, web.tolist(), instruction.tolist())
    first = np.fromiter(places, np.int64, len(web))
    read = np.repeat(np.arange(len(web)), width)  # a row for every unit
    unit = first[read] + np.arange(len(read)) - (np.cumsum(width) - width)[read]
    n = int(unit.max(initial=0)) + 1
    return np.divmod(np.unique(instruction[read] * n + unit), n)


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
    """The registers of an assignment without spills arranged by banks, or those of the text moved together by banks."""
    found = [assignment]
    named = as_named(assignment)
    entries = _entries(named) if named else None
    if named and entries:
        found.insert(0, _renumbered(named, entries, relocated(entries, BANKS, _pinned(named))))
    best = min(found, key=lambda each: (each.registers, bank_conflicts(each)))
    entries = _entries(best) if best.registers <= GENERAL_LIMIT else None
    if not entries:
        return best
    unfilled = frozenset(
        first for first, n in entries.items() if first + n > best.used["general"]
    )  # the last one
    arranged = _renumbered(best, entries, traded(_reads(best), entries, BANKS, _pinned(best) | unfilled))
    return min(best, arranged, key=bank_conflicts)


def _pinned(assignment: Assignment) -> frozenset[int]:
    """Entries that stay: where a kernel of PTXPlus finds the thread id no other register may be."""
    return frozenset({0}) if assignment.ranges.function.registers.is_ptxplus else frozenset()


def _renumbered(assignment: Assignment, entries: Mapping[int, int], places: Mapping[int, int]) -> Assignment:
    """The assignment with its entries at other places."""
    moved = {u: places[first] + u - first for first, n in entries.items() for u in range(first, first + n)}
    return _moved(assignment, {web: moved[assignment.unit[web]] for web in _general(assignment)})


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
    if _pinned(named):
        together.append((0, 0))
    blocks: dict[int, set[int]] = {4: set(), 2: set(), 1: set()}
    for low, high in together:
        n = next((n for n in (1, 2, 4) if low // n == high // n), 0)
        if n == 0:
            return None
        blocks[n].add(low // n)
    blocks[2] -= {block for block in blocks[2] if block // 2 in blocks[4]}
    blocks[1] -= {block for block in blocks[1] if block // 4 in blocks[4] or block // 2 in blocks[2]}
    return {block * n: n for n, some in blocks.items() for block in some}
