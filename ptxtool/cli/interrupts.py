"""Ctrl-C while a C library calls back into Python, as LLVM and numba do when they compile and load machine code.

Python cannot raise there and drops the `KeyboardInterrupt`, or the library takes it for a failure of its own: the
command would go on, or fail for a reason that is none.
"""

import _thread
import contextlib
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SECONDS = 0.01
"""Until the interrupt is raised again: the callback has returned by then, or is interrupted again."""


class Interrupts:
    """In a `with`, notes every Ctrl-C, and raises `KeyboardInterrupt` again where a callback dropped it."""

    def __init__(self) -> None:
        self.any = False
        """Whether there was one: an exception that follows is its result."""
        self._timer = threading.Timer(0, _thread.interrupt_main)

    def __enter__(self) -> Self:
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._dropped
        in_main = threading.current_thread() is threading.main_thread()  # no other may have a handler
        self._handles = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):  # the command has ended for another reason
            self._timer.cancel()
            if self._timer.is_alive():
                self._timer.join()
            time.sleep(0)  # Python raises after such a call, not after the `with`
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = self._hook

    def _interrupt(self, *_: object) -> NoReturn:
        self.any = True
        raise KeyboardInterrupt

    def _dropped(self, what: "UnraisableHookArgs") -> None:
        if not isinstance(what.exc_value, KeyboardInterrupt):
            self._hook(what)
            return
        self.any = True
        self._timer = threading.Timer(_SECONDS, _thread.interrupt_main)
        self._timer.start()
