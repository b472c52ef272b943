"""Execution of one warp instruction: its guard and its micro-operations.

The core calls `guard_mask` and `execute`; a run without time calls `straight` too, for many instructions at once, and
scratchpad sharing `reach`, before an instruction issues. They work on the warp that the context record names and
know nothing of time. `execute` goes through the micro-operations of an instruction; a fault ends it before anything is
stored. All are called across boundaries (execute/boundary.py): callers do not compile them again. Nothing else is
imported from here (code_cache.ACROSS_BOUNDARY).
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import flat_u32, inline, njit, record_type, records, rows_u32, types
from ptxsim.base.program import BAD_TARGET, BEYOND_TARGETS, CONTEXT, TRAPPED, UOP, instruction_at, uop_at
from ptxsim.execute import warp
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.copies import bulk
from ptxsim.execute.calls import aside
from ptxsim.execute.cluster.clusters import in_cluster
from ptxsim.execute.codes import (
    ACCESS32,
    ACCESS64,
    ATOMIC32,
    ATOMIC64,
    CHECK_TARGET,
    CONTROL_END,
    DEFER,
    FIRST,
    FIRST_BULK_CODE,
    FIRST_CALL_CODE,
    FIRST_CLUSTER_CODE,
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
    TENSOR_MULTIPLY,
    TRAP,
    WARP_END,
    WARPGROUP,
)
from ptxsim.execute.generate import groups, lane_function, module
from ptxsim.execute.host import system
from ptxsim.execute.lanes import lane_mask
from ptxsim.execute.memory import accesses, atomics, deferred_atomics, small_atomics
from ptxsim.execute.synchronise import synchronise
from ptxsim.execute.tensor.mma import matrix
from ptxsim.execute.tensor.tensor_memory import tensor_memory
from ptxsim.execute.tensor.tensor_product import tensor_product
from ptxsim.execute.tensor.warpgroup import warpgroup
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
        "from ptxsim.base.jit import njit, types",
        "",
        "@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.int64))",
        "def condition_mask(code, Z, S, C, O):",
    ]
    for condition in CONDITIONS:
        if condition.names:
            lines += [f"    if code == {condition.code}:", f"        return {condition.formula}"]
    return "\n".join([*lines, "    return Z & ~Z", ""])


condition_mask: Any = module("conditions", _condition_source(), _condition_source).condition_mask


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _guard_mask(context, i, active):
    instruction = instruction_at(context.instructions, i)
    row = instruction.guard_row
    if row < 0:
        return active
    code = np.int64(instruction.guard_code)
    predicates = flat_u32(context.predicates, context.total_rows_p)
    at = context.warp * context.rows_p + row
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
def _own_rows(context):
    """Note where the rows of the executing warp begin."""
    context.own32 = context.r32 + np.uint64((context.constant_rows32 + context.warp * context.rows32) << 7)
    context.own64 = context.r64 + np.uint64((context.constant_rows64 + context.warp * context.rows64) << 8)


@inline
def _lanes(context, uop, mask):
    """A lane operation: the function of its group."""
    group = uop.op >> _GROUP_BITS
    if group == _INT32:
        _int32(context, uop, mask)
    elif group == _COMPARE32:
        _compare32(context, uop, mask)
    elif group == _RARE32:
        _rare32(context, uop, mask)
    elif group == _FLOAT32:
        _float32(context, uop, mask)
    elif group == _SPECIAL:
        _special(context, uop, mask)
    elif group == _INT64:
        _int64(context, uop, mask)
    elif group == _RARE64:
        _rare64(context, uop, mask)
    else:
        _float64(context, uop, mask)


_access: Any = boundary("access", accesses.access)
_load: Any = boundary("load", accesses.load)
_store: Any = boundary("store", accesses.store)
_atomic32: Any = boundary("atomic32", atomics.atomic32)
_atomic64: Any = boundary("atomic64", atomics.atomic64)
_small_atomic: Any = boundary("small_atomic", small_atomics.small_atomic)
_defer: Any = boundary("defer", deferred_atomics.defer)


@inline
def _memory(context, uop, mask):
    """A memory micro-operation. 0 after a fault."""
    op = uop.op
    if op <= ACCESS64:
        return _access(context, uop, mask)
    if op <= LOAD_64:
        _load(context, uop, mask)
    elif op <= STORE_64:
        _store(context, uop, mask)
    elif op == ATOMIC32:
        _atomic32(context, uop, mask)
    elif op == ATOMIC64:
        _atomic64(context, uop, mask)
    elif op == DEFER:
        return _defer(context, uop, mask)
    else:
        _small_atomic(context, uop, mask)
    return 1


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _control(context, uop, mask):
    """Targets of indirect jumps, and trap. 0 after a fault."""
    op = uop.op
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    if op == TARGET:
        rb = uop.b + base if uop.b >= 0 else -1 - uop.b
        for n in range(32):
            if r[ra, n] == r[rb, n]:
                context.lane_target[n] = np.int64(uop.e)
        return 1
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        if op == PUSH_BREAK:
            depth = np.int64(r[ra, n])
            if depth < uop.c:
                r[uop.d + base + depth, n] = np.uint32(uop.e)
                r[ra, n] = np.uint32(depth + 1)
                continue
        elif op == POP_BREAK:
            depth = np.int64(r[ra, n]) - 1
            if depth >= 0:
                context.lane_target[n] = np.int64(r[uop.d + base + depth, n])
                r[ra, n] = np.uint32(depth)
                continue
        elif op == CHECK_TARGET and context.lane_target[n] >= 0:
            continue
        context.error = TRAPPED if op == TRAP else BAD_TARGET
        context.error_lane = n
        context.error_address = np.uint64(0)
        if op == CHECK_TARGET and uop.c:
            context.error = BEYOND_TARGETS
            context.error_address = np.uint64(r[ra, n]) | np.uint64(uop.c) << np.uint64(32)
        return 0
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _others(context, k, mask):
    """Micro-operation k, which is no lane operation, access or predicate. 0 after a fault."""
    uops = _uops(context.uops, context.n_uops)
    op = uops[k].op
    if op < WARP_END:
        warp.warp_wide(context, uops[k], mask)
    elif op < CONTROL_END:
        return _control(context, uops[k], mask)
    elif op < SYNCHRONISE_END:
        return synchronise(context, uops[k], mask)
    elif op < MATRIX_END:
        if op > TENSOR_MULTIPLY:
            return tensor_memory(context, k, mask)
        if op == TENSOR_MULTIPLY:
            return tensor_product(context, k, mask)
        if op >= WARPGROUP:
            return warpgroup(context, k, mask)
        if mask:
            matrix(context, uops, k)
    elif op < FIRST_CALL_CODE:
        return textures(context, uops, k, mask)
    elif op >= FIRST_CLUSTER_CODE:
        return in_cluster(context, uops[k], mask)
    elif op >= FIRST_BULK_CODE:
        return bulk(context, k, mask)
    elif op >= FIRST_HOST_CODE:
        return system(context, uops[k], mask)
    else:
        return aside(context, uops[k], mask)
    return 1


_any_other: Any = boundary("other", _others)
_predicate: Any = boundary("predicate", warp.predicate)
_members: Any = boundary("members", warp.members)


@njit(types.void(_CONTEXT, types.int64, types.int64))
def _execute(context, i, all_lanes):
    instruction = instruction_at(context.instructions, i if i >= 0 else ~i)
    k, last = instruction.uop_start, instruction.uop_end
    if i < 0:
        k, last = last, instruction.return_end
    _own_rows(context)
    mask = left = all_lanes
    while k < last:
        uop = uop_at(context.uops, k)
        op = uop.op
        if op < FIRST:
            _lanes(context, uop, mask)
        elif op < MEMORY_END:
            if _memory(context, uop, mask) == 0:
                return
        elif op == PREDICATE:
            _predicate(context, uop, mask)
        elif op == NARROW:
            mask = all_lanes & np.int64(lane_mask(context, uop.a)) & np.int64(uop.e)
        elif op == MEMBERS:
            mask = _members(context, uop, left)
            left &= ~mask
        elif op == NEXT_GROUP:
            if left:
                k -= uop.e + 1
        elif _any_other(context, k, mask) == 0:
            return
        k += 1


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64))
def _straight(context, first, last, active):
    _own_rows(context)
    for i in range(first, last):
        instruction = instruction_at(context.instructions, i)
        mask = active
        if instruction.guard_row >= 0:
            mask = _guard_mask(context, i, active)
        if mask:
            for k in range(instruction.uop_start, instruction.uop_end):
                uop = uop_at(context.uops, k)
                if uop.op < FIRST:
                    _lanes(context, uop, mask)
                elif uop.op < MEMORY_END:
                    if _memory(context, uop, mask) == 0:
                        return i
                else:
                    _predicate(context, uop, mask)
        context.cycle += 1
    return last


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.int64))
def _reach(context, i, active, first):
    instruction = instruction_at(context.instructions, i)
    all_lanes = _guard_mask(context, i, active)
    if instruction.reach_unknown:
        return first if all_lanes else -1
    mask = all_lanes
    found = -1
    _own_rows(context)
    for k in range(instruction.uop_start, instruction.reach_end):
        uop = uop_at(context.uops, k)
        if uop.op < FIRST:
            _lanes(context, uop, mask)
        elif uop.op == PREDICATE:
            _predicate(context, uop, mask)
        elif uop.op == NARROW:
            mask = all_lanes & np.int64(lane_mask(context, uop.a)) & np.int64(uop.e)
        elif uop.op == ACCESS32 or uop.op == ACCESS64:
            if _access(context, uop, mask) == 0:
                context.error = 0
                return found
            end = context.shared_memory + np.uint64(context.shared_bytes)
            for n in range(32):
                pointer = context.lane_pointer[n]
                if (mask >> n) & 1 and pointer >= context.shared_memory and pointer < end:
                    start = np.int64(pointer - context.shared_memory)
                    if start + np.int64(uop.c >> 8) > first:
                        start = max(start, first)
                        found = start if found < 0 else min(found, start)
    return found


guard_mask: Any = boundary("guard_mask", _guard_mask)
"""`guard_mask(context, i, active)`: the lanes of `active` whose guard of instruction i holds, as int64."""

execute: Any = boundary("execute", _execute)
"""`execute(context, i, mask)`: run the micro-operations of instruction i over lanes `mask`.

`~i` instead of i: those after a call, whose lanes have returned.

Leaves `lane_address`, `access_mask` and `access_space` of memory instructions, `lane_target` of indirect jumps, and
`error` after a fault in the context; nothing is stored then.
"""

reach: Any = boundary("reach", _reach)
"""`reach(context, i, active, first)`: the lowest byte of shared memory from `first` on that instruction i will
access with lanes `active`, -1 if none. Executes no more of it than its addresses take; a fault is left to `execute`."""

straight: Any = boundary("straight", _straight)
"""`straight(context, first, last, active)`: run instructions `first` to `last - 1`.

`INSTRUCTION.straight` is how many may be run.

Counts `cycle` up. Returns `last`, or the instruction that failed.
"""
