"""The counters of a timeline, read whenever the loop has stopped at a cycle for them.

A rate is written at the beginning of the cycles that it covers, a level at the cycle in which it was read; each lasts
until the next, and is written only where it changes (from 0 at first). Counters that the loop charges later, for
skipped cycles, are not read here: the numbers must not depend on skipping.
"""

from collections.abc import Mapping

import numpy as np

from ptxsim.base.wide_masks import mask_of
from ptxsim.observe.timeline_tracks import FIRST_SM, GPU, named
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.sm_state import PENDING
from ptxtool.formats.trace_events import TraceEvents


class Counters:
    """The counters of one launch, which begins at `origin` in the file."""

    def __init__(self, events: TraceEvents, simulation: Simulation, sms: tuple[int, ...], origin: int):
        self._events, self._simulation, self._origin = events, simulation, origin
        self._sms = list(sms)
        self._shown: dict[tuple[int, str], Mapping[str, float]] = {}
        self._before: tuple[int, np.ndarray] | None = None
        self._misses = int(simulation.l1s["cache"]["n_free"][0])

    def sample(self, cycle: int) -> None:
        """Read all counters."""
        counts = self._counts()
        if self._before is not None and cycle > self._before[0]:
            since, before = self._before
            self._rates(since, (counts - before) / (cycle - since))
        self._before = cycle, counts
        self._levels(cycle)

    def end(self, cycle: int) -> None:
        """Set all counters back to 0: the following cycles belong to another launch, or are not recorded."""
        for (pid, name), values in list(self._shown.items()):
            self._put(pid, cycle, name, dict.fromkeys(values, 0))

    def _counts(self) -> np.ndarray:
        """The counters whose rates are written: those of the SMs, then those of the memory side."""
        memory = self._simulation.memory[0]
        l2, channels = memory["slice"]["cache"], memory["channel"]
        sums = [l2["accesses"].sum(), l2["misses"].sum(), channels["reads"].sum(), channels["writes"].sum()]
        return np.concatenate([self._simulation.sms["warp_instructions"][self._sms], sums])

    def _rates(self, cycle: int, rates: np.ndarray) -> None:
        n = len(self._sms)
        for sm, rate in zip(self._sms, rates[:n].tolist(), strict=True):
            self._put(FIRST_SM + sm, cycle, "issue", {"warp IPC": rate})
        accesses, misses, reads, writes = rates[n:].tolist()
        self._put(GPU, cycle, "L2", {"accesses per cycle": accesses, "misses per cycle": misses})
        self._put(GPU, cycle, "DRAM", {"reads per cycle": reads, "writes per cycle": writes})

    def _levels(self, cycle: int) -> None:
        simulation = self._simulation
        run, memory = simulation.run[0], simulation.memory[0]
        sms, l1s = simulation.sms, simulation.l1s
        for sm in self._sms:
            pid, record = FIRST_SM + sm, sms[sm]
            resident, finishing = mask_of(record["resident"]), mask_of(record["finishing"])
            warps = {"resident": resident.bit_count(), "exited": finishing.bit_count()}
            self._put(pid, cycle, "warps", warps)
            in_flight = {
                "loads": PENDING - int(record["pending_free_n"]),
                "stores": int(record["stores"].sum()),
            }
            self._put(pid, cycle, "in flight", in_flight)
            self._put(pid, cycle, "L1D", {"misses": self._misses - int(l1s["cache"]["n_free"][sm])})
        ctas = {
            "running": int(run["next_cta"] - run["ctas_done"]),
            "to come": int(run["n_ctas"] - run["next_cta"]),
        }
        self._put(GPU, cycle, "CTAs", ctas)
        self._put(GPU, cycle, "requests", {"in flight": len(memory["free"]) - int(memory["n_free"])})
        channels = memory["channel"][: int(memory["n_channels"])]
        queued = {
            f"channel {k}": int(channel["queue"]["count"].sum()) + mask_of(channel["busy"]).bit_count()
            for k, channel in enumerate(channels)
        }
        self._put(GPU, cycle, "DRAM queue", queued)

    def _put(self, pid: int, cycle: int, name: str, values: Mapping[str, float]) -> None:
        before = self._shown.get((pid, name))
        if any(values.values()) if before is None else before != values:
            self._shown[pid, name] = values
            self._events.counter(named(self._events, pid), self._origin + cycle, name, values)
