"""Totals of several launches, under the names that GPGPU-Sim prints: `gpu_tot_sim_cycle` and so on.

A count is the sum of the launches' counts, IPC the quotient of sums.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxsim.observe.stats import SimResult

NOT_SUMS = ("gpu_ipc", "warp_ipc_per_sm", "max_ctas_per_core")
"""Counters of a launch that mean nothing when they are added up."""


@dataclass(frozen=True)
class Totals:
    """The totals of all launches of a machine. `stats` are sums of the launches' `stats`, ratios left out."""

    launches: int
    cycles: int
    thread_instructions: int
    warp_instructions: int
    ctas: int
    stats: dict[str, float]

    @classmethod
    def of(cls, results: Sequence[SimResult]) -> "Totals":
        """The totals of launches."""
        stats: dict[str, float] = {}
        for result in results:
            for name, count in result.stats.items():
                if name not in NOT_SUMS:
                    stats[name] = stats.get(name, 0) + count
        return cls(
            launches=len(results),
            cycles=sum(r.cycles for r in results),
            thread_instructions=sum(r.thread_instructions for r in results),
            warp_instructions=sum(r.warp_instructions for r in results),
            ctas=sum(r.ctas_done for r in results),
            stats=stats,
        )

    @property
    def thread_ipc(self) -> float:
        return self.thread_instructions / self.cycles if self.cycles else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "launches": self.launches,
            "gpu_tot_sim_cycle": self.cycles,
            "gpu_tot_sim_insn": self.thread_instructions,
            "gpu_tot_ipc": self.thread_ipc,
            "gpu_tot_issued_cta": self.ctas,
            "warp_instructions": self.warp_instructions,
            "stats": self.stats,
        }

    def to_json(self) -> str:
        """The totals as one JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        return (
            f"{self.launches} launches: {self.cycles} cycles, {self.thread_instructions} thread instructions, "
            f"thread IPC {self.thread_ipc:.2f}, {self.ctas} CTAs"
        )
