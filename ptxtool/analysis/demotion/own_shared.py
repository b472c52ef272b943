"""The shared memory that a kernel of PTXPlus uses, by numbers: for slots, which begin after it.

PTXPlus has 16 bytes of header, the parameters, and the variables that it declares. ptxas resolves others without a
declaration; the launch has their size as dynamic shared memory, which begins after the declared bytes. So the kernel's
own bytes end at

    declared bytes, a multiple of 16  +  dynamic bytes of the launch, rounded up to 4

as long as its accesses stay below. Those of known address are checked. An address that is computed is taken to stay in
the memory that the kernel has, as in PTX; where it has none, or a variable without a size, it needs some from the
launch. A variable without a size that an instruction names would move with what is declared, so it is no number.

A kernel that has slots already is analysed as it was before: its own bytes end where the variable of the slots begins.
"""

from collections.abc import Container

from ptxtool.analysis.sharing.shared_access import shared_accesses
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Function
from ptxtool.ir.variables import round_up


def own_bytes(kernel: Function, dynamic_shared: int, slots: str = "") -> int:
    """The first byte that a kernel of PTXPlus does not use, in a launch with so many bytes of dynamic shared memory.

    `slots` is the variable of slots, where it has them.
    """
    layout = shared_layout(kernel)
    variable = layout.variable(slots)
    return (variable.offset if variable else layout.bytes) + round_up(dynamic_shared, 4)


def first_beyond(
    kernel: Function, dynamic_shared: int, slots: str = "", of_slots: Container[int] = ()
) -> int | None:
    """The index of the first instruction that may access shared memory after `own_bytes`; None if there is none.

    The instructions `of_slots`, by index, access slots: they may.
    """
    end = own_bytes(kernel, dynamic_shared, slots)
    own = [variable for variable in shared_layout(kernel).variables if variable.name != slots]
    unsized = {variable.name for variable in own if not variable.size}
    has_memory = dynamic_shared > 0 or (bool(own) and not unsized)
    for i, found in enumerate(shared_accesses(kernel)):
        if i in of_slots:
            continue
        if not unsized.isdisjoint(
            n.text for operand in kernel.instructions[i].operands for n in names(operand)
        ):
            return i
        for access in found:
            if access.offset is None:
                is_beyond = not access.variable and not has_memory
            else:
                is_beyond = not access.variable and access.offset + (access.size or 0) > end
            if is_beyond:
                return i
    return None
