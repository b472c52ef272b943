"""settle-tail: the end of a kernel in private registers, so that the lock can be released before it.

Under register sharing a warp holds the lock of its pair until it names a shared register for the last time, and the
last instructions, which compute addresses and store results, name what registers the allocator took. Live ranges that
the end names move to private registers that are free at all of their points; values that cannot are copied to private
ones in front of the end, where that gains more than the copies cost (`ptxtool.analysis.sharing.tail`). Behind it
`release-registers` puts its marks earlier. No instruction comes to name a shared register that did not: what a warp
does before it needs its lock stays the same.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100), as `release-registers` has it; run
unroll-decls and reorder-decls before. Registers must be physical: PTXPlus, or PTX behind `allocate` or `compact`.

Pre: a module without errors. Post: every use reads the value it read, declarations and labels stand as they stood
(checked by `ptxtool.validate.assignment`). Kernels with release marks, with registers that are not physical or that
nothing can follow stay as they are.
Not handled: pairs, vectors and quadruples; copies of predicates and of PTXPlus's address registers.
Reference: the future work of V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through resource sharing,
HPDC 2016.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ptxtool.analysis.sharing.shared_registers import private_registers
from ptxtool.base.counted import counted
from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.marks import REGISTERS, release_marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.regalloc.proof import Proof
from ptxtool.passes.sharing.share import Registers, Share, check_options, required_share

if TYPE_CHECKING:
    from ptxtool.analysis.regalloc.assignment import Assignment
    from ptxtool.analysis.sharing.tail import TailSplit


@dataclass(frozen=True)
class SettleTail:
    """Move the registers that a kernel's end names to private ones, so that it needs no lock."""

    share: Share = ""
    registers: Registers = 0
    name: ClassVar[str] = "settle-tail"

    def __post_init__(self) -> None:
        check_options(self.name, self.share, registers=self.registers)

    def run(self, module: Module) -> PassResult:
        percent = required_share(self.name, self.share)
        edits: list[TextEdit] = []
        remarks: list[Remark] = []
        origins: dict[str, tuple[int, ...]] = {}
        for kernel in module.kernels.values():
            if not percent:
                remarks.append(Remark(self.name, "nothing is shared at 0%", kernel.name))
                continue
            private = private_registers(kernel, percent, self.registers)
            made, kept, remark = self._settle(kernel, min(private, len(kernel.registers)))
            if made:
                edits += made
                origins[kernel.name] = kept
            remarks.append(Remark(self.name, remark, kernel.name, kernel.source.line(kernel.start)))
        return PassResult(tuple(edits), tuple(remarks), Proof(origins))

    def _settle(self, kernel: Function, private: int) -> tuple[tuple[TextEdit, ...], tuple[int, ...], str]:
        """The edits of one kernel, the origins of its instructions, and what there is to say."""
        from ptxtool.analysis.sharing.tail import split_tail  # numpy: only who allocates waits for it
        from ptxtool.passes.regalloc.renaming import rename_among_declared

        if any(mark.release == REGISTERS for mark in release_marks(kernel)):
            return (), (), "nothing to do: it has release marks, which come behind this pass"
        try:
            found = split_tail(kernel, private)
        except PtxError as declined:
            return (), (), f"left alone: {declined.diagnostics[0].message}"
        if found is None:
            return (), (), "left alone: its registers are not physical; run allocate or compact before"
        if not found.moves and not found.copies:
            return (), (), "nothing to do: no end of the kernel fits into private registers"
        renamed = rename_among_declared(kernel, _assignment(found))
        n, m = len(found.moves), len(found.copies)
        what = [f"{counted(n, 'live range')} moved"] if n else []
        what += [f"{counted(m, 'value')} copied before line {_lines(kernel, found)}"] if m else []
        return (
            renamed.edits,
            renamed.origins,
            f"{' and '.join(what)} to private registers; {found.gain:.3g} issues per thread gained behind the lock",
        )


def _lines(kernel: Function, found: "TailSplit") -> str:
    return ", ".join(dict.fromkeys(str(kernel.line(c.instruction)) for c in found.copies))


def _assignment(found: "TailSplit") -> "Assignment":
    """What was found, as the places of values: a place is a register of the kernel, by its index."""
    from ptxtool.analysis.regalloc.assignment import Assignment
    from ptxtool.analysis.regalloc.spills import SpillState, words

    ranges = found.ranges
    unit = {web: found.moves.get(web, k) for web, k in enumerate(ranges.register)}
    spills = SpillState(ranges.n_points, words(ranges.intervals))
    for copy in found.copies:
        unit[spills.copy(copy.web, copy.instruction, copy.accesses)] = copy.register
    return Assignment(ranges, spills, unit, {}, {}, 0)
