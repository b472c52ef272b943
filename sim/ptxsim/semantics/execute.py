"""Execution of one warp instruction: its guard, its micro-operations, and the start of a warp.

The core calls three functions: `guard_mask`, `execute`, `init_warp`. They work on the warp that the context record
names and know nothing of time. `execute` goes through the micro-operations of an instruction; a fault ends it before
anything is stored. The functions are behind boundaries (semantics/boundary.py): callers do not compile them again.
"""

from typing import Any

import numpy as np
from numba import types

from ptxsim.jit import array_of, flat_u32, njit, record_type, rows_u32, rows_u64
from ptxsim.program import BAD_TARGET, CONTEXT, INSTRUCTION, TRAPPED, UOP
from ptxsim.semantics import atomics, memory, warp
from ptxsim.semantics.boundary import boundary
from ptxsim.semantics.codes import (
    ATOMIC32,
    CHECK_TARGET,
    CTAID_X,
    FIRST,
    LANEID,
    LANEMASK_EQ,
    LANEMASK_GE,
    LANEMASK_GT,
    LANEMASK_LE,
    LANEMASK_LT,
    LOAD_64,
    MEMORY_END,
    NCTAID_X,
    NTID_X,
    PACKED_TID,
    POP_BREAK,
    PREDICATE,
    PUSH_BREAK,
    SMID,
    STORE_64,
    TARGET,
    TID_X,
    TID_Y,
    TID_Z,
    TRAP,
    WARP_END,
    WARPID,
)
from ptxsim.semantics.generate import groups, lane_function, module
from ptxtool.isa.conditions import CONDITIONS
from ptxtool.isa.lanes import operations

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)


def _end(group: str) -> int:
    return 1 + max(o.number for o in operations().values() if o.group == group)


# operations are numbered group by group
_INT32, _COMPARE32, _RARE32, _FLOAT32, _SPECIAL, _INT64, _RARE64, _FLOAT64 = (_end(g) for g in groups())
_int32, _compare32, _rare32, _float32, _special, _int64, _rare64, _float64 = (
    boundary(f"lanes_{g}", lane_function(g)) for g in groups()
)


def _condition_source() -> str:
    """The test of a PTXPlus condition code, from the table of conditions."""
    lines = [
        '"""Generated: PTXPlus condition codes."""',
        "from numba import types",
        "from ptxsim.jit import njit",
        "",
        "@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64))",
        "def condition_mask(code, Z, S, C, O):",
    ]
    for condition in CONDITIONS:
        if condition.names:
            lines += [f"    if code == {condition.code}:", f"        return {condition.formula}"]
    return "\n".join([*lines, "    return Z & ~Z", ""])


condition_mask: Any = module("conditions", _condition_source()).condition_mask


@njit(types.int64(_CONTEXT, array_of(INSTRUCTION), types.int64, types.int64))
def _guard_mask(x, instructions, i, active):
    row = instructions[i].guard_row
    if row < 0:
        return active
    code = np.int64(instructions[i].guard_code)
    predicates = flat_u32(x.predicates, x.total_rows_p)
    at = x.warp * x.rows_p + row
    flag = np.int64(predicates[at])
    if code == 32:
        return active & flag
    if code == 33:
        return active & ~flag
    sign, carry, over = (
        np.int64(predicates[at + 1]),
        np.int64(predicates[at + 2]),
        np.int64(predicates[at + 3]),
    )
    return active & condition_mask(code, flag, sign, carry, over)


@njit(types.void(_CONTEXT, _UOP, types.int64))
def _lanes(x, u, mask):
    """A lane operation: the function of its group."""
    op = u.op
    if op < _INT32:
        _int32(x, u, mask)
    elif op < _COMPARE32:
        _compare32(x, u, mask)
    elif op < _RARE32:
        _rare32(x, u, mask)
    elif op < _FLOAT32:
        _float32(x, u, mask)
    elif op < _SPECIAL:
        _special(x, u, mask)
    elif op < _INT64:
        _int64(x, u, mask)
    elif op < _RARE64:
        _rare64(x, u, mask)
    else:
        _float64(x, u, mask)


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _memory(x, u, mask):
    """A memory micro-operation. 0 after a fault."""
    op = u.op
    if op < memory.LOAD_U8:
        return memory.access(x, u, mask)
    if op <= LOAD_64:
        memory.load(x, u, mask)
    elif op <= STORE_64:
        memory.store(x, u, mask)
    elif op == ATOMIC32:
        atomics.atomic32(x, u, mask)
    else:
        atomics.atomic64(x, u, mask)
    return 1


_any_memory: Any = boundary("memory", _memory)
_warp_wide: Any = boundary("warp_wide", warp.warp_wide)


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _control(x, u, mask):
    """Targets of indirect jumps, and trap. 0 after a fault."""
    op = u.op
    base = x.constant_rows32 + x.warp * x.rows32
    r = rows_u32(x.r32, x.total_rows32)
    ra = u.a + base if u.a >= 0 else -1 - u.a
    if op == TARGET:
        rb = u.b + base if u.b >= 0 else -1 - u.b
        for n in range(32):
            if r[ra, n] == r[rb, n]:
                x.lane_target[n] = np.int64(u.e)
        return 1
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        if op == PUSH_BREAK:
            depth = np.int64(r[ra, n])
            if depth < u.c:
                r[u.d + base + depth, n] = np.uint32(u.e)
                r[ra, n] = np.uint32(depth + 1)
                continue
        elif op == POP_BREAK:
            depth = np.int64(r[ra, n]) - 1
            if depth >= 0:
                x.lane_target[n] = np.int64(r[u.d + base + depth, n])
                r[ra, n] = np.uint32(depth)
                continue
        elif op == CHECK_TARGET and x.lane_target[n] >= 0:
            continue
        x.error = TRAPPED if op == TRAP else BAD_TARGET
        x.error_lane = n
        x.error_address = np.uint64(0)
        return 0
    return 1


@njit(types.void(_CONTEXT, array_of(INSTRUCTION), array_of(UOP), types.int64, types.int64))
def _execute(x, instructions, uops, i, mask):
    for k in range(instructions[i].uop_start, instructions[i].uop_end):
        op = uops[k].op
        if op < FIRST:
            _lanes(x, uops[k], mask)
        elif op < MEMORY_END:
            if _any_memory(x, uops[k], mask) == 0:
                return
        elif op == PREDICATE:
            warp.predicate(x, uops[k], mask)
        elif op < WARP_END:
            _warp_wide(x, uops[k], mask)
        elif _control(x, uops[k], mask) == 0:
            return


@njit
def init_warp(x, special_rows, warp_in_cta, ctaid_x, ctaid_y, ctaid_z, block, grid, smid, warp_slot):
    """Start a warp: its rows and predicates are zero but for the special registers.

    `block` and `grid` hold three sizes each; `special_rows` is the program's table of (number, row).
    """
    _zero_warp(x)
    threads_x, threads_y = np.int64(block[0]), np.int64(block[1])
    for k in range(special_rows.shape[0]):
        number, row = np.int64(special_rows[k, 0]), np.int64(special_rows[k, 1])
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


guard_mask: Any = boundary("guard_mask", _guard_mask)
"""`guard_mask(x, instructions, i, active)`: the lanes of `active` whose guard of instruction i holds, as int64."""

execute: Any = boundary("execute", _execute)
"""`execute(x, instructions, uops, i, mask)`: run the micro-operations of instruction i over lanes `mask`.

Leaves `lane_address`, `access_mask` and `access_space` of memory instructions, `lane_target` of indirect jumps, and
`error` after a fault in the context; nothing is stored then.
"""
