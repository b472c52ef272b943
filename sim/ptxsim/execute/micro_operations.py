"""Execution of one warp instruction: its guard and its micro-operations.

The core calls `guard_mask` and `execute`; a run without time calls `straight` too, for many instructions at once, and
scratchpad sharing `reach`, before an instruction issues. They work on the warp that the context record names and
know nothing of time. `execute` goes through the micro-operations of an instruction; a fault ends it before anything is
stored. All are called across boundaries (execute/boundary.py): callers do not compile them again. Nothing else is
imported from here (code_cache.ACROSS_BOUNDARY).
"""

from typing import Any

import numpy as np
from numba import types

from ptxsim.base.jit import flat_u32, inline, njit, record_type, records, rows_u32
from ptxsim.base.program import BAD_TARGET, CONTEXT, TRAPPED, UOP, instruction_at, uop_at
from ptxsim.execute import atomics, small_atomics, warp
from ptxsim.execute import memory_access as memory
from ptxsim.execute.boundary import boundary
from ptxsim.execute.calls import aside
from ptxsim.execute.codes import (
    ACCESS32,
    ACCESS64,
    ATOMIC32,
    ATOMIC64,
    CHECK_TARGET,
    CONTROL_END,
    FIRST,
    FIRST_CALL_CODE,
    FIRST_HOST_CODE,
    LOAD_64,
    MATRIX_END,
    MEMBERS,
    MEMORY_END,
    NARROW,
    NEXT_GROUP,
    POP_BREAK,
    PREDICATE,
    PUSH_BREAK,
    STORE_64,
    SYNCHRONISE_END,
    TARGET,
    TRAP,
    WARP_END,
)
from ptxsim.execute.generate import groups, lane_function, module
from ptxsim.execute.host import system
from ptxsim.execute.lanes import lane_mask
from ptxsim.execute.synchronise import synchronise
from ptxsim.execute.tensor.mma import matrix
from ptxsim.execute.texture.sampling import textures
from ptxtool.isa.conditions import CONDITIONS
from ptxtool.isa.lanes import GROUP_SIZE

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)
_uops = records(UOP)


_GROUP_BITS = GROUP_SIZE.bit_length() - 1
_INT32, _COMPARE32, _RARE32, _FLOAT32, _SPECIAL, _INT64, _RARE64, _FLOAT64 = range(len(groups()))
_int32, _compare32, _rare32, _float32, _special, _int64, _rare64, _float64 = (
    boundary(f"lanes_{g}", lane_function(g)) for g in groups()
)


def _condition_source() -> str:
    """The test of a PTXPlus condition code, from the table of conditions."""
    lines = [
        '"""Generated: PTXPlus condition codes."""',
        "from numba import types",
        "from ptxsim.base.jit import njit",
        "",
        "@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64))",
        "def condition_mask(code, Z, S, C, O):",
    ]
    for condition in CONDITIONS:
        if condition.names:
            lines += [f"    if code == {condition.code}:", f"        return {condition.formula}"]
    return "\n".join([*lines, "    return Z & ~Z", ""])


condition_mask: Any = module("conditions", _condition_source()).condition_mask


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _guard_mask(x, i, active):
    instruction = instruction_at(x.instructions, i)
    row = instruction.guard_row
    if row < 0:
        return active
    code = np.int64(instruction.guard_code)
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


@inline
def _own_rows(x):
    """Note where the rows of the executing warp begin."""
    x.own32 = x.r32 + np.uint64((x.constant_rows32 + x.warp * x.rows32) << 7)
    x.own64 = x.r64 + np.uint64((x.constant_rows64 + x.warp * x.rows64) << 8)


@inline
def _lanes(x, u, mask):
    """A lane operation: the function of its group."""
    group = u.op >> _GROUP_BITS
    if group == _INT32:
        _int32(x, u, mask)
    elif group == _COMPARE32:
        _compare32(x, u, mask)
    elif group == _RARE32:
        _rare32(x, u, mask)
    elif group == _FLOAT32:
        _float32(x, u, mask)
    elif group == _SPECIAL:
        _special(x, u, mask)
    elif group == _INT64:
        _int64(x, u, mask)
    elif group == _RARE64:
        _rare64(x, u, mask)
    else:
        _float64(x, u, mask)


_access: Any = boundary("access", memory.access)
_load: Any = boundary("load", memory.load)
_store: Any = boundary("store", memory.store)
_atomic32: Any = boundary("atomic32", atomics.atomic32)
_atomic64: Any = boundary("atomic64", atomics.atomic64)
_small_atomic: Any = boundary("small_atomic", small_atomics.small_atomic)


