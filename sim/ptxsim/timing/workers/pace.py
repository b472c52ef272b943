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
    interval: int = _TRIED_AGAIN
    """Slices after which the slower kind is tried again."""

    @property
    def is_complete(self) -> bool:
        """Whether both kinds of slices have been tried."""
        return len(self.speed) == 2

    @property
    def is_shared(self) -> bool:
        """Whether the next launch is shared from its start on: to save time, or to see whether it does."""
        if self.is_complete:
            return self.seconds * (1 - self.speed[False] / self.speed[True]) > _SAVES
        return True not in self.speed and self.seconds > _SHARED_AFTER


class Pace:
    """Whether the workers share the next slice: the kind of slice that was faster, once both were tried."""

    def __init__(self, known: Experience, n: int) -> None:
        """`n`: the number of workers."""
        self.is_shared = known.is_shared
        self._known, self._n = known, n
        is_known = known.is_complete or self.is_shared
        self._shared_after = 0.0 if is_known else _SHARED_AFTER
        self._speed = {True: math.inf} | (known.speed if is_known else {})
        if known.is_complete and not self.is_shared and self._speed[True] > self._speed[False]:
            self._shared_after = 2 * known.seconds  # it is over before threads pay
        self._first_shared = 0 if known.is_complete else 3
        """Shared slices before their speed counts: the first is slow."""
        self._cycles, self._seconds = {False: 0, True: 0}, {False: 0.0, True: 0.0}
        """Of all slices of a kind."""
        self._slices, self._next_try = 0, known.interval if is_known else 4
        self._is_try = False
        """Whether the next slice shows whether the other kind has become the faster one."""
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
        self._is_try = False
        is_better = self._speed[True] > self._speed[False]
        if was_shared and self._speed[True] < _HOPELESS * self._speed[False]:
            self._next_try, self.is_shared = self._slices + self._pause, False
            self._pause *= 2
            return
        if was_shared:
            self._pause = 1
        if self._slices < self._next_try:
            self.is_shared = is_better or self._slices < self._first_shared
        elif self._slices == self._next_try:
            self.is_shared, self._is_try = not self.is_shared, True
        else:
            known = self._known
            known.interval = _TRIED_AGAIN if is_better == self.is_shared else 2 * known.interval
            self._next_try, self.is_shared = self._slices + known.interval, is_better

    @property
    def seconds(self) -> float:
        """That the run has taken so far."""
        return sum(self._seconds.values())

    @property
    def slice_seconds(self) -> float:
        """How long the next slice should take."""
        return _SHORT_SLICE if self._is_try else min(max(_SHORT_SLICE, self.seconds / 4), _LONG_SLICE)

    @property
    def first_cycles(self) -> int:
        """Of the first slice."""
        speed, seconds = self._known.speed, _SHORT_SLICE if self.is_shared else _SHARED_AFTER
        return int(speed.get(self.is_shared, speed[False]) * seconds) if speed else _FIRST_CYCLES

    def learn(self) -> None:
        """The run has ended: note what it has shown. What took less than two milliseconds shows little."""
        known = self._known
        for kind, cycles in self._cycles.items():
            if cycles and (self._seconds[kind] > _SAVES or kind not in known.speed):
                known.speed[kind] = cycles / max(self._seconds[kind], 1e-9)
        if known.speed:  # that of one thread is known first
            shared = min(self._cycles[True] / known.speed[False], self._n * self._seconds[True])
            known.seconds = self._seconds[False] + shared
