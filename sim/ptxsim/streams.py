"""Streams of a machine: launches wait on them, in order, until the machine runs them all (`Machine.synchronize`).

    one, other = machine.stream(), machine.stream()
    one.launch(first, grid, block, [a])
    done = one.record()
    other.launch(second, grid, block, [b])      # runs at the same time as `first`
    other.wait(done)
    other.launch(third, grid, block, [a, b])    # after both
    result = machine.synchronize()

A launch begins when the launch before it on its stream has ended, and those of the events that the stream waits for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from ptxsim.base.options import Extent
from ptxsim.launch_options import LaunchOptions, MachineKeywords
from ptxsim.loaded_modules import LoadedKernel
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class StreamLaunch:
    """A launch on a stream that waits to be run. `after` are the launches, by their numbers among those that wait, that
    have to end before it begins."""

    kernel: Function
    grid: Extent
    block: Extent
    args: Sequence[Any]
    options: LaunchOptions
    stream: int
    after: tuple[int, ...]


class WaitingLaunches:
    """The launches of all streams of a machine that have not run, in the order in which they were made."""

    def __init__(self) -> None:
        self.launches: list[StreamLaunch] = []
        self.run_number = 0
        """How often the machine has run launches: what was made before has ended."""

    def take(self) -> list[StreamLaunch]:
        """All launches; none are left."""
        taken, self.launches = self.launches, []
        self.run_number += 1
        return taken


@dataclass(frozen=True)
class Event:
    """A point of a stream: reached when the launches before it have ended."""

    waiting: WaitingLaunches
    run_number: int
    launches: tuple[int, ...]
    """Those that have to end, by their numbers among the machine's waiting ones."""


Prepare = Callable[..., tuple[Function, Sequence[Any], LaunchOptions]]


class Stream:
    """A stream. `Machine.stream` makes one."""

    def __init__(self, number: int, waiting: WaitingLaunches, prepare: Prepare):
        self.number = number
        self._waiting, self._prepare = waiting, prepare
        self._after: tuple[int, ...] = ()
        self._run_number = waiting.run_number

    def launch(
        self,
        kernel: Function | LoadedKernel,
        grid: Extent,
        block: Extent,
        args: Sequence[Any] = (),
        *,
        parameters: bytes | None = None,
        options: LaunchOptions | None = None,
        **changes: Unpack[MachineKeywords],
    ) -> Event:
        """Add a launch, which `Machine.synchronize` runs; its parameters are those of `Machine.launch`. Returns the
        event of its end. Arrays are read when the machine runs, and hold results afterwards. Raises E401."""
        function, passed, chosen = self._prepare(kernel, args, parameters, options, changes)
        launches = self._waiting.launches
        launches.append(
            StreamLaunch(function, grid, block, passed, chosen, self.number, self.record().launches)
        )
        self._after = (len(launches) - 1,)
        return self.record()

    def record(self) -> Event:
        """The event that all launches on this stream so far have ended."""
        if self._run_number != self._waiting.run_number:
            self._run_number, self._after = self._waiting.run_number, ()
        return Event(self._waiting, self._run_number, self._after)

    def wait(self, event: Event) -> None:
        """Let later launches on this stream begin after an event of this machine. Raises E401 for another machine's."""
        if event.waiting is not self._waiting:
            raise error(
                "E401", "an event of another machine", help="wait for events of this machine's streams"
            )
        if event.run_number == self._waiting.run_number:
            self._after = tuple(sorted({*self.record().launches, *event.launches}))
