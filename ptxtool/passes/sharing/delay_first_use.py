"""delay-first-use: put instructions that need no shared register before those that do.

Under register sharing a non-owner warp waits at its first instruction that names a register beyond the private ones.
Instructions after that one in its block may need neither a shared register nor a result of the instructions that wait:
they move before it. In every scheduling region where a thread may execute its first instruction with a shared
register, the pass puts first

    { i : i names no shared register, and depends on no instruction that is not in this set }

and then the rest, each part in its old order. No order of the region has more instructions before the first that names
a shared register: an instruction outside the set names one, or must follow one that does. Blocks that are entered with
the lock held stay as they are: moving gains nothing there, and their order hides latencies.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100), as in `release-registers`; run
reorder-decls before. The texts of instructions trade places, comments between them stay.

Pre: a module without errors. Post: every scheduling region has the same instructions in an order that keeps all
dependences (checked by `ptxtool.validate.schedule`); nothing else has changed. Idempotent.
Line information (`.loc`) moves with the instructions.
Not handled: regions end at labels and at other statements (`.pragma`, declarations, braces); addresses are not
compared, so that loads pass no store.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through register sharing, section 5.2, which
reorders declarations; this pass reorders instructions for the same purpose.
"""

from dataclasses import dataclass
from typing import ClassVar

from ptxtool.analysis.flow.dependence import effects, scheduling_regions, split_region
from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED
from ptxtool.analysis.sharing.first_shared import ExpectedPath
from ptxtool.analysis.sharing.shared_registers import private_registers, touches_shared_registers
from ptxtool.base.phrases import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult
from ptxtool.passes.sharing.order import permute
from ptxtool.passes.sharing.share import (
    Registers,
    SharingPass,
    Transformed,
    transform_kernels,
    virtual_remark,
)
from ptxtool.validate.schedule import check_schedule


@dataclass(frozen=True)
class DelayFirstUse(SharingPass):
    """Put instructions that need no shared register before the first that does."""

    registers: Registers = 0
    name: ClassVar[str] = "delay-first-use"

    def run(self, module: Module) -> PassResult:
        return transform_kernels(module, check_schedule, self._kernel)

    def _kernel(self, kernel: Function) -> Transformed:
        if not self.percent:
            return (), [self.remark(kernel, NOTHING_SHARED)]
        edits, message = _delayed(kernel, private_registers(kernel, self.percent, self.registers))
        virtual = virtual_remark(self.name, kernel, self.percent, self.registers)
        return edits, [self.remark(kernel, message), *virtual]


def _delayed(kernel: Function, private: int) -> tuple[list[TextEdit], str]:
    paths = ExpectedPath(kernel)
    bits = (1 << min(private, len(kernel.registers))) - 1
    stops = [(stop, times) for _, stop, times in paths.stops(bits) if stop >= 0]
    regions, done = list(scheduling_regions(kernel)), effects(kernel)
    shared = touches_shared_registers(kernel, private)
    edits: list[TextEdit] = []
    n, gained = 0, 0.0
    for stop, times in stops:
        region = next(r for r in regions if stop in r)
        first, rest, _ = split_region(region, done, shared)
        moved = sum(i > stop for i in first)
        if moved:
            n += moved
            gained += times * moved
            edits += permute(kernel, region, [*first, *rest])
    if not edits:
        return [], "nothing to do: no instruction that needs no shared register waits after one that does"
    before = paths.value(bits)
    return edits, (
        f"{counted(n, 'instruction')} moved; with {counted(private, 'private register')}, "
        f"{counted(f'{before + gained:.4g}', 'instruction')} expected before a shared one, not {before:.4g}"
    )
