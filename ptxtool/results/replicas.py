"""How much a simulated number moves by accident: its spread over replicas (`ptxtool.runs.parallel.replicas`)."""

import statistics
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """A number in each replica, first that of the machine as it is. At least one."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def deviation(self) -> float:
        """The standard deviation of the sample; 0.0 for one value."""
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def greatest(self) -> float:
        return max(self.values)

    @property
    def has_both_signs(self) -> bool:
        """A gain inside its spread is none."""
        return self.least < 0 < self.greatest

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        shown = {name: getattr(self, name) for name in ("mean", "deviation", "least", "greatest")}
        return {**shown, "values": list(self.values)}


@dataclass(frozen=True)
class Replicas:
    """Cycles and thread IPC of the replicas that ended, of as many as were asked for."""

    of: int
    cycles: Spread
    thread_ipc: Spread

    @property
    def complete(self) -> bool:
        """False after an interrupt."""
        return len(self.cycles.values) == self.of

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {"of": self.of, "cycles": self.cycles.to_dict(), "thread_ipc": self.thread_ipc.to_dict()}

    def __str__(self) -> str:
        n = len(self.cycles.values)
        cycles, ipc = self.cycles, self.thread_ipc
        some = "" if self.complete else f" of {self.of} (interrupted)"
        return (
            f"{n}{some} replicas: {cycles.mean:.0f} cycles on average ({cycles.least:.0f} to {cycles.greatest:.0f}, "
            f"deviation {100 * cycles.deviation / cycles.mean if cycles.mean else 0.0:.2f}%), "
            f"thread IPC {ipc.mean:.2f} ({ipc.least:.2f} to {ipc.greatest:.2f})"
        )


def gains(ours: Replicas, base: Replicas) -> Spread | None:
    """Gains of thread IPC in percent, replica by replica; None where there are none in common."""
    pairs = zip(ours.thread_ipc.values, base.thread_ipc.values, strict=False)
    found = tuple(100 * (this / that - 1) for this, that in pairs if that)
    return Spread(found) if found else None
