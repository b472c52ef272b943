"""Names in nested blocks: what a name means in the innermost block, and at any position of a finished text.

For walks over a function's statements. `Scopes` answers during the walk: entering and leaving blocks, declarations and
look-ups take constant time, however deep the blocks nest. `NameHistory` answers afterwards: for one name, what it means
from which position on, two entries per declaration.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class NameHistory(Generic[V]):
    """What one name means from each position on; positions are added in ascending order."""

    __slots__ = ("meanings", "positions")

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.meanings: list[V | None] = []

    def add(self, position: int, meaning: V | None) -> None:
        """From this position on the name has this meaning; of several at one position the last counts."""
        if self.positions and self.positions[-1] == position:
            self.meanings[-1] = meaning
        else:
            self.positions.append(position)
            self.meanings.append(meaning)

    def at(self, position: int) -> V | None:
        found = bisect_right(self.positions, position) - 1
        return self.meanings[found] if found >= 0 else None


class Scopes(Generic[V]):
    """The declarations that are in force at the current statement of a walk through nested blocks."""

    def __init__(self) -> None:
        self._stacks: dict[str, list[tuple[int, V]]] = {}  # name -> (depth, value), the innermost last
        self._blocks: list[list[str]] = [[]]  # the names that each open block declares

    def enter(self) -> None:
        self._blocks.append([])

    def leave(self) -> list[str]:
        """Leave a block; the names it declared."""
        names = self._blocks.pop()
        for name in names:
            stack = self._stacks[name]
            stack.pop()
            if not stack:
                del self._stacks[name]
        return names

    @property
    def depth(self) -> int:
        """How many blocks are open around the outermost one."""
        return len(self._blocks) - 1

    def declare(self, name: str, value: V) -> None:
        """Declare a name in the innermost block, where a second declaration replaces the first."""
        stack = self._stacks.setdefault(name, [])
        if stack and stack[-1][0] == self.depth:
            stack[-1] = self.depth, value
        else:
            stack.append((self.depth, value))
            self._blocks[-1].append(name)

    def get(self, name: str) -> V | None:
        """What a name means here; None where no open block declares it."""
        stack = self._stacks.get(name)
        return stack[-1][1] if stack else None

    def here(self, name: str) -> V | None:
        """What a name means here, if the innermost block declares it."""
        stack = self._stacks.get(name)
        return stack[-1][1] if stack and stack[-1][0] == self.depth else None

    def __contains__(self, name: str) -> bool:
        return name in self._stacks

    def __iter__(self) -> Iterator[str]:
        """Every name in force."""
        return iter(self._stacks)
