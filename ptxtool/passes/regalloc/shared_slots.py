"""Spill slots in shared memory: for `allocate:spill=shared`.

Values that do not fit into the register file are kept in one variable of 4 * N * n bytes, for N threads of a CTA and n
words of each. Word r of thread t is at 4 * t + 4 * N * r, so that the threads of a warp access different banks; a value
of 64 bits has two words, which are accessed one by one. One register, above those of the values, holds the address of
the thread's word 0, which the first instructions of the kernel compute:

    mov.u32 %r0, %tid.x;  shl.b32 %r0, %r0, 2;  mov.u32 %r31, __ptxtool_demoted;  add.u32 %r31, %r31, %r0;

Functions that a kernel calls keep their slots in local memory.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.1 (equation 1) and the `local-shared` builds of its evaluation.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ptxtool.analysis.demotion.targets import STATIC_SHARED, WORD_BYTES
from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function
from ptxtool.ir.variables import round_up
from ptxtool.passes.context import CtaSize, most_threads
from ptxtool.passes.regalloc.physical_names import unused_name
from ptxtool.passes.regalloc.slot_code import SlotCode
from ptxtool.validate.assignment.thread_slots import VARIABLE


@dataclass(frozen=True)
class SharedSlots:
    """The slots of a kernel for CTAs of at most `threads` threads. `unit` of the general file holds their address."""

    kernel: Function
    threads: int
    unit: int
    variable: str
    n_bytes: int

    def code(self, address: str) -> SlotCode:
        """The instructions that access the slots, through a register of that name."""
        return SlotCode(self.kernel, self.variable, self.threads, address, 0)

    @property
    def n_words(self) -> int:
        """Of a thread."""
        return self.n_bytes // (WORD_BYTES * self.threads)


@dataclass(frozen=True)
class SharedCtas:
    """How large CTAs are: `threads` that the user gives, 0 for none, and by kernel those of the launches at hand."""

    threads: int
    launched: Mapping[str, CtaSize]

    def threads_of(self, kernel: Function) -> int:
        """The threads of a CTA, at most; the kernel's head comes first. Raises E301 where they are unknown."""
        return most_threads(
            kernel, self.threads, self.launched.get(kernel.name), _refusal, ", or spill=local"
        )


def shared_slots(kernel: Function, assignment: Assignment, threads: int) -> SharedSlots:
    """The slots of an assignment's spilled values. Raises E301 where they exceed static shared memory."""
    n_bytes = assignment.frame_bytes * threads
    own = round_up(shared_layout(kernel).bytes, WORD_BYTES)
    if own + n_bytes > STATIC_SHARED:
        why = f"{n_bytes} bytes of slots beside {own} of its own exceed the {STATIC_SHARED} of a CTA"
        raise _refusal(kernel, why, "give a larger max-regs, or spill=local")
    unit = assignment.used["general"]
    return SharedSlots(kernel, threads, unit, unused_name(kernel, VARIABLE), n_bytes)


def _refusal(kernel: Function, why: str, help: str) -> PtxError:
    what = f"cannot spill values of '{kernel.name}' to shared memory: {why}"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
