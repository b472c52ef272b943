"""Names in nested blocks: what a name means in the block at hand, and at any place of a finished text.

For whoever walks a function's statements. `Scopes` answers while it walks: entering and leaving blocks, declaring and
asking take constant time, however deep the blocks nest. `Timeline` answers afterwards: for one name, what it meant from
which place on, two entries per declaration.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class Timeline(Generic[V]):
    """What one name means from each place on; places are added in ascending order."""

    __slots__ = ("places", "values")

    def __init__(self) -> None:
        self.places: list[int] = []
        self.values: list[V | None] = []

    def add(self, place: int, value: V | None) -> None:
        """From this place on it means `value`; of several at one place the last counts."""
        if self.places and self.places[-1] == place:
            self.values[-1] = value
        else:
            self.places.append(place)
            self.values.append(value)

    def at(self, place: int) -> V | None:
        found = bisect_right(self.places, place) - 1
        return self.values[found] if found >= 0 else None


class Scopes(Generic[V]):
    """The declarations that are in force where a walk through nested blocks has come."""

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
        """Declare a name in the innermost block, where a second declaration takes the place of the first."""
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
        """The same if the innermost block declares it."""
        stack = self._stacks.get(name)
        return stack[-1][1] if stack and stack[-1][0] == self.depth else None

    def is_outermost(self, name: str) -> bool:
        """Whether the outermost block declares it: then it means something to the end."""
        stack = self._stacks.get(name)
        return stack is not None and stack[0][0] == 0

    def __contains__(self, name: str) -> bool:
        return name in self._stacks

    def __iter__(self) -> Iterator[str]:
        """Every name in force."""
        return iter(self._stacks)
