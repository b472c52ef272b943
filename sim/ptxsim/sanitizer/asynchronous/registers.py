"""Registers of asynchronous instructions: results read before the wait, factors changed, products without a fence.

A warp's `wgmma` writes its accumulators, and reads A's registers, until a wait covers its group; `tcgen05.ld` writes
its registers until `tcgen05.wait::ld`. Registers that other instructions have written may be used by `wgmma` only after
`wgmma.fence`, and so may any before the first one. A `mov` of a register only hands it on: compilers write them between
the two. A wait that is missing is reported once: from then on the warp counts as having waited.

Reference: PTX ISA, `wgmma.mma_async` (accessing registers), `wgmma.fence`, `wgmma.wait_group`, `tcgen05.wait`.
"""

import numpy as np

from ptxsim.base.jit import array_of, flat_i32, flat_u8, njit, record_type, types
from ptxsim.base.program import CONTEXT, NO_SPACE
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous_state import FACTOR, LOADED, RESULT, asynchronous_at
from ptxsim.sanitizer.findings import report

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS, _CHECKED = array_of(shadow.REPORT), array_of(shadow.CHECKED)
_INT = types.int64


@njit(types.void(_C))
def forget_registers(checks):
    """A CTA begins: no fence has been executed."""
    size = checks.n_registers * checks.n_warps
    flight, changed = flat_i32(checks.flight, size), flat_u8(checks.changed, size)
    for k in range(size):
        flight[k], changed[k] = 0, 1


@njit(_INT(_C, _INT, _INT))
def _in_flight(checks, warp, value):
    """What is in flight of a register with this entry: RESULT, FACTOR, LOADED; 0 nothing."""
    a = asynchronous_at(checks.asynchronous, 0)
    how, number = value & 3, value >> 2
    if how == LOADED:
        return how if number == a.loads_waited[warp] else np.int64(0)
    return how if how and number >= a.groups_done[warp] else np.int64(0)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def _report(checks, reports, context, kind, i, register, how):
    thread = context.warp * 32
    report(checks, reports, kind, i, thread, np.uint64(register), NO_SPACE, -1, how, 1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def _not_awaited(checks, reports, context, i, register, value):
    """A register is in flight, with this entry."""
    a, how = asynchronous_at(checks.asynchronous, 0), value & 3
    _report(checks, reports, context, shadow.IN_FLIGHT, i, register, how)
    if how == LOADED:
        a.loads_waited[context.warp] += 1
    else:
        a.groups_done[context.warp] = (value >> 2) + 1


@njit(types.void(_C, _REPORTS, _CHECKED, _X, _INT))
def uses_registers(checks, reports, checked, context, i):
    """Before instruction i: the registers that it reads and writes."""
    a = asynchronous_at(checks.asynchronous, 0)
    what, warp = checked[i].asynchronous, context.warp
    size, base = checks.n_registers * checks.n_warps, warp * checks.n_registers
    flight, changed = flat_i32(checks.flight, size), flat_u8(checks.changed, size)
    registers = flat_i32(checks.registers, checked[i].fragment_end)
    first, middle, end = np.int64(checked[i].reads), np.int64(checked[i].writes), np.int64(checked[i].end)
    if what == state.MULTIPLIES:
        group = np.int64(a.groups[warp])
        for k in range(middle, np.int64(checked[i].fragment_end)):
            register = np.int64(registers[k])
            if changed[base + register]:
                _report(checks, reports, context, shadow.NO_REGISTER_FENCE, i, register, 0)
            flight[base + register] = group << 2 | (RESULT if k < end else FACTOR)
        return
    if checked[i].moves and end - middle == 1 and middle - first == 1:
        to, of = base + registers[middle], base + registers[first]
        entry = np.int64(flight[to])
        if _in_flight(checks, warp, entry) and to != of:
            _not_awaited(checks, reports, context, i, np.int64(registers[middle]), entry)
        flight[to], changed[to] = flight[of], changed[of]
        return
    for k in range(first, end):
        register = np.int64(registers[k])
        entry = np.int64(flight[base + register])
        how = _in_flight(checks, warp, entry)
        if how and (k >= middle or how != FACTOR):
            _not_awaited(checks, reports, context, i, register, entry)
        if k >= middle:
            changed[base + register] = 1
            flight[base + register] = 0
            if what == state.TENSOR_LOADS:
                flight[base + register] = np.int64(a.loads_waited[warp]) << 2 | LOADED


@njit(types.void(_C, _INT))
def fences_registers(checks, warp):
    """`wgmma.fence`: what has been written so far may be used."""
    changed = flat_u8(checks.changed, checks.n_registers * checks.n_warps)
    for k in range(checks.n_registers):
        changed[warp * checks.n_registers + k] = 0
