"""Which instructions touch registers that a pair of warps shares.

For the passes that release, order and delay. A register is private if its sequence number is at most
floor(registers * (100 - share) / 100), where `registers` is the count per thread that the allocation of a run takes.

Reference: timing model, section 5.1; V. Jatala, J. Anantpur, A. Karkare, HPDC 2016, section III.
"""

from fractions import Fraction

from ptxtool.analysis.pressure import pressure
from ptxtool.analysis.sharing import private_part
from ptxtool.base.diag import error
from ptxtool.ir.defuse import def_use
from ptxtool.ir.nodes import Function


def own_registers(kernel: Function) -> int:
    """The registers per thread of a kernel whose launch does not say: live at once; in PTXPlus those declared."""
    if kernel.registers.is_ptxplus:
        return sum(r.units for r in kernel.registers if r.kind == "general") or 1
    return max(1, pressure(kernel).maximum)


def private_registers(kernel: Function, percent: Fraction, registers: int = 0) -> int:
    """How many sequence numbers are private. `registers` 0 is the kernel's own count. Raises E502 for fewer."""
    if registers < 0:
        raise error("E502", f"registers = {registers} is less than 0", help="give the registers per thread")
    return private_part(registers or own_registers(kernel), percent)


def touches_shared_registers(kernel: Function, private: int) -> tuple[bool, ...]:
    """Per instruction, whether it names a register beyond the private ones, or calls a function that does."""
    return tuple(
        node.opcode.base == "call" or any(k >= private for k in step.touched)
        for node, step in zip(kernel.instructions, def_use(kernel), strict=True)
    )
