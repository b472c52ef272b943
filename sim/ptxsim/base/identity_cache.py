"""`Remembered`: results that follow from objects which never change, such as a lowered kernel or a machine.

By the objects' identity: to compare their contents would take as long as to work the result out. The objects are kept
with the result, so that no other object has their identity as long as it is known.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Remembered(Generic[Result]):
    """The last `most` results of one kind."""

    def __init__(self, most: int):
        self._most = most
        self._known: dict[tuple[int, Hashable], tuple[Any, Result]] = {}
        self._lock = Lock()

    def get(self, of: Any, key: Hashable, make: Callable[[], Result]) -> Result:
        """What `make` gives for an object, and what else it depends on; it is called when that is not known."""
        found = self._known.get((id(of), key))
        if found is None:
            found = of, make()
            with self._lock:
                self._known[id(of), key] = found
                if len(self._known) > self._most:
                    del self._known[next(iter(self._known))]
        return found[1]
