"""The relocation space of RegDem: where registers move so that the gaps in a register file close.

An array over the units of the file. An entry holds adjacent units and is aligned to their number, 1, 2 or 4; a unit
without an entry is a gap. The lowest gap is closed by the next entry above it:

    shift    the entry moves down to the gap
    swap     where the gap is not aligned for the entry, this moves to the next aligned unit and trades places with as
             many units just below: the gap is above them now

With banks, a register's bank is its unit modulo their number, and entries keep theirs while they can:

    shift    the gap takes the next entry of its bank, but the last one of a single unit where the gap is odd and the
             next entry wider
    swap     the single unit below an odd gap trades places with the pair `n_banks` units above it

A gap that no entry of its bank closes is closed as without banks: the number of registers counts first.

Where an entry may not move (`pinned`) a swap with it gives way to the next entry of a single unit, if there is one.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, sections 3.3 and 3.4.1.
"""

from collections.abc import Mapping


def relocated(
    units: Mapping[int, int], n_banks: int = 0, pinned: frozenset[int] = frozenset()
) -> dict[int, int]:
    """The new first unit of every entry by its old one. `units` has the number of units of each, by its first.

    `n_banks` is 0, or a power of two from 4 on; entries in `pinned` stay where they are.
    """
    space = _Space(units, pinned)
    if n_banks:
        gap = space.next_gap(0)
        while gap >= 0:
            gap = space.next_gap(gap if space.close_in_bank(gap, n_banks) else gap + 1)
    gap = space.next_gap(0)
    while gap >= 0:
        gap = space.next_gap(gap if space.close(gap) else gap + 1)
    return {entry: place for place, entry in space.entry.items()}


class _Space:
    """Entries by their first unit now; an entry is named by the one that it had."""

    def __init__(self, units: Mapping[int, int], pinned: frozenset[int]):
        self._units, self._pinned = units, pinned
        self.entry = {place: place for place in units}
        self._taken = {u for place, n in units.items() for u in range(place, place + n)}

    def next_gap(self, first: int) -> int:
        """The lowest gap from that unit on, -1 if no entry is above one."""
        return next((u for u in range(first, max(self._taken, default=0)) if u not in self._taken), -1)

    def close(self, gap: int) -> bool:
        """Shift or swap the next entry; whether it could move."""
        place = min(p for p in self.entry if p > gap)
        n = self._size(place)
        if gap % n == 0:
            return self._move({place: gap})
        window = gap - gap % n
        below = {p: p + n for p in self.entry if window <= p < gap}
        if self._move({place: window, **below}):
            return True
        single = min((p for p in self.entry if p > gap and self._size(p) == 1), default=-1)
        return single >= 0 and self._move({single: gap})

    def close_in_bank(self, gap: int, n_banks: int) -> bool:
        """Shift or swap entries by a multiple of the banks; whether any could move."""
        above = sorted(p for p in self.entry if p > gap)
        same = [p for p in above if (p - gap) % n_banks == 0 and self._has_room(gap, self._size(p))]
        if gap % 2 == 0 or self._size(above[0]) == 1:
            return bool(same) and self._move({same[0]: gap})
        if singles := [p for p in same if self._size(p) == 1]:
            return self._move({singles[-1]: gap})
        single, pair = gap - 1, gap - 1 + n_banks
        is_swap = (self._size(single), self._size(pair)) == (1, 2)
        return is_swap and self._move({pair: single, single: pair})

    def _size(self, place: int) -> int:
        """The units of the entry that begins there, 0 for none."""
        return self._units[self.entry[place]] if place in self.entry else 0

    def _has_room(self, gap: int, n: int) -> bool:
        return gap % n == 0 and self._taken.isdisjoint(range(gap, gap + n))

    def _move(self, places: Mapping[int, int]) -> bool:
        """Move entries to other places at once, unless one of them may not."""
        moved = {new: self.entry[old] for old, new in places.items()}
        if not self._pinned.isdisjoint(moved.values()):
            return False
        for old in places:
            self._taken.difference_update(range(old, old + self._units[self.entry.pop(old)]))
        for new, entry in moved.items():
            self.entry[new] = entry
            self._taken.update(range(new, new + self._units[entry]))
        return True
