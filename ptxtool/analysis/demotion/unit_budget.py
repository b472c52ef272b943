"""Values that stay in registers longer, as long as the kernel needs no more registers for it.

For the passes after `demote`. Before an instruction the units in use are those of the live registers
(`unit_liveness.py`). A budget admits a value from one instruction to another of the same block if the units in use stay
within a limit at every point between; that its units are free there is not checked.
"""

from ptxtool.analysis.demotion.unit_liveness import UnitLiveness


class UnitBudget:
    """The units in use before every instruction, and the most that may be."""

    def __init__(self, live: UnitLiveness, limit: int):
        self.live, self.before, self.limit = live, [*live.before], limit

    def admits(self, i: int, units: int) -> bool:
        """Whether more units, a set, can be in use before an instruction."""
        return (self.before[i] | units).bit_count() <= self.limit

    def extend(self, first: int, last: int, units: int) -> bool:
        """Have units in use before the instructions from `first` to `last`; False if that is too many."""
        points = range(first, last + 1)
        if not all(self.admits(i, units) for i in points):
            return False
        for i in points:
            self.before[i] |= units
        return True
