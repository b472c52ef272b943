"""Calls of functions: the state that a warp saves while its lanes are in a function, and restores after it.

A warp's functions end in the reverse order of their calls, so one stack per warp holds it all: the rows that a
recursive call saves (micro-operations of the call), and a record of the call. The entries of a called function lie on
the SIMT stack above those of its caller, whose top waits after the call, one call deeper. Where that stack is deep
already, its entries are saved too, so that recursion is as deep as memory allows.

A warp's stack: words in use, lanes that have exited, calls that are not over, lanes in saved entries; then the saved
state. An entry of the SIMT stack is seven words. The record of a call is its instruction, the lanes that called,
the number of entries saved, and the lanes that were in saved entries before.
"""

import numpy as np

from ptxsim.base.jit import flat_i64, flat_u8, flat_u32, njit, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import CONTEXT, STACK_FULL, UOP
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import (
    CHECK_STACK,
    COPY_LOCAL,
    ENTRY_WORDS,
    FRAME_WORDS,
    HEADER_WORDS,
    RESTORE_32,
    RESTORE_64,
    SAVE_32,
    SAVE_64,
    SAVE_P,
)

SPILL_DEPTH = 16
"""A call saves a SIMT stack with more entries than this: the rest of the stack is for divergence in the function."""

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)
_PCS = types.Array(types.int32, 1, "A")
_MASKS = types.Array(types.int64, 1, "A")


@njit(types.int64(_CONTEXT, types.int64))
def _fail(context, lane):
    context.error = STACK_FULL
    context.error_lane = lane
    context.error_address = np.uint64(0)
    return 0


@njit(types.int64(_CONTEXT, _UOP))
def _rows(context, uop):
    """SAVE_* and RESTORE_*. 0 if the stack is full."""
    stack = flat_i64(
        context.call_stack + np.uint64(context.warp * context.call_words * 8), context.call_words
    )
    saves = uop.op <= SAVE_P
    size = np.int64(1)
    if uop.op == SAVE_32 or uop.op == RESTORE_32:
        size = np.int64(16)
    elif uop.op == SAVE_64 or uop.op == RESTORE_64:
        size = np.int64(32)
    if saves and stack[0] + size * uop.e > context.call_words:
        return _fail(context, 0)
    if not saves:
        stack[0] -= size * uop.e
    at = stack[0]
    r32 = rows_u32(context.r32, context.total_rows32)
    r64 = rows_u64(context.r64, context.total_rows64)
    predicates = flat_u32(context.predicates, context.total_rows_p)
    for k in range(uop.e):
        if size == 1:
            row = context.warp * context.rows_p + uop.d + k
            if saves:
                stack[at] = np.int64(predicates[row])
            else:
                predicates[row] = np.uint32(stack[at])
        elif size == 16:
            row = context.constant_rows32 + context.warp * context.rows32 + uop.d + k
            words = flat_u32(context.call_stack + np.uint64((context.warp * context.call_words + at) * 8), 32)
            for n in range(32):
                if saves:
                    words[n] = r32[row, n]
                else:
                    r32[row, n] = words[n]
        else:
            row = context.constant_rows64 + context.warp * context.rows64 + uop.d + k
            for n in range(32):
                if saves:
                    stack[at + n] = np.int64(r64[row, n])
                else:
                    r64[row, n] = np.uint64(stack[at + n])
        at += size
    if saves:
        stack[0] = at
    return 1


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _aside(context, uop, mask):
    """The micro-operations of calls. 0 after a fault."""
    if uop.op != COPY_LOCAL and uop.op != CHECK_STACK:
        if mask == 0 and uop.op <= SAVE_P:  # no lane calls
            return 1
        return _rows(context, uop)
    r32 = rows_u32(context.r32, context.total_rows32)
    row = context.constant_rows32 + context.warp * context.rows32 + uop.a
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        start = np.int64(r32[row, n])
        if uop.op == CHECK_STACK:
            if start + uop.e > uop.c:
                return _fail(context, n)
            continue
        memory = flat_u8(
            context.local_memory + np.uint64((context.warp * 32 + n) * context.local_bytes),
            context.local_bytes,
        )
        for k in range(uop.e):
            memory[start + uop.d + k] = memory[start + uop.b + k]
    return 1


