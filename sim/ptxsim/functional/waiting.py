"""CTAs that wait for other CTAs, or for ever.

A run without time takes one CTA after the other. A CTA that spins until another one has stored something (a barrier of
the whole grid, a lock) must be swapped out for the others; one that waits for something that never happens must end.
Both look the same from inside: the state of the CTA, registers and memory included, returns to an earlier one, and
since execution is deterministic it will always return to it. `Watch` detects that by R. Brent's method: it keeps one
state and compares it with those that follow, and keeps a newer one whenever twice as many have been compared. A spin
that counts its rounds is not detected until the counter wraps around; the limit of instructions covers that case.

`Residents` swaps the state of a CTA out and in. `describe_progress` reports in words where warps are.

Reference: R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980), section 2.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal

from ptxsim.base.program import FOR_REGISTERS, NO_ACCESS, Program
from ptxtool.analysis.flow.loops import Loops, loops
from ptxtool.ir.nodes import Function

FIRST_LOOK = 200_000
"""Warp instructions of a CTA before the first look at its state."""
BYTES_PER_INSTRUCTION = 10
"""Bytes of state hashed per executed instruction: about a tenth of the time."""
MAX_SWAPPED_OUT = 4096
"""CTAs that are swapped out at a time."""
_SHOWN = 4
WaitsFor = Literal["barriers", "registers", "values"]


class Watch:
    """Detects that a CTA has returned to an earlier state."""

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = arrays
        n_bytes = sum(int(a.nbytes) for a in arrays)
        self.interval = max(FIRST_LOOK // 4, n_bytes // BYTES_PER_INSTRUCTION)
        """Instructions between two looks."""
        self._known, self._looks, self._next = b"", 0, 1

    def begin(self) -> None:
        self._known, self._looks, self._next = b"", 0, 1

    def repeats(self) -> bool:
        """Whether the present state is the kept one."""
        state = digest(self._arrays)
        if state == self._known:
            return True
        self._looks += 1
        if self._looks == self._next:
            self._known, self._looks, self._next = state, 0, 2 * self._next
        return False


def digest(arrays: Sequence[Any]) -> bytes:
    """A hash of what arrays hold."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(array.view("u1").data if array.flags.c_contiguous else array.tobytes())
    return found.digest()


class Residents:
    """The states of CTAs that are swapped out: copies of the arrays that belong to a CTA."""

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = arrays
        self.swapped_out: dict[int, list[Any]] = {}
        """By the CTA's number."""

    def swap_out(self, cta: int) -> None:
        self.swapped_out[cta] = [array.copy() for array in self._arrays]

    def swap_in(self, cta: int) -> None:
        for array, kept in zip(self._arrays, self.swapped_out.pop(cta), strict=True):
            array[...] = kept


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
