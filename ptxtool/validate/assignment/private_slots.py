"""Slots in shared memory that a kernel has already, and proof that they are its threads' own.

For the passes that rewrite a kernel with demoted registers, and for their check. `thread_slots.py` proves the address
of a thread's slots in code that a pass inserted; here the kernel is as it was read. The slots are private if

* the kernel begins with code that computes the address of the thread's slots in a register, the *base*;
* after that code no instruction names the variable, or reads another register that has an address from it;
* all other instructions that name the base load or store one register at the address of a slot;
* of PTXPlus, which addresses shared memory by numbers: the slots begin where the kernel's own shared memory ends, its
  variables and, if they begin later, as many dynamic bytes of its launches (`ptxtool.analysis.demotion.own_shared`).

Other text is refused with the reason: a slot could change without a visible access to it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ptxtool.analysis.demotion.own_shared import first_beyond, own_bytes
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.kept import kept
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.nodes import Function, Label, Memory, Name
from ptxtool.isa.types import TYPES
from ptxtool.validate.assignment.places import Slot
from ptxtool.validate.assignment.thread_slots import (
    EntryCode,
    Polynomial,
    ThreadSlots,
    declares_slots,
    slot_address,
)

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
    is_ptxplus = kernel.registers.is_ptxplus
    own = own_bytes(kernel, 0, variable) if is_ptxplus else 0

    def has_address(value: Polynomial) -> bool:
        """Whether a value may be an address in the slots."""
        return value.get((), 0) >= own if is_ptxplus else any(variable in term for term in value)

    def is_base(value: Polynomial) -> bool:
        start: Polynomial = {(): value.get((), 0)} if is_ptxplus else {(variable,): 1}
        return has_address(value) and value == slot_address(start, extent)

    code = EntryCode(kernel, extent)
    found = code.base([-1] * len(kernel.instructions), is_base)
    if found is None or any(0 < n < found[1] for n, s in kernel.other_statements if type(s) is Label):
        return f"it does not begin with the address of a thread's slots in '{variable}'"
    base, entry = found
    temporaries = frozenset(k for k, value in code.values.items() if has_address(value)) - {base}
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
    if is_ptxplus:
        problem = _problem_of_numbers(kernel, variable, code.values[base].get((), 0), accesses)
        if problem:
            return problem
    return PrivateSlots(slots, accesses, temporaries)


def _problem_of_numbers(
    kernel: Function, variable: str, start: int, accesses: Mapping[int, SlotAccess]
) -> str:
    """Why the bytes from `start` on may be others than the slots of PTXPlus; "" if they are the slots'."""
    declared = own_bytes(kernel, 0, variable)
    others = (v for v in shared_layout(kernel).variables if v.name != variable)
    if (
        any(v.size and v.end > declared for v in others)
        or own_bytes(kernel, start - declared, variable) != start
    ):
        return f"'{variable}' is not after its other variables"
    beyond = first_beyond(kernel, start - declared, variable, accesses)
    return "" if beyond is None else f"'{kernel.text(beyond)}' may access the shared memory of the slots"


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
