"""Atomics of global memory without a result that are noted when they execute and done later, in an order of their own.

For runs that share CTAs among threads (functional/threads.py): sums of floating-point numbers depend on the order, and
what is done in the order of CTAs gives what one thread does. DEFER notes the lanes, their addresses and operands;
`apply` does the atomics.
"""

import numpy as np

from ptxsim.base.jit import array_of, entry, njit, record, record_at, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import CONTEXT, GLOBAL, NO_ROOM, UOP, uop_at
from ptxsim.execute.codes import ATOMIC32, ATOMIC64
from ptxsim.execute.memory.atomics import atomic32, atomic64
from ptxsim.execute.memory.small_atomics import small_atomic

NOTED = record(
    [
        ("cta", "i8"),
        ("uop", "i8"),  # the number of the micro-operation
        ("mask", "i8"),
        ("pointer", "u8", (32,)),
        ("operand", "u8", (32,)),
    ]
)
_noted_at = record_at(NOTED)


@njit(types.int64(record_type(CONTEXT), record_type(UOP), types.int64))
def defer(context, uop, mask):
    """DEFER: note micro-operation d of the program, an atomic. 0 where there is no room."""
    if context.n_noted == context.most_noted:
        context.error = NO_ROOM
        return 0
    noted = _noted_at(context.noted, context.n_noted)
    context.n_noted += 1
    noted.cta, noted.uop, noted.mask = context.noted_cta, uop.d, mask
    words, longs = rows_u32(context.r32, context.total_rows32), rows_u64(context.r64, context.total_rows64)
    base = context.constant_rows64 if uop.b else context.constant_rows32
    base += context.warp * (context.rows64 if uop.b else context.rows32)
    row = uop.a + base if uop.a >= 0 else -1 - uop.a
    for n in range(32):
        noted.pointer[n] = context.lane_pointer[n]
        noted.operand[n] = longs[row, n] if uop.b else np.uint64(words[row, n])
    return 1


@entry(types.int64(array_of(CONTEXT), array_of(NOTED)))
def apply(contexts, all_noted):
    """Do atomics that were noted, in the order of the array, in the place of warp 0. Returns how many."""
    context = contexts[0]
    context.warp, context.access_space = 0, GLOBAL
    words, longs = rows_u32(context.r32, context.total_rows32), rows_u64(context.r64, context.total_rows64)
    for k in range(len(all_noted)):
        noted = all_noted[k]
        uop = uop_at(context.uops, noted.uop)
        is_long = uop.op == ATOMIC64
        for n in range(32):
            context.lane_pointer[n] = noted.pointer[n]
            if uop.a < 0:
                continue
            if is_long:
                longs[context.constant_rows64 + uop.a, n] = noted.operand[n]
            else:
                words[context.constant_rows32 + uop.a, n] = np.uint32(noted.operand[n])
        if is_long:
            atomic64(context, uop, noted.mask)
        elif uop.op == ATOMIC32:
            atomic32(context, uop, noted.mask)
        else:
            small_atomic(context, uop, noted.mask)
    return np.int64(len(all_noted))
