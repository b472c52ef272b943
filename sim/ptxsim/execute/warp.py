"""Warp-wide operations: vote, shuffle, match, reductions across lanes.

They see the active lanes (the executing mask); a lane named by a `.sync` mask that is not active takes no part. In
matches and reductions lanes that name different masks are groups of their own, which execute one after the other. What
an inactive lane would give in a shuffle is undefined in PTX; here, as on GPUs, it is 0. CUDA's own samples sum up with
it (cuda-samples, `reduction`).

Reference: PTX ISA, `vote`, `shfl`, `match.sync`, `redux.sync`.
"""

import numpy as np

from ptxsim.base.jit import flat_u32, njit, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import ALL, ANY, CONTEXT, COUNT, UOP
from ptxsim.execute.codes import (
    BALLOT,
    BUTTERFLY,
    CLOCK64,
    DOWN,
    MATCH,
    MAX,
    MIN,
    REDUCE,
    SHUFFLE,
    SHUFFLE_TEST,
    UP,
    VOTE,
)
from ptxsim.execute.lanes import lane_mask
from ptxsim.execute.memory.atomics import combine

_CONTEXT = record_type(CONTEXT)


@njit(types.void(_CONTEXT, types.int64, types.int64, types.int64))
def set_predicate(context, row, value, mask):
    """Give lanes `mask` of a predicate row their bits of `value`."""
    cells = flat_u32(context.predicates, context.total_rows_p)
    at = context.warp * context.rows_p + row
    cells[at] = np.uint32((np.int64(cells[at]) & ~mask) | (value & mask))


@njit(types.int64(_CONTEXT, record_type(UOP), types.int64))
def members(context, uop, left):
    """MEMBERS: the lanes of `left` that name the same mask as the first of them."""
    r = rows_u32(context.r32, context.total_rows32)
    ra = uop.a + context.constant_rows32 + context.warp * context.rows32 if uop.a >= 0 else -1 - uop.a
    group, first = np.int64(0), -1
    for n in range(32):
        if (left >> n) & 1:
            first = n if first < 0 else first
            if r[ra, n] == r[ra, first]:
                group |= np.int64(1) << n
    return group


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def predicate(context, uop, mask):
    """PREDICATE: a truth table of two predicates."""
    a = np.int64(lane_mask(context, uop.a))
    b = np.int64(lane_mask(context, uop.b))
    value = np.int64(0)
    if uop.e & 1:
        value |= ~a & ~b
    if uop.e & 2:
        value |= ~a & b
    if uop.e & 4:
        value |= a & ~b
    if uop.e & 8:
        value |= a & b
    set_predicate(context, uop.d, value, mask)


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def shuffle_source(mode, lane, b, c):
    """The lane a shuffle reads, or -1 - lane where that is out of range."""
    segment = (c >> 8) & 31
    clamp = c & 31
    b &= 31
    low = lane & segment
    high = low | (clamp & ~segment)
    if mode == UP:
        source = lane - b
        return source if source >= high else -1 - lane
    if mode == DOWN:
        source = lane + b
    elif mode == BUTTERFLY:
        source = lane ^ b
    else:
        source = low | (b & ~segment)
    return source if source <= high else -1 - lane


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def _shuffle(context, uop, mask):
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base if uop.b >= 0 else -1 - uop.b
    rc = uop.c + base if uop.c >= 0 else -1 - uop.c
    found = np.int64(0)
    for n in range(32):  # lane_target holds the values: the destination may be the source
        source = shuffle_source(np.int64(uop.e), n, np.int64(r[rb, n]), np.int64(r[rc, n]))
        if source >= 0:
            found |= np.int64(1) << n
        else:
            source = n
        if uop.op == SHUFFLE:
            context.lane_target[n] = np.int64(r[ra, source]) if (mask >> source) & 1 else np.int64(0)
    if uop.op == SHUFFLE_TEST:
        set_predicate(context, uop.d, found, mask)
        return
    rd = uop.d + base
    for n in range(32):
        if (mask >> n) & 1:
            r[rd, n] = np.uint32(context.lane_target[n])


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def _match(context, uop, mask):
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    w = rows_u64(context.r64, context.total_rows64)
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    if uop.e:
        ra = uop.a + context.constant_rows64 + context.warp * context.rows64 if uop.a >= 0 else -1 - uop.a
    for n in range(32):
        same = np.int64(0)
        if (mask >> n) & 1:
            for other in range(32):
                if (mask >> other) & 1:
                    equal = w[ra, n] == w[ra, other] if uop.e else r[ra, n] == r[ra, other]
                    if equal:
                        same |= np.int64(1) << other
        context.lane_target[n] = same
    rd = uop.d + base
    for n in range(32):
        if (mask >> n) & 1:
            r[rd, n] = np.uint32(context.lane_target[n])


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def _reduce(context, uop, mask):
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    operation = np.int64(uop.e & 0xFF)
    bias = np.uint64(0x80000000) if uop.e >> 8 and (operation in (MIN, MAX)) else np.uint64(0)
    value = np.uint64(0)
    first = True
    for n in range(32):
        if (mask >> n) & 1:
            operand = np.uint64(r[ra, n]) ^ bias
            value = operand if first else combine(operation, value, operand, np.uint64(0))
            first = False
    result = np.uint32((value ^ bias) & np.uint64(0xFFFFFFFF))
    for n in range(32):
        if (mask >> n) & 1:
            r[uop.d + base, n] = result


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def warp_wide(context, uop, mask):
    """Every warp-wide micro-operation, and the clock."""
    op = uop.op
    if op == VOTE:
        held = np.int64(lane_mask(context, uop.a)) & mask
        result = held != 0
        if uop.e == 1:
            result = held == mask
        elif uop.e == 2:
            result = held == 0 or held == mask
        set_predicate(context, uop.d, np.int64(-1) if result else np.int64(0), mask)
    elif op in (SHUFFLE, SHUFFLE_TEST):
        _shuffle(context, uop, mask)
    elif op == MATCH:
        _match(context, uop, mask)
    elif op == REDUCE:
        _reduce(context, uop, mask)
    elif op == CLOCK64:
        r64 = rows_u64(context.r64, context.total_rows64)
        for n in range(32):
            if (mask >> n) & 1:
                r64[uop.d + context.constant_rows64 + context.warp * context.rows64, n] = np.uint64(
                    context.cycle
                )
    else:
        value = (context.cycle >> np.int64(uop.e)) & 0xFFFFFFFF
        if op == BALLOT:
            value = np.int64(lane_mask(context, uop.a)) & mask
        r32 = rows_u32(context.r32, context.total_rows32)
        for n in range(32):
            if (mask >> n) & 1:
                r32[uop.d + context.constant_rows32 + context.warp * context.rows32, n] = np.uint32(value)


@njit
def give_reduction(context, instruction, mask, holds, arrived):
    """The result of a barrier's reduction for lanes of a warp: the predicate held in `holds` of `arrived` threads."""
    kind = instruction.barrier_kind
    if kind == COUNT:
        r32 = rows_u32(context.r32, context.total_rows32)
        row = context.constant_rows32 + context.warp * context.rows32 + instruction.barrier_row
        for n in range(32):
            if (mask >> n) & 1:
                r32[row, n] = np.uint32(holds)
    elif kind == ALL or kind == ANY:
        result = holds == arrived if kind == ALL else holds > 0
        set_predicate(context, instruction.barrier_row, np.int64(-1) if result else np.int64(0), mask)
