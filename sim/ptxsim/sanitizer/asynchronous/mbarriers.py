"""Mbarriers of a CTA: which are initialised, in which phase they are, and whether operations fit their state.

The phase is counted by the parity that is seen whenever a warp of the CTA works on the mbarrier: between two looks at
most one phase ends, because a thread of the CTA arrives in each. A test that holds tells its warp that the operations
of the phases before are complete. At the end of the CTA no mbarrier may miss bytes, or have more than it expected.
Another CTA of the cluster may use an mbarrier when a release for the cluster has come after its initialisation.

Reference: PTX ISA, sections on `mbarrier`: phase, counts and their ranges, tracking of asynchronous operations.
"""

import numpy as np

from ptxsim.base.jit import array_of, flat_i32, flat_i64, njit, record_type, records, types
from ptxsim.base.program import AT_ONCE, CONTEXT, MAX_CLUSTER, NO_SPACE, SHARED, UOP, bulk_at
from ptxsim.execute.cluster.clusters import rank_at, shared_at
from ptxsim.execute.codes import (
    ARRIVE,
    BYTES_BITS,
    BYTES_SHIFT,
    CLUSTER_SHIFT,
    MBARRIER,
    PENDING_BITS,
    PHASE_SHIFT,
)
from ptxsim.execute.lanes import long_of, word_of
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous_state import (
    BEGUN,
    COUNT,
    MBARRIER_WORDS,
    N_MBARRIERS,
    OPENED,
    OPENER,
    PARITY,
    PLACE,
    PUBLISHED,
    STATE,
    asynchronous_at,
)
from ptxsim.sanitizer.clusters import OF_OTHER, is_there, member, publish
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import commit, observe

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS = array_of(shadow.REPORT)
_INT = types.int64
_uops = records(UOP)
_COUNT = (1 << PENDING_BITS) - 1
_SIGN = 1 << (BYTES_BITS - 1)


@njit(_INT(_C, _INT))
def find(checks, offset):
    """Where the entry of the mbarrier at an address begins; -1: there is none."""
    a = asynchronous_at(checks.asynchronous, 0)
    for k in range(a.n_mbarriers):
        if a.mbarriers[k * MBARRIER_WORDS + PLACE] == offset:
            return np.int64(k * MBARRIER_WORDS)
    return np.int64(-1)


@njit(types.void(_C, _INT, _INT))
def see(checks, entry, value):
    """An mbarrier has a value: another parity is a new phase."""
    a = asynchronous_at(checks.asynchronous, 0)
    parity = value >> PHASE_SHIFT & 1
    if a.mbarriers[entry + PARITY] != parity:
        a.mbarriers[entry + PARITY] = parity
        a.mbarriers[entry + COUNT] += 1


@njit(types.void(_C, _REPORTS, *[_INT] * 6))
def _misused(checks, reports, i, thread, offset, how, other, count):
    if checks.what & shadow.BARRIERS:
        k = report(
            checks, reports, shadow.WRONG_MBARRIER, i, thread, np.uint64(offset), SHARED, other, how, 1
        )
        if k >= 0:
            reports[k].other_cta = count


@njit(_INT(_C, _REPORTS, _X, _INT, _INT, _INT))
def _valid(checks, reports, context, i, lane, offset):
    """The entry of an mbarrier that a lane works on; -1 where none is valid there, which is reported."""
    a = asynchronous_at(checks.asynchronous, 0)
    entry = find(checks, offset)
    if entry >= 0 and a.mbarriers[entry + STATE] == state.VALID:
        return entry
    if a.n_mbarriers < N_MBARRIERS:
        how = shadow.NOT_INITIALISED if entry < 0 else shadow.INVALIDATED
        _misused(checks, reports, i, context.warp * 32 + lane, offset, how, -1, 0)
    return np.int64(-1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def _initialise(checks, reports, context, i, lane, offset, count):
    a = asynchronous_at(checks.asynchronous, 0)
    entry, thread = find(checks, offset), context.warp * 32 + lane
    if entry < 0:
        if a.n_mbarriers == N_MBARRIERS:
            return
        entry = np.int64(a.n_mbarriers * MBARRIER_WORDS)
        a.n_mbarriers += 1
        a.mbarriers[entry + COUNT] = 0
    elif a.mbarriers[entry + STATE] == state.VALID:
        first = np.int64(a.mbarriers[entry + BEGUN])
        _misused(checks, reports, i, thread, offset, shadow.INITIALISED_TWICE, first, 0)
    if count == 0 or count > _COUNT:
        _misused(checks, reports, i, thread, offset, shadow.WRONG_COUNT, -1, count)
    a.mbarriers[entry + PLACE], a.mbarriers[entry + STATE] = offset, state.VALID
    a.mbarriers[entry + BEGUN], a.mbarriers[entry + PARITY] = i, 0
    a.mbarriers[entry + OPENER], a.mbarriers[entry + PUBLISHED] = context.warp, 0
    a.mbarriers[entry + OPENED] = flat_i32(checks.clocks, 1 + context.warp * (shadow.MAX_WARPS + 1))[
        context.warp * (shadow.MAX_WARPS + 1)
    ]
    a.unpublished += 1
    a.mbarriers[entry + COUNT] += 1  # what earlier phases tracked is over


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 3))
def used_by_other(checks, of, reports, context, i, lane, place):
    """A lane uses an mbarrier of another CTA of the cluster."""
    entry, a = find(of, place), asynchronous_at(of.asynchronous, 0)
    thread = context.warp * 32 + lane
    if entry < 0 or a.mbarriers[entry + STATE] != state.VALID:
        if a.n_mbarriers < N_MBARRIERS:
            how = shadow.NOT_INITIALISED if entry < 0 else shadow.INVALIDATED
            _misused(checks, reports, i, thread, place, how, -1, 0)
    elif checks.what & shadow.RACES and a.mbarriers[entry + PUBLISHED] == 0:
        begun, kind = np.int64(a.mbarriers[entry + BEGUN]), shadow.NOT_PUBLISHED
        report(checks, reports, kind, i, thread, np.uint64(place), SHARED, begun, 0, 1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 2))