@inline
def _memory(x, u, mask):
    """A memory micro-operation. 0 after a fault."""
    op = u.op
    if op <= ACCESS64:
        return _access(x, u, mask)
    if op <= LOAD_64:
        _load(x, u, mask)
    elif op <= STORE_64:
        _store(x, u, mask)
    elif op == ATOMIC32:
        _atomic32(x, u, mask)
    elif op == ATOMIC64:
        _atomic64(x, u, mask)
    else:
        _small_atomic(x, u, mask)
    return 1


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


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _others(x, k, mask):
    """Micro-operation k, which is no lane operation, access or predicate. 0 after a fault."""
    uops = _uops(x.uops, x.n_uops)
    op = uops[k].op
    if op < WARP_END:
        warp.warp_wide(x, uops[k], mask)
    elif op < CONTROL_END:
        return _control(x, uops[k], mask)
    elif op < SYNCHRONISE_END:
        return synchronise(x, uops[k], mask)
    elif op < MATRIX_END:
        if mask:
            matrix(x, uops, k)
    elif op < FIRST_CALL_CODE:
        return textures(x, uops, k, mask)
    elif op >= FIRST_HOST_CODE:
        return system(x, uops[k], mask)
    else:
        return aside(x, uops[k], mask)
    return 1


_any_other: Any = boundary("other", _others)
_predicate: Any = boundary("predicate", warp.predicate)
_members: Any = boundary("members", warp.members)


@njit(types.void(_CONTEXT, types.int64, types.int64))
def _execute(x, i, all_lanes):
    instruction = instruction_at(x.instructions, i if i >= 0 else ~i)
    k, last = instruction.uop_start, instruction.uop_end
    if i < 0:
        k, last = last, instruction.return_end
    _own_rows(x)
    mask = left = all_lanes
    while k < last:
        u = uop_at(x.uops, k)
        op = u.op
        if op < FIRST:
            _lanes(x, u, mask)
        elif op < MEMORY_END:
            if _memory(x, u, mask) == 0:
                return
        elif op == PREDICATE:
            _predicate(x, u, mask)
        elif op == NARROW:
            mask = all_lanes & np.int64(lane_mask(x, u.a)) & np.int64(u.e)
        elif op == MEMBERS:
            mask = _members(x, u, left)
            left &= ~mask
        elif op == NEXT_GROUP:
            if left:
                k -= u.e + 1
        elif _any_other(x, k, mask) == 0:
            return
        k += 1


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64))
def _straight(x, first, last, active):
    _own_rows(x)
    for i in range(first, last):
        instruction = instruction_at(x.instructions, i)
        mask = active
        if instruction.guard_row >= 0:
            mask = _guard_mask(x, i, active)
        if mask:
            for k in range(instruction.uop_start, instruction.uop_end):
                u = uop_at(x.uops, k)
                if u.op < FIRST:
                    _lanes(x, u, mask)
                elif u.op < MEMORY_END:
                    if _memory(x, u, mask) == 0:
                        return i
                else:
                    _predicate(x, u, mask)
        x.cycle += 1
    return last


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64))
def _reach(x, i, active, first):
    instruction = instruction_at(x.instructions, i)
    all_lanes = _guard_mask(x, i, active)
    if instruction.reach_unknown:
        return first if all_lanes else -1
    mask = all_lanes
    found = -1
    _own_rows(x)
    for k in range(instruction.uop_start, instruction.reach_end):
        u = uop_at(x.uops, k)
        if u.op < FIRST:
            _lanes(x, u, mask)
        elif u.op == PREDICATE:
            _predicate(x, u, mask)
        elif u.op == NARROW:
            mask = all_lanes & np.int64(lane_mask(x, u.a)) & np.int64(u.e)
        elif u.op == ACCESS32 or u.op == ACCESS64:
            if _access(x, u, mask) == 0:
                x.error = 0
                return found
            end = x.shared_memory + np.uint64(x.shared_bytes)
            for n in range(32):
                pointer = x.lane_pointer[n]
                if (mask >> n) & 1 and pointer >= x.shared_memory and pointer < end:
                    start = np.int64(pointer - x.shared_memory)
                    if start + np.int64(u.c >> 8) > first:
                        start = max(start, first)
                        found = start if found < 0 else min(found, start)
    return found


guard_mask: Any = boundary("guard_mask", _guard_mask)
"""`guard_mask(x, i, active)`: the lanes of `active` whose guard of instruction i holds, as int64."""

execute: Any = boundary("execute", _execute)
"""`execute(x, i, mask)`: run the micro-operations of instruction i over lanes `mask`.

`~i` instead of i: those after a call, whose lanes have returned.

Leaves `lane_address`, `access_mask` and `access_space` of memory instructions, `lane_target` of indirect jumps, and
`error` after a fault in the context; nothing is stored then.
"""

reach: Any = boundary("reach", _reach)
"""`reach(x, i, active, first)`: the lowest byte of shared memory from `first` on that instruction i will access with
lanes `active`, -1 if none. Executes no more of it than its addresses take; a fault is left to `execute`."""

straight: Any = boundary("straight", _straight)
"""`straight(x, first, last, active)`: run instructions `first` to `last - 1`, which `INSTRUCTION.straight` counts.

Counts `cycle` up. Returns `last`, or the instruction that failed.
"""
