"""What the loop of a CTA calls for asynchronous code: compiled on its own, and reached where a kernel has any.

begin_asynchronous(checks)                                  a CTA begins
before_asynchronous(checks, reports, checked, context, i)   registers that an instruction names
note_asynchronous(checks, reports, checked, context, i, mask, registers)    it has been executed
end_asynchronous(checks, reports, context)                  all warps have ended
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_u8, njit, popcount, record_type, records, types
from ptxsim.base.program import CONTEXT, NO_SPACE, UOP, instruction_at
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import (
    BULK_COPY,
    BULK_TENSOR,
    BULK_WAIT,
    MBARRIER,
    MBARRIER_TEST,
    MBARRIERS,
    NARROW,
    TENSOR_ALLOCATE,
    TENSOR_COPY,
    TENSOR_FREE,
    TENSOR_LOAD,
    TENSOR_MULTIPLY,
    TENSOR_SHIFT,
    TENSOR_STORE,
    WARPGROUP,
    WARPGROUP_WAIT,
)
from ptxsim.execute.lanes import lane_mask, long_of, word_of
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous.accesses import reads_matrix
from ptxsim.sanitizer.asynchronous.copies import awaits_bulk, copies_bulk, left_copies
from ptxsim.sanitizer.asynchronous.mbarriers import commits_to_others, left_mbarriers, works_on_mbarrier
from ptxsim.sanitizer.asynchronous.registers import fences_registers, forget_registers, uses_registers
from ptxsim.sanitizer.asynchronous.tensor_columns import (
    allocates,
    changes_columns,
    frees,
    left_columns,
    moves_columns,
)
from ptxsim.sanitizer.asynchronous_state import ASYNCHRONOUS, asynchronous_at
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import continued, observe
from ptxsim.sanitizer.proxies import fence

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS, _CHECKED = array_of(shadow.REPORT), array_of(shadow.CHECKED)
_INT = types.int64
_uops = records(UOP)
_SIZE = ASYNCHRONOUS.itemsize
# bytes of a line by the descriptor's bits 62 and 63: no swizzle, 128, 64, 32 bytes
_LINE_BYTES = np.array([16, 128, 64, 32])
_A_ACROSS, _B_ACROSS = 1, 2  # execute/tensor/warpgroup.py
_ROWS = 16


@njit(types.void(_C))
def _begin(checks):
    everything = flat_u8(checks.asynchronous, _SIZE)
    for k in range(_SIZE):
        everything[k] = 0
    forget_registers(checks)


@njit(types.void(_C, _REPORTS, _CHECKED, _X, _INT))
def _before(checks, reports, checked, context, i):
    if checks.what & shadow.RACES:
        uses_registers(checks, reports, checked, context, i)


@njit(types.void(_C, _REPORTS, _X, _INT, _INT))
def _multiply(checks, reports, context, i, k):
    """WARPGROUP, micro-operation k: the factors in shared memory. The warp's rows of A, and all of B."""
    uops = _uops(context.uops, context.n_uops)
    head, shape, how, layout = uops[k], uops[k + 1], uops[k + 2], uops[k + 3]
    n, length, flags = np.int64(shape.d), np.int64(shape.a), np.int64(how.c)
    group = np.int64(asynchronous_at(checks.asynchronous, 0).groups[context.warp])
    number = continued(checks, state.GROUPS, i, context.warp * 32, context.warp, group)
    if head.a == 0:
        descriptor = long_of(context, np.int64(head.c), 0)
        rank = word_of(context, np.int64(how.e), 0) & 3
        lines = _LINE_BYTES[descriptor >> 62 & 3] | (flags & _A_ACROSS != 0) << 8 | 8 << 9
        columns = length // 2 if layout.a else length
        extent = rank * _ROWS | _ROWS << 9 | columns << 18 | np.int64(layout.c & 0xFF) << 27
        reads_matrix(checks, checks, reports, context, i, 0, descriptor, lines, extent, number)
    descriptor = long_of(context, np.int64(head.b), 0)
    lines = _LINE_BYTES[descriptor >> 62 & 3] | (flags & _B_ACROSS != 0) << 8 | 8 << 9
    extent = n << 9 | length << 18 | np.int64(layout.e & 0xFF) << 27
    reads_matrix(checks, checks, reports, context, i, 0, descriptor, lines, extent, number)


@njit(types.void(_C, _INT, _INT))
def _await_products(checks, warp, left):
    """WARPGROUP_WAIT for all groups but the last `left`: a product is one of four warps, complete for all or none."""
    a = asynchronous_at(checks.asynchronous, 0)
    a.groups_done[warp] = max(a.groups_done[warp], a.groups[warp] - left)
    first = warp & ~3
    for other in range(first, min(first + 4, checks.n_warps)):
        done = np.int64(min(a.groups_done[warp], a.groups_done[other]))
        observe(checks, warp, state.GROUPS, other, done)
        observe(checks, other, state.GROUPS, warp, done)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def _cluster(checks, reports, context, i, what, mask):
    """The cluster's barrier."""
    a = asynchronous_at(checks.asynchronous, 0)
    warp = context.warp
    lanes = np.int64(a.waiting_lanes[warp])
    wrong, how = lanes & mask, shadow.ARRIVES_TWICE
    if what == state.CLUSTER_WAITS:
        wrong, how = mask & ~lanes, shadow.WAITS_WITHOUT_ARRIVING
        a.waiting_lanes[warp] = lanes & ~mask
    else:
        a.waiting_lanes[warp] = lanes | mask
        a.arrivals[warp] += lanes == 0  # of its first lanes
        a.arrived_at[warp] = i + 1
    if wrong and checks.what & shadow.BARRIERS:
        thread, count = warp * 32 + ctz(wrong), popcount(wrong)
        report(
            checks, reports, shadow.WRONG_CLUSTER_BARRIER, i, thread, np.uint64(0), NO_SPACE, -1, how, count
        )


