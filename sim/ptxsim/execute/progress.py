"""Where the warps of a CTA are, in words: for warps that wait for ever, or too long."""

import re
from typing import Any, Literal

from ptxsim.base.program import FOR_REGISTERS, NO_ACCESS, REPEAT, Program
from ptxtool.analysis.flow.loops import Loops, loops
from ptxtool.ir.nodes import Function

_SHOWN = 4
WaitsFor = Literal["barriers", "registers", "values"]


def describe_progress(program: Program, warps: Any) -> tuple[str, int, WaitsFor]:
    """Where the warps of a CTA are, in words; an instruction for the report; and what they wait for.

    That is values in memory where a warp spins; otherwise registers, if a warp waits for them at `setmaxnreg`; barriers
    where all are at these. Unless a warp spins, those that have ended are described too. The instruction is that of the
    first warp that waits for it.
    """
    shown: list[str] = []
    spinning: list[int] = []
    waiting: list[int] = []
    starved: list[int] = []
    ended: list[str] = []
    for w, warp in enumerate(warps):
        depth = int(warp["depth"][0])
        if depth == 0:
            ended.append(f"warp {w} ended at line {program.place(int(warp['ended_at']))}")
            continue
        top = depth - 1
        waits = bool(warp["stack_wait"][top, 0])
        i = int(warp["waits_since"][top, 0] if waits else warp["stack_pc"][top, 0])
        waits |= bool(program.instructions[min(i, len(program.instructions) - 1)]["kind"] == REPEAT)
        if not waits:
            spinning.append(_what_it_waits_for(program, i))
        else:
            (starved if warp["stack_wait"][top, 0] == FOR_REGISTERS else waiting).append(i)
        lanes, alive = int(warp["stack_mask"][top, 0]), 0
        for k in range(depth):
            alive |= int(warp["stack_mask"][k, 0])
        text = f"warp {w} {_doing(program, i, waits)}"
        if alive & ~lanes:
            meeting = program.place(int(warp["stack_pc"][top - 1, 0]))
            text = f"warp {w}, lanes {_lanes(lanes)}, {_doing(program, i, waits)}"
            text += f", its lanes {_lanes(alive & ~lanes)} wait for them at line {meeting}"
        shown.append(text)
    more = f"; and {len(shown) - _SHOWN} more warps" if len(shown) > _SHOWN else ""
    if not spinning:
        more = "; ".join([more, *ended[:_SHOWN]])
    waits_for: WaitsFor = "values" if spinning else "registers" if starved else "barriers"
    return "; ".join(shown[:_SHOWN]) + more, (spinning + starved + waiting + [0])[0], waits_for


def _lanes(mask: int) -> str:
    """A mask as ranges: 0-3,7."""
    ranges: list[str] = []
    for run in re.finditer("1+", f"{mask:b}"[::-1]):
        first, last = run.start(), run.end() - 1
        ranges.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(ranges)


def _doing(program: Program, i: int, waits: bool) -> str:
    if waits:
        return f"waits at '{program.texts[i]}' in line {program.place(i)}"
    function, index = program.positions[min(i, len(program.positions) - 1)]
    around = _loop(function, index)
    if around is None:
        return f"comes back to line {program.place(i)}"
    first, last = (function.line(function.instructions[k]) for k in around)
    place = program.place(i - index + around[0])
    return f"repeats line {place}" if first == last else f"repeats lines {place} to {last}"


def _what_it_waits_for(program: Program, i: int) -> int:
    """The first instruction of the loop around i that accesses memory; the first at all where none does."""
    function, index = program.positions[min(i, len(program.positions) - 1)]
    around = _loop(function, index)
    if around is None:
        return i
    inside = range(i - index + around[0], i - index + around[1] + 1)
    return next((k for k in inside if program.instructions[k]["access"] != NO_ACCESS), inside[0])


def _loop(function: Function, index: int) -> tuple[int, int] | None:
    """The first and the last instruction of the innermost loop around an instruction."""
    found: Loops = loops(function)
    around = None if index < 0 else found.loop_of(found.cfg.block_of[index])
    if around is None:
        return None
    inside = [found.cfg.blocks[b] for b in around.blocks]
    return min(b.start for b in inside), max(b.end for b in inside) - 1
