"""Bulk copies: what each reads and writes, what completes it, and groups that are waited for.

The addresses are those of the registers of the instruction, as execute/bulk/copies.py reads them; the size of a tensor
copy is that of the transfer that it has begun (of the last lane, where several copy a tensor). Global memory of tensors
is not looked at. Copies to other CTAs of a cluster are noted there; their order with earlier accesses is not looked at.
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
from ptxsim.execute.cluster.clusters import rank_at, shared_at
from ptxsim.execute.codes import BULK_COPY, BULK_TENSOR, CLUSTER_SHIFT
from ptxsim.execute.lanes import long_of, word_of
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous.accesses import fenced, reads, writes, writes_other
from ptxsim.sanitizer.asynchronous.mbarriers import find, see, used_by_other
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
from ptxsim.sanitizer.clusters import OF_OTHER, is_there, link, member
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import begin, observe, set_swizzle

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS = array_of(shadow.REPORT)
_INT = types.int64
_uops = records(UOP)
_OFFSET_BITS = (1 << CLUSTER_SHIFT) - 1
# flags of micro-operations: execute/bulk/copies.py
_FROM_GLOBAL, _MULTICAST, _STORES, _PAIRS = 1, 2, 8, 256


@njit(_INT(_X, _INT))
def _groups(context, lane):
    """The bulk groups that a thread has committed."""
    return flat_i64(context.bulk_groups + np.uint64(8 * (context.warp * 32 + lane)), 1)[0]


@njit(_INT(_C, _C, _X, *[_INT] * 3))
def _load(checks, of, context, i, lane, place):
    """The operation of a copy that the mbarrier at a place of the CTA `of` tracks; -1: none is known there."""
    a = asynchronous_at(of.asynchronous, 0)
    entry = find(of, place)
    memory = shared_at(context, np.uint64((of.rank + 1) << CLUSTER_SHIFT))
    if entry < 0 or memory == np.uint64(0):
        return np.int64(-1)
    thread = context.warp * 32 + lane | (OF_OTHER if of.rank != checks.rank else 0)
    number = begin(of, state.LOADS, i, thread, entry, np.int64(a.mbarriers[entry + COUNT]))
    see(of, entry, flat_i64(memory + np.uint64(place), 1)[0])
    return number


@njit(_INT(_C, _REPORTS, _X, *[_INT] * 7))
def _arrives(checks, reports, context, i, lane, what, to, mbarrier, ctas, size):
    """A copy writes the shared memory of a CTA, or of those of a mask; the operation that an mbarrier of the executing
    CTA tracks, or -1. `what`: flags | 1 + a swizzle's mode << 16."""
    flags, mode, own = what & 0xFFFF, what >> 16, np.int64(-1)
    parity = rank_at(context, np.uint64(mbarrier)) & 1
    place, thread = to & _OFFSET_BITS, context.warp * 32 + lane
    for rank in range(MAX_CLUSTER):
        tracker = rank & ~1 | parity if flags & _PAIRS else np.int64(rank)
        if flags & _MULTICAST == 0:
            if rank != rank_at(context, np.uint64(to)):
                continue
            tracker = rank_at(context, np.uint64(mbarrier))
        elif ctas >> rank & 1 == 0:
            continue
        if not is_there(checks, rank) or not is_there(checks, tracker):
            continue
        of, tracking = member(checks, rank), member(checks, tracker)
        if tracker != checks.rank:
            used_by_other(checks, tracking, reports, context, i, lane, mbarrier & _OFFSET_BITS)
        number = _load(checks, tracking, context, i, lane, mbarrier & _OFFSET_BITS)
        if number < 0:
            continue
        if tracker == checks.rank:
            own = number
        if rank != tracker:
            other = begin(of, state.LOADS, i, thread | OF_OTHER, np.int64(state.OPEN), 0)
            link(tracking, number, of, other)
            number = other
        set_swizzle(of, number, mode)
        if rank == checks.rank:
            writes(checks, reports, context, SHARED, i, lane, place, size, number)
        else:
            writes_other(of, i, thread, place, size, number)
    return own


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
    mbarrier = long_of(context, np.int64(uop.e), lane)
    number = _arrives(checks, reports, context, i, lane, flags, to, mbarrier, ctas, size)
    if flags & _FROM_GLOBAL:
        start = of - np.int64(context.global_base)
        reads(checks, reports, context, GLOBAL, i, lane, start, size, number)
    else:
        reads(checks, reports, context, SHARED, i, lane, of & _OFFSET_BITS, size, number)


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
    words = transfer_at(bulk_at(context.bulk, 0).transfers, 0).map
    what = flags | 1 + (np.int64(words[PROPERTIES]) >> SWIZZLE_SHIFT & FIELD) << 16
    mbarrier = long_of(context, np.int64(uop.e), lane)
    _arrives(checks, reports, context, i, lane, what, shared, mbarrier, ctas, size)


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
