"""The effects of an alignment's items on values and places: the steps that the check of register assignment walks.

A *value* is the content of an old register: its index in the function before. The numbers from `n_values` on are the
same registers as words (1 for a true predicate, 0 for a false one). A *place* is a register of the function after, by
its index, or a spill slot. Places overlap by their names (`ptxtool.analysis.regalloc.physical`) and the slots' bytes; a
register in a function's head, or one whose name has no number, overlaps none.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.ir.nodes import Function
from ptxtool.validate.assignment.slots import Slot


class StepGuard(NamedTuple):
    """The guard of an instruction: the place of the predicate, its negation, its condition in PTXPlus."""

    place: int
    negated: bool
    condition: str


class Kept(NamedTuple):
    """An instruction of the original: (value, place) pairs that it reads, and with `wholly` those that it writes.

    Of a constant definition, `alike` are the values that are the same constant. With `merges` some result is a part of
    a register.
    """

    reads: tuple[tuple[int, int], ...]
    writes: tuple[tuple[int, int, bool], ...]
    alike: frozenset[int] = frozenset()
    guard: StepGuard | None = None
    merges: bool = False


class Equal(NamedTuple):
    """A dropped copy: from here on the value equals another one."""

    value: int
    other: int


class Known(NamedTuple):
    """A dropped constant definition."""

    value: int


class Move(NamedTuple):
    """An inserted copy, spill or reload: a place holds the values of another one."""

    to: int
    source: int


class GuardedMove(NamedTuple):
    """An inserted spill or reload under a guard: a place holds the values of another one where the guard is true."""

    to: int
    source: int
    guard: StepGuard


class Save(NamedTuple):
    """An inserted copy of a predicate to a word."""

    to: int
    source: int


class Restore(NamedTuple):
    """An inserted copy of a word to a predicate."""

    to: int
    source: int


class Recompute(NamedTuple):
    """A constant definition written again: a place holds each of these values whose sources are where they are read.

    `values` has per value the (value, place) pairs of its sources.
    """

    to: int
    values: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]


Step = Kept | Equal | Known | Move | GuardedMove | Save | Restore | Recompute


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
        # a cell is a unit of a register file or a byte of a spill variable
        self._by_cell: dict[tuple[str, int], list[int]] = {}
        self._cells: dict[int, tuple[tuple[str, int], ...]] = {}

    def slot(self, slot: Slot) -> int:
        place = self._slots.get(slot)
        if place is None:
            place = self._slots[slot] = len(self.registers) + len(self._slots)
            name = f"[{slot.variable}]"  # no register file has this name
            self._add(place, ((name, byte) for byte in range(slot.offset, slot.offset + slot.size)))
        return place

    def register(self, index: int) -> int:
        if index not in self._cells:
            found = None if index in self.head else units_of(self.registers[index])
            units = range(found.first, found.first + found.units) if found else ()
            self._add(index, ((found.file, unit) for unit in units) if found else ())
        return index

    def _add(self, place: int, cells: Iterable[tuple[str, int]]) -> None:
        self._cells[place] = tuple(cells)
        for cell in self._cells[place]:
            self._by_cell.setdefault(cell, []).append(place)

    def overlap(self, a: int, b: int) -> bool:
        """Whether two places have bits in common."""
        return not set(self._cells[a]).isdisjoint(self._cells[b])

    def overlaps(self) -> dict[int, tuple[int, ...]]:
        """Per place those that a write to it overwrites, including itself."""
        return {
            place: tuple(dict.fromkeys((place, *(p for cell in cells for p in self._by_cell[cell]))))
            for place, cells in self._cells.items()
        }

    def name(self, place: int) -> str:
        """The name of a place in diagnostics."""
        if place < len(self.registers):
            return self.registers[place].name
        slot = next(s for s, number in self._slots.items() if number == place)
        return f"[{slot.variable}+{slot.offset}]"
