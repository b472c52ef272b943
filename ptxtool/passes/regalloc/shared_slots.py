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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function
from ptxtool.ir.variables import round_up
from ptxtool.passes.context import LaunchedCtas
from ptxtool.passes.regalloc.physical_names import unused_name

WORD_BYTES = 4
STATIC_SHARED = 49152
"""Bytes of static shared memory of a kernel, at most (CUDA programming guide, technical specifications)."""


@dataclass(frozen=True)
class SharedSlots:
    """The slots of a kernel for CTAs of at most `threads` threads. `unit` of the general file holds their address."""

    kernel: Function
    threads: int
    unit: int
    variable: str
    n_bytes: int

    @property
    def declaration(self) -> str:
        return f".shared .align {WORD_BYTES} .b8 {self.variable}[{self.n_bytes}];"

    def address(self, base: str, word: int) -> str:
        """The operand of one of the thread's words, with the name of the register that holds the address."""
        offset = WORD_BYTES * self.threads * word
        return f"[{base}+{offset}]" if offset else f"[{base}]"

    def entry(self, base: str, scratch: str) -> Iterator[str]:
        """The instructions that compute the address: `base` and `scratch` are names of registers of 32 bits.

        No register but `base` has an address in the slots afterwards.
        """
        bound = block_bound(self.kernel)
        extent = bound.extent if bound is not None and bound.is_exact else None
        n_axes = 3 if extent is None else max((n for n in (1, 2, 3) if extent[n - 1] > 1), default=1)
        first, *others = tuple("zyx")[3 - n_axes :]
        yield f"mov.u32 {scratch}, %tid.{first};"
        for axis in others:
            length = base if extent is None else extent["xyz".index(axis)]
            if extent is None:
                yield f"mov.u32 {base}, %ntid.{axis};"
            yield f"mul.lo.u32 {scratch}, {scratch}, {length};"
            yield f"mov.u32 {base}, %tid.{axis};"
            yield f"add.u32 {scratch}, {scratch}, {base};"
        yield f"shl.b32 {scratch}, {scratch}, 2;"
        yield f"mov.u32 {base}, {self.variable};"
        yield f"add.u32 {base}, {base}, {scratch};"

    def head_edits(self) -> Iterator[TextEdit]:
        """The bound on the threads of a CTA, where the kernel has none."""
        if block_bound(self.kernel) is None:
            start = self.kernel.body_start
            yield TextEdit(start, start, f".maxntid {self.threads}\n")


@dataclass(frozen=True)
class SharedCtas:
    """How large CTAs are: `threads` that the user gives, 0 for none, and by kernel those of the launches at hand."""

    threads: int
    launched: Mapping[str, LaunchedCtas]

    def threads_of(self, kernel: Function) -> int:
        """The threads of a CTA, at most; the kernel's head comes first. Raises E301 where they are unknown."""
        bound, launched = block_bound(kernel), self.launched.get(kernel.name)
        if bound is not None and 0 < self.threads < bound.threads:
            why = f"threads={self.threads}, but '.{bound.directive.name}' allows {bound.threads}"
            raise _refusal(kernel, why, f"give {bound.threads}, or nothing")
        found = bound.threads if bound else self.threads or (launched.threads if launched else 0)
        if not found:
            help = "give threads=N, the most threads that a CTA will have, or a launch, or spill=local"
            raise _refusal(kernel, "the size of its CTAs is unknown", help)
        return found


def shared_slots(kernel: Function, assignment: Assignment, threads: int) -> SharedSlots:
    """The slots of an assignment's spilled values. Raises E301 where they exceed static shared memory."""
    n_bytes = assignment.frame_bytes * threads
    own = round_up(shared_layout(kernel).bytes, WORD_BYTES)
    if own + n_bytes > STATIC_SHARED:
        why = f"{n_bytes} bytes of slots beside {own} of its own exceed the {STATIC_SHARED} of a CTA"
        raise _refusal(kernel, why, "give a larger max-regs, or spill=local")
    unit = assignment.used["general"]
    return SharedSlots(kernel, threads, unit, unused_name(kernel, "__ptxtool_demoted"), n_bytes)


def _refusal(kernel: Function, why: str, help: str) -> PtxError:
    what = f"cannot spill values of '{kernel.name}' to shared memory: {why}"
    return error("E301", what, kernel.source, kernel.start, kernel.body_start, help=help)
