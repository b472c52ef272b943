"""What the generated lane operations share: predicate rows, and results of masked lanes."""

import numpy as np
from numba import types

from ptxsim.jit import flat_u32, njit, record_type, rows_u32, rows_u64
from ptxsim.program import CONTEXT, UOP
from ptxsim.semantics.arithmetic import select

BIT = np.array([1 << n for n in range(32)], np.uint32)
_CONTEXT, _UOP = record_type(CONTEXT), record_type(UOP)


@njit(types.uint32(_CONTEXT, types.int64))
def lane_mask(x, row):
    """A predicate row of the executing warp; -1 is all false, -2 all true."""
    if row < 0:
        return np.uint32(0) if row == -1 else np.uint32(0xFFFFFFFF)
    return flat_u32(x.predicates, x.total_rows_p)[x.warp * x.rows_p + row]


@njit(types.void(_CONTEXT, _UOP, types.uint32, types.uint32))
def set_lanes(x, u, found, mask):
    """Write a predicate result, inverted where bit 0 of e says so."""
    if u.e & 1:
        found ^= np.uint32(0xFFFFFFFF)
    predicates = flat_u32(x.predicates, x.total_rows_p)
    row = x.warp * x.rows_p + u.d
    predicates[row] = (predicates[row] & ~mask) | (found & mask)


@njit(types.void(_CONTEXT, _UOP, types.int64))
def copy32(x, u, lanes):
    """Copy a result of lanes `lanes` from the scratch row to row d."""
    rows = rows_u32(x.r32, x.total_rows32)
    to, scratch = u.d + x.constant_rows32 + x.warp * x.rows32, x.total_rows32 - 1
    mask = np.uint32(lanes)
    for n in range(32):
        rows[to, n] = select((mask & BIT[n]) != 0, rows[scratch, n], rows[to, n])


@njit(types.void(_CONTEXT, _UOP, types.int64))
def copy64(x, u, lanes):
    """The same in the 64-bit file."""
    rows = rows_u64(x.r64, x.total_rows64)
    to, scratch = u.d + x.constant_rows64 + x.warp * x.rows64, x.total_rows64 - 1
    mask = np.uint32(lanes)
    for n in range(32):
        rows[to, n] = select((mask & BIT[n]) != 0, rows[scratch, n], rows[to, n])
