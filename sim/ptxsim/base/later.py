"""What numba's compiler takes, to be made when something is compiled: until then numba need not be imported."""

from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

on_loading: list[Callable[[Collection[str]], None]] = []
"""What is told the symbols that a function calls which was not compiled but loaded from numba's files."""


class Later:
    """Something of numba's, made when a function that uses it is compiled."""

    def __init__(self, make: Callable[[], Any]):
        self._make: Callable[[], Any] | None = make
        self._made: Any = None

    def now(self) -> Any:
        if self._make is not None:
            self._made = self._make()
            self._make = None
        return self._made


def now(value: Any) -> Any:
    """The value itself, or what it stands for."""
    return value.now() if isinstance(value, Later) else value


class Expression(Later):
    """A name of numba's, its attributes and calls: `types.int64(record_type(CONTEXT))` is a signature to be. As text it
    has the layouts of its records, so that machine code for other layouts has another name on disk."""

    def __init__(self, make: Callable[[], Any], text: str):
        super().__init__(make)
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> "Expression":
        if name.startswith("_"):
            raise AttributeError(name)
        return Expression(lambda: getattr(self.now(), name), f"{self}.{name}")

    def __call__(self, *arguments: Any) -> "Expression":
        return Expression(
            lambda: self.now()(*map(now, arguments)), f"{self}({', '.join(map(str, arguments))})"
        )


class Function(Later):
    """A function for compiled callers, with the signature that it was declared with, or None."""

    def __init__(
        self, function: FunctionType, signature: Any, options: dict[str, Any], make: Callable[[], Any]
    ):
        super().__init__(make)
        self.py_func, self.signature, self.options = function, signature, options
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__ = function.__qualname__
