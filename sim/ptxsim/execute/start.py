"""The start of a warp: its registers are zero but for the special ones that the program reads.

PTXPlus: the first warp of a CTA writes the header of shared memory, eight numbers of 16 bits: 0, %ntid.x, .y, .z,
%nctaid.x, .y, %ctaid.x, .y (W. van der Laan, "decuda": what G80 hardware does).
"""

import numpy as np

from ptxsim.base.jit import flat_i64, flat_u8, flat_u32, njit, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import CONTEXT, KEPT_WORDS, TENSOR_BYTES, cluster_at
from ptxsim.execute.bulk.copies import forget_copies
from ptxsim.execute.calls import clear_calls
from ptxsim.execute.cluster.clusters import cluster_register, rank_of
from ptxsim.execute.codes import (
    CLUSTERID_X,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    LANEID,
    LANEMASK_EQ,
    LANEMASK_GE,
    LANEMASK_GT,
    LANEMASK_LE,
    LANEMASK_LT,
    NCTAID_X,
    NCTAID_Z,
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
def init_warp(context, special_rows, warp_in_cta, ctaid_x, ctaid_y, ctaid_z, block, grid, smid, warp_slot):
    """Start a warp: its rows and predicates are zero but for the special registers.

    `block` and `grid` hold three sizes each; `special_rows` is the program's table of (number, row).
    """
    _zero_warp(context)
    if context.call_words:
        clear_calls(context)
    if context.late_products:  # none is kept, and no group has ended
        kept = flat_i64(context.late_products + np.uint64(context.warp * KEPT_WORDS * 8), 2)
        kept[0], kept[1] = 0, 0
    if context.bulk:
        forget_copies(context, np.int64(warp_in_cta))
    if context.tensor_memory and warp_in_cta == 0:  # nothing of it is allocated
        memory = context.tensor_memory + np.uint64(context.warp * TENSOR_BYTES)
        flat_i64(memory, 1)[0] = 0
        if context.cluster:
            rank = rank_of(context, np.int64(ctaid_x), np.int64(ctaid_y), np.int64(ctaid_z))
            cluster_at(context.cluster, 0).tensor[rank] = memory
    base = context.constant_rows32 + context.warp * context.rows32
    for k in range(special_rows.shape[0]):
        number, row = np.int64(special_rows[k, 0]), base + np.int64(special_rows[k, 1])
        if number == SHARED_HEADER:
            if warp_in_cta == 0:
                _write_header(context, block, grid, ctaid_x, ctaid_y)
        elif number <= TID_Z or number == PACKED_TID:
            _fill_thread(context, row, number, np.int64(warp_in_cta), np.int64(block[0]), np.int64(block[1]))
        elif number == LANEID:
            _fill_lanes(context, row, 0, 1, 0)
        elif number == LANEMASK_EQ:
            _fill_lanes(context, row, 0, 0, 1)
        elif number == LANEMASK_LE:
            _fill_lanes(context, row, -1, 0, 2)
        elif number == LANEMASK_LT:
            _fill_lanes(context, row, -1, 0, 1)
        elif number == LANEMASK_GE:
            _fill_lanes(context, row, 0, 0, -1)
        elif number == LANEMASK_GT:
            _fill_lanes(context, row, 0, 0, -2)
        else:
            value = np.int64(ctaid_x)
            if number < CTAID_X:
                value = np.int64(block[number - NTID_X])
            elif number == CTAID_Y:
                value = np.int64(ctaid_y)
            elif number == CTAID_Z:
                value = np.int64(ctaid_z)
            elif NCTAID_X <= number <= NCTAID_Z:
                value = np.int64(grid[number - NCTAID_X])
            elif number == WARPID:
                value = np.int64(warp_slot)
            elif number == SMID:
                value = np.int64(smid)
            elif number >= CLUSTERID_X:
                place = np.int64(ctaid_x), np.int64(ctaid_y), np.int64(ctaid_z)
                extents = np.int64(grid[0]), np.int64(grid[1]), np.int64(grid[2])
                value = cluster_register(context, number, *place, *extents)
            _fill_lanes(context, row, value, 0, 0)


@njit
def _write_header(context, block, grid, ctaid_x, ctaid_y):
    header = flat_u8(context.shared_memory, 16)
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
def _zero_warp(context):
    r32 = rows_u32(context.r32, context.total_rows32)
    first = context.constant_rows32 + context.warp * context.rows32
    for k in range(first, first + context.rows32):
        for n in range(32):
            r32[k, n] = np.uint32(0)
    r64 = rows_u64(context.r64, context.total_rows64)
    first = context.constant_rows64 + context.warp * context.rows64
    for k in range(first, first + context.rows64):
        for n in range(32):
            r64[k, n] = np.uint64(0)
    predicates = flat_u32(context.predicates, context.total_rows_p)
    for k in range(context.warp * context.rows_p, (context.warp + 1) * context.rows_p):
        predicates[k] = np.uint32(0)


@njit(types.void(_CONTEXT, *[types.int64] * 4))
def _fill_lanes(context, row, value, step, bits):
    """Lane n of a row: value + step * n + bits * 2 ** n."""
    r32 = rows_u32(context.r32, context.total_rows32)
    for n in range(32):
        r32[row, n] = np.uint32((value + step * n + (bits << n)) & 0xFFFFFFFF)


@njit(types.void(_CONTEXT, *[types.int64] * 5))
def _fill_thread(context, row, number, warp_in_cta, threads_x, threads_y):
    """The row of %tid.x, .y, .z, or of all three packed."""
    r32 = rows_u32(context.r32, context.total_rows32)
    # multiplied instead of divided, exact for threads and sizes up to 2 ** 20 (T. Granlund, P. Montgomery, "Division by
    # invariant integers using multiplication", 1994)
    per_x, per_y = (1 << 40) // threads_x + 1, (1 << 40) // threads_y + 1
    times_x, times_y, times_z = (
        np.int64(number == TID_X or number == PACKED_TID),
        np.int64(number == TID_Y) + (np.int64(number == PACKED_TID) << 16),
        np.int64(number == TID_Z) + (np.int64(number == PACKED_TID) << 26),
    )
    for n in range(32):
        thread = warp_in_cta * 32 + n
        line = thread * per_x >> 40
        tid_z = line * per_y >> 40
        tid_x, tid_y = thread - line * threads_x, line - tid_z * threads_y
        r32[row, n] = np.uint32((tid_x * times_x + tid_y * times_y + tid_z * times_z) & 0xFFFFFFFF)
