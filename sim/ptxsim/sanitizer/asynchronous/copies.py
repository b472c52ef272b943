"""Bulk copies: what each reads and writes, what completes it, and groups that are waited for.

The addresses are those of the registers of the instruction, as execute/bulk/copies.py reads them; the size of a tensor
copy is that of the transfer that it has begun (of the last lane, where several copy a tensor). Global memory of tensors
is not looked at, nor is shared memory of other CTAs.
"""

import numpy as np

from ptxsim.base.jit import array_of, flat_i64, njit, record_type, records, types
from ptxsim.base.program import (
    CONTEXT,
    GLOBAL,
    MAX_CLUSTER,
    SHARED,
    TENSOR_MAP_BYTES,
    UOP,
    bulk_at,
    transfer_at,
)
from ptxsim.execute.bulk.tensor_maps import (
    ELEMENT_BYTES,
    FIELD,
    GLOBAL_BYTES,
    PROPERTIES,
    SWIZZLE_SHIFT,
    TYPE_SHIFT,
)
from ptxsim.execute.cluster.clusters import shared_at
from ptxsim.execute.codes import BULK_COPY, BULK_TENSOR, CLUSTER_SHIFT
from ptxsim.execute.lanes import long_of, word_of
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous.accesses import fenced, reads, writes
from ptxsim.sanitizer.asynchronous.mbarriers import see, tracker_of
from ptxsim.sanitizer.asynchronous_state import (
    AT,
    COUNT,
    KIND,
    N_OPERATIONS,
    OPERATION,
    SEEN,
    THREAD,
    asynchronous_at,
)
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import begin, observe, set_swizzle

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS = array_of(shadow.REPORT)
_INT = types.int64
_uops = records(UOP)
_OFFSET_BITS = (1 << CLUSTER_SHIFT) - 1
# flags of micro-operations: execute/bulk/copies.py
_FROM_GLOBAL, _MULTICAST, _STORES = 1, 2, 8


@njit(_INT(_X, _INT))
def _groups(context, lane):
    """The bulk groups that a thread has committed."""
    return flat_i64(context.bulk_groups + np.uint64(8 * (context.warp * 32 + lane)), 1)[0]


@njit(types.boolean(_X, _INT))
def _is_own(context, address):
    return shared_at(context, np.uint64(address)) == context.shared_memory


@njit(_INT(_C, _X, *[_INT] * 4))
def _load(checks, context, i, lane, flags, mbarrier):
    """The operation of a copy to shared memory; -1 if this CTA's mbarrier does not track it."""
    if flags & _MULTICAST == 0 and not _is_own(context, mbarrier):
        return np.int64(-1)
    a = asynchronous_at(checks.asynchronous, 0)
    pointer = context.shared_memory + np.uint64(mbarrier & _OFFSET_BITS)
    entry = tracker_of(checks, context, pointer)
    if entry < 0:
        return np.int64(-1)
    phase = np.int64(a.mbarriers[entry + COUNT])
    number = begin(checks, state.LOADS, i, context.warp * 32 + lane, entry, phase)
    see(checks, entry, flat_i64(pointer, 1)[0])
    return number


@njit(types.boolean(_X, *[_INT] * 3))
def _arrives_here(context, flags, to, ctas):
    """Whether a copy to shared memory writes that of the executing CTA."""
    if flags & _MULTICAST == 0:
        return _is_own(context, to)
    for rank in range(MAX_CLUSTER):
        if ctas >> rank & 1 and _is_own(context, (rank + 1) << CLUSTER_SHIFT | to & _OFFSET_BITS):
            return True
    return False


