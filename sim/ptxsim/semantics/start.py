"""The start of a warp: its registers are zero but for the special ones that the program reads.

PTXPlus: the first warp of a CTA writes the header of shared memory, eight numbers of 16 bits: 0, %ntid.x, .y, .z,
%nctaid.x, .y, %ctaid.x, .y (W. van der Laan, "decuda": what G80 hardware does).
"""

import numpy as np
from numba import types

from ptxsim.jit import flat_u8, flat_u32, njit, record_type, rows_u32, rows_u64
from ptxsim.program import CONTEXT
from ptxsim.semantics.calls import clear_calls
from ptxsim.semantics.codes import (
    CTAID_X,
    LANEID,
    LANEMASK_EQ,
    LANEMASK_GE,
    LANEMASK_GT,
    LANEMASK_LE,
    LANEMASK_LT,
    NCTAID_X,
    NTID_X,
    PACKED_TID,
    SMID,
    TID_X,
    TID_Y,
    TID_Z,
    WARPID,
)

_CONTEXT = record_type(CONTEXT)
SHARED_HEADER = 21
"""Among the special registers: no register, but the header of shared memory."""


@njit
def init_warp(x, special_rows, warp_in_cta, ctaid_x, ctaid_y, ctaid_z, block, grid, smid, warp_slot):
    """Start a warp: its rows and predicates are zero but for the special registers.

    `block` and `grid` hold three sizes each; `special_rows` is the program's table of (number, row).
    """
    _zero_warp(x)
    if x.call_words:
        clear_calls(x)
    threads_x, threads_y = np.int64(block[0]), np.int64(block[1])
    for k in range(special_rows.shape[0]):
        number, row = np.int64(special_rows[k, 0]), np.int64(special_rows[k, 1])
        if number == SHARED_HEADER:
            if warp_in_cta == 0:
                _write_header(x, block, grid, ctaid_x, ctaid_y)
            continue
        uniform = np.int64(0)
        if NTID_X <= number < NTID_X + 3:
            uniform = np.int64(block[number - NTID_X])
        elif NCTAID_X <= number < NCTAID_X + 3:
            uniform = np.int64(grid[number - NCTAID_X])
        elif number == CTAID_X:
            uniform = np.int64(ctaid_x)
        elif number == CTAID_X + 1:
            uniform = np.int64(ctaid_y)
        elif number == CTAID_X + 2:
            uniform = np.int64(ctaid_z)
        elif number == WARPID:
            uniform = np.int64(warp_slot)
        elif number == SMID:
            uniform = np.int64(smid)
        _fill_special(x, number, row, uniform, np.int64(warp_in_cta), threads_x, threads_y)


@njit
def _write_header(x, block, grid, ctaid_x, ctaid_y):
    header = flat_u8(x.shared_memory, 16)
    for k in range(1, 8):
        value = np.int64(ctaid_y)
        if k <= 3:
            value = np.int64(block[k - 1])
        elif k <= 5:
            value = np.int64(grid[k - 4])
        elif k == 6:
            value = np.int64(ctaid_x)
        header[2 * k], header[2 * k + 1] = np.uint8(value & 0xFF), np.uint8(value >> 8 & 0xFF)


@njit(types.void(_CONTEXT))
def _zero_warp(x):
    r32 = rows_u32(x.r32, x.total_rows32)
    first = x.constant_rows32 + x.warp * x.rows32
    for k in range(first, first + x.rows32):
        for n in range(32):
            r32[k, n] = np.uint32(0)
    r64 = rows_u64(x.r64, x.total_rows64)
    first = x.constant_rows64 + x.warp * x.rows64
    for k in range(first, first + x.rows64):
        for n in range(32):
            r64[k, n] = np.uint64(0)
    predicates = flat_u32(x.predicates, x.total_rows_p)
    for k in range(x.warp * x.rows_p, (x.warp + 1) * x.rows_p):
        predicates[k] = np.uint32(0)


@njit(types.void(_CONTEXT, *[types.int64] * 6))
def _fill_special(x, number, row, uniform, warp_in_cta, threads_x, threads_y):
    """One special register's row. `uniform` is its value where all lanes have the same."""
    r32 = rows_u32(x.r32, x.total_rows32)
    at = x.constant_rows32 + x.warp * x.rows32 + row
    for n in range(32):
        thread = warp_in_cta * 32 + n
        tid_x = thread % threads_x
        tid_y = thread // threads_x % threads_y
        tid_z = thread // (threads_x * threads_y)
        bit = np.int64(1) << n
        value = uniform
        if number == TID_X:
            value = tid_x
        elif number == TID_Y:
            value = tid_y
        elif number == TID_Z:
            value = tid_z
        elif number == PACKED_TID:
            value = tid_x + (tid_y << 16) + (tid_z << 26)
        elif number == LANEID:
            value = np.int64(n)
        elif number == LANEMASK_EQ:
            value = bit
        elif number == LANEMASK_LE:
            value = 2 * bit - 1
        elif number == LANEMASK_LT:
            value = bit - 1
        elif number == LANEMASK_GE:
            value = -bit & 0xFFFFFFFF
        elif number == LANEMASK_GT:
            value = (-2 * bit) & 0xFFFFFFFF
        r32[at, n] = np.uint32(value & 0xFFFFFFFF)
