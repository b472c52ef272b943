"""Ctrl-C while a C library calls back into Python, as LLVM does when it compiles and loads machine code.

Python cannot raise there and drops the `KeyboardInterrupt`: the command would go on, or fail for a reason that is none.
"""

import _thread
import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SECONDS = 0.01
"""Until the interrupt is raised again: the callback has returned by then, or is interrupted again."""


class DroppedInterrupts:
    """In a `with`, raises `KeyboardInterrupt` again after a callback in which Python dropped it."""

    def __init__(self) -> None:
        self.any = False
        """Whether one was dropped: an exception that follows is its result."""
        self._timer = threading.Timer(0, _thread.interrupt_main)

    def __enter__(self) -> Self:
        self._before = sys.unraisablehook
        sys.unraisablehook = self._dropped
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):  # the command has ended for another reason
            self._timer.cancel()
            if self._timer.is_alive():
                self._timer.join()
        sys.unraisablehook = self._before

    def _dropped(self, what: "UnraisableHookArgs") -> None:
        if not isinstance(what.exc_value, KeyboardInterrupt):
            self._before(what)
            return
        self.any = True
        self._timer = threading.Timer(_SECONDS, _thread.interrupt_main)
        self._timer.start()
