"""The compiled half of the checks. The loop of a CTA calls these when any check is on:

    start(checks, context)                                     a CTA begins
    before(checks, reports, checked, context, i, active, mask) registers that the instruction reads
    stack(checks, checked, context, i, mask)                   it will call a function, or take memory from the stack
    accessed(checks, reports, checked, context, i, k, mask)    memory that it (k is i), or its piece k, accessed
    after(checks, checked, context, i, mask)                   registers that it wrote
    copied(checks, checked, context, i, mask)                  it ended, awaited or tracked asynchronous copies
    returned(checks, checked, context, i, mask)                all lanes have returned from a call
    fault(checks, reports, context, i, k)                      report a bad access; returns the lane that made it
    reach(checks, reports, context, i, aligned, mask, live)    a barrier
    missed(checks, reports, i, arrived, ended, last)           a barrier is complete without warps that have ended

`order.py` has what the loop calls when an instruction orders accesses. `checks` is one CHECKS record, `context` the
context of the executing warp.
"""

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_i32, flat_u8, flat_u32, njit, popcount, record_type, types
from ptxsim.base.program import CONTEXT, GLOBAL, LOAD, LOCAL, MISALIGNED, NO_SPACE, SHARED, STORE
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.asynchronous.note import begin_asynchronous
from ptxsim.sanitizer.copies import await_groups, end_segment, forget_copies
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.frames import enter_frame, grow_stack, leave_frame, stack_row
from ptxsim.sanitizer.order import start_order
from ptxsim.sanitizer.races import races

_C, _X = record_type(state.CHECKS), record_type(CONTEXT)
_REPORTS, _CHECKED = array_of(state.REPORT), array_of(state.CHECKED)
_INT = types.int64


@njit(types.void(_C, _X))
def start(checks, context):
    """A CTA begins: its shared and local memory and its registers are unwritten."""
    if checks.what & state.INIT:
        shared, beginning = (
            flat_u8(checks.shared_shadow, context.shared_bytes),
            flat_u8(checks.shared_start, context.shared_bytes),
        )
        for k in range(context.shared_bytes):
            shared[k] = beginning[k]
        size = context.local_bytes * 32 * checks.n_warps
        local = flat_u8(checks.local_shadow, size)
        for k in range(size):
            local[k] = 0
        at_start = flat_u32(checks.written_at_start, checks.n_registers)
        written = flat_u32(checks.written, checks.n_registers * checks.n_warps)
        origins = flat_i32(checks.origins, checks.n_registers * checks.n_warps)
        for w in range(checks.n_warps):
            for k in range(checks.n_registers):
                written[w * checks.n_registers + k] = at_start[k]
                origins[w * checks.n_registers + k] = 0
    if checks.what & state.RACES:
        start_order(checks)
        granules = flat_i32(checks.granules, checks.n_granules * state.GRANULE)
        for k in range(checks.n_granules * state.GRANULE):
            granules[k] = 0
        if checks.segments:
            forget_copies(checks)
    if checks.asynchronous:
        begin_asynchronous(checks)


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def _unwritten(checks, reports, checked, context, i, register, lanes):
    """Instruction i reads a register that `lanes` never wrote. One that only computes taints its results; for all other
    instructions this is reported."""
    if lanes == 0:
        return
    origin = np.int64(
        flat_i32(checks.origins, checks.n_registers * checks.n_warps)[
            context.warp * checks.n_registers + register
        ]
    )
    if origin == 0:
        origin = register + 1
    if checked[i].computes:
        checks.tainted |= lanes
        checks.origin = origin
        return
    kind, thread, count = state.UNWRITTEN_REGISTER, context.warp * 32 + ctz(lanes), popcount(lanes)
    report(checks, reports, kind, i, thread, np.uint64(register), NO_SPACE, -1, origin - 1, count)


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def before(checks, reports, checked, context, i, active, mask):
    """Registers that an instruction reads in lanes that never wrote them."""
    context.access_mask = np.uint64(0)
    if checks.what & state.INIT == 0:
        return
    checks.tainted = 0
    written = flat_u32(checks.written, checks.n_registers * checks.n_warps)
    base = context.warp * checks.n_registers
    guard = checked[i].guard
    if guard >= 0:
        _unwritten(checks, reports, checked, context, i, guard, active & ~np.int64(written[base + guard]))
    passed = checked[i].passed
    if passed >= 0 and mask & np.int64(written[base + passed]) == 0:
        _unwritten(checks, reports, checked, context, i, passed, mask)
    registers = flat_i32(checks.registers, checked[i].end)
    for k in range(checked[i].reads, checked[i].writes):
        register = registers[k]
        _unwritten(checks, reports, checked, context, i, register, mask & ~np.int64(written[base + register]))


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def _initialised(checks, reports, checked, context, i, k, lanes):
    """The shadow bytes of access k: written before it is read."""
    n_bytes, access = np.uint64(checked[k].bytes), checked[k].access
    shared_bytes, global_bytes = np.uint64(context.shared_bytes), np.uint64(context.global_bytes)
    local_bytes = np.uint64(context.local_bytes * 32 * checks.n_warps)
    for n in range(32):
        if (lanes >> n) & 1 == 0:
            continue
        pointer = context.lane_pointer[n]
        space, shadow, offset = SHARED, checks.shared_shadow, pointer - context.shared_memory
        if offset >= shared_bytes:
            space, shadow, offset = GLOBAL, checks.global_shadow, pointer - context.global_memory
            if offset >= global_bytes:
                space, shadow, offset = LOCAL, checks.local_shadow, pointer - context.local_memory
                if offset >= local_bytes:
                    continue
            elif shadow == 0:
                continue
        known = flat_u8(shadow + offset, np.int64(n_bytes))
        if access != STORE:
            first = np.uint64(0)
            while first < n_bytes and known[first] != 0:
                first += np.uint64(1)
            if first < n_bytes:
                address = context.lane_address[n] + first
                frame = stack_row(context, checks.frame_row, n) if space == LOCAL else 0
                report(
                    checks,
                    reports,
                    state.UNWRITTEN_BYTES,
                    i,
                    context.warp * 32 + n,
                    address,
                    space,
                    -1,
                    frame,
                    1,
                )
        if access != LOAD:
            for k in range(np.int64(n_bytes)):
                known[k] = 1


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def _read(checks, reports, context, i, n_bytes, lanes):
    """Check that the bytes that an asynchronous copy reads from global memory are written."""
    for n in range(32):
        offset = context.lane_address[n] - context.global_base
        if (lanes >> n) & 1 == 0 or offset >= np.uint64(context.global_bytes):
            continue
        known = flat_u8(checks.global_shadow + offset, n_bytes)
        for k in range(n_bytes):
            if known[k] == 0:
                address = context.lane_address[n] + np.uint64(k)
                report(
                    checks,
                    reports,
                    state.UNWRITTEN_BYTES,
                    i,
                    context.warp * 32 + n,
                    address,
                    GLOBAL,
                    -1,
                    -1,
                    1,
                )
                break


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def accessed(checks, reports, checked, context, i, k, mask):
    """The memory that instruction i has just accessed, in all (k is i) or in piece k."""
    if checked[k].bytes == 0:
        return
    copies = checked[k].copies == state.COPIES
    lanes = mask if copies else np.int64(context.access_mask)
    if lanes == 0:
        return
    if checks.what & state.INIT:
        if copies and checked[k].copied_bytes and checks.global_shadow:
            _read(checks, reports, context, i, np.int64(checked[k].copied_bytes), lanes)
        _initialised(checks, reports, checked, context, i, k, lanes & -lanes if context.uniform else lanes)
    if checks.what & state.RACES:
        races(checks, reports, checked, context, i, k, lanes)


