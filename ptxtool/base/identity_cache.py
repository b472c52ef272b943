"""`IdentityCache`: results computed from objects that never change, such as a function, a lowered kernel or a machine.

The key is the objects' identity: comparing their contents would take as long as computing the result. An entry keeps
its objects alive, so that no other object can have their identity while the entry exists.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class IdentityCache(Generic[Result]):
    """The last `capacity` results of one kind."""

    def __init__(self, capacity: int):
        self._capacity = capacity
        self._entries: dict[tuple[tuple[int, ...], Hashable], tuple[tuple[Any, ...], Result]] = {}
        self._lock = Lock()

    def get(self, objects: Any, key: Hashable, compute: Callable[[], Result]) -> Result:
        """The result for an object, or a tuple of objects, and a key; `compute` is called when it is not cached."""
        held = objects if isinstance(objects, tuple) else (objects,)
        known = tuple(map(id, held)), key
        found = self._entries.get(known)
        if found is None:
            found = held, compute()
            with self._lock:
                self._entries[known] = found
                if len(self._entries) > self._capacity:
                    del self._entries[next(iter(self._entries))]
        return found[1]
