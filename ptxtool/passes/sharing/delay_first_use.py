"""delay-first-use: what needs no shared register comes before what does.

Under register sharing a non-owner warp waits at its first instruction that names a register beyond the private ones.
Where that instruction stands in the middle of a block, others behind it may need neither a shared register nor a result
of what waits: they move in front of it. In every stretch of instructions where a thread may meet its first shared
register, in the given order, the pass puts first

    { i : i names no shared register, and depends on no instruction that is not in this set }

and behind it the rest, each part in the order it had. No order of the stretch can have more instructions in front of
the first that names a shared register: whatever is left out names one, or must come behind one that does. Blocks that
are reached with the lock taken stay as they are: there is nothing to win, and their order hides latencies.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100), as `release-registers` has it; run
reorder-decls before. The texts of instructions trade places, comments between them stay.

Pre: a module without errors. Post: in every stretch of instructions the same ones stand in an order that keeps all
dependences (checked by `ptxtool.validate.schedule`); nothing else has changed. Idempotent.
Line information (`.loc`) goes with the instructions.
Not handled: stretches end at labels and at other statements (`.pragma`, declarations, braces); addresses are not
compared, so that loads pass no store.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through register sharing, section 5.2, whose
reordering of declarations this carries on to instructions.
"""

from dataclasses import dataclass
from typing import ClassVar

from ptxtool.analysis.flow.dependence import effects, scheduling_regions, split_region
from ptxtool.analysis.sharing.first_shared import ExpectedPath
from ptxtool.analysis.sharing.shared_registers import private_registers, touches_shared_registers
from ptxtool.base.counted import counted
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.sharing.order import permute
from ptxtool.passes.sharing.share import Registers, Share, check_options, required_share, virtual_remark
from ptxtool.validate.schedule import check_schedule


@dataclass(frozen=True)
class DelayFirstUse:
    """Put instructions that need no shared register before the first that does."""

    share: Share = ""
    registers: Registers = 0
    name: ClassVar[str] = "delay-first-use"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, registers=self.registers)

    def run(self, module: Module) -> PassResult:
        percent = required_share(self.name, self.share)
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        for kernel in module.kernels.values():
            made: list[TextEdit] = []
            remark = "nothing to do: nothing is shared at 0%"
            if percent:
                made, remark = self._delay(kernel, private_registers(kernel, percent, self.registers))
            edits += made
            remarks.append(Remark(self.name, remark, kernel.name, kernel.source.line(kernel.start)))
            remarks += virtual_remark(self.name, kernel, percent, self.registers)
        return PassResult(tuple(edits), tuple(remarks), check_schedule)

    def _delay(self, kernel: Function, private: int) -> tuple[list[TextEdit], str]:
        path = ExpectedPath(kernel)
        bits = (1 << min(private, len(kernel.registers))) - 1
        stops = [(stop, times) for _, stop, times in path.stops(bits) if stop >= 0]
        found, done = list(scheduling_regions(kernel)), effects(kernel)
        shared = touches_shared_registers(kernel, private)
        edits: list[TextEdit] = []
        n, gained = 0, 0.0
        for stop, times in stops:
            stretch = next(s for s in found if stop in s)
            first, rest, _ = split_region(stretch, done, shared)
            moved = sum(i > stop for i in first)
            if moved:
                n += moved
                gained += times * moved
                edits += permute(kernel, stretch, [*first, *rest])
        if not edits:
            return (
                [],
                "nothing to do: no instruction that needs no shared register waits behind one that does",
            )
        before = path.value(bits)
        return edits, (
            f"{counted(n, 'instruction')} moved; with {counted(private, 'private register')}, "
            f"{counted(f'{before + gained:.4g}', 'instruction')} expected before a shared one, not {before:.4g}"
        )
