"""Programs whose accesses mark global memory, for runs on several threads (threads.py).

Every access gets the marks of what follows it, and an atomic of global memory without a result becomes DEFER
(execute/memory/deferred_atomics.py). Other atomics of global memory are left to one thread, as CTAs mostly meet in
them, and so are programs that do more to memory than accesses show: bulk copies, textures, the heap.
"""

from typing import Any

import numpy as np

from ptxsim.base.program import GLOBAL, MAX_REGISTERS, Program
from ptxsim.execute import codes
from ptxsim.execute.memory.access_marks import READ, REDUCED, WRITTEN

_ACCESSES = codes.ACCESS32, codes.ACCESS64
_ATOMICS = codes.ATOMIC16, codes.ATOMIC32, codes.ATOMIC64, codes.ATOMIC128
_MARKS = {
    **dict.fromkeys(range(codes.LOAD_U8, codes.STORE_8), READ),
    **dict.fromkeys(range(codes.STORE_8, codes.ATOMIC32), WRITTEN),
    codes.COPY: READ,
    **dict.fromkeys((*_ATOMICS, codes.KEEP, codes.MBARRIER, codes.MBARRIER_TEST), READ | WRITTEN),
    **dict.fromkeys((codes.MATRIX_LOAD, codes.MATRIX_STORE), READ | WRITTEN),
}
"""What micro-operations do at the addresses of the access before them."""
_OTHERS = (
    codes.PREDICATE,
    *range(codes.VOTE, codes.CLOCK32),
    *range(codes.PUSH_BREAK, codes.TRAP + 1),
    *range(codes.NARROW, codes.NEXT_GROUP + 1),
    *range(codes.BARRIER, codes.MBARRIERS),
    *range(codes.MATRIX_LOAD, codes.OPERANDS + 1),
    *range(codes.SAVE_32, codes.CHECK_STACK + 1),
)
"""Other micro-operations that access no global memory but at such addresses."""


def marking(program: Program) -> Any:
    """The micro-operations of a program with accesses that mark memory and atomics that are done later; None if the
    marks would not show everything that its CTAs can notice of one another."""
    uops = program.uops.copy()
    known = (uops["op"] < codes.MEMORY_END) | np.isin(uops["op"], _OTHERS)
    if not known.all():
        return None
    ops = uops["op"].tolist()
    low = (uops["c"] & 0xFF).tolist()  # the space of an access, the operation of an atomic
    without_result = _without_result(program.instructions).tolist()
    starts, ends = program.instructions["uop_start"], program.instructions[["uop_end", "return_end"]].tolist()
    for i, (start, end) in enumerate(zip(starts.tolist(), map(max, ends), strict=True)):
        last, in_global = -1, False
        for k in range(start, end):
            if ops[k] in _ACCESSES:
                last, in_global = k, low[k] == GLOBAL
            elif last >= 0 and ops[k] in _ATOMICS and in_global:
                if low[k] == codes.SWAP or ops[k] == codes.ATOMIC128 or not without_result[i]:
                    return None
                uops[last]["d"] |= REDUCED
                uops[k]["op"], uops[k]["d"], uops[k]["b"] = codes.DEFER, k, ops[k] == codes.ATOMIC64
            elif last >= 0 and ops[k] in _MARKS:
                uops[last]["d"] |= _MARKS[ops[k]]
    return uops


def _without_result(instructions: Any) -> Any:
    """For each instruction, whether no instruction reads a register that it writes."""
    places = np.arange(MAX_REGISTERS)
    named = places < instructions["n_registers"][:, None]
    written = named & (places < instructions["n_destinations"][:, None])
    registers = instructions["register"]
    is_read = written & np.isin(registers, registers[named & ~written])
    return ~is_read.any(axis=1) & (instructions["n_registers"] < MAX_REGISTERS).all()
