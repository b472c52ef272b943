"""Asynchronous operations in flight: which there are, and which warps know that they are complete.

The run performs an operation where it is issued; hardware performs it later, at any time until something that tracks it
says so: an mbarrier whose phase is complete, a wait for its group. A warp knows this from the test or wait that it
executes itself, or by the order that barriers and releases establish after those of another warp (`order.py`). What
the operation writes must not be accessed before, what it reads must not be written.

    begin(checks, kind, at, thread, tracker, phase)    a new operation; its number
    stamp_of(number)                                   for the granules that it accesses
    is_complete(checks, stamp, warp)                   whether a warp knows that it is complete
    observe(checks, warp, kind, tracker, end)          the warp learns it of those of a tracker, in phases before `end`

The last N_OPERATIONS are kept; older ones count as complete.

Reference: PTX ISA, "Memory Consistency Model": asynchronous operations; `cp.async.bulk`, `wgmma`, `tcgen05`.
"""

import numpy as np

from ptxsim.base.jit import flat_i32, njit, record_type, types
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer.asynchronous_state import (
    AT,
    FIRST_STAMP,
    KIND,
    N_OPERATIONS,
    OPERATION,
    PHASE,
    SEEN,
    SWIZZLE,
    THREAD,
    TRACKER,
    asynchronous_at,
)
from ptxsim.sanitizer.shadow_state import CHECKS, MAX_WARPS

_C = record_type(CHECKS)
_INT = types.int64


@njit(_INT(_INT))
def stamp_of(number):
    """The stamp of an operation."""
    return FIRST_STAMP - number


@njit(_INT(_INT))
def entry_of(number):
    """Where the entry of an operation begins."""
    return number % N_OPERATIONS * OPERATION


@njit(_INT(_C, *[_INT] * 5))
def begin(checks, kind, at, thread, tracker, phase):
    """A new operation; its number."""
    a = asynchronous_at(checks.asynchronous, 0)
    number = np.int64(a.n_operations)
    a.n_operations = number + 1
    entry = entry_of(number)
    for k in range(OPERATION):
        a.operations[entry + k] = 0
    a.operations[entry + KIND], a.operations[entry + AT] = kind, at
    a.operations[entry + THREAD] = thread
    a.operations[entry + TRACKER], a.operations[entry + PHASE] = tracker, phase
    return number


@njit(_INT(_C, *[_INT] * 5))
def continued(checks, kind, at, thread, tracker, phase):
    """The latest operation with this tracker and phase, of the same instruction or not; a new one if there is none."""
    a = asynchronous_at(checks.asynchronous, 0)
    last = np.int64(a.n_operations)
    for number in range(last - 1, max(np.int64(-1), last - 64), -1):
        entry = entry_of(number)
        if (
            a.operations[entry + KIND] == kind
            and a.operations[entry + AT] == at
            and a.operations[entry + THREAD] == thread
            and a.operations[entry + TRACKER] == tracker
            and a.operations[entry + PHASE] == phase
        ):
            return number
    return begin(checks, kind, at, thread, tracker, phase)


@njit(types.boolean(_C, _INT, _INT))
def is_complete(checks, stamp, warp):
    """Whether a warp knows that the operation of a stamp is complete."""
    a = asynchronous_at(checks.asynchronous, 0)
    number = FIRST_STAMP - stamp
    if number + N_OPERATIONS < a.n_operations:
        return True
    seen = entry_of(number) + SEEN
    if a.operations[seen + warp]:
        return True
    clocks = flat_i32(checks.clocks, MAX_WARPS * MAX_WARPS)
    for w in range(checks.n_warps):
        epoch = a.operations[seen + w]
        if epoch and epoch <= clocks[warp * MAX_WARPS + w]:
            return True
    return False


@njit(types.void(_C, *[_INT] * 4))
def observe(checks, warp, kind, tracker, end):
    """A warp learns that the operations of a tracker, in phases before `end`, are complete."""
    a = asynchronous_at(checks.asynchronous, 0)
    epoch = flat_i32(checks.clocks, MAX_WARPS * MAX_WARPS)[warp * MAX_WARPS + warp]
    for k in range(min(np.int64(a.n_operations), N_OPERATIONS)):
        entry = k * OPERATION
        if (
            a.operations[entry + KIND] == kind
            and a.operations[entry + TRACKER] == tracker
            and a.operations[entry + PHASE] < end
            and a.operations[entry + SEEN + warp] == 0
        ):
            a.operations[entry + SEEN + warp] = epoch
            if kind == state.PRODUCTS:
                _observe_earlier(checks, warp, k, epoch)


@njit(types.void(_C, *[_INT] * 3))
def _observe_earlier(checks, warp, k, epoch):
    """A warp has learned that the products in place k are complete: so are those that their thread has begun before."""
    a = asynchronous_at(checks.asynchronous, 0)
    newest, thread = np.int64(a.n_operations) - 1, a.operations[k * OPERATION + THREAD]
    age = (newest - k) % N_OPERATIONS
    for other in range(min(newest + 1, N_OPERATIONS)):
        entry = other * OPERATION
        if (
            (newest - other) % N_OPERATIONS > age
            and a.operations[entry + KIND] == state.PRODUCTS
            and a.operations[entry + THREAD] == thread
            and a.operations[entry + SEEN + warp] == 0
        ):
            a.operations[entry + SEEN + warp] = epoch


@njit(types.void(_C, *[_INT] * 4))
def commit(checks, at, thread, tracker, phase):
    """An mbarrier tracks the products that a thread has begun. Where an earlier commit has done so, an operation
    without columns stands for them."""
    a, n = asynchronous_at(checks.asynchronous, 0), 0
    for k in range(min(np.int64(a.n_operations), N_OPERATIONS)):
        entry = k * OPERATION
        if (
            a.operations[entry + KIND] == state.PRODUCTS
            and a.operations[entry + THREAD] == thread
            and a.operations[entry + TRACKER] == state.OPEN
        ):
            a.operations[entry + TRACKER], a.operations[entry + PHASE] = tracker, phase
            n += 1
    if n == 0:
        begin(checks, state.PRODUCTS, at, thread, tracker, phase)


@njit(_INT(_C, _INT, _INT))
def part_of(checks, stamp, part):
    """A word of the entry of a stamp's operation (AT, THREAD, SWIZZLE, ...)."""
    return np.int64(asynchronous_at(checks.asynchronous, 0).operations[entry_of(FIRST_STAMP - stamp) + part])


@njit(types.void(_C, _INT, _INT))
def set_swizzle(checks, number, mode):
    """A copy writes with a swizzle: 1 + its mode."""
    asynchronous_at(checks.asynchronous, 0).operations[entry_of(number) + SWIZZLE] = mode
