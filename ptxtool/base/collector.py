"""Work without the garbage collector, where many objects are made and none of them in cycles.

It would look through all of a module's nodes again and again, which costs 10 to 25% of a parse (measured) and more of
what makes smaller objects.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Let the garbage collector rest; afterwards it is as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
