"""hasten-last-access: a kernel's last accesses to the shared scratchpad come as early as they can.

Under scratchpad sharing a CTA that has accessed the shared part holds the lock of its pair until its last access
(`release-scratchpad` marks where that is). The end of a kernel often loads from shared memory, computes, stores, and
loads again. In every stretch of instructions with an access behind which no lane of the warp comes to another one, the
pass puts first

    { i : i accesses the shared part, or something in this set depends on i }

and behind it the rest, each part in the order it had. No order has fewer instructions in front of the last access. It
is `delay-first-use` from the other end.

Values then live longer. Where more registers would be live than are somewhere in the kernel already, or than
`registers` if that is more, instructions of the rest stay between as needed (`ptxtool.analysis.sharing.last_access`).
Predicates and address registers never become more.

Pre: a module without errors. Post: in every stretch of instructions the same ones stand in an order that keeps all
dependences (checked by `ptxtool.validate.schedule`); nothing else has changed. Idempotent for `registers` that suffice.
Line information (`.loc`) goes with the instructions.
Not handled: stretches end at labels and at other statements (`.pragma`, declarations, braces), and nothing passes a
barrier; addresses are not compared, so that loads from shared memory pass no store to it.
Reference: V. Jatala, J. Anantpur, A. Karkare, Scratchpad sharing in GPUs, TACO 14(2), 2017, whose release comes earlier
by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ptxtool.analysis.flow.dependence import effects, scheduling_regions
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import pressure_of
from ptxtool.analysis.sharing.last_access import hoisted
from ptxtool.analysis.sharing.release_points import last_touches
from ptxtool.analysis.sharing.shared_access import touches_shared_scratchpad
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.analysis.sharing.shared_registers import given_registers
from ptxtool.base.counted import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark, Shown
from ptxtool.passes.sharing.order import permute
from ptxtool.passes.sharing.share import Scratchpad, Share, check_options, required_share
from ptxtool.validate.schedule import check_schedule


@dataclass(frozen=True)
class HastenLastAccess:
    """Put the last accesses to the shared scratchpad before what they do not need."""

    share: Share = ""
    registers: Annotated[int, Shown("N", "default: as many as are live at once")] = 0
    scratchpad: Scratchpad = 0
    name: ClassVar[str] = "hasten-last-access"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, registers=self.registers, scratchpad=self.scratchpad)

    def run(self, module: Module) -> PassResult:
        percent, registers = required_share(self.name, self.share), given_registers(self.registers)
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        for kernel in module.kernels.values():
            boundary = shared_layout(kernel).boundary(percent, self.scratchpad)
            touches = touches_shared_scratchpad(kernel, boundary)
            made: list[TextEdit] = []
            remark = "nothing is shared at 0%" if not percent else "the shared part is not accessed"
            if percent and any(touches):
                made, remark = _hasten(kernel, touches, registers)
            edits += made
            remarks.append(Remark(self.name, remark, kernel.name, kernel.source.line(kernel.start)))
        return PassResult(tuple(edits), tuple(remarks), check_schedule)


def _hasten(kernel: Function, touches: Sequence[bool], registers: int) -> tuple[list[TextEdit], str]:
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
    for stretch in scheduling_regions(kernel):
        last = max(lasts.intersection(stretch), default=-1)
        if last < 0:
            continue
        order = hoisted(stretch, touches, done, live, limits)
        gained = last - stretch[order.index(last)]
        if gained > 0:
            edits += permute(kernel, stretch, order)
            moved.append(f"{counted(gained, 'instruction')} (of line {kernel.line(last)})")
    if not moved:
        return [], "nothing to do: nothing that stands before a last access can come behind it"
    return edits, f"last access earlier by {', '.join(moved)}"
