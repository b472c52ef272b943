"""lower-ptxplus: translate PTX of today's compilers to PTXPlus, which so far only a compiler of 2012 generates.

Selection (`ptxtool.passes.ptxplus`) writes PTXPlus over virtual registers: a PTX value of up to 32 bits is one, a
64-bit value two, or one where only its low word matters (`ptxtool.analysis.regalloc.narrowing`): addresses have 32 bits
there. Allocation (`ptxtool.passes.regalloc.placement`) maps them to physical registers. The instructions that it keeps
determine the encodings and so the addresses that name the labels. The whole text is replaced.

Pre: a PTX module without errors; all memory lies in the first 4 GiB. Post: a PTXPlus module with the same kernels,
which compute the same; `ptxtool.validate.assignment` proves its registers against the code over virtual registers.
Not handled: what PTXPlus has no instructions for. Each such instruction is named (E301), all of them in one run.

Reference: A. Bakhoda et al., "Analyzing CUDA workloads using a detailed GPU simulator", 2009; docs/lower-ptxplus.md.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Module
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption

MAX_REGISTERS = 124
"""General registers of the machine: `$r124` reads as zero."""


@dataclass(frozen=True)
class LowerPtxplus:
    """Translate PTX to PTXPlus with physical registers."""

    regs: int = MAX_REGISTERS
    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    spill: Literal["none", "local"] = "none"
    name: ClassVar[str] = "lower-ptxplus"

    def __post_init__(self) -> None:
        if not 1 <= self.regs <= MAX_REGISTERS:
            help = f"PTXPlus has 1 to {MAX_REGISTERS} registers"
            raise WrongOption("regs", Diagnostic("E301", f"regs cannot be {self.regs}", help=help))

    def run(self, module: Module) -> PassResult:
        if module.is_ptxplus:
            remark = Remark(self.name, "nothing to do: it is PTXPlus")
            return PassResult((), (remark,), lambda _before, _after: ())
        from ptxtool.passes.ptxplus.lower import allocate, selected
        from ptxtool.passes.regalloc.placement import CAN_SPILL, Bounds  # imports numpy

        variables, codes = selected(module, self.kernel)
        bounds = Bounds(self.regs, None, self.spill == "local", MAX_REGISTERS, CAN_SPILL)
        text, virtual, allocated = allocate(variables, codes, bounds)
        claim = allocated.claim
        lines = {name: module.source.line(kernel.start) for name, kernel in module.kernels.items()}
        remarks = [replace(r, line=lines[r.function]) for r in allocated.remarks]
        remarks += [Remark(self.name, note, c.name, line) for c in codes for note, line in c.notes.items()]
        edit = TextEdit(0, len(module.source.text), text)
        return PassResult((edit,), tuple(remarks), lambda _, after: claim(virtual, after))