def _works_on_other(checks, reports, context, i, lane):
    """A lane arrives at an mbarrier of another CTA."""
    rank = rank_at(context, np.uint64(context.lane_address[lane]))
    if rank == checks.rank or not is_there(checks, rank):
        return
    of, pointer = member(checks, rank), context.lane_pointer[lane]
    place = np.int64(pointer - shared_at(context, context.lane_address[lane]))
    used_by_other(checks, of, reports, context, i, lane, place)
    entry = find(of, place)
    if entry >= 0:
        see(of, entry, flat_i64(pointer, 1)[0])
    publish(checks, context.warp)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def commits_to_others(checks, reports, context, i, k, mask):
    """MBARRIERS of `tcgen05.commit`: mbarriers of other CTAs. That of the pair tracks the operations of both, and so
    what was complete before these began."""
    uop = _uops(context.uops, context.n_uops)[k]
    publish(checks, context.warp)
    for lane in range(32):
        if mask >> lane & 1 == 0:
            continue
        place = word_of(context, np.int64(uop.a), lane) & ((1 << CLUSTER_SHIFT) - 1)
        for rank in range(MAX_CLUSTER):
            here = word_of(context, np.int64(uop.b), lane) >> rank & 1 and rank != checks.rank
            if not here or not is_there(checks, rank):
                continue
            of = member(checks, rank)
            used_by_other(checks, of, reports, context, i, lane, place)
            entry = find(of, place)
            if entry < 0:
                continue
            phase = np.int64(asynchronous_at(of.asynchronous, 0).mbarriers[entry + COUNT])
            if rank == checks.rank ^ 1:
                commit(of, i, context.warp * 32 + lane | OF_OTHER, entry, phase)
            memory = shared_at(context, np.uint64((rank + 1) << CLUSTER_SHIFT))
            if memory != np.uint64(0):
                see(of, entry, flat_i64(memory + np.uint64(place), 1)[0])


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def works_on_mbarrier(checks, reports, context, i, k, what, mask):
    """Lanes have executed micro-operation k, MBARRIER or MBARRIER_TEST, of instruction i, which is for `what`."""
    uop = _uops(context.uops, context.n_uops)[k]
    a = asynchronous_at(checks.asynchronous, 0)
    for n in range(32):
        offset = context.lane_pointer[n] - context.shared_memory
        if mask >> n & 1 == 0:
            continue
        if offset >= np.uint64(context.shared_bytes):
            _works_on_other(checks, reports, context, i, n)
            continue
        place = np.int64(offset)
        if what == state.INITIALISES:
            count = word_of(context, np.int64(uop.a), n)
            _initialise(checks, reports, context, i, n, place, count)
            continue
        entry = _valid(checks, reports, context, i, n, place)
        if entry < 0:
            continue
        if what == state.INVALIDATES:
            a.mbarriers[entry + STATE] = state.INVALID
            a.mbarriers[entry + COUNT] += 1
            a.mbarriers[entry + PARITY] = 0
            continue
        if uop.op == MBARRIER:
            old = long_of(context, np.int64(uop.d), n)
            see(checks, entry, old)
            phase, pending = np.int64(a.mbarriers[entry + COUNT]), old & _COUNT
            if what == state.TENSOR_COMMIT:
                commit(checks, i, context.warp * 32 + n, entry, phase)
            count = word_of(context, np.int64(uop.a), n)
            if uop.e & ARRIVE and count > pending:
                thread = context.warp * 32 + n
                begun = np.int64(a.mbarriers[entry + BEGUN])
                _misused(checks, reports, i, thread, place, shadow.TOO_MANY_ARRIVALS, begun, count)
        see(checks, entry, flat_i64(context.lane_pointer[n], 1)[0])
        if what == state.TESTS and context.yields == 0:
            end = np.int64(a.mbarriers[entry + COUNT])
            observe(checks, context.warp, state.LOADS, entry, end)
            observe(checks, context.warp, state.PRODUCTS, entry, end)


@njit(types.void(_C, _REPORTS, _X))
def left_mbarriers(checks, reports, context):
    """The CTA has ended: bytes that no copy has brought, or that no phase expected."""
    if checks.what & shadow.BARRIERS == 0:
        return
    if context.bulk and bulk_at(context.bulk, 0).when != AT_ONCE:
        return
    a = asynchronous_at(checks.asynchronous, 0)
    for k in range(a.n_mbarriers):
        entry = k * MBARRIER_WORDS
        if a.mbarriers[entry + STATE] != state.VALID:
            continue
        offset = np.uint64(a.mbarriers[entry + PLACE])
        value = flat_i64(context.shared_memory + offset, 1)[0]
        missing = ((value >> BYTES_SHIFT & 2 * _SIGN - 1) ^ _SIGN) - _SIGN
        if missing:
            at = np.int64(a.mbarriers[entry + BEGUN])
            report(checks, reports, shadow.WRONG_BYTES, at, 0, offset, NO_SPACE, -1, missing, 1)
