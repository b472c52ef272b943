"""hoist-last-access: move a kernel's last accesses to the shared scratchpad as early as possible.

Under scratchpad sharing a CTA that has accessed the shared part holds the lock of its pair until its last access
(`release-scratchpad` marks that point). The end of a kernel often loads from shared memory, computes, stores, and
loads again. In every scheduling region with an access after which no lane of the warp executes another one, the pass
puts first

    { i : i accesses the shared part, or something in this set depends on i }

and then the rest, each part in its old order. No order has fewer instructions before the last access. It is the mirror
image of `delay-first-use`.

Values then live longer. Where more registers would be live than the kernel's maximum so far, or than `registers` if
that is more, instructions of the rest stay between as needed (`ptxtool.analysis.sharing.last_access`). The numbers of
predicates and of address registers never grow.

Pre: a module without errors. Post: every scheduling region has the same instructions in an order that keeps all
dependences (checked by `ptxtool.validate.schedule`); nothing else has changed. Idempotent for `registers` that suffice.
Line information (`.loc`) moves with the instructions.
Not handled: regions end at labels and at other statements (`.pragma`, declarations, braces), and nothing passes a
barrier; addresses are not compared, so that loads from shared memory pass no store to it.
Reference: V. Jatala, J. Anantpur, A. Karkare, Scratchpad sharing in GPUs, TACO 14(2), 2017, whose release this pass
makes earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ptxtool.analysis.flow.dependence import effects, scheduling_regions
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import pressure_of
from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED
from ptxtool.analysis.sharing.last_access import hoisted
from ptxtool.analysis.sharing.release_points import last_touches
from ptxtool.analysis.sharing.shared_access import touches_shared_scratchpad
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.analysis.sharing.shared_registers import given_registers
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Shown
from ptxtool.passes.sharing.order import permute
from ptxtool.passes.sharing.share import Scratchpad, SharingPass, Transformed, transform_kernels
from ptxtool.validate.schedule import check_schedule


@dataclass(frozen=True)
class HoistLastAccess(SharingPass):
    """Put the last accesses to the shared scratchpad before what they do not need."""

    registers: Annotated[int, Shown("N", "default: as many as are live at once")] = 0
    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "hoist-last-access"

    def run(self, module: Module) -> PassResult:
        return transform_kernels(module, check_schedule, self._kernel)

    def _kernel(self, kernel: Function) -> Transformed:
        boundary = shared_layout(kernel).boundary(self.percent, self.scratchpad)
        touches = touches_shared_scratchpad(kernel, boundary)
        if not self.percent:
            return (), [self.remark(kernel, NOTHING_SHARED)]
        if not any(touches):
            return (), [self.remark(kernel, "the shared part is not accessed")]
        edits, message = _hoisted(kernel, touches, given_registers(self.registers))
        return edits, [self.remark(kernel, message)]


def _hoisted(kernel: Function, touches: Sequence[bool], registers: int) -> tuple[list[TextEdit], str]:
    live = liveness(kernel)
    most = pressure_of(live)
    limits = {
        "general": max(most.maximum, registers),
        "predicate": most.max_predicates,
        "address": most.max_addresses,
    }
    lasts = set(last_touches(kernel, touches))
    done = effects(kernel)
    edits: list[TextEdit] = []
    moved: list[str] = []
    for region in scheduling_regions(kernel):
        last = max(lasts.intersection(region), default=-1)
        if last < 0:
            continue
        order = hoisted(region, touches, done, live, limits)
        gained = last - region[order.index(last)]
        if gained > 0:
            edits += permute(kernel, region, order)
            moved.append(f"{counted(gained, 'instruction')} (of line {kernel.line(last)})")
    if not moved:
        return [], "nothing to do: no instruction before a last access can move after it"
    return edits, f"last access earlier by {', '.join(moved)}"
