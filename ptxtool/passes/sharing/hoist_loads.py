"""hoist-loads: put loads from global and local memory first, as compilers do that schedule for latency.

PTX has loads where the source has them, as in `tile[i] = image[i]; tile[j] = image[j];`: the second waits for the store
to shared memory before it, which waits for the first. ptxas moves the loads together, so that a warp waits once. Which
order a kernel had on an older machine decides what its warps gain by other schedulers and by more CTAs; this pass makes
the other order of a text that was not scheduled.

In every scheduling region the pass puts these loads first, with what they depend on, and then the rest, each part in
its old order. Where more registers would be live than the kernel's maximum so far, or than `registers` if
that is more, instructions of the rest stay between as needed (`ptxtool.analysis.sharing.last_access`).

Pre: a module without errors. Post: every scheduling region has the same instructions in an order that keeps all
dependences (checked by `ptxtool.validate.schedule`); nothing else has changed. Idempotent for `registers` that suffice.
Not handled: regions end at labels and barriers; addresses are not compared, so that a load passes no store to global
or local memory; generic loads stay.

Reference: S. Muchnick, Advanced compiler design and implementation, 1997, section 17.1 (list scheduling).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ptxtool.analysis.flow.dependence import Effect, effects, scheduling_regions
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import pressure_of
from ptxtool.analysis.sharing.last_access import hoisted
from ptxtool.analysis.sharing.shared_registers import given_registers
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark, Shown
from ptxtool.passes.sharing.order import permute
from ptxtool.passes.sharing.share import transform_kernels
from ptxtool.validate.schedule import check_schedule

_FAR = frozenset({"global", "local"})
"""State spaces whose loads take longest."""


@dataclass(frozen=True)
class HoistLoads:
    """Put loads from global and local memory before what they do not need."""

    registers: Annotated[int, Shown("N", "default: as many as are live at once")] = 0
    name: ClassVar[str] = "hoist-loads"

    def run(self, module: Module) -> PassResult:
        return transform_kernels(module, check_schedule, self._kernel)

    def _kernel(self, kernel: Function) -> tuple[list[TextEdit], list[Remark]]:
        live = liveness(kernel)
        most = pressure_of(live)
        limits = {
            "general": max(most.maximum, given_registers(self.registers)),
            "predicate": most.max_predicates,
            "address": most.max_addresses,
        }
        is_load = [
            node.opcode.base == "ld" and not _FAR.isdisjoint(node.opcode.modifiers)
            for node in kernel.instructions
        ]
        done = effects(kernel)
        edits: list[TextEdit] = []
        n_moved = 0
        for region in (
            part for whole in scheduling_regions(kernel) for part in _without_barriers(whole, done)
        ):
            order = hoisted(region, is_load, done, live, limits)
            if order != list(region):
                edits += permute(kernel, region, order)
                n_moved += sum(is_load[i] and place < i for place, i in zip(region, order, strict=True))
        message = (
            f"{counted(n_moved, 'load')} earlier"
            if edits
            else "nothing to do: every load is as early as it can be"
        )
        return edits, [Remark(self.name, message, kernel.name, kernel.source.line(kernel.start))]


def _without_barriers(region: range, done: Sequence[Effect]) -> Iterator[range]:
    """The parts of a region between instructions that nothing may pass."""
    start = region.start
    for i in (*(i for i in region if "order" in done[i].writes), region.stop):
        if start < i:
            yield range(start, i)
        start = i + 1
