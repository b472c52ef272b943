"""What a simulation says while it runs: what the kernel prints, and on a terminal how far it is."""

import contextlib
import sys

from ptxtool.cli.streams import print_bytes

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""


class Status:
    """One line on the terminal that is written over; nothing where standard error is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._head = ""

    def announce(self, name: str) -> None:
        """What is being simulated now."""
        self._head = f"{name}: "
        self._write(f"{self._head}starting")

    def progress(self, cycles: int, done: int, total: int) -> None:
        """How far it is: what `ptxsim.launch` calls now and then."""
        self._write(f"{self._head}{done} of {total} CTAs, cycle {cycles}")

    def printed(self, text: str) -> None:
        """What the kernel prints, to standard output."""
        self.clear()
        print_bytes(text.encode("utf-8", "surrogateescape"))

    def clear(self) -> None:
        """Remove the line."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._shown:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"\r\x1b[K{text}")
                sys.stderr.flush()
