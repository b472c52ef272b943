"""What operations on lanes share: predicate rows, results of masked lanes, registers of a single lane, faults."""

import numpy as np

from ptxsim.base.jit import flat_u32, inline, njit, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import CONTEXT
from ptxsim.execute.arithmetic import select
from ptxsim.execute.row_elements import load_u32, load_u64, store_u32, store_u64

BIT = np.array([1 << n for n in range(32)], np.uint32)
_CONTEXT = record_type(CONTEXT)


@njit(types.uint32(_CONTEXT, types.int64))
def lane_mask(context, row):
    """A predicate row of the executing warp; -1 is all false, -2 all true."""
    if row < 0:
        return np.uint32(0) if row == -1 else np.uint32(0xFFFFFFFF)
    return flat_u32(context.predicates, context.total_rows_p)[context.warp * context.rows_p + row]


@inline
def set_lanes(context, uop, found, mask):
    """Write a predicate result, inverted where bit 0 of e says so."""
    if uop.e & 1:
        found ^= np.uint32(0xFFFFFFFF)
    predicates = flat_u32(context.predicates, context.total_rows_p)
    row = context.warp * context.rows_p + uop.d
    predicates[row] = (predicates[row] & ~mask) | (found & mask)


@inline
def copy32(context, uop, mask):
    """Copy a result of lanes `mask` from the scratch row to row d."""
    to = context.own32 + np.uint64(np.int64(uop.d) << 7)
    for n in range(32):
        old = load_u32(to, to, 0, n)
        new = load_u32(context.scratch32, context.scratch32, 0, n)
        store_u32(to, n, np.int64(select((mask & BIT[n]) != 0, new, old)))


@inline
def copy64(context, uop, mask):
    """The same in the 64-bit file."""
    to = context.own64 + np.uint64(np.int64(uop.d) << 8)
    for n in range(32):
        old = load_u64(to, to, 0, n)
        new = load_u64(context.scratch64, context.scratch64, 0, n)
        store_u64(to, n, select((mask & BIT[n]) != 0, new, old))


@njit(types.int64(_CONTEXT, types.int64))
def row32(context, row):
    """The row of the 32-bit registers that an operand names: one of the executing warp, or, below 0, a constant one."""
    return row + context.constant_rows32 + context.warp * context.rows32 if row >= 0 else -1 - row


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def word_of(context, row, lane):
    """A 32-bit register of a lane, without a sign."""
    return np.int64(rows_u32(context.r32, context.total_rows32)[row32(context, row), lane])


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def long_of(context, row, lane):
    """A 64-bit register of a lane."""
    r = row + context.constant_rows64 + context.warp * context.rows64 if row >= 0 else -1 - row
    return np.int64(rows_u64(context.r64, context.total_rows64)[r, lane])


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64, types.uint64))
def fault_in(context, kind, space, lane, address):
    """Note a lane's fault at an address of a space; 0."""
    context.error, context.error_lane, context.error_address = kind, lane, address
    context.access_space = space
    return 0
