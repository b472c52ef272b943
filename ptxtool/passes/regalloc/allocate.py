"""allocate: map the virtual registers of PTX onto physical ones, as few as its order of instructions allows.

    before: add.s64 %rd7, %rd3, %rd5;        after: add.s64 %rd2, %rd0, %rd1;        (%rd2 is units 4 and 5)

Names are physical: `%r5` is unit 5 of the register file (32 bits), `%rs5` a 16-bit value in unit 5, `%rd2` a 64-bit
value in units 4 and 5, `%p0` to `%p6` the predicates. PTX defines no such overlap; the pass respects it, so that `%r4`
and `%rd2` never hold values at the same time. `max-regs` bounds the units of each function. Values that do not fit are
rematerialised if they are constant; predicates beyond seven become words; the rest is spilled to local memory, or with
`spill=shared` to shared memory, for `threads` per CTA (`shared_slots.py`). `spill=none` refuses with the least number
that works. `order` numbers the registers: `first-use` in the order of first use, so that a warp runs furthest on the
lowest; `pressure` assigns the highest numbers to those needed least often.

Pre: PTX without errors, no registers of vector type (E301). Post: the same instructions, except redundant copies and
inserted spill code (checked by `ptxtool.validate.assignment`); statements keep their order, `.loc` included. Not
handled: registers in the head of a `.func` keep their names and have separate units; debug sections keep the old names
(a remark reports it).

Reference: see `ptxtool.analysis.regalloc.linear_scan`; PTX ISA, section 5.1.1 (register state space).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT, PREDICATES
from ptxtool.base.diag import Diagnostic, error
from ptxtool.ir.nodes import Directive, Module
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption
from ptxtool.passes.context import PassContext

NOTHING_KNOWN = PassContext()


@dataclass(frozen=True)
class Allocate:
    """Map virtual registers onto at most max-regs physical ones; what does not fit is spilled."""

    max_regs: int = GENERAL_LIMIT
    order: Literal["first-use", "pressure"] = "first-use"
    spill: Literal["local", "shared", "none"] = "local"
    threads: Annotated[int, Shown("N", "spill=shared; default: of .reqntid, .maxntid or the launch")] = 0
    name: ClassVar[str] = "allocate"

    def __post_init__(self) -> None:
        if not 1 <= self.max_regs <= GENERAL_LIMIT:
            help = f"a thread has 1 to {GENERAL_LIMIT} registers"
            problem = Diagnostic("E301", f"max-regs cannot be {self.max_regs}", help=help)
            raise WrongOption("max_regs", problem)
        if self.threads < 0 or (self.threads and self.spill != "shared"):
            what = f"threads={self.threads} with spill={self.spill}"
            help = "threads=N, 1 or more, is for spill=shared"
            raise WrongOption("threads", Diagnostic("E301", what, help=help))

    def run(self, module: Module, context: PassContext = NOTHING_KNOWN) -> PassResult:
        from ptxtool.passes.regalloc.placement import CAN_SPILL, Bounds, place_registers  # imports numpy
        from ptxtool.passes.regalloc.shared_slots import SharedCtas

        if module.is_ptxplus:
            what = "allocate is for PTX: the registers of PTXPlus are physical already"
            raise error("E301", what, help="compact renumbers them")

        ctas = SharedCtas(self.threads, context.ctas) if self.spill == "shared" else None
        bounds = Bounds(self.max_regs, PREDICATES, self.spill != "none", GENERAL_LIMIT, CAN_SPILL, ctas)
        result = place_registers(module, self.name, bounds, self.order)
        if any(isinstance(item, Directive) and "debug_info" in item.text for item in module.items):
            remark = Remark(self.name, "the debug information still names the registers as they were")
            return PassResult(result.edits, (*result.remarks, remark), result.claim)
        return result
