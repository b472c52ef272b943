"""The span of a set of shared variables: how long a kernel needs them, from the first access on some path to the last.

For the order of shared variables under scratchpad sharing. A warp at an instruction needs a set V if some path to it
has accessed V (or the instruction does) and some lane may still access V there or later (`release_points.py`). The
span of V is the expected number of instructions that a thread executes in need of V (`frequency.py`). With release
marks, a CTA keeps its partner from the shared part for that long.

Reference: V. Jatala, J. Anantpur, A. Karkare, "Scratchpad sharing in GPUs", TACO 14(2), 2017 (access ranges).
"""

from collections.abc import Collection
from functools import cached_property

from ptxtool.analysis.flow.dataflow import solve
from ptxtool.analysis.flow.frequency import static_probabilities, visits
from ptxtool.analysis.sharing.release_points import may_touch
from ptxtool.analysis.sharing.shared_access import shared_accesses
from ptxtool.cfg.blocks import build
from ptxtool.ir.nodes import Function


class SharedSpans:
    """The spans of sets of shared variables of one kernel."""

    def __init__(self, kernel: Function):
        self._kernel = kernel
        self._cfg = build(kernel, interprocedural=True)
        self._known: dict[frozenset[str], float] = {}

    @cached_property
    def accessed(self) -> tuple[frozenset[str | None], ...]:
        """Per instruction, the variables that it may access: names, None for any, "" for an address by number."""
        return tuple(frozenset(a.variable for a in found) for found in shared_accesses(self._kernel))

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        plain = build(self._kernel)
        found = visits(plain, static_probabilities(plain))
        return tuple(found[b] for b in plain.block_of)

    def span(self, variables: Collection[str]) -> float:
        """The span of a set. An access of unknown address is one to every set but the empty one."""
        wanted = frozenset(variables)
        if wanted not in self._known:
            self._known[wanted] = self._span(wanted)
        return self._known[wanted]

    def _span(self, wanted: frozenset[str]) -> float:
        touches = [bool(wanted) and (None in a or "" in a or not wanted.isdisjoint(a)) for a in self.accessed]
        if not any(touches):
            return 0.0
        later = may_touch(self._kernel, touches)
        gen = [int(any(touches[i] for i in block.instructions)) for block in self._cfg.blocks]
        before = solve(
            self._cfg.successors_by_node, [*gen, 0], [0] * (len(gen) + 1), direction="forward"
        ).entry
        total = 0.0
        for block in self._cfg.blocks:
            begun = before[block.index] != 0
            for i in block.instructions:
                begun = begun or touches[i]
                if begun and later[i]:
                    total += self._weights[i]
        return total