@njit(types.void(_C, _REPORTS, _X, _INT, _INT, _INT))
def _copy(checks, reports, context, i, k, lane):
    """BULK_COPY of a lane."""
    uops = _uops(context.uops, context.n_uops)
    uop, flags = uops[k], np.int64(uops[k].c)
    size = word_of(context, np.int64(uop.b), lane)
    to, of = long_of(context, np.int64(uop.d), lane), long_of(context, np.int64(uop.a), lane)
    thread = context.warp * 32 + lane
    if flags & _STORES:
        group = _groups(context, lane)
        source = begin(checks, state.SOURCES, i, thread, thread, group)
        destination = begin(checks, state.DESTINATIONS, i, thread, thread, group)
        reads(checks, reports, context, SHARED, i, lane, of & _OFFSET_BITS, size, source)
        start = to - np.int64(context.global_base)
        writes(checks, reports, context, GLOBAL, i, lane, start, size, destination)
        return
    ctas = word_of(context, np.int64(uops[k + 1].d), lane)
    number = _load(checks, context, i, lane, flags, long_of(context, np.int64(uop.e), lane))
    if flags & _FROM_GLOBAL:
        start = of - np.int64(context.global_base)
        reads(checks, reports, context, GLOBAL, i, lane, start, size, number)
    else:
        reads(checks, reports, context, SHARED, i, lane, of & _OFFSET_BITS, size, number)
    if number >= 0 and _arrives_here(context, flags, to, ctas):
        writes(checks, reports, context, SHARED, i, lane, to & _OFFSET_BITS, size, number)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def _copy_tensor(checks, reports, context, i, k, lane, size):
    """BULK_TENSOR of a lane, of so many bytes; 0: unknown."""
    uops = _uops(context.uops, context.n_uops)
    uop, flags = uops[k], np.int64(uops[k].c)
    map_ = long_of(context, np.int64(uop.a), lane) - np.int64(context.global_base)
    if checks.global_granules and 0 <= map_ < context.global_bytes - TENSOR_MAP_BYTES:
        fenced(checks, reports, context, GLOBAL, i, lane, map_, TENSOR_MAP_BYTES, state.MAP_PROXY)
    if size == 0:
        return
    shared, thread = long_of(context, np.int64(uop.d), lane), context.warp * 32 + lane
    if flags & _STORES:
        source = begin(checks, state.SOURCES, i, thread, thread, _groups(context, lane))
        reads(checks, reports, context, SHARED, i, lane, shared & _OFFSET_BITS, size, source)
        return
    ctas = word_of(context, np.int64(uops[k + 1].d), lane)
    number = _load(checks, context, i, lane, flags, long_of(context, np.int64(uop.e), lane))
    if number >= 0 and _arrives_here(context, flags, shared, ctas):
        words = transfer_at(bulk_at(context.bulk, 0).transfers, 0).map
        set_swizzle(checks, number, 1 + (np.int64(words[PROPERTIES]) >> SWIZZLE_SHIFT & FIELD))
        writes(checks, reports, context, SHARED, i, lane, shared & _OFFSET_BITS, size, number)


@njit(types.void(_C, _REPORTS, _X, _INT, _INT, _INT))
def copies_bulk(checks, reports, context, i, k, mask):
    """Lanes have executed micro-operation k, a bulk copy, of instruction i."""
    op = _uops(context.uops, context.n_uops)[k].op
    for lane in range(32):
        if mask >> lane & 1 == 0:
            continue
        if op == BULK_COPY:
            _copy(checks, reports, context, i, k, lane)
        elif op == BULK_TENSOR:
            size = np.int64(0)
            if mask >> lane == 1:  # the last one, which has left its transfer
                t = transfer_at(bulk_at(context.bulk, 0).transfers, 0)
                type_ = np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD
                size = np.int64(t.bytes) // GLOBAL_BYTES[type_] * ELEMENT_BYTES[type_]
            _copy_tensor(checks, reports, context, i, k, lane, size)


@njit(types.void(_C, _X, *[_INT] * 3))
def awaits_bulk(checks, context, left, is_read, mask):
    """Lanes have waited for their groups but the last `left`: for the sources (`.read`), or for all."""
    for lane in range(32):
        if mask >> lane & 1:
            thread, end = context.warp * 32 + lane, _groups(context, lane) - left
            observe(checks, context.warp, state.SOURCES, thread, end)
            if is_read == 0:
                observe(checks, context.warp, state.DESTINATIONS, thread, end)


@njit(types.void(_C, _REPORTS))
def left_copies(checks, reports):
    """The CTA has ended: copies that may still read its shared memory."""
    if checks.what & shadow.RACES == 0:
        return
    a = asynchronous_at(checks.asynchronous, 0)
    for number in range(min(np.int64(a.n_operations), N_OPERATIONS)):
        entry = number * OPERATION
        if a.operations[entry + KIND] != state.SOURCES:
            continue
        thread = np.int64(a.operations[entry + THREAD])
        if a.operations[entry + SEEN + (thread >> 5)] == 0:
            at = np.int64(a.operations[entry + AT])
            report(checks, reports, shadow.ENDS_EARLY, at, thread, np.uint64(0), SHARED, -1, 0, 1)
