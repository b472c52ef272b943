"""Slots in shared memory that a kernel has already, and proof that they are its threads' own.

For the passes that rewrite a kernel with demoted registers, and for their check. `thread_slots.py` proves the address
of a thread's slots in code that a pass inserted; here the kernel is as it was read. The slots are private if

* the kernel begins with code that computes the address of the thread's slots in a register, the *base*;
* after that code no instruction names the variable, or reads another register that has an address from it;
* all other instructions that name the base load or store one register at the address of a slot.

Other text is refused with the reason: a slot could change without a visible access to it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.base.kept import kept
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.nodes import Function, Label, Memory, Name
from ptxtool.isa.types import TYPES
from ptxtool.validate.assignment.places import Slot
from ptxtool.validate.assignment.thread_slots import EntryCode, ThreadSlots, declares_slots, slot_address

_ACCESS = re.compile(r"(ld|st)\.shared\.(\w+)")


class SlotAccess(NamedTuple):
    """A load of a slot to a register, or a store of a register to a slot."""

    is_load: bool
    slot: Slot
    register: int


class PrivateSlots(NamedTuple):
    """The slots of a kernel, and the instructions that access them, by index.

    `temporaries` are registers that have an address in the slots when the code at the start ends; none is read later.
    """

    slots: ThreadSlots
    accesses: Mapping[int, SlotAccess]
    temporaries: frozenset[int]


@kept
def private_slots(kernel: Function) -> PrivateSlots | str | None:
    """The slots of a kernel; None if it declares none; a reason if they may not be its threads' own."""
    declared = [s for s in kernel.body or () if declares_slots(s)]
    if not declared:
        return None
    bound = block_bound(kernel)
    if len(declared) > 1 or kernel.kind != "entry" or bound is None or bound.threads < 1:
        return "it is no kernel with one variable for slots and a bound on its threads"
    (declarator,) = declared[0].declarators
    variable, stride = declarator.name, 4 * bound.threads
    extent = bound.extent if bound.is_exact else None
    code = EntryCode(kernel, extent)
    found = code.base([-1] * len(kernel.instructions), slot_address({(variable,): 1}, extent))
    if found is None or any(0 < n < found[1] for n, s in kernel.other_statements if type(s) is Label):
        return f"it does not begin with the address of a thread's slots in '{variable}'"
    base, entry = found
    addresses = (k for k, value in code.values.items() if any(variable in term for term in value))
    temporaries = frozenset(addresses) - {base}
    live = liveness(kernel, per="thread").after_bits[entry - 1] if temporaries else 0
    if any(live >> k & 1 for k in temporaries):
        return f"another register than '{kernel.registers[base].name}' may have an address in '{variable}'"
    slots = ThreadSlots(variable, base, stride, (declarator.dimensions[0] or 0) // stride, entry)
    accesses: dict[int, SlotAccess] = {}
    named = re.compile(rf"{re.escape(variable)}(?!\w)")
    last = kernel.instructions[entry - 1].end
    is_named = named.search(kernel.source.text, last, kernel.end) is not None  # perhaps in a comment
    for j in range(entry, len(kernel.instructions)):
        if base in kernel.def_uses[j].touched:
            access = _access(kernel, j, slots)
            if access is None:
                return f"'{kernel.text(j)}' uses the address of the slots"
            accesses[j] = access
        elif is_named and named.search(kernel.text(j)):
            return f"'{kernel.text(j)}' uses the address of the slots"
    return PrivateSlots(slots, accesses, temporaries)


def _access(kernel: Function, j: int, slots: ThreadSlots) -> SlotAccess | None:
    """The access to a slot that an instruction with the base is; None for anything else."""
    node = kernel.instructions[j]
    opcode = _ACCESS.fullmatch(node.opcode.text)
    type_ = TYPES.get(opcode[2]) if opcode else None
    if opcode is None or type_ is None or len(node.operands) != 2:
        return None
    address, value = node.operands if opcode[1] == "st" else reversed(node.operands)
    if not isinstance(value, Name) or value.part or not isinstance(address, Memory):
        return None
    register = kernel.registers.resolve(value.text, j)
    base = kernel.registers.resolve_index(address.base.text, j) if isinstance(address.base, Name) else -1
    slot = slots.slot(address, type_.bits, base)
    if register is None or slot is None or register.index == slots.base:
        return None
    if register.is_predicate or register.vector != 1 or register.bits != type_.bits:
        return None
    return SlotAccess(opcode[1] == "ld", slot, register.index)
