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
`count=N` demotes N. The threads are those of `.reqntid` or `.maxntid`, or `threads`, which is then declared as
`.maxntid`, so that no larger CTA can be launched.

Pre: PTX with physical registers (E301; `allocate` gives them). Post: the same instructions, except loads and stores of
slots (checked by `ptxtool.validate.assignment`). Functions that the kernel calls keep their registers.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, sections 3.1 (equation 1) and 3.2.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, ClassVar

from ptxtool.analysis.demotion.candidates import Candidate, Rule, demotion_order
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import Diagnostic, error
from ptxtool.base.phrases import counted
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.ir.variables import round_up
from ptxtool.parse import parse
from ptxtool.passes.base import PassResult, Remark, Shown, WrongOption

if TYPE_CHECKING:
    from ptxtool.passes.demotion.demoted_text import DemotedText

STATIC_SHARED = 49152
"""Bytes of static shared memory of a kernel, at most (CUDA programming guide, technical specifications)."""
ADDRESS_AND_VALUE = 2
"""New registers, at least: the address of the thread's slots, the value register."""


@dataclass(frozen=True)
class Demote:
    """Move registers to shared memory, until a thread needs at most `registers`, or `count` of them."""

    registers: Annotated[int, Shown("T", "or count=N: required")] = 0
    count: Annotated[int, Shown("N", "or registers=T: required")] = 0
    rule: Rule = "accesses"
    threads: Annotated[int, Shown("N", "default: of .reqntid or .maxntid")] = 0
    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "demote"

    def __post_init__(self) -> None:
        for option in ("registers", "count", "threads"):
            if getattr(self, option) < 0:
                problem = Diagnostic(
                    "E301", f"{option} cannot be {getattr(self, option)}", help="give 1 or more"
                )
                raise WrongOption(option, problem)
        if bool(self.registers) == bool(self.count):
            what = "give registers=T, the registers that a thread may need, or count=N, the number to demote"
            help = f"demote:registers={self.registers or 32}"
            raise WrongOption("registers", Diagnostic("E301", what, help=help))

    def run(self, module: Module) -> PassResult:
        from ptxtool.passes.regalloc.claim import AssignmentClaim

        if module.is_ptxplus:
            what = "demote is for PTX: it declares shared memory by name"
            raise error("E301", what, help="demote before lower-ptxplus")
        kernels = [k for k in module.kernels.values() if k.body is not None and self.kernel in ("", k.name)]
        if self.kernel and not kernels:
            names = ", ".join(module.kernels) or "none"
            raise error("E301", f"no kernel named '{self.kernel}'", help=f"there are: {names}")
        texts: list[DemotedText] = []
        remarks: list[Remark] = []
        for kernel in kernels:
            text, message = self._demoted(kernel)
            remarks.append(Remark(self.name, message, kernel.name, kernel.source.line(kernel.start)))
            if text is not None:
                texts.append(text)
        edits = tuple(edit for text in texts for edit in text.edits())
        claim = AssignmentClaim(
            {text.kernel.name: tuple(text.origins()) for text in texts},
            {text.kernel.name: text.threads for text in texts},
        )
        return PassResult(edits, tuple(remarks), claim)

    def _demoted(self, kernel: Function) -> "tuple[DemotedText | None, str]":
        """A kernel with demoted registers, None for nothing to demote, and the remark about it. Raises E301."""
        from ptxtool.analysis.regalloc.register_need import registers_per_thread  # imports numpy
        from ptxtool.passes.demotion.demoted_text import DemotedText, Demotion

        need = registers_per_thread(kernel)
        if self.registers and need <= self.registers:
            return None, f"nothing to do: a thread needs {counted(need, 'register')}"
        if not _is_physical(kernel):
            help = "run allocate before; with more registers where that spills values under guards"
            raise _refusal(kernel, "its registers are not physical for certain", help)
        threads = self._threads(kernel)
        candidates, end = self._fitting(kernel, threads)
        goal = self.count or need - self.registers + ADDRESS_AND_VALUE
        while True:
            n = next(
                (n for n, units in enumerate(accumulate(c.units for c in candidates), 1) if units >= goal),
                None,
            )
            chosen = candidates[:n]
            if not chosen:
                return None, f"nothing is demoted: {end}"
            text = DemotedText(Demotion(kernel, tuple(chosen), threads))
            after = registers_per_thread(_kernel_of(text))
            if self.count or n is None or after <= self.registers:
                break
            goal = sum(c.units for c in chosen) + after - self.registers
        if self.registers and after >= need:
            return (
                None,
                f"nothing is demoted: it would leave a thread with {counted(after, 'register')} of {need}; {end}",
            )
        units = sum(c.units for c in chosen)
        message = (
            f"{counted(units, 'register')} demoted to {4 * threads * units} bytes of shared memory "
            f"({counted(threads, 'thread')}): {need} -> {after} registers per thread"
        )
        return text, message + (f"; {end}" if n is None else "")

    def _fitting(self, kernel: Function, threads: int) -> tuple[list[Candidate], str]:
        """The candidates in order, as many as shared memory has room for, and why there are no more."""
        room = (STATIC_SHARED - round_up(shared_layout(kernel).bytes, 4)) // (4 * threads)
        found: list[Candidate] = []
        for candidate in demotion_order(kernel, self.rule):
            if candidate.units > room:
                return found, f"more than {STATIC_SHARED} bytes of shared memory cannot be declared"
            room -= candidate.units
            found.append(candidate)
        return found, "no other register can be demoted: each occurs together with these, or is in flight"

    def _threads(self, kernel: Function) -> int:
        """The threads of a CTA, at most. Raises E301 where they are unknown or too few."""
        bound = block_bound(kernel)
        if bound is None:
            if not self.threads:
                help = "give threads=N, the most threads that a CTA will have"
                raise _refusal(kernel, "the size of its CTAs is unknown", help)
            return self.threads
        if self.threads and self.threads < bound.threads:
            directive = f"'.{bound.directive.name}' allows {bound.threads}"
            raise _refusal(
                kernel, f"threads={self.threads}, but {directive}", f"give {bound.threads}, or nothing"
            )
        return bound.threads


def _is_physical(kernel: Function) -> bool:
    """Whether registers can be the units of their names: no value is lost where names that share one are written."""
    from ptxtool.passes.regalloc.claim import AssignmentClaim

    unchanged = AssignmentClaim({kernel.name: tuple(range(len(kernel.instructions)))})
    return not unchanged(kernel.module, kernel.module)


def _kernel_of(text: "DemotedText") -> Function:
    """The kernel of a demoted text."""
    source = text.kernel.source
    return parse(splice(source.text, text.edits()), source.name).kernels[text.kernel.name]


def _refusal(kernel: Function, why: str, help: str) -> Exception:
    what = f"cannot demote registers of '{kernel.name}': {why}"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
