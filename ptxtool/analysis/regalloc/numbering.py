"""The numbers of physical registers: an assignment with its units renumbered.

Under register sharing the registers with low numbers are private to a warp. `first-use` numbers them as the text first
needs them; `pressure` by the number of points at which they are taken, so that the highest are needed least. Aligned
blocks of four or two units move as a whole where some value needs the block; within the other blocks units trade
places.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.regalloc.spills import FILES

Order = Literal["first-use", "pressure"]


def numbered(assignment: Assignment, order: Order) -> Assignment:
    """The assignment with its units renumbered in every file; unchanged for PTXPlus, where units are fixed."""
    if assignment.ranges.function.registers.is_ptxplus:
        return assignment
    placed = np.fromiter(assignment.unit, np.int64, len(assignment.unit))
    units = np.fromiter(assignment.unit.values(), np.int64, len(placed))
    values = assignment.spills.values
    widths, intervals = values.width[placed], values.intervals.at(placed)
    if order == "first-use":
        found = intervals.start[intervals.first[:-1]]
    else:
        found = -np.bincount(intervals.owner, intervals.end - intervals.start, len(placed)).astype(np.int64)
    new = units.copy()
    for file in ("general", "predicate"):
        is_here = values.file[placed] == FILES.index(file)
        base, width, n_units = units[is_here], widths[is_here], assignment.used[file]
        widest = int(width.max(initial=1))
        keys = np.full(n_units + 4, 2 * assignment.ranges.n_points if order == "first-use" else 0)
        combine = np.minimum if order == "first-use" else np.add
        for k in range(widest):
            combine.at(keys, base[width > k] + k, found[is_here][width > k])
        # block size -> the aligned blocks that stay together
        blocks = {size: {*(base[width > size // 2] // size).tolist()} for size in (2, 4)}
        new[is_here] = np.array(_order(n_units, widest, blocks, keys.tolist()), np.int64)[base]
    return replace(assignment, unit=dict(zip(assignment.unit, new.tolist(), strict=True)))


def _order(n_units: int, widest: int, blocks: dict[int, set[int]], keys: Sequence[int]) -> list[int]:
    """The new number of every unit. A last block that is not full stays last, so that the count does not grow."""

    def key_of(units: Sequence[int]) -> tuple[int, ...]:
        return (min(keys[u] for u in units), *units)

    def arrange(start: int, size: int) -> list[int]:
        """The units of a block in their new order."""
        if size == 1 or start // size in blocks[size]:
            return list(range(start, start + size))
        halves = [arrange(start, size // 2), arrange(start + size // 2, size // 2)]
        halves.sort(key=key_of)
        return halves[0] + halves[1]

    size = 4 if widest > 2 else 2 if widest > 1 else 1
    full = [arrange(start, size) for start in range(0, n_units - n_units % size, size)]
    full.sort(key=key_of)
    tail = list(range(n_units - n_units % size, n_units))
    sequence = [u for block in full for u in block] + tail
    new = [0] * n_units
    for number, old in enumerate(sequence):
        new[old] = number
    return new
