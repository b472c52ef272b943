"""Values that stay in registers longer, as long as the kernel needs no more registers for it.

For the passes after `demote`. Between two instructions the units in use are those of the live registers
(`unit_liveness.py`). A budget admits a value between two instructions where its units are free at every point between
them and the units in use stay within a limit.
"""

from ptxtool.analysis.demotion.unit_liveness import UnitLiveness


class UnitBudget:
    """The units in use after every instruction, and the most that may be."""

    def __init__(self, live: UnitLiveness, limit: int):
        self.after, self.limit = [*live.after], limit

    def admits(self, i: int, units: int) -> bool:
        """Whether more units, a set, can be in use after an instruction."""
        return (self.after[i] | units).bit_count() <= self.limit

    def extend(self, first: int, end: int, units: int) -> bool:
        """Have units in use after the instructions from `first` to `end` (exclusive); False if that is too many."""
        points = range(first, end)
        if not all(self.admits(i, units) for i in points):
            return False
        for i in points:
            self.after[i] |= units
        return True
