"""Loads and stores that make a register and a slot equal that are equal already: for the passes after `demote`.

Forward in every basic block, for register r and slot s,

    equal = {(r, s) : r and s have the same value}

a load adds its pair after it removed those of r, a store likewise of s; any other write removes the pairs of registers
that it overlaps. An access is redundant if its pair is there already, except a load without which a thread would need
more registers, because its register has to keep the value. Pairs of guarded accesses hold for the instructions directly
after them with the same guard.

Not handled: values of a slot in registers at the start of a block.
"""

from collections.abc import Iterator

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.ir.nodes import Function, Guard
from ptxtool.validate.assignment.places import Slot
from ptxtool.validate.assignment.private_slots import PrivateSlots

Equal = set[tuple[int, Slot]]
"""Registers and slots that have the same value."""


def equal_already(kernel: Function, found: PrivateSlots, budget: UnitBudget) -> Iterator[tuple[int, int]]:
    """The accesses that make a register and a slot equal that are equal before.

    Each is (first, i): without access i, its register keeps the value from before instruction `first` on, for which the
    budget is extended.
    """
    masks, resolve = budget.live.mask, kernel.registers.resolve_index
    for block in budget.live.cfg.blocks:
        always: Equal = set()
        here: Equal = set()
        """Where the guard of the instruction before is true."""
        last: tuple[int, Guard] | None = None
        for i in block.instructions:
            node, access = kernel.instructions[i], found.accesses.get(i)
            guard = None if node.guard is None else (resolve(node.guard.name, i), node.guard)
            if guard != last:
                last, here = guard, set(always)
            pair = (access.register, access.slot) if access else None
            if access is not None and pair in here:
                units, first = masks[access.register], i
                while not any(masks[k] & units for k in kernel.def_uses[first - 1].touched):
                    first -= 1
                if not access.is_load or budget.extend(first, i, units):
                    yield first, i
                    continue
            for held in (always, here):
                for k in kernel.def_uses[i].defs:
                    held -= {p for p in held if p[0] == k or masks[p[0]] & masks[k]}
                if access is not None and not access.is_load:
                    held -= {p for p in held if p[1].offset == access.slot.offset}
            if pair is not None:
                here.add(pair)
            if guard is None:
                always = set(here)
            elif guard[0] in kernel.def_uses[i].defs:
                last = None
