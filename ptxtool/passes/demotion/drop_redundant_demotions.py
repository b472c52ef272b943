"""drop-redundant-demotions: drop loads and stores of slots that change nothing.

    st.shared.b32 [%r8+512], %r9;          st.shared.b32 [%r8+512], %r9;
    ld.shared.b32 %r9, [%r8+512];
    add.s32 %r2, %r9, 1;                   add.s32 %r2, %r9, 1;

Two problems, of which the second sees the result of the first. Forward in every basic block, accesses that make a
register and a slot equal that are equal already (`redundant_accesses.py`). Backward over all blocks, a slot is live
where some path loads it before storing it in all threads: a store to a slot that is not live after it is dropped.

The paper compares an access with the one before it in the block; this finds all of these, and more.

Pre: a kernel whose demoted registers are its threads' own (E301). Post: the same instructions except loads and stores
of slots (checked by `ptxtool.validate.slot_accesses`). Idempotent.
Not handled: values of a slot in registers at the start of a block; a load of 64 bits, whose two halves are copied to
the pair that a move writes, so that the pair holds the value, and the halves hold nothing (PTXPlus has no such move).

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.4.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.flow.dataflow import solve
from ptxtool.base.phrases import counted
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Module
from ptxtool.passes.base import PassResult, Shown
from ptxtool.passes.demotion.demoted_kernels import transform_demoted
from ptxtool.passes.demotion.redundant_accesses import equal_already
from ptxtool.passes.lines import deletion
from ptxtool.validate.assignment.places import Slot
from ptxtool.validate.assignment.private_slots import PrivateSlots


@dataclass(frozen=True)
class DropRedundantDemotions:
    """Drop loads and stores of demoted registers that change nothing."""

    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "drop-redundant-demotions"

    def run(self, module: Module) -> PassResult:
        return transform_demoted(module, self.name, self.kernel, _dropped)


def _dropped(kernel: Function, found: PrivateSlots, budget: UnitBudget) -> tuple[Iterator[TextEdit], str]:
    cfg = build(kernel, interprocedural=True)
    dropped = {i for _, i in equal_already(kernel, found, budget)}
    dropped |= set(_dead_stores(kernel, cfg, found, dropped))
    loads = sum(found.accesses[i].is_load for i in dropped)
    nodes = [kernel.instructions[i] for i in sorted(dropped)]
    edits = (deletion(kernel.source, node.start, node.end) for node in nodes)
    of = sum(access.is_load for access in found.accesses.values())
    stores, of_stores = len(dropped) - loads, len(found.accesses) - of
    if not dropped:
        return edits, f"nothing to do: {counted(of + of_stores, 'access', 'accesses')}, none redundant"
    return edits, f"{loads} of {counted(of, 'load')} and {stores} of {counted(of_stores, 'store')} dropped"


def _dead_stores(kernel: Function, cfg: Cfg, found: PrivateSlots, dropped: set[int]) -> Iterator[int]:
    """The stores whose slots no path loads before they are stored again, where some accesses are `dropped`.

    A slot has two bits, for its lower and its upper half.
    """

    def bits(slot: Slot) -> int:
        return (1 if slot.size <= 2 else 3) << slot.offset // 2

    gen: list[int] = []
    kill: list[int] = []
    accesses = {i: access for i, access in found.accesses.items() if i not in dropped}
    inside = [[i for i in block.instructions if i in accesses] for block in cfg.blocks]
    is_kill = {i for i, a in accesses.items() if not a.is_load and kernel.instructions[i].guard is None}
    for block in inside:
        read = overwritten = 0
        for i in reversed(block):
            access = accesses[i]
            if access.is_load:
                read |= bits(access.slot)
            elif i in is_kill:
                read &= ~bits(access.slot)
                overwritten |= bits(access.slot)
        gen.append(read)
        kill.append(overwritten)
    live = solve(cfg.successors_by_node, [*gen, 0], [*kill, 0], direction="backward").exit
    for number, block in enumerate(inside):
        after = live[number]
        for i in reversed(block):
            access = accesses[i]
            if access.is_load:
                after |= bits(access.slot)
            elif not after & bits(access.slot):
                yield i
            elif i in is_kill:
                after &= ~bits(access.slot)
