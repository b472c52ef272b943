"""Packages that are functions too: `ptxtool.parse(text)` beside `from ptxtool.parse import parse_with_lark`.

For the few packages whose name is also the name of the one thing they do. Importing such a package binds it in its
parent under that name, where users expect the function; called, it does what the function does.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class CallableModule(ModuleType):
    """A module that, called, calls its function of the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        function: Callable[..., Any] = self.__dict__[self.__name__.rpartition(".")[2]]
        return function(*arguments, **options)


def make_callable(module: str) -> None:
    """Let a module be called as the function in it that has the module's name."""
    sys.modules[module].__class__ = CallableModule
