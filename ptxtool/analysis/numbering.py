"""The numbers of physical registers: the same places, called in another order.

Under register sharing the registers with low numbers are private to a warp. `first-use` numbers them as the text first
needs them; `pressure` by the number of points at which they are taken, so that the highest are needed least. Aligned
blocks of four or two units move as a whole where some value needs the block, and units trade places inside blocks
that nothing wide lives in.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ptxtool.analysis.assignment import Assignment

Order = Literal["first-use", "pressure"]


def numbered(assignment: Assignment, order: Order) -> Assignment:
    """The assignment with its units renumbered in every file; that of PTXPlus, where places are fixed, as it is."""
    if assignment.ranges.function.registers.is_ptxplus:
        return assignment
    unit = dict(assignment.unit)
    values = assignment.tenancy.values
    for file in ("general", "predicate"):
        placed = [n for n in unit if values[n].file == file]
        n_units = assignment.used[file]
        widest = max((values[n].width for n in placed), default=1)
        first = [2 * assignment.ranges.n_points] * (n_units + 4)
        weight = [0] * (n_units + 4)
        blocks: dict[int, set[int]] = {
            2: set(),
            4: set(),
        }  # block size -> the aligned blocks that stay together
        for n in placed:
            value, base = values[n], unit[n]
            segments, width = value.segments, value.width
            start, end = segments[0]
            length = end - start if len(segments) == 1 else sum([e - s for s, e in segments])
            for u in range(base, base + width):
                if start < first[u]:
                    first[u] = start
                weight[u] += length
            if width > 1:
                blocks[2].add(base // 2)
                if width > 2:
                    blocks[4].add(base // 4)
        keys: list[int] = first if order == "first-use" else [-w for w in weight]
        new = _order(n_units, widest, blocks, keys)
        for n in placed:
            unit[n] = new[unit[n]]
    return replace(assignment, unit=unit)


def _order(n_units: int, widest: int, blocks: dict[int, set[int]], keys: Sequence[int]) -> dict[int, int]:
    """Old unit -> new unit. A last block that is not full stays last, so that the count does not grow."""

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
    return {old: new for new, old in enumerate(sequence)}
