"""Clusters of the reference interpreter: shared memory of other CTAs, ranks, the cluster's barrier.

For `interpreter.py`. In the shared space of every CTA the memory of rank r lies at (r + 1) * CTA_BYTES
too, besides its own at 0; all are views of the same bytes.

Reference: PTX ISA, `barrier.cluster`, `mapa`, `getctarank`, and the special registers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxtool.ir.nodes import Instruction
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import Step
from reference.decode import Operands, Warp
from reference.memory import CTA_BYTES, FIRST_OF_PAIRS, WINDOWS, rank_named
from reference.numbers import LANES
from reference.op import Op


class Cluster:
    """The CTAs that run together, by rank, and their barrier."""

    def __init__(self, ctas: Sequence[Any], shape: tuple[int, int, int]):
        self.ctas, self.shape = ctas, shape
        self.phase, self.arrived = 1, 0
        self.waiting: list[Any] = []
        for rank, cta in enumerate(ctas):
            cta.cluster, cta.rank = self, rank
        own = [cta.shared.regions[0] for cta in ctas]
        for cta in ctas:
            for first in (1, FIRST_OF_PAIRS):
                for rank, memory in enumerate(own):
                    cta.shared.add((rank + first) * CTA_BYTES, memory)

    def run(self, limit: int) -> None:
        """Run all CTAs to their end."""
        while any(not cta.is_done for cta in self.ctas):
            moved = [cta.round(limit) for cta in self.ctas if not cta.is_done]
            if self.arrived:
                self.test()
            if not any(moved) and not any(cta.goes_on() for cta in self.ctas if not cta.is_done):
                raise next(cta for cta in self.ctas if not cta.is_done).stuck()

    def arrive(self, warp: Any, lanes: Any) -> None:
        warp.cluster_phase[lanes] = self.phase
        self.arrived += int(np.count_nonzero(lanes))
        self.test()

    def wait(self, warp: Any, lanes: Any) -> None:
        """The top of the warp's stack waits for the phase in which its lanes have arrived."""
        if (warp.cluster_phase[lanes] == self.phase).any():
            warp.stack[-1].waits = True
            self.waiting.append(warp.stack[-1])

    def test(self) -> None:
        if self.arrived >= sum(int(np.count_nonzero(w.alive)) for cta in self.ctas for w in cta.warps):
            self.phase, self.arrived = self.phase + 1, 0
            for entry in self.waiting:
                entry.waits = False
            self.waiting.clear()

    def special(self, name: str, axis: int, cta: Any) -> int | None:
        """A special register about clusters; None for another."""
        grid, size = cta.machine.grid, self.shape
        values = {
            "cluster_ctarank": cta.rank,
            "cluster_nctarank": len(self.ctas),
            "is_explicit_cluster": int(cta.machine.is_explicit_cluster),
            "clusterid": cta.ctaid[axis] // size[axis],
            "nclusterid": grid[axis] // size[axis],
            "cluster_ctaid": cta.ctaid[axis] % size[axis],
            "cluster_nctaid": size[axis],
        }
        return values.get(name)


class ClusterAddresses:
    """The part of the decoder that knows addresses in a cluster."""

    operands: Operands

    def _mapa(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        window = 0 if op.has("shared::cluster") else WINDOWS["shared"]
        address = self.operands.read(instruction.operands[1], op.type, i)
        rank = self.operands.read(instruction.operands[2], TYPES["u32"], i)
        write = self.operands.write(instruction.operands[0], op.type, i)

        def step(warp: Warp) -> None:
            at = [
                window + (int(r) + 1) * CTA_BYTES + (int(a) - window) % CTA_BYTES
                for a, r in zip(address(warp), rank(warp), strict=True)
            ]
            write(warp, np.array(at, np.uint64), warp.executing)

        return step

    def _getctarank(self, instruction: Instruction, match: Match, op: Op, i: int) -> Step:
        window = 0 if op.has("shared::cluster") else WINDOWS["shared"]
        address = self.operands.read(instruction.operands[1], op.type, i)
        write = self.operands.write(instruction.operands[0], TYPES["u32"], i)

        def step(warp: Warp) -> None:
            ranks = np.zeros(LANES, np.uint64)
            for lane in np.flatnonzero(warp.executing).tolist():
                own = int(warp.special("cluster_ctarank")[lane])
                ranks[lane] = rank_named(int(address(warp)[lane]) - window, own)
            write(warp, ranks, warp.executing)

        return step
