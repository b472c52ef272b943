"""Which slices of a run workers share: those of the kind that was faster, as it depends on the kernel, on the machine,
and on what else the cores have to do. Later launches of a program begin with what the last one has shown.

Reference: docs/performance.md.
"""

import math
from dataclasses import dataclass, field

_TRIED_AGAIN = 8
"""Slices after which the slower kind of slice is tried again; twice as many each time that it was slower."""
_HOPELESS = 0.6
"""A shared slice with less than this part of the speed of one thread has met other work on the cores: one thread runs
the next slice, and twice as many each time that this comes again at once."""
_SHARED_AFTER = 0.008
"""Seconds of a run before a slice is shared: the end of a shorter one is near."""
_SHORT_SLICE, _LONG_SLICE = 0.005, 0.1
"""Seconds of a slice: a quarter of what the run has taken, within these. At first it is not known how best to share."""
_SAVES = 0.002
"""Seconds that a launch saves which is shared from its start on, at least: three times what threads take to start."""
_FIRST_CYCLES = 2_000
"""Of the first launch of a program."""


@dataclass
class Experience:
    """What launches of a program have shown for its next one."""

    seconds: float = 0.0
    """Of the last launch, had one thread run it: an estimate."""
    speed: dict[bool, float] = field(default_factory=dict)
    """Cycles per second by one thread (False) and by workers (True), of the last launch that had such slices."""
    share: float | None = None
    """The part of the SMs that the first worker had."""

    @property
    def is_shared(self) -> bool:
        """Whether the next launch is shared from its start on."""
        return self.seconds > 0 and self.seconds * (1 - self.speed[False] / self.speed[True]) > _SAVES


class Pace:
    """Whether the workers share the next slice: the kind of slice that was faster, once both were tried."""

    def __init__(self, known: Experience, n: int) -> None:
        """`n`: the number of workers."""
        self.is_shared = known.is_shared
        self._known, self._n, self._shared_after, first_try = known, n, _SHARED_AFTER, 4
        self._speed = {True: math.inf}
        if self.is_shared:
            self._shared_after, first_try = 0.0, _TRIED_AGAIN
            self._speed = dict(known.speed)
        self._cycles, self._seconds = {False: 0, True: 0}, {False: 0.0, True: 0.0}
        """Of all slices of a kind."""
        self._slices, self._next_try, self._interval = 0, first_try, _TRIED_AGAIN
        self._pause = 1
        """Slices that one thread runs after the next hopeless one."""

    def note(self, cycles: int, seconds: float, was_shared: bool) -> None:
        """The slice has taken so long; one that was to be shared may not have been."""
        self._speed[was_shared] = cycles / max(seconds, 1e-9)
        self._cycles[was_shared] += cycles
        self._seconds[was_shared] += seconds
        if self.seconds < self._shared_after or was_shared != self.is_shared:
            self.is_shared = self.seconds >= self._shared_after
            return
        self._slices += 1
        is_better = self._speed[True] > self._speed[False]
        if was_shared and self._speed[True] < _HOPELESS * self._speed[False]:
            self._next_try, self.is_shared = self._slices + self._pause, False
            self._pause *= 2
            return
        if was_shared:
            self._pause = 1
        if self._slices < self._next_try:
            self.is_shared = is_better or self._slices < 3  # the first is slow
        elif self._slices == self._next_try:
            self.is_shared = not self.is_shared
        else:
            self._interval = _TRIED_AGAIN if is_better == self.is_shared else 2 * self._interval
            self._next_try, self.is_shared = self._slices + self._interval, is_better

    @property
    def seconds(self) -> float:
        """That the run has taken so far."""
        return sum(self._seconds.values())

    @property
    def slice_seconds(self) -> float:
        """How long the next slice should take."""
        return min(max(_SHORT_SLICE, self.seconds / 4), _LONG_SLICE)

    @property
    def first_cycles(self) -> int:
        """Of the first slice."""
        speed, seconds = self._known.speed, _SHORT_SLICE if self.is_shared else _SHARED_AFTER
        return int(speed[self.is_shared] * seconds) if speed else _FIRST_CYCLES

    def learn(self) -> None:
        """The run has ended: note what it has shown."""
        known = self._known
        for kind, cycles in self._cycles.items():
            if cycles:
                known.speed[kind] = cycles / max(self._seconds[kind], 1e-9)
        if len(known.speed) == 2:
            shared = min(self._cycles[True] / known.speed[False], self._n * self._seconds[True])
            known.seconds = self._seconds[False] + shared
