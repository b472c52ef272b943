"""Lanes of a warp that wait for one another, as from sm_70 on: those that are ahead go on.

A warp's lanes rejoin where their paths meet again, and who comes first waits there. That can be for ever: a lane that
has taken a lock leaves the loop, the others stay in it until it gives the lock back, and it waits for them. From
sm_70 on every thread gets further. So when a CTA can only repeat itself, `loosen` lets the lanes that wait behind such
a loop go on, as far as the next instruction on all their paths at which lanes must be together: one that synchronises
or exchanges values, or a call. There the warp rejoins instead, also the next time.

Not handled: a lock that is held across such an instruction.

Reference: NVIDIA, "CUDA C++ Programming Guide", section on independent thread scheduling.
"""

from collections.abc import Iterator
from typing import Any

from ptxsim.base.program import Program
from ptxsim.functional.barriers import DEPTH
from ptxtool.cfg.blocks import build
from ptxtool.cfg.dominance import post_dominators
from ptxtool.ir.nodes import Instruction

_TOGETHER = frozenset(
    {"bar", "barrier", "shfl", "vote", "activemask", "match", "redux", "elect", "call", "brx"}
)
_COLUMNS = ("pc", "rpc", "mask", "call", "waits", "waiting_lanes", "waits_since")


def loosen(program: Program, warps: Any) -> bool:
    """Let lanes that wait for others of their warp go on. False if there are none that could."""
    loosened = [_loosen(program, warp) for warp in warps]
    return any(loosened)


def _loosen(program: Program, warp: Any) -> bool:
    top = int(warp["depth"]) - 1
    if top < 1 or warp["waits"][top]:
        return False
    meeting, call = int(warp["rpc"][top]), int(warp["call"][top])
    below = top
    inside = 0
    while below > 0 and warp["rpc"][below] == meeting and warp["call"][below] == call:
        inside |= int(warp["mask"][below])
        below -= 1
    ahead = int(warp["mask"][below]) & ~inside
    if meeting < 0 or warp["pc"][below] != meeting or warp["call"][below] != call or ahead == 0:
        return False
    outer = int(warp["rpc"][below])
    later = next((i for i in _path(program, meeting) if i == outer or _is_together(program, i)), -1)
    if later == meeting or top + 1 == DEPTH:
        return False
    points = program.instructions["reconverge"]
    points[points == meeting] = later
    warp["rpc"][below + 1 : top + 1] = later
    entry = {name: int(warp[name][below]) for name in _COLUMNS} | {"mask": ahead, "rpc": later}
    if later == outer:  # they rejoin with the lanes around: an entry less
        for name in _COLUMNS:
            warp[name][below:top] = warp[name][below + 1 : top + 1].copy()
        top -= 1
    else:
        warp["pc"][below] = later
    for name in _COLUMNS:
        warp[name][top + 1] = entry[name]
    warp["depth"] = top + 2
    return True


def _is_together(program: Program, i: int) -> bool:
    """Whether the lanes of a warp should be together at an instruction."""
    function, index = program.places[i]
    if index < 0:
        return False
    instruction: Instruction = function.instructions[index]
    return instruction.opcode.base in _TOGETHER or "sync" in instruction.opcode.modifiers


def _path(program: Program, i: int) -> Iterator[int]:
    """The instructions, from i on, that every lane at i executes sooner or later."""
    function, index = program.places[i]
    start = i - index
    cfg = build(function)
    block = cfg.block_of[index]
    for number in post_dominators(cfg).dominators_of(block):
        if number == cfg.exit:
            return
        first = index if number == block else cfg.blocks[number].start
        yield from range(start + first, start + cfg.blocks[number].end)
