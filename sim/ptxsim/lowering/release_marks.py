"""What resource sharing needs to know of instructions before they issue: marks, and whether the addresses of
their accesses to shared memory are known early. For `lower.py`.

The lock on shared scratchpad is asked for by address, before anything executes (timing-model section 5.2). So the
micro-operations up to an instruction's last access to shared memory have to give the addresses without changing what
the warp can see: they may write temporary rows, and no register. Where they write a register before the last access
(PTXPlus increments after the first of two), and of bulk copies, every byte counts as accessed.
"""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from ptxsim.base import program
from ptxsim.execute.codes import ACCESS32, ACCESS64, BULK_COPY, BULK_FILL, BULK_TENSOR, FIRST, PREDICATE
from ptxtool.ir.marks import ACQUIRE_EXTENDED, EXTENDED, REGISTERS, SCRATCHPAD, marks, release_marks
from ptxtool.ir.nodes import Function
from ptxtool.isa.lanes import operations

_BITS = {
    REGISTERS: (program.GIVES_REGISTERS, program.FALLEN_REGISTERS),
    SCRATCHPAD: (program.GIVES_SCRATCHPAD, program.FALLEN_SCRATCHPAD),
}


def set_marks(function: Function, records: Any) -> None:
    """Note a function's marks in the records of its instructions.

    Of marks of extended registers at one place the last counts; those before a label are left out, which
    `timing/sharing/sections_setup.py` refuses.
    """
    for mark in release_marks(function):
        n = mark.instruction
        if n >= len(function.instructions):
            continue  # the exit follows the last instruction and releases everything
        records[n]["marks"] |= _BITS[mark.word][mark.before_label]
        if mark.before_label and n:
            records[n - 1]["marks"] |= program.LEADS_TO_MARK
    both = program.ACQUIRES_EXTENDED | program.RELEASES_EXTENDED
    for mark in marks(function, EXTENDED):
        if mark.instruction < len(function.instructions) and not mark.before_label:
            acquires = mark.word == ACQUIRE_EXTENDED
            records[mark.instruction]["marks"] &= ~both
            records[mark.instruction]["marks"] |= (
                program.ACQUIRES_EXTENDED if acquires else program.RELEASES_EXTENDED
            )


def set_reach(instructions: Any, uops: Any, temporaries: Mapping[int, Set[int]]) -> None:
    """Fill in `reach_end` and `reach_unknown`; `temporaries` are the temporary rows of each file (32, 64, 1)."""
    op, space = uops["op"], uops["c"] & 0xFF
    accesses = ((op == ACCESS32) | (op == ACCESS64)) & (
        (space == program.SHARED) | (space == program.GENERIC)
    )
    bits = {o.number: o.result_bits for o in operations().values()} | {PREDICATE: 1}
    starts = instructions["uop_start"]
    for k in np.flatnonzero(accesses):
        # instructions without micro-operations begin where the next one does: it is the last that begins here
        instructions["reach_end"][np.searchsorted(starts, k, side="right") - 1] = k + 1
    for i in np.flatnonzero(instructions["reach_end"]):
        before = uops[starts[i] : instructions["reach_end"][i]]
        writes = before[(before["op"] < FIRST) | (before["op"] == PREDICATE)]
        instructions["reach_unknown"][i] = any(
            int(u["d"]) not in temporaries[bits[int(u["op"])]] for u in writes
        )
    for k in np.flatnonzero(np.isin(op, (BULK_COPY, BULK_TENSOR, BULK_FILL))):
        i = np.searchsorted(starts, k, side="right") - 1
        instructions["reach_end"][i], instructions["reach_unknown"][i] = k + 1, 1
