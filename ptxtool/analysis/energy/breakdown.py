"""The energy of a run: events of each kind times the energy of one, and leakage times time.

    E(part)    = events of the part * energy of one             pJ, from the machine's [energy] table
    E(leakage) = (sm_watts * SMs + rest_watts) * cycles / clock
    power      = sum of E / (cycles / clock)

The form is that of activity-based power models (Leng et al., GPUWattch, ISCA 2013; Kandiah et al., AccelWattch, MICRO
2021). It does not handle values of operands, voltage, temperature and clock gating: ratios of runs on one machine mean
something, absolute joules do not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from ptxtool.analysis.energy.coefficients import Energy

LEAKAGE = "leakage"
"""The part that is no kind of events."""
_SHOWN_PERCENT = 3


@dataclass(frozen=True)
class EnergyBreakdown:
    """Microjoules by part, the names of the `[energy]` table and `leakage`, and the microseconds that the run took."""

    parts_uj: Mapping[str, float]
    time_us: float

    @property
    def total_uj(self) -> float:
        """Microjoules of all parts."""
        return fsum(self.parts_uj.values())

    @property
    def power_w(self) -> float:
        """The average power in watts; 0 for a run of no cycles."""
        return self.total_uj / self.time_us if self.time_us else 0.0

    @property
    def total_text(self) -> str:
        """The total with four digits, in the unit that suits it: `12.34 uJ`, `1.234 mJ`."""
        value, unit = self.total_uj, "uJ"
        for larger in ("mJ", "J"):
            if value >= 999.95:
                value, unit = value / 1000, larger
        return f"{value:.4g} {unit}"

    @property
    def shares_text(self) -> str:
        """The parts in order of size as percentages of the total, small ones left out: `dram 41%, leakage 30%`."""
        total = self.total_uj or 1.0
        shares = sorted(((-100 * uj / total, part) for part, uj in self.parts_uj.items()))
        shown = [
            f"{part.replace('_', ' ')} {-share:.0f}%" for share, part in shares if -share >= _SHOWN_PERCENT
        ]
        return ", ".join(shown)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`; `from_dict` reads it."""
        return {
            "total_uj": self.total_uj,
            "power_w": self.power_w,
            "time_us": self.time_us,
            "parts_uj": dict(self.parts_uj),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "EnergyBreakdown":
        """What `to_dict` returned."""
        return cls(data["parts_uj"], data["time_us"])

    @classmethod
    def together(cls, runs: Iterable["EnergyBreakdown"]) -> "EnergyBreakdown":
        """Runs that followed each other as one."""
        each = tuple(runs)
        parts = dict.fromkeys(part for run in each for part in run.parts_uj)
        return cls(
            {part: fsum(run.parts_uj.get(part, 0.0) for run in each) for part in parts},
            fsum(run.time_us for run in each),
        )

    def __str__(self) -> str:
        return f"{self.total_text}, {self.power_w:.4g} W on average"


def energy_of(
    events: Mapping[str, int], machine: Energy, sms: int, cycles: int, core_mhz: int
) -> EnergyBreakdown:
    """The energy of a run of so many core cycles on a machine of so many SMs.

    `events` has the number of events by the names of the `[energy]` table, each only once; what is absent did not
    happen. All SMs leak for the whole run. Raises AttributeError for a kind of events that the table does not have.
    """
    parts = {name: n * getattr(machine, name) * 1e-6 for name, n in events.items()}
    time_us = cycles / core_mhz
    parts[LEAKAGE] = (machine.sm_watts * sms + machine.rest_watts) * time_us
    return EnergyBreakdown(parts, time_us)