_STACK = (
    _PCS,
    _PCS,
    _PCS,
    _PCS,
    _PCS,
    _MASKS,
    _MASKS,
)  # pc, reconvergence pc, call depth, barrier, since; lanes


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64, types.int64, *_STACK))
def _enter(context, i, target, calling, depth, pcs, rpcs, calls, waits, since, masks, waiting):
    """Lanes `calling` enter functions from the top of a SIMT stack of `depth` entries; the new depth, 0 without room.

    They go to `target`, or each to its own `lane_target` where that is -1; the top continues after instruction i.
    """
    stack = flat_i64(
        context.call_stack + np.uint64(context.warp * context.call_words * 8), context.call_words
    )
    at = stack[0]
    moved = depth if depth > SPILL_DEPTH else np.int64(0)
    if at + ENTRY_WORDS * moved + FRAME_WORDS > context.call_words:
        return _fail(context, 0)
    pcs[depth - 1] = i + 1
    before = stack[3]
    for k in range(moved):
        for column, value in enumerate((pcs[k], rpcs[k], calls[k], waits[k], since[k])):
            stack[at + column] = np.int64(value)
        stack[at + 5], stack[at + 6] = masks[k], waiting[k]
        stack[3] |= masks[k]
        at += ENTRY_WORDS
    stack[at], stack[at + 1], stack[at + 2], stack[at + 3] = i, calling, moved, before
    stack[0] = at + FRAME_WORDS
    stack[2] += 1
    top = depth - moved
    left = calling
    for n in range(31, -1, -1):  # the group of the highest lane is the lowest entry, so it runs last
        if (left >> n) & 1 == 0:
            continue
        pc, group = target, left
        if target < 0:
            pc, group = context.lane_target[n], np.int64(0)
            for other in range(n + 1):
                if (left >> other) & 1 and context.lane_target[other] == pc:
                    group |= np.int64(1) << other
        left &= ~group
        pcs[top], rpcs[top], calls[top], waits[top], masks[top] = pc, -1, stack[2], 0, group
        top += 1
    return top


@njit(types.int64(_CONTEXT, types.int64, *_STACK))
def _leave(context, depth, pcs, rpcs, calls, waits, since, masks, waiting):
    """End the last call if all of its lanes have come back or exited; the new depth, -1 if it is not over.

    `returned_call` and `returned_mask` say which call it was, and which of its lanes have come back.
    """
    stack = flat_i64(
        context.call_stack + np.uint64(context.warp * context.call_words * 8), context.call_words
    )
    if stack[2] == 0 or (depth > 0 and np.int64(calls[depth - 1]) >= stack[2]):
        return -1
    at = stack[0] - FRAME_WORDS
    exited = stack[1]
    context.returned_call = stack[at]
    context.returned_mask = stack[at + 1] & ~exited
    moved = stack[at + 2]
    stack[2] -= 1
    stack[3] = stack[at + 3]
    at -= ENTRY_WORDS * moved
    stack[0] = at
    for k in range(moved):
        pcs[k], rpcs[k], calls[k], waits[k] = stack[at], stack[at + 1], stack[at + 2], stack[at + 3]
        since[k], masks[k], waiting[k] = stack[at + 4], stack[at + 5] & ~exited, stack[at + 6]
        at += ENTRY_WORDS
    if moved:
        depth = moved
        while depth > 0 and masks[depth - 1] == 0:
            depth -= 1
    return depth


@njit(types.void(_CONTEXT, types.int64))
def _note_exit(context, mask):
    """Note lanes that exit: they are taken out of the saved entries later."""
    stack = flat_i64(
        context.call_stack + np.uint64(context.warp * context.call_words * 8), context.call_words
    )
    stack[1] |= mask


@njit(types.int64(_CONTEXT, types.int64))
def _lanes_aside(context, warp):
    """The lanes of a warp that have not exited and are in saved entries."""
    stack = flat_i64(context.call_stack + np.uint64(warp * context.call_words * 8), context.call_words)
    return stack[3] & ~stack[1]


@njit(types.void(_CONTEXT))
def _clear(context):
    """The stack of a fresh warp."""
    stack = flat_i64(
        context.call_stack + np.uint64(context.warp * context.call_words * 8), context.call_words
    )
    stack[0] = HEADER_WORDS
    for k in range(1, HEADER_WORDS):
        stack[k] = 0


aside = boundary("call_aside", _aside)
enter_call = boundary("call_enter", _enter)
leave_call = boundary("call_leave", _leave)
note_exit = boundary("call_note_exit", _note_exit)
lanes_aside = boundary("call_lanes_aside", _lanes_aside)
clear_calls = boundary("call_clear", _clear)
