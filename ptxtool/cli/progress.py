"""What a simulation or a sweep prints while it runs: the output of the kernel, and on a terminal the progress.

One line on standard error that is written over: a bar of the CTAs that are done, cycles, IPC, how fast the simulator is
(warp instructions a second) and the time that is left at the same pace. Nothing is shown where
standard error is no terminal.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

import click

from ptxtool.cli.streams import print_bytes, print_error

if TYPE_CHECKING:
    from ptxsim.timing.drive import ProgressSnapshot
    from ptxtool.sweep.runner import SweepProgress

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""
TERMINATED = 143
"""The exit code after SIGTERM."""

_BAR, _LEAST_BAR = 20, 5


class Termination:
    """In a `with`, SIGTERM works like Ctrl-C: batch systems end long sweeps with it. `asked` is True after one."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # no other may have a handler
            self._before = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        if self.asked and kind is KeyboardInterrupt:  # before there was anything to return
            print_error("terminated")
            raise click.exceptions.Exit(TERMINATED)

    def _interrupt(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt

    @property
    def code(self) -> int:
        """The exit code of what was interrupted."""
        return TERMINATED if self.asked else INTERRUPTED


def progress_line(
    head: str, at: "ProgressSnapshot", first: "ProgressSnapshot", seconds: float, width: int
) -> str:
    """The line about a simulation, of at most `width` characters: the bar takes the rest.

    `seconds` have passed since the snapshot `first`. Speed and time left are shown as soon as they can be computed; a
    narrow terminal gets less.
    """
    ctas, warp_instructions = at.ctas_done - first.ctas_done, at.warp_instructions - first.warp_instructions
    share = at.ctas_done / at.n_ctas
    cycles, ipc = f"{_short(at.cycles)} cycles", f"IPC {at.thread_instructions / max(1, at.cycles):.1f}"
    speed = f"{_short(warp_instructions / seconds)} insn/s" if seconds > 0 else ""
    left = f"{_clock((at.n_ctas - at.ctas_done) * seconds / ctas)} left" if ctas else ""
    parts = [f"{share:4.0%}", f"{at.ctas_done}/{at.n_ctas} CTAs", cycles, ipc, speed, left]
    parts = [part for part in parts if part]
    for least in (speed, ipc, cycles, left):
        if len("  ".join([head, *parts])) + _LEAST_BAR <= width:
            break
        parts = [part for part in parts if part != least]
    room = min(_BAR, width - len("  ".join([head, *parts])))
    filled = int(room * share)
    return f"{head}[{'#' * filled}{'.' * (room - filled)}]{'  '.join(parts)}"[:width]


def sweep_line(at: "SweepProgress", seconds: float, width: int) -> str:
    """The line about a sweep, of at most `width` characters; the time left assumes runs like those that ended."""
    done = at.stored + at.ended
    share = done / at.total if at.total else 1.0
    left = f"{_clock((at.total - done) * seconds / at.ended)} left" if at.ended and seconds > 0 else ""
    failed = f"{at.failed} failed" if at.failed else ""
    filled = int(_BAR * share)
    head = f"[{'#' * filled}{'.' * (_BAR - filled)}]{share:4.0%}"
    parts = [head, f"{done}/{at.total} runs", failed, left, at.label]
    return "  ".join(part for part in parts if part)[:width]


class _Line:
    """A line on standard error that is written over, if it is wanted."""

    def __init__(self, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()

    def clear(self) -> None:
        """Remove the line."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._shown:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"\r\x1b[K{text[: self._width()]}")
                sys.stderr.flush()

    def _width(self) -> int:
        """Characters of a line that can be written over: one that fills the terminal's may have begun the next."""
        try:
            return (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
        except (OSError, ValueError):
            return 79


class SweepStatus(Termination, _Line):
    """The line about a sweep, for the `with` in which it runs."""

    def __init__(self, quiet: bool = False) -> None:
        Termination.__init__(self)
        _Line.__init__(self, quiet)
        self._since: float | None = None

    def __exit__(self, *exception: Any) -> None:
        self.clear()
        super().__exit__(*exception)

    def progress(self, at: "SweepProgress") -> None:
        """Show the progress: `api.sweep` calls it before the first run and after each."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self._write(sweep_line(at, now - self._since, self._width()))


class SimulationStatus(_Line):
    """The line about a simulation."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self._head = ""
        self._first: tuple[float, ProgressSnapshot] | None = None

    def announce(self, name: str) -> None:
        """Show what is being simulated now."""
        self._head, self._first = f"{name}  ", None
        self._write(f"{self._head}starting")

    def progress(self, at: "ProgressSnapshot") -> None:
        """Show the progress: `ptxsim.launch` calls it now and then."""
        if not self._shown:
            return
        now = time.monotonic()
        if self._first is None:
            self._first = now, at
        since, first = self._first
        self._write(progress_line(self._head, at, first, now - since, self._width()))

    def printed(self, text: str) -> None:
        """Write the kernel's output to standard output."""
        self.clear()
        print_bytes(text.encode("utf-8", "surrogateescape"))


def _short(n: float) -> str:
    """A number in three digits or so: 950, 12.3 k, 4.56 M."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if n >= unit:
            digits = 2 if n < 10 * unit else 1 if n < 100 * unit else 0
            return f"{n / unit:.{digits}f}{name}"
    return f"{n:.0f}"


def _clock(seconds: float) -> str:
    """Time as 0:07, 12:30 or 1:02:03."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
