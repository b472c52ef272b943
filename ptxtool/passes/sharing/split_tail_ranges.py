"""split-tail-ranges: a kernel's end in private registers, so that the lock can be released before it.

Under register sharing a warp holds the lock of its pair until its last instruction that names a shared register, and
the last instructions, which compute addresses and store results, name whatever registers the allocator chose. Live
ranges that the end names move to private registers that are free at all of their points; other values are copied to
private registers before the end, where that gains more than the copies cost (`ptxtool.analysis.sharing.tail`): the
live range is split there. After it `release-registers` puts its marks earlier. No instruction names a shared register
that did not before, so a warp needs its lock no earlier.

Private are the sequence numbers 1 to floor(registers * (100 - share) / 100), as in `release-registers`; run
unroll-decls and reorder-decls before. Registers must be physical: PTXPlus, or PTX after `allocate` or `compact`.

Pre: a module without errors. Post: every use reads the same value, declarations and labels are unchanged (checked by
`ptxtool.validate.assignment`). Kernels with release marks, with registers that are not physical or whose registers
cannot be tracked are left unchanged.
Not handled: pairs, vectors and quadruples; copies of predicates and of PTXPlus's address registers.
Reference: the future work of V. Jatala, J. Anantpur, A. Karkare, Improving GPU performance through resource sharing,
HPDC 2016.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ptxtool.analysis.occupancy.sharing_plan import NOTHING_SHARED
from ptxtool.analysis.sharing.shared_registers import private_registers
from ptxtool.base.diag import PtxError
from ptxtool.base.phrases import counted
from ptxtool.ir.marks import REGISTERS, release_marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark
from ptxtool.passes.regalloc.claim import AssignmentClaim
from ptxtool.passes.sharing.share import Registers, SharingPass, Transformed, transform_kernels

if TYPE_CHECKING:
    from ptxtool.analysis.regalloc.assignment import Assignment
    from ptxtool.analysis.sharing.tail import TailSplit
    from ptxtool.passes.regalloc.renaming import Renamed


@dataclass(frozen=True)
class SplitTailRanges(SharingPass):
    """Move the registers that a kernel's end names to private ones, so that it needs no lock."""

    registers: Registers = 0
    name: ClassVar[str] = "split-tail-ranges"

    def run(self, module: Module) -> PassResult:
        origins: dict[str, Sequence[int]] = {}
        claim = AssignmentClaim(origins)
        return transform_kernels(module, claim, lambda kernel: self._kernel(kernel, origins))

    def _kernel(self, kernel: Function, origins: dict[str, Sequence[int]]) -> Transformed:
        if not self.percent:
            return (), [Remark(self.name, NOTHING_SHARED, kernel.name)]
        private = private_registers(kernel, self.percent, self.registers)
        renamed, message = _split(kernel, min(private, len(kernel.registers)))
        if renamed is not None and renamed.edits:
            origins[kernel.name] = renamed.origins
        return renamed.edits if renamed is not None else (), [self.remark(kernel, message)]


def _split(kernel: Function, private: int) -> "tuple[Renamed | None, str]":
    """The edits of one kernel, None where it stays, and the remark."""
    from ptxtool.analysis.sharing.tail import split_tail  # imports numpy
    from ptxtool.passes.regalloc.renaming import rename_among_declared

    if any(mark.word == REGISTERS for mark in release_marks(kernel)):
        return None, "nothing to do: it has release marks, which must be inserted after this pass"
    try:
        found = split_tail(kernel, private)
    except PtxError as declined:
        return None, f"left alone: {declined.diagnostics[0].message}"
    if found is None:
        return None, "left alone: its registers are not physical; run allocate or compact before"
    if not found.moves and not found.copies:
        return None, "nothing to do: no end of the kernel fits into private registers"
    n, m = len(found.moves), len(found.copies)
    lines = ", ".join(dict.fromkeys(str(kernel.line(c.instruction)) for c in found.copies))
    what = [f"{counted(n, 'live range')} moved"] if n else []
    what += [f"{counted(m, 'value')} copied before line {lines}"] if m else []
    gain = f"{found.gain:.3g} issues per thread gained after the release"
    return rename_among_declared(
        kernel, _assignment(found)
    ), f"{' and '.join(what)} to private registers; {gain}"


def _assignment(found: "TailSplit") -> "Assignment":
    """The moves and copies as an assignment, whose units are the kernel's registers, by index."""
    from ptxtool.analysis.regalloc.assignment import Assignment
    from ptxtool.analysis.regalloc.spills import SpillState, words

    ranges = found.ranges
    unit = {web: found.moves.get(web, k) for web, k in enumerate(ranges.register)}
    spills = SpillState(ranges.n_points, words(ranges.intervals))
    for copy in found.copies:
        unit[spills.copy(copy.web, copy.instruction, copy.accesses)] = copy.register
    return Assignment(ranges, spills, unit, {}, {}, 0)
