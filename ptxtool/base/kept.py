"""Analyses that run once for an object that never changes, such as a function or a module.

What `functools.cached_property` is inside a class, `kept` is for the analyses of higher layers: the result is kept in
the object's `__dict__`, and lives as long as the object. For small results; large ones belong in an `IdentityCache`.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Kept = TypeVar("Kept")
Result = TypeVar("Result")


def kept(analysis: Callable[[Kept], Result]) -> Callable[[Kept], Result]:
    """The analysis, which runs once for each object. What it raises is not kept."""
    name = f"{analysis.__module__}.{analysis.__qualname__}"

    @wraps(analysis)
    def result(of: Kept) -> Result:
        known = of.__dict__
        if name not in known:
            known[name] = analysis(of)
        found: Result = known[name]
        return found

    return result
