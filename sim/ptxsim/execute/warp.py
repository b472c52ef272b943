"""Warp-wide operations: vote, shuffle, match, reductions across lanes.

They see the active lanes (the executing mask); a lane named by a `.sync` mask that is not active takes no part. Lanes
that name different masks are groups of their own, which execute one after the other. What an inactive lane would give
in a shuffle is undefined in PTX; here a lane keeps its own value then.

Reference: PTX ISA, `vote`, `shfl`, `match.sync`, `redux.sync`.
"""

import numpy as np
from numba import types

from ptxsim.base.jit import flat_u32, njit, record_type, rows_u32, rows_u64
from ptxsim.base.program import ALL, ANY, CONTEXT, COUNT, UOP
from ptxsim.execute.atomics import combine
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

_CONTEXT = record_type(CONTEXT)


@njit(types.void(_CONTEXT, types.int64, types.int64, types.int64))
def set_predicate(x, row, value, mask):
    """Give lanes `mask` of a predicate row their bits of `value`."""
    cells = flat_u32(x.predicates, x.total_rows_p)
    at = x.warp * x.rows_p + row
    cells[at] = np.uint32((np.int64(cells[at]) & ~mask) | (value & mask))


@njit(types.int64(_CONTEXT, record_type(UOP), types.int64))
def members(x, u, left):
    """MEMBERS: the lanes of `left` that name the same mask as the first of them."""
    r = rows_u32(x.r32, x.total_rows32)
    ra = u.a + x.constant_rows32 + x.warp * x.rows32 if u.a >= 0 else -1 - u.a
    group, first = np.int64(0), -1
    for n in range(32):
        if (left >> n) & 1:
            first = n if first < 0 else first
            if r[ra, n] == r[ra, first]:
                group |= np.int64(1) << n
    return group


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def predicate(x, u, mask):
    """PREDICATE: a truth table of two predicates."""
    a = np.int64(lane_mask(x, u.a))
    b = np.int64(lane_mask(x, u.b))
    value = np.int64(0)
    if u.e & 1:
        value |= ~a & ~b
    if u.e & 2:
        value |= ~a & b
    if u.e & 4:
        value |= a & ~b
    if u.e & 8:
        value |= a & b
    set_predicate(x, u.d, value, mask)


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
def _shuffle(x, u, mask):
    base = x.constant_rows32 + x.warp * x.rows32
    r = rows_u32(x.r32, x.total_rows32)
    ra = u.a + base if u.a >= 0 else -1 - u.a
    rb = u.b + base if u.b >= 0 else -1 - u.b
    rc = u.c + base if u.c >= 0 else -1 - u.c
    found = np.int64(0)
    for n in range(32):  # lane_target holds the values: the destination may be the source
        source = shuffle_source(np.int64(u.e), n, np.int64(r[rb, n]), np.int64(r[rc, n]))
        if source >= 0:
            found |= np.int64(1) << n
        else:
            source = n
        if (mask >> source) & 1 == 0:
            source = n
        if u.op == SHUFFLE:
            x.lane_target[n] = np.int64(r[ra, source])
    if u.op == SHUFFLE_TEST:
        set_predicate(x, u.d, found, mask)
        return
    rd = u.d + base
    for n in range(32):
        if (mask >> n) & 1:
            r[rd, n] = np.uint32(x.lane_target[n])


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def _match(x, u, mask):
    base = x.constant_rows32 + x.warp * x.rows32
    r = rows_u32(x.r32, x.total_rows32)
    w = rows_u64(x.r64, x.total_rows64)
    ra = u.a + base if u.a >= 0 else -1 - u.a
    if u.e:
        ra = u.a + x.constant_rows64 + x.warp * x.rows64 if u.a >= 0 else -1 - u.a
    for n in range(32):
        same = np.int64(0)
        if (mask >> n) & 1:
            for other in range(32):
                if (mask >> other) & 1:
                    equal = w[ra, n] == w[ra, other] if u.e else r[ra, n] == r[ra, other]
                    if equal:
                        same |= np.int64(1) << other
        x.lane_target[n] = same
    rd = u.d + base
    for n in range(32):
        if (mask >> n) & 1:
            r[rd, n] = np.uint32(x.lane_target[n])


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def _reduce(x, u, mask):
    base = x.constant_rows32 + x.warp * x.rows32
    r = rows_u32(x.r32, x.total_rows32)
    ra = u.a + base if u.a >= 0 else -1 - u.a
    operation = np.int64(u.e & 0xFF)
    bias = np.uint64(0x80000000) if u.e >> 8 and (operation in (MIN, MAX)) else np.uint64(0)
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
            r[u.d + base, n] = result


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def warp_wide(x, u, mask):
    """Every warp-wide micro-operation, and the clock."""
    op = u.op
    if op == VOTE:
        held = np.int64(lane_mask(x, u.a)) & mask
        result = held != 0
        if u.e == 1:
            result = held == mask
        elif u.e == 2:
            result = held == 0 or held == mask
        set_predicate(x, u.d, np.int64(-1) if result else np.int64(0), mask)
    elif op in (SHUFFLE, SHUFFLE_TEST):
        _shuffle(x, u, mask)
    elif op == MATCH:
        _match(x, u, mask)
    elif op == REDUCE:
        _reduce(x, u, mask)
    elif op == CLOCK64:
        r64 = rows_u64(x.r64, x.total_rows64)
        for n in range(32):
            if (mask >> n) & 1:
                r64[u.d + x.constant_rows64 + x.warp * x.rows64, n] = np.uint64(x.cycle)
    else:
        value = (x.cycle >> np.int64(u.e)) & 0xFFFFFFFF
        if op == BALLOT:
            value = np.int64(lane_mask(x, u.a)) & mask
        r32 = rows_u32(x.r32, x.total_rows32)
        for n in range(32):
            if (mask >> n) & 1:
                r32[u.d + x.constant_rows32 + x.warp * x.rows32, n] = np.uint32(value)


@njit
def give_reduction(x, instruction, mask, holds, arrived):
    """The result of a barrier's reduction for lanes of a warp: the predicate held in `holds` of `arrived` threads."""
    kind = instruction.barrier_kind
    if kind == COUNT:
        r32 = rows_u32(x.r32, x.total_rows32)
        row = x.constant_rows32 + x.warp * x.rows32 + instruction.barrier_row
        for n in range(32):
            if (mask >> n) & 1:
                r32[row, n] = np.uint32(holds)
    elif kind == ALL or kind == ANY:
        result = holds == arrived if kind == ALL else holds > 0
        set_predicate(x, instruction.barrier_row, np.int64(-1) if result else np.int64(0), mask)
