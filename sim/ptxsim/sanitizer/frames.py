"""Frames of functions, for the check of reads of unwritten bytes and registers.

A called function finds its frame of local memory and its registers as earlier calls left them; for the check they are
unwritten. A call clears the shadow of the callee's frame, and the marks of its registers; arguments and results that
are variables take the marks of their sources; after the call the frame is cleared again, so that a dangling pointer
into it reads unwritten bytes. Registers of a possibly recursive call are not cleared, because the outer call uses the
same ones. `alloca` returns unwritten memory.

A call's entry in the table `checks.calls` (built by instrumentation.py): FRAME_WORDS numbers, then the copies before
and after the call, as (to, from, bytes) within the caller's frame, then the cleared registers, as (first, number).
"""

import numpy as np

from ptxsim.base.jit import flat_i32, flat_u8, flat_u32, njit, record_type, rows_u32, types
from ptxsim.base.program import CONTEXT
from ptxsim.sanitizer.shadow_state import CHECKS

_C, _X = record_type(CHECKS), record_type(CONTEXT)
_INT = types.int64
FRAME_WORDS = 5
CALLER_BYTES, CALLEE_BYTES, N_BEFORE, N_AFTER, N_CLEARED = range(FRAME_WORDS)


@njit(types.int64(_X, _INT, _INT))
def stack_row(context, row, lane):
    """A lane's value of one of the stack's rows; 0 where the program has none."""
    if row < 0:
        return 0
    rows = rows_u32(context.r32, context.total_rows32)
    return np.int64(rows[context.constant_rows32 + context.warp * context.rows32 + row, lane])


@njit(types.void(_C, _X, *[_INT] * 3))
def _clear(checks, context, lane, start, end):
    """Bytes `start` to `end` of a lane's local memory count as unwritten."""
    known = flat_u8(
        checks.local_shadow + np.uint64((context.warp * 32 + lane) * context.local_bytes), context.local_bytes
    )
    for k in range(start, min(end, context.local_bytes)):
        known[k] = 0


@njit(types.void(_C, _X, *[_INT] * 4))
def _copy(checks, context, at, n, lane, frame):
    """Copy the marks of `n` copies, which begin at entry `at` of the table."""
    table = flat_i32(checks.calls, at + 3 * n)
    known = flat_u8(
        checks.local_shadow + np.uint64((context.warp * 32 + lane) * context.local_bytes), context.local_bytes
    )
    for k in range(n):
        to, of, size = table[at + 3 * k], table[at + 3 * k + 1], table[at + 3 * k + 2]
        for byte in range(size):
            known[frame + to + byte] = known[frame + of + byte]


@njit(types.void(_C, _X, _INT, _INT))
def enter_frame(checks, context, at, mask):
    """Before a call that lanes `mask` make: the entry of the table is `at`."""
    table = flat_i32(checks.calls, at + FRAME_WORDS)
    start, size = np.int64(table[at + CALLER_BYTES]), np.int64(table[at + CALLEE_BYTES])
    n_before, n_after = np.int64(table[at + N_BEFORE]), np.int64(table[at + N_AFTER])
    for lane in range(32):
        if (mask >> lane) & 1:
            frame = stack_row(context, checks.frame_row, lane)
            _clear(checks, context, lane, frame + start, frame + start + size)
            _copy(checks, context, at + FRAME_WORDS, n_before, lane, frame)
    cleared = at + FRAME_WORDS + 3 * (n_before + n_after)
    n_cleared = np.int64(table[at + N_CLEARED])
    ranges = flat_i32(checks.calls, cleared + 2 * n_cleared)
    at_start = flat_u32(checks.written_at_start, checks.n_registers)
    written = flat_u32(checks.written, checks.n_registers * checks.n_warps)
    for k in range(n_cleared):
        first = np.int64(ranges[cleared + 2 * k])
        for register in range(first, first + np.int64(ranges[cleared + 2 * k + 1])):
            marks = context.warp * checks.n_registers + register
            kept = np.int64(written[marks]) & ~mask
            written[marks] = np.uint32(kept | (np.int64(at_start[register]) & mask))


@njit(types.void(_C, _X, _INT, _INT))
def leave_frame(checks, context, at, mask):
    """After a call from which lanes `mask` have returned."""
    table = flat_i32(checks.calls, at + FRAME_WORDS)
    start, size = np.int64(table[at + CALLER_BYTES]), np.int64(table[at + CALLEE_BYTES])
    results = at + FRAME_WORDS + 3 * np.int64(table[at + N_BEFORE])
    for lane in range(32):
        if (mask >> lane) & 1:
            frame = stack_row(context, checks.frame_row, lane)
            _copy(checks, context, results, np.int64(table[at + N_AFTER]), lane, frame)
            _clear(checks, context, lane, frame + start, frame + start + size)


@njit(types.void(_C, _X, _INT))
def grow_stack(checks, context, mask):
    """Before an `alloca`: the stack above the frames and above earlier allocations is unwritten."""
    for lane in range(32):
        if (mask >> lane) & 1:
            _clear(
                checks,
                context,
                lane,
                checks.frame_end + stack_row(context, checks.grown_row, lane),
                context.local_bytes,
            )
