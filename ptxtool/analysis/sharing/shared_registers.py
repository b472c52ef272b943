"""The registers that a pair of warps shares, and the instructions that touch them.

For the passes that release, order and delay. A register is private if its sequence number is at most floor(registers *
(100 - share) / 100), where `registers` is the count per thread that the allocation of a run takes.

Reference: timing-model section 5.1; V. Jatala, J. Anantpur, A. Karkare, HPDC 2016, section III.
"""

from fractions import Fraction

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.occupancy.sharing_plan import private_part
from ptxtool.analysis.regalloc.physical import PREDICATES, units_of
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function


def private_registers(kernel: Function, percent: Fraction, registers: int = 0) -> int:
    """The number of private registers. `registers` 0 means the kernel's own count. Raises E502 for less than 0."""
    if not given_registers(registers):
        from ptxtool.analysis.regalloc.register_need import registers_per_thread  # loads numpy

        registers = registers_per_thread(kernel)
    return private_part(registers, percent)


def is_virtual(kernel: Function, registers: int) -> bool:
    """Whether a kernel's names cannot be physical registers in a file of so many registers per thread.

    Either they mean more units than that, or two values that live at once would share a unit (`physical.py`).
    PTXPlus's registers are physical.
    """
    table = kernel.registers
    if table.is_ptxplus or not len(table):
        return False
    if len(table) > 4 * registers + PREDICATES:  # a unit has at most four names; and these may be millions
        return True
    names_of: dict[tuple[str, int], int] = {}
    for k, register in enumerate(table):
        place = units_of(register)
        if place is None:
            return True
        for unit in range(place.first, place.first + place.units):
            names_of[place.file, unit] = names_of.get((place.file, unit), 0) | 1 << k
    if sum(file == "general" for file, _ in names_of) > registers:
        return True
    crowded = [names for names in names_of.values() if names.bit_count() > 1]
    live = set(liveness(kernel, "thread").before_bits) if crowded else ()
    return any((bits & names).bit_count() > 1 for bits in live for names in crowded)


def given_registers(registers: int) -> int:
    """The registers per thread that a pass was given. Raises E502 for fewer than 0."""
    if registers < 0:
        raise error("E502", f"registers = {registers} is less than 0", help="give the registers per thread")
    return registers


def touches_shared_registers(kernel: Function, private: int) -> tuple[bool, ...]:
    """Per instruction, whether it names a register beyond the private ones, or calls a function that does."""
    return tuple(
        node.opcode.base == "call" or any(k >= private for k in step.touched)
        for node, step in zip(kernel.instructions, kernel.def_uses, strict=True)
    )
