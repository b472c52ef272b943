"""Sequences whose items are made when asked for, out of columns or by computing them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T = TypeVar("T", covariant=True)


class LazySequence(Sequence[T]):
    """A sequence that only says how long it is and what each of its items is."""

    @abstractmethod
    def item(self, index: int) -> T:
        """The item of an index from 0 on, below the length."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        """Raises `IndexError` for an index out of range."""
        n = len(self)
        if isinstance(index, slice):
            return tuple(self.item(k) for k in range(*index.indices(n)))
        if not -n <= index < n:
            raise IndexError(f"no item with index {index} among {n}")
        return self.item(index % n)
