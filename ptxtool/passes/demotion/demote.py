"""demote: move registers of a kernel to shared memory, a slot of one word per thread for each.

    before: add.s32 %r5, %r5, %r2;       after: ld.shared.b32 %r9, [%r8+512];        (slot 1 of 128 threads)
                                                add.s32 %r9, %r9, %r2;
                                                st.shared.b32 [%r8+512], %r9;

The slots are one new variable of the kernel, of 4 * N * n bytes for N threads and n registers, beside its own shared
memory, static or dynamic. Slot r of thread t is at 4 * t + 4 * N * r, so that the threads of a warp access different
banks. Two or three registers are new: the address of the thread's slot 0, computed once at the entry, and the value
register, a pair if a 64-bit register is demoted, whose halves have a slot each. One demoted register at most occurs in
an instruction (`ptxtool.analysis.demotion.candidates`), so that one value register is enough. Loads and stores have the
guard of their instruction; where it writes part of a register, or its own guard, the register is loaded first and
stored in all threads. `compact` closes the gaps that demotion leaves in the register file.

`registers=T` demotes until a thread needs at most T registers, as the allocator counts them, the new ones included;
`count=N` demotes N. `occupancy=W` demotes to the largest register count with W warps on an SM ("48"), or that part of
the most ("0.75"): only as far as the allocation unit of registers makes a difference, and no further than shared memory
allows. The machine is the caller's, or that of `.target`. The threads are those of `.reqntid` or `.maxntid`; else
`threads`, or those of the caller's launch, which are then declared as `.maxntid`: no larger CTA can be launched.

Pre: physical registers (E301): PTX after `allocate`, or PTXPlus. There slots begin after the shared memory that the
kernel uses, with the `dynamic_shared` bytes of its launches, and a thread needs what `compact` leaves. Post: the same
instructions, except loads and stores of slots (checked by `ptxtool.validate.assignment`). Functions that the kernel
calls keep their registers; recursive ones as well, since no function calls a kernel, whose slots are its own.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, sections 3.1 (equation 1) and 3.2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from ptxtool.analysis.demotion.candidates import Rule
from ptxtool.analysis.sharing.issue_counts import IssueCounts
from ptxtool.base.diag import Diagnostic
from ptxtool.base.kept import kept
from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption, chosen_kernels
from ptxtool.passes.context import CtaSize, PassContext, most_threads

if TYPE_CHECKING:
    from ptxtool.passes.demotion.demoted_text import DemotedText
    from ptxtool.passes.demotion.kernel_demotion import Demoted

_WARPS = re.compile(r"[1-9][0-9]*|0?\.[0-9]*[1-9][0-9]*|1\.0*")
NOTHING_KNOWN = PassContext()


@dataclass(frozen=True)
class Demote:
    """Move registers to shared memory, to at most `registers` per thread, `count` of them, or for an `occupancy`."""

    registers: Annotated[int, Shown("T", "or count=N, or occupancy=W: required")] = 0
    count: Annotated[int, Shown("N", "or registers=T, or occupancy=W: required")] = 0
    occupancy: Annotated[str, Shown("W", "warps, or such as 0.75; or registers=T, or count=N: required")] = ""
    rule: Rule = "accesses"
    counts: Annotated[str, Shown("FILE", "of rule=frequency; default: none")] = ""
    threads: Annotated[int, Shown("N", "default: of .reqntid, .maxntid or the launch")] = 0
    dynamic_shared: Annotated[int, Shown("BYTES", "default: of the launch")] = 0
    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "demote"

    def __post_init__(self) -> None:
        for option in ("registers", "count", "threads", "dynamic_shared"):
            if getattr(self, option) < 0:
                problem = Diagnostic(
                    "E301",
                    f"{option.replace('_', '-')} cannot be {getattr(self, option)}",
                    help="give 1 or more",
                )
                raise WrongOption(option, problem)
        if len([goal for goal in (self.registers, self.count, self.occupancy) if goal]) != 1:
            what = (
                "give registers=T, the registers that a thread may need, count=N, the number to demote, or "
                "occupancy=W, the warps on an SM"
            )
            help = f"demote:registers={self.registers or 32}"
            raise WrongOption("registers", Diagnostic("E301", what, help=help))
        if self.occupancy and not _WARPS.fullmatch(self.occupancy):
            what = f"occupancy cannot be '{self.occupancy}'"
            help = "give warps per SM, such as 48, or their part of the most, such as 0.75"
            raise WrongOption("occupancy", Diagnostic("E301", what, help=help))
        if self.counts and self.rule != "frequency":
            what = f"demote:rule={self.rule} has no use for 'counts'"
            help = "leave it out, or choose rule=frequency"
            raise WrongOption("counts", Diagnostic("E301", what, help=help))

    def run(
        self, module: Module, counts: IssueCounts | None = None, context: PassContext = NOTHING_KNOWN
    ) -> PassResult:
        """Demote registers of kernels. `counts` are those of the file `counts`."""
        from ptxtool.passes.regalloc.claim import AssignmentClaim

        texts: list[DemotedText] = []
        remarks: list[Remark] = []
        for kernel in chosen_kernels(module, self.kernel):
            text, message = self._demoted(kernel, counts.of(kernel) if counts else None, context)
            remarks.append(Remark(self.name, message, kernel.name, kernel.source.line(kernel.start)))
            if text is not None:
                texts.append(text)
        edits = tuple(edit for text in texts for edit in text.edits())
        claim = AssignmentClaim(
            {text.kernel.name: tuple(text.origins()) for text in texts},
            {text.kernel.name: text.threads for text in texts},
            {text.kernel.name: self._dynamic_shared(text.kernel, context) for text in texts},
        )
        return PassResult(edits, tuple(remarks), claim)

    def _demoted(self, kernel: Function, issues: Sequence[int] | None, context: PassContext) -> "Demoted":
        """A kernel with demoted registers, None for nothing to demote, and the remark about it. Raises E301."""
        from ptxtool.passes.demotion.kernel_demotion import KernelDemotion, needed_registers, refusal  # numpy

        need = needed_registers(kernel)
        if self.registers and need <= self.registers:
            return None, f"nothing to do: a thread needs {counted(need, 'register')}"
        if not _is_physical(kernel):
            help = "run allocate before; where it spilled values under guards, give it more registers"
            raise refusal(kernel, "its registers are not physical for certain", help)
        machine = context.machine(kernel.module)
        demotion = KernelDemotion(kernel, need, self._cta(kernel, context), machine, self.rule, issues)
        if self.occupancy:
            return demotion.to_occupancy(self.occupancy)
        return demotion.to_registers(self.registers) if self.registers else demotion.of_count(self.count)

    def _cta(self, kernel: Function, context: PassContext) -> CtaSize:
        """The largest CTA. Raises E301 where its threads are unknown or too few."""
        from ptxtool.passes.demotion.kernel_demotion import refusal

        launched = context.ctas.get(kernel.name)
        threads = most_threads(kernel, self.threads, launched, refusal, "; or another kernel=NAME")
        return CtaSize(threads, self._dynamic_shared(kernel, context))

    def _dynamic_shared(self, kernel: Function, context: PassContext) -> int:
        launched = context.ctas.get(kernel.name)
        return self.dynamic_shared or (launched.dynamic_shared if launched else 0)


@kept
def _is_physical(kernel: Function) -> bool:
    """Whether registers can be the units of their names: no value is lost where names that share one are written."""
    from ptxtool.passes.regalloc.claim import AssignmentClaim

    unchanged = AssignmentClaim({kernel.name: tuple(range(len(kernel.instructions)))})
    return not unchanged(kernel.module, kernel.module)
