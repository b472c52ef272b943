"""compact: renumber registers onto the fewest, without additional instructions.

Values with disjoint live ranges share a register. PTX has the physical names of `allocate` afterwards (`%r5`, `%rd2`,
`%p0`), PTXPlus its own (`$r5`, `$ofs1`, `$p0`): pairs and quadruples in braces stay adjacent and aligned, halves stay
halves of one register, post-incremented addresses stay in one, `$r0` holds the thread id when the kernel starts,
`$r124` and `$o127` keep their names.

`banks` arranges the registers by the four banks of the register file, so that fewer operands of an instruction lie in
one, with no more registers than without (`ptxtool.analysis.regalloc.bank_conflicts`).

`max-regs` refuses (E301) what needs more than that many; 0 asks for the fewest and refuses nothing.

Pre: a module without errors, no registers of vector type (E301). Post: the same instructions except redundant
copies (checked by `ptxtool.validate.assignment`).

Reference: P. Sakdhnagool et al., "RegDem: increasing GPU performance via shared memory register spilling", 2019,
sections 3.3 and 3.4.1 (compaction).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from ptxtool.base.diag import Diagnostic
from ptxtool.ir.nodes import Module
from ptxtool.passes.base import PassResult, Shown, WrongOption


@dataclass(frozen=True)
class Compact:
    """Renumber registers onto the fewest that interference allows."""

    max_regs: Annotated[int, Shown("N", "default: the fewest")] = 0
    banks: bool = False
    name: ClassVar[str] = "compact"

    def __post_init__(self) -> None:
        if self.max_regs < 0:
            help = "give a number of registers, or 0 for the fewest"
            problem = Diagnostic("E301", f"max-regs cannot be {self.max_regs}", help=help)
            raise WrongOption("max_regs", problem)

    def run(self, module: Module) -> PassResult:
        from ptxtool.passes.regalloc.placement import Bounds, place_registers  # imports numpy

        return place_registers(module, self.name, Bounds(self.max_regs or None), "first-use", self.banks)
