"""Work without the garbage collector, where many objects are created and none of them in cycles.

It would traverse all of a module's nodes again and again, which costs 10 to 25% of a parse (measured) and more where
objects are smaller.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_RARE = 100_000


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause the garbage collector; afterwards it is as before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Let the garbage collector run after a hundred thousand new objects instead of 700; afterwards it is as before.

    Importing modules creates so many that live as long as the process. Afterwards they count as old: with the usual
    threshold all of them would be traversed at once, which took five milliseconds of a short command (measured).
    """
    before = gc.get_threshold()
    gc.set_threshold(_RARE, *before[1:])
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()
        gc.set_threshold(*before)
