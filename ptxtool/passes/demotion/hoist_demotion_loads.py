"""hoist-demotion-loads: move loads of demoted registers up in their block, so that less of their latency is waited for.

    mul.lo.s32 %r2, %r2, %r1;            ld.shared.b32 %r3, [%r8];
    add.s32 %r2, %r2, %r4;               mul.lo.s32 %r2, %r2, %r1;
    ld.shared.b32 %r3, [%r8];            add.s32 %r2, %r2, %r4;
    add.s32 %r2, %r2, %r3;               add.s32 %r2, %r2, %r3;

A load moves to directly after the last instruction before it that names its register, or another register of the same
units, or that stores its slot; at most to the start of its block. Slots are a thread's own, so barriers and other
accesses to shared memory are passed. The register has the value longer: a load stops where more registers would be
live than a thread needs. Loads keep their order where they meet, and none stops inside a run of instructions with one
guard. `substitute-demotion-registers` before gives them more freedom.

Pre: a kernel whose demoted registers are its threads' own (E301). Post: the same instructions, loads of slots in other
places (checked by `ptxtool.validate.slot_accesses`). Idempotent.
Not handled: loads under a guard, which their instruction follows.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 3.4.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Annotated, ClassVar

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.demotion.unit_liveness import unit_masks
from ptxtool.base.phrases import counted
from ptxtool.cfg.blocks import Block, build
from ptxtool.ir.edit import TextEdit
from ptxtool.ir.nodes import Function, Instruction, Module
from ptxtool.passes.base import PassResult, Shown
from ptxtool.passes.demotion.demoted_kernels import transform_demoted
from ptxtool.passes.lines import deletion, line_for
from ptxtool.validate.assignment.private_slots import PrivateSlots


@dataclass(frozen=True)
class HoistDemotionLoads:
    """Move loads of demoted registers up in their block, to hide their latency."""

    kernel: Annotated[str, Shown("NAME", "default: all")] = ""
    name: ClassVar[str] = "hoist-demotion-loads"

    def run(self, module: Module) -> PassResult:
        return transform_demoted(module, self.name, self.kernel, _hoisted)


def _hoisted(kernel: Function, found: PrivateSlots, budget: UnitBudget) -> tuple[Iterator[TextEdit], str]:
    masks = unit_masks(kernel)
    guards = {i for i, node in enumerate(kernel.instructions) if node.guard is not None}
    loads = {i: a for i, a in found.accesses.items() if a.is_load and i not in guards}
    moved: dict[int, int] = {}  # per load the instruction that it is before
    n_passed = 0
    for block in build(kernel, interprocedural=True).blocks:
        for i in (i for i in block.instructions if i in loads):
            units = masks[loads[i].register]
            between = range(_earliest(kernel, found, masks, budget, block, i), i)
            passed = [*dropwhile(loads.__contains__, between)]
            if passed and budget.extend(passed[0], i, units):
                moved[i] = passed[0]
                n_passed += sum(j not in moved for j in passed)
    if not moved:
        return iter(()), f"nothing to do: none of {counted(len(loads), 'load')} can move"
    of = f"{len(moved)} of {counted(len(loads), 'load')}"
    return _edits(kernel, moved), f"{of} moved up, past {counted(n_passed, 'instruction')}"


def _earliest(
    kernel: Function,
    found: PrivateSlots,
    masks: Sequence[int],
    budget: UnitBudget,
    block: Block,
    load: int,
) -> int:
    """The first instruction of a block that a load can be before."""
    access = found.accesses[load]
    units, first = masks[access.register], max(block.start, found.slots.entry)
    to = load
    while to > first and budget.admits(to - 1, units):
        other = found.accesses.get(to - 1)
        if other is not None and not other.is_load and other.slot.offset == access.slot.offset:
            break
        if any(masks[k] & units or k == access.register for k in kernel.def_uses[to - 1].touched):
            break
        to -= 1
    while first < to < load and _same_guard(kernel.instructions[to - 1], kernel.instructions[to]):
        to += 1
    return to


def _same_guard(one: Instruction, other: Instruction) -> bool:
    return one.guard is not None and one.guard == other.guard


def _edits(kernel: Function, moved: Mapping[int, int]) -> Iterator[TextEdit]:
    source, nodes = kernel.source, kernel.instructions
    for load, to in moved.items():
        text = source.text[nodes[load].start : nodes[load].end]
        yield TextEdit(nodes[to].start, nodes[to].start, line_for(source, nodes[to].start, text))
        yield deletion(source, nodes[load].start, nodes[load].end)
