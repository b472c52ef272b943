"""Which quantity of the predictor was wrong where its choice is not the fastest variant.

The predictor says stalls * f(occupancy), with stalls = issue slots + waits of one thread, or what the busiest resource
of an SM takes where that is more. From its choice c to the fastest variant b, in parts of c's stalls, this changes by

    issue = (slots(b) - slots(c)) / stalls(c)      waits = (waits(b) - waits(c)) / stalls(c)

by the occupancy factor, which is the rest of the change of stalls * f(occupancy), and by the busiest resource, which is
the rest of the change of the prediction. The simulator counts scheduler slots in which a warp issues or finds its unit
busy, and slots in which none is ready. In parts of c's slots the changes of the first are held against issue and
resource, those of the second against waits and factor, since occupancy acts on what other warps hide. The larger error
has the cause; of its two quantities it is the one that changed the prediction more.
"""

from dataclasses import dataclass

from ptxtool.results.tuning import Variant
from ptxtool.sweep.reproduction.regdem.measured import Measured

_BUSY = ("slots.issued", "slots.stall")
_NOT_READY = ("slots.idle", "slots.scoreboard")


@dataclass(frozen=True)
class Misprediction:
    """From the predictor's choice to the fastest variant: changes of the time, in percent of the choice's time."""

    benchmark: str
    chosen: Variant
    fastest: Variant
    issue: float
    waits: float
    factor: float
    resource: float
    busy: float
    not_ready: float
    cycles: float

    @property
    def predicted(self) -> float:
        """The change that was predicted, at least 0: the choice is the best prediction."""
        return self.issue + self.waits + self.factor + self.resource

    @property
    def lost(self) -> float:
        """By how many percent the choice is slower than the fastest variant."""
        return 100 * (100 / (100 + self.cycles) - 1)

    @property
    def cause(self) -> str:
        """The quantity with the largest error."""
        if abs(self.issue + self.resource - self.busy) > abs(self.waits + self.factor - self.not_ready):
            return "busiest resource" if abs(self.resource) > abs(self.issue) else "issue slots"
        return "occupancy factor" if abs(self.factor) > abs(self.waits) else "waits"

    @property
    def columns(self) -> tuple[tuple[str, float], ...]:
        """The changes by name."""
        return (
            ("predicted time", self.predicted),
            ("issue slots", self.issue),
            ("waits", self.waits),
            ("occupancy factor", self.factor),
            ("busiest resource", self.resource),
            ("counted cycles", self.cycles),
            ("busy slots", self.busy),
            ("slots without a ready warp", self.not_ready),
        )


def misprediction(measured: Measured) -> Misprediction | None:
    """What was wrong about a benchmark; None where a run has no result."""
    chosen, fastest = measured.predicted, measured.fastest
    busy, all_slots = (measured.count(chosen, *names) for names in (_BUSY, _BUSY + _NOT_READY))
    if fastest is None or not chosen.cycles or not all_slots or busy is None:
        return None
    assert fastest.cycles is not None
    before, after = chosen.prediction, fastest.prediction
    issue = 100 * (after.slots - before.slots) / before.stalls
    waits = 100 * ((after.stalls - after.slots) - (before.stalls - before.slots)) / before.stalls
    by_stalls = 100 * (after.relative_to(1) / before.relative_to(1) - 1)
    busy_after = measured.count(fastest, *_BUSY) or 0
    not_ready_after = measured.count(fastest, *_NOT_READY) or 0
    return Misprediction(
        measured.benchmark.name,
        chosen,
        fastest,
        issue,
        waits,
        by_stalls - issue - waits,
        100 * (fastest.predicted / chosen.predicted - 1) - by_stalls,
        100 * (busy_after - busy) / all_slots,
        100 * (not_ready_after - (all_slots - busy)) / all_slots,
        100 * (fastest.cycles / chosen.cycles - 1),
    )
