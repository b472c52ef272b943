"""The base set and the extended set of a kernel with acquire and release marks, by the names of its registers.

For the simulator. A warp holds extended registers from an acquire mark to a release mark. With u the highest unit of
the general file that is named by, or live at, an instruction which runs, on some path from the entry, without holding,
and U the highest one of all,

    base = u + 1        extended = U - u

The numbers in names are units (`physical.py`). Paths are those of threads.
"""

from dataclasses import dataclass

import numpy as np

from ptxtool.analysis.regalloc.live_ranges import live_ranges
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.marks import ACQUIRE_EXTENDED, EXTENDED, marks
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class RegisterSets:
    """Registers of 32 bits per thread: those of its own, and those that it has while its warp holds a section."""

    base: int
    extended: int


@dataclass(frozen=True)
class HeldStates:
    """Per block and virtual exit of `cfg` the states in which a warp may come there, True: it holds; and per
    instruction the marks before it, True: it acquires."""

    cfg: Cfg
    entering: tuple[frozenset[bool], ...]
    marks: dict[int, list[bool]]

    def before(self, block: int) -> dict[int, frozenset[bool]]:
        """Per instruction of a block, the states in which it may run."""
        states = self.entering[block]
        found: dict[int, frozenset[bool]] = {}
        for i in self.cfg.blocks[block].instructions:
            for acquires in self.marks.get(i, ()):
                states = frozenset({acquires}) if states else states
            found[i] = states
        return found


def held_states(kernel: Function) -> HeldStates:
    """Follow the marks along all paths. Raises `PtxError` (E202) on an undeclared label."""
    cfg = build(kernel, interprocedural=True)
    placed: dict[int, list[bool]] = {}
    for mark in marks(kernel, EXTENDED):
        placed.setdefault(mark.instruction, []).append(mark.word == ACQUIRE_EXTENDED)
    found: list[set[bool]] = [set() for _ in range(cfg.exit + 1)]
    work = [(cfg.entry, False)]
    while work:
        block, holds = work.pop()
        if holds in found[block]:
            continue
        found[block].add(holds)
        if block < cfg.exit:
            for i in cfg.blocks[block].instructions:
                holds = placed[i][-1] if i in placed else holds
            work += ((successor, holds) for successor in cfg.successors[block])
    return HeldStates(cfg, tuple(map(frozenset, found)), placed)


def register_sets(kernel: Function) -> RegisterSets | None:
    """The sets of a kernel; None where it has no marks."""
    if not any(marks(kernel, EXTENDED)):
        return None
    states = held_states(kernel)
    places = [units_of(register) for register in kernel.registers]
    ends = [p.first + p.units if p is not None and p.file == "general" else 0 for p in places]
    base = every = 0
    is_outside = np.zeros(2 * len(kernel.instructions) + 1, np.int64)  # per point, after a 0
    for block in states.cfg.blocks:
        for i, held in states.before(block.index).items():
            highest = max((ends[k] for k in kernel.def_uses[i].touched), default=0)
            every = max(every, highest)
            if held != {True}:
                base = max(base, highest)
                is_outside[2 * i + 1 : 2 * i + 3] = 1
    outside_before = np.cumsum(is_outside)
    ranges = live_ranges(kernel)
    for register, intervals in zip(ranges.register, ranges.intervals, strict=True):
        if any(outside_before[end] > outside_before[start] for start, end in intervals):
            base = max(base, ends[register])
    return RegisterSets(base, every - base)