@njit(types.void(_C, _REPORTS, _X, _INT, _INT))
def _registers_changed(checks, reports, context, i, registers):
    """`setmaxnreg`, after which the warp has so many registers per thread; 0: unknown."""
    a = asynchronous_at(checks.asynchronous, 0)
    a.changes[context.warp] += 1
    a.changed_at[context.warp] = i + 1
    goal = np.int64(instruction_at(context.instructions, i).register_goal)
    wrong = registers > goal if goal > 0 else registers < -goal
    if registers and wrong and checks.what & shadow.BARRIERS:
        thread, kind = context.warp * 32, shadow.WRONG_REGISTERS
        report(checks, reports, kind, i, thread, np.uint64(registers), NO_SPACE, -1, goal, 1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def _operate(checks, reports, context, i, k, what, mask):
    """Micro-operation k of instruction i, in lanes `mask`."""
    uop = _uops(context.uops, context.n_uops)[k]
    op, races = uop.op, checks.what & shadow.RACES
    if op == MBARRIER or op == MBARRIER_TEST:
        works_on_mbarrier(checks, reports, context, i, k, what, mask)
    elif op == MBARRIERS:
        commits_to_others(checks, reports, context, i, k, mask)
    elif races and (op == BULK_COPY or op == BULK_TENSOR):
        copies_bulk(checks, reports, context, i, k, mask)
    elif op == BULK_WAIT:
        awaits_bulk(checks, context, np.int64(uop.e), np.int64(uop.a), mask)
    elif op == WARPGROUP:
        if races:
            _multiply(checks, reports, context, i, k)
    elif op == WARPGROUP_WAIT:
        _await_products(checks, context.warp, np.int64(uop.e))
    elif op == TENSOR_ALLOCATE:
        allocates(checks, reports, context, i, k, ctz(mask))
    elif races:
        if op == TENSOR_LOAD or op == TENSOR_STORE:
            moves_columns(checks, reports, context, i, k, ctz(mask), what)
        elif op == TENSOR_FREE:
            frees(checks, reports, context, i, k, ctz(mask))
        elif op == TENSOR_MULTIPLY or op == TENSOR_COPY or op == TENSOR_SHIFT:
            for lane in range(32):
                if mask >> lane & 1:
                    changes_columns(checks, reports, context, i, k, lane)


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def _note(checks, reports, checked, context, i, mask, registers):
    a = asynchronous_at(checks.asynchronous, 0)
    what, warp = np.int64(checked[i].asynchronous), context.warp
    if what == state.FENCES_PROXY:
        fence(checks, warp, np.int64(checked[i].proxies))
    elif what == state.FENCES_REGISTERS:
        fences_registers(checks, warp)
    elif what == state.COMMITS_PRODUCTS:
        a.groups[warp] += 1
    elif what == state.AWAITS_LOADS:
        a.loads_waited[warp] += 1
    elif what == state.AWAITS_STORES:
        a.stores_waited[warp] += 1
        observe(checks, warp, state.STORES, warp, np.int64(a.stores_waited[warp]))
    elif what == state.GIVES_PERMIT:
        a.permit_given_at = i + 1
    elif what == state.CHANGES_REGISTERS:
        _registers_changed(checks, reports, context, i, registers)
    elif what == state.CLUSTER_ARRIVES or what == state.CLUSTER_WAITS:
        _cluster(checks, reports, context, i, what, mask)
    else:
        instruction = instruction_at(context.instructions, i)
        lanes = mask
        for k in range(instruction.uop_start, instruction.uop_end):
            uop = _uops(context.uops, context.n_uops)[k]
            if uop.op == NARROW:
                lanes = mask & np.int64(lane_mask(context, uop.a)) & uop.e
            _operate(checks, reports, context, i, np.int64(k), what, lanes)


@njit(types.void(_C, _REPORTS, _X))
def _end(checks, reports, context):
    a = asynchronous_at(checks.asynchronous, 0)
    left_mbarriers(checks, reports, context)
    left_copies(checks, reports)
    left_columns(checks, reports, context)
    if checks.what & shadow.BARRIERS == 0:
        return
    for w in range(checks.n_warps):
        for other in range(checks.n_warps):
            if a.arrivals[other] > a.arrivals[w]:
                at, kind = np.int64(a.arrived_at[other]) - 1, shadow.MISSED_CLUSTER_BARRIER
                report(checks, reports, kind, at, other * 32, np.uint64(w), NO_SPACE, -1, 0, 1)
            if w >> 2 == other >> 2 and a.changes[other] > a.changes[w]:
                at, kind = np.int64(a.changed_at[other]) - 1, shadow.MISSED_REGISTERS
                report(checks, reports, kind, at, other * 32, np.uint64(w), NO_SPACE, -1, 0, 1)


begin_asynchronous: Any = boundary("begin_asynchronous", _begin)
before_asynchronous: Any = boundary("before_asynchronous", _before)
note_asynchronous: Any = boundary("note_asynchronous", _note, part="checks")
end_asynchronous: Any = boundary("end_asynchronous", _end)
