"""Lanes of a warp that wait for one another, as from sm_70 on: lanes that are ahead proceed.

A warp's lanes reconverge where their paths meet, and the lanes that arrive first wait there. They can wait for ever: a
lane that has taken a lock leaves the loop, the other lanes stay in it until the lock is released, and the owner waits
for them before it releases the lock. From sm_70 on every thread makes progress. So when a CTA can only repeat itself,
`loosen` lets the lanes that wait after such a loop proceed, up to the next instruction on all their paths at which
lanes must be together: one that synchronises or exchanges values, or a call. From then on the warp reconverges there.

Not handled: a lock that is held across such an instruction.

Reference: NVIDIA, "CUDA C++ Programming Guide", section on independent thread scheduling; timing-model section 1.7.
"""

from collections.abc import Iterator
from typing import Any

from ptxsim.base.program import MAX_STACK, Program, stack_fields
from ptxtool.cfg.blocks import build
from ptxtool.cfg.dominance import post_dominators
from ptxtool.ir.nodes import Instruction

_TOGETHER = frozenset(
    {"bar", "barrier", "shfl", "vote", "activemask", "match", "redux", "elect", "call", "brx"}
)


def loosen(program: Program, warps: Any) -> bool:
    """Let lanes that wait for others of their warp proceed. False if there are none that could."""
    loosened = [_loosen(program, warp) for warp in warps]
    return any(loosened)


def _loosen(program: Program, warp: Any) -> bool:
    top = int(warp["depth"][0]) - 1
    entries = {name: warp[name][:, 0] for name, _, _ in stack_fields(1)}
    pcs, rpcs, masks = entries["stack_pc"], entries["stack_rpc"], entries["stack_mask"]
    calls = entries["stack_call"]
    if top < 1 or entries["stack_wait"][top]:
        return False
    meeting, call = int(rpcs[top]), int(calls[top])
    below = top
    inside = 0
    while below > 0 and rpcs[below] == meeting and calls[below] == call:
        inside |= int(masks[below])
        below -= 1
    ahead = int(masks[below]) & ~inside
    if meeting < 0 or pcs[below] != meeting or calls[below] != call or ahead == 0:
        return False
    outer = int(rpcs[below])
    later = next((i for i in _path(program, meeting) if i == outer or _is_together(program, i)), -1)
    if later == meeting or top + 1 == MAX_STACK:
        return False
    points = program.instructions["reconverge"]
    points[points == meeting] = later
    rpcs[below + 1 : top + 1] = later
    added = {name: int(entry[below]) for name, entry in entries.items()}
    added |= {"stack_mask": ahead, "stack_rpc": later}
    if later == outer:  # they rejoin with the lanes around: an entry less
        for entry in entries.values():
            entry[below:top] = entry[below + 1 : top + 1].copy()
        top -= 1
    else:
        pcs[below] = later
    for name, entry in entries.items():
        entry[top + 1] = added[name]
    warp["depth"][0] = top + 2
    return True


def _is_together(program: Program, i: int) -> bool:
    """Whether the lanes of a warp should be together at an instruction."""
    function, index = program.positions[i]
    if index < 0:
        return False
    instruction: Instruction = function.instructions[index]
    return instruction.opcode.base in _TOGETHER or "sync" in instruction.opcode.modifiers


def _path(program: Program, i: int) -> Iterator[int]:
    """The instructions, from i on, that every lane at i eventually executes."""
    function, index = program.positions[i]
    start = i - index
    cfg = build(function)
    block = cfg.block_of[index]
    for number in post_dominators(cfg).dominators_of(block):
        if number == cfg.exit:
            return
        first = index if number == block else cfg.blocks[number].start
        yield from range(start + first, start + cfg.blocks[number].end)
