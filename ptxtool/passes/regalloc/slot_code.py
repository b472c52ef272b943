"""The code that accesses slots of registers in shared memory, in PTX and in PTXPlus: for `demote` and `allocate`.

PTX names the slots' variable. PTXPlus addresses shared memory by numbers, and a kernel's own bytes are fixed there; so
its variable declares how many bytes more a CTA takes, and the slots begin after all that the kernel uses.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ptxtool.ir.blocks import block_bound
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function

ALIGNMENT = 16
"""Of the variable in PTXPlus, where a kernel's bytes are a multiple of 16: the slots add theirs."""


@dataclass(frozen=True)
class SlotCode:
    """The slots `variable` for CTAs of `threads` threads, with `address` as the register of a thread's slot 0.

    `start` is that of the slots in shared memory, for PTXPlus.
    """

    kernel: Function
    variable: str
    threads: int
    address: str
    start: int

    @property
    def _is_ptxplus(self) -> bool:
        return self.kernel.registers.is_ptxplus

    def head_edits(self) -> Iterator[TextEdit]:
        """The bound on the threads of a CTA, where the kernel has none."""
        if block_bound(self.kernel) is None:
            start = self.kernel.body_start
            yield TextEdit(start, start, f".maxntid {self.threads}\n")

    def declaration(self, slots: int) -> str:
        alignment = ALIGNMENT if self._is_ptxplus else 4
        return f".shared .align {alignment} .b8 {self.variable}[{4 * self.threads * slots}];"

    def load(self, name: str, bits: int, slot: int) -> str:
        """The load of a register of at most 32 bits."""
        return f"ld.shared.{self._type(bits)} {name}, {self._at(slot)};"

    def store(self, name: str, bits: int, slot: int) -> str:
        return f"st.shared.{self._type(bits)} {self._at(slot)}, {name};"

    def entry(self, linear: str) -> Iterator[str]:
        """The address of the thread's slot 0: from the start of the slots, 4 * its linear number in the CTA.

        `linear` is a register for that number. No register but `address` has an address in the slots afterwards.
        """
        bound = block_bound(self.kernel)
        extent = bound.extent if bound is not None and bound.is_exact else None
        used = 3 if extent is None else max((n for n in (1, 2, 3) if extent[n - 1] > 1), default=1)
        address = self.address
        yield f"mov.u32 {linear}, %tid.{'xyz'[used - 1]};"
        for axis in reversed("xyz"[: used - 1]):
            width = address
            if extent is not None:
                width = self._number(extent["xyz".index(axis)])
            else:
                yield f"mov.u32 {address}, %ntid.{axis};"
            yield f"mul.lo.u32 {linear}, {linear}, {width};"
            yield f"mov.u32 {address}, %tid.{axis};"
            yield f"add.u32 {linear}, {linear}, {address};"
        yield f"shl.b32 {linear}, {linear}, {self._number(2)};"
        if self._is_ptxplus:
            yield f"add.u32 {address}, {linear}, {self._number(self.start)};"
        else:
            yield f"mov.u32 {address}, {self.variable};"
            yield f"add.u32 {address}, {address}, {linear};"

    def _type(self, bits: int) -> str:
        return f"{'u' if self._is_ptxplus else 'b'}{bits}"

    def _at(self, slot: int) -> str:
        offset = 4 * self.threads * slot
        shown = f"0x{offset:04x}" if self._is_ptxplus else offset
        return f"[{self.address}+{shown}]" if offset else f"[{self.address}]"

    def _number(self, value: int) -> str:
        return f"0x{value:08x}" if self._is_ptxplus else str(value)
