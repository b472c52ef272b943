"""Re-prove that a kernel with demoted registers computes the same after its accesses to slots changed.

For the passes after `demote`. Loads and stores of slots may be dropped, added and moved, and registers renamed; all
other instructions must stand in their old order. Registers and slots are both values and places
(`ptxtool.validate.assignment`): in the old text a load or store makes a register and a slot equal, in the new text it
copies one to the other, and every instruction must find the values that it read in the places that it reads. So a store
may be dropped where no instruction misses it, and a load may stand wherever its slot has the value and its register
is free. The slots of both texts must be their threads' own (`private_slots.py`).
"""

from collections.abc import Iterable

from ptxtool.base.diag import Diagnostic
from ptxtool.base.kept import kept
from ptxtool.ir.nodes import Function, Module
from ptxtool.validate.assignment import prove
from ptxtool.validate.assignment.align import NONE
from ptxtool.validate.assignment.private_slots import PrivateSlots, private_slots
from ptxtool.validate.functions import compare_functions, words, wrong


def check_slot_accesses(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that does not hold; () if everything does.

    Functions without slots must be unchanged, up to blanks.
    """
    return compare_functions(before, after, _compare)


def _compare(before: Function, after: Function) -> Iterable[Diagnostic]:
    if words(before, before.start, before.end) == words(after, after.start, after.end):
        return []
    if words(before, before.start, before.body_start) != words(after, after.start, after.body_start):
        return [wrong(f"the head of '{after.name}' changed", after.source, after)]
    old, new = private_slots(before), private_slots(after)
    if old is None or new is None:
        return [wrong(f"'{after.name}' changed, and it has no slots", after.source, after)]
    for reason in (old, new):
        if isinstance(reason, str):
            return [
                wrong(f"the slots of '{after.name}' are not its threads' own: {reason}", after.source, after)
            ]
    assert not isinstance(old, str)
    assert not isinstance(new, str)
    return _proved(before, after, old, new)


@kept
def is_provable(kernel: Function) -> bool:
    """Whether the check accepts a kernel with slots as it is: no value is lost where names that share a unit are
    written."""
    slots = private_slots(kernel)
    return isinstance(slots, PrivateSlots) and not _proved(kernel, kernel, slots, slots)


def _proved(before: Function, after: Function, old: PrivateSlots, new: PrivateSlots) -> list[Diagnostic]:
    others = [i for i in range(len(before.instructions)) if i not in old.accesses]
    n_others = len(after.instructions) - len(new.accesses)
    if n_others != len(others):
        what = f"'{after.name}' has {n_others} instructions that access no slot, which were {len(others)}"
        return [wrong(what, after.source, after)]
    in_order = iter(others)
    origins = [NONE if j in new.accesses else next(in_order) for j in range(len(after.instructions))]
    return prove(before, after, origins, new.slots, old.accesses)