@njit(types.void(_C, _CHECKED, _X, _INT, _INT))
def after(checks, checked, context, i, mask):
    """The registers that an instruction wrote."""
    if checks.what & state.INIT:
        registers = flat_i32(checks.registers, checked[i].end)
        written = flat_u32(checks.written, checks.n_registers * checks.n_warps)
        for k in range(checked[i].writes, checked[i].end):
            at = context.warp * checks.n_registers + registers[k]
            written[at] = np.uint32((np.int64(written[at]) | mask) & ~checks.tainted)
            if checks.tainted:
                flat_i32(checks.origins, checks.n_registers * checks.n_warps)[at] = np.int32(checks.origin)


@njit(types.void(_C, _CHECKED, _X, _INT, _INT))
def stack(checks, checked, context, i, mask):
    """Before an instruction that calls a function or takes memory from the stack."""
    if checks.what & state.INIT and checked[i].call >= 0:
        enter_frame(checks, context, np.int64(checked[i].call), mask)
    elif checks.what & state.INIT and checked[i].allocates:
        grow_stack(checks, context, mask)


@njit(types.void(_C, _CHECKED, _X, _INT, _INT))
def returned(checks, checked, context, i, mask):
    """All lanes have come back from call i."""
    if checks.what & state.INIT:
        leave_frame(checks, context, np.int64(checked[i].call), mask)


@njit(types.void(_C, _CHECKED, _X, _INT, _INT))
def copied(checks, checked, context, i, mask):
    """An instruction that ends a group of asynchronous copies, waits for groups, or has an mbarrier track them."""
    what = checked[i].copies
    if checks.what & state.RACES == 0 or what == state.COPIES:
        return
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        thread = context.warp * 32 + n
        if what == state.COMMITS:
            end_segment(checks, thread, state.COMMITTED)
        elif what == state.AWAITS:
            await_groups(checks, thread, np.int64(checked[i].groups))
        elif what == state.TRACKS:
            end_segment(checks, thread, state.TRACKED)


@njit(types.int64(_C, _REPORTS, _X, _INT, _INT))
def fault(checks, reports, context, i, k):
    """Report a bad access of instruction i or its piece k, and clear the error; returns its lane."""
    kind = state.MISALIGNED_ACCESS if context.error == MISALIGNED else state.BAD_ACCESS
    lane = context.error_lane
    report(
        checks,
        reports,
        kind,
        i,
        context.warp * 32 + lane,
        context.error_address,
        context.access_space,
        -1,
        k,
        1,
    )
    context.error = 0
    return lane


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def reach(checks, reports, context, i, aligned, mask, live):
    """A barrier that lanes `mask` of the `live` ones execute."""
    if checks.what & state.BARRIERS and aligned and mask != live:
        missing = live & ~mask
        thread, other = context.warp * 32 + ctz(mask), context.warp * 32 + ctz(missing)
        kind, lanes = state.DIVERGENT_BARRIER, np.uint64(mask)
        report(checks, reports, kind, i, thread, lanes, NO_SPACE, -1, other, popcount(missing))


@njit(types.void(_C, _REPORTS, *[_INT] * 4))
def missed(checks, reports, i, arrived, ended, last):
    """A barrier of all threads is complete; warps `ended` have ended without it, the first at instruction `last`."""
    if checks.what & state.BARRIERS:
        thread, warps = 32 * ctz(arrived), np.uint64(ended)
        report(checks, reports, state.MISSED_BARRIER, i, thread, warps, NO_SPACE, last, 32 * ctz(ended), 1)
