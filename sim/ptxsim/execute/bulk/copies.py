"""Bulk copies: what each lane asks for, and when copies complete.

A copy is made when it is executed, and has completed then (`AT_ONCE`). With `WHEN_AWAITED` it is kept, and made when
its mbarrier is tested for the second time, or when its thread waits for its group: late enough that what reads the
destination, or changes the source, without waiting gets a wrong result, and so does a test that is not repeated; a
copy that nothing waits for never happens. In a timed run (`WHEN_DUE`) the copy engine of the SM has it
(`engine_queue.py`).

Copies that wait to be awaited lie in buckets, by what tracks them; where a bucket is full, its oldest completes.

    BULK_COPY    64-bit rows d destination, a source, e mbarrier; 32-bit row b size; c flags (below)
                 with OPERANDS: d 32-bit row of CTAs, or of bytes of 16; a, b rows of bytes to leave out at both ends;
                 c how to combine: operation | kind << 8 | bytes of an element << 16, e whether subnormals stay
    BULK_TENSOR  64-bit rows d part in shared memory, a tensor map, e mbarrier; c flags; b dimensions. Of a multicast to
                 PAIRS the mbarriers lie in the even CTAs, or in the odd ones, as the one that is named
                 with OPERANDS: d CTAs, c operation; then rows of coordinates (d, a, b, c, e), then of offsets (d, a, b)
    BULK_COMMIT  ends the bulk group of each lane
    BULK_WAIT    e groups may be incomplete; a whether only their sources must have been read
    BULK_FILL    64-bit row d address in shared memory, row a size: zeros, at once; c flags: with MULTICAST in every CTA
                 of the cluster, and its mbarrier, 64-bit row e, has as many bytes

An instruction for whose copies the engine has no room leaves `repeats`, and so does one that waits.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import (
    array_of,
    ctz,
    flat_i64,
    flat_u8,
    flat_u32,
    flat_u64,
    njit,
    popcount,
    record_type,
    records,
    types,
)
from ptxsim.base.program import (
    AT_ONCE,
    BAD_TENSOR_MAP,
    BULK_BUCKETS,
    BULK_ENTRIES,
    CONST,
    CONTEXT,
    GLOBAL,
    MAX_CLUSTER,
    MISALIGNED,
    OUT_OF_BOUNDS,
    PARAM,
    SHARED,
    TENSOR_MAP_BYTES,
    TRANSFER,
    UOP,
    WHEN_DUE,
    bulk_at,
    transfer_at,
)
from ptxsim.execute.boundary import boundary
from ptxsim.execute.bulk.engine_queue import accept, free_places, own_engine
from ptxsim.execute.bulk.engine_records import (
    ALONG_W,
    BY_32,
    GATHER,
    IM2COL,
    KEEPS_SUBNORMALS,
    OPERATION_SHIFT,
    REDUCES,
    TENSOR,
    TO_GLOBAL,
    WITHIN_CLUSTER,
    copy_at,
)
from ptxsim.execute.bulk.tensor_maps import (
    B4X16,
    B4X16_P64,
    BOX,
    ELEMENT_BYTES,
    ELEMENT_KINDS,
    FIELD,
    GLOBAL_BYTES,
    PROPERTIES,
    SIZES,
    TYPE_SHIFT,
    UNIT_ELEMENTS,
)
from ptxsim.execute.bulk.transfers import box_rows, mark_written, perform, tell
from ptxsim.execute.cluster.clusters import cluster_size, rank_at, shared_at
from ptxsim.execute.codes import (
    BULK_COMMIT,
    BULK_COPY,
    BULK_FILL,
    BULK_TENSOR,
    CLUSTER_SHIFT,
)
from ptxsim.execute.lanes import fault_in, long_of, word_of
from ptxsim.execute.memory.accesses import find_allocation, generic_space

_CONTEXT, _TRANSFER = record_type(CONTEXT), record_type(TRANSFER)
_UOPS = array_of(UOP)
_uops = records(UOP)
_INT = types.int64
_BYTES = TRANSFER.itemsize
_OFFSET_BITS = np.uint64((1 << CLUSTER_SHIFT) - 1)

# flags of a micro-operation
FROM_GLOBAL, MULTICAST, MASKED, STORES, GATHERS, PIXELS, LEAVES_OUT, COMBINES, PAIRS = (
    1 << k for k in range(9)
)
PIXELS_ALONG_W, PIXELS_BY_32 = 1 << 9, 1 << 10

NEVER = 1 << 62


@njit(types.uint64(_CONTEXT, *[types.uint64] * 2, _INT, types.uint64))
def _in_shared(context, address, n_bytes, lane, align):
    """Where bytes of shared memory lie; 0 after a fault."""
    memory, offset = shared_at(context, address), address & _OFFSET_BITS
    if memory == np.uint64(0) or offset + n_bytes > np.uint64(context.shared_bytes):
        fault_in(context, OUT_OF_BOUNDS, SHARED, lane, address)
        return np.uint64(0)
    if offset & (align - np.uint64(1)):
        fault_in(context, MISALIGNED, SHARED, lane, address)
        return np.uint64(0)
    return memory + offset


@njit(types.uint64(_CONTEXT, *[types.uint64] * 2, _INT, types.uint64))
def _in_global(context, address, n_bytes, lane, align):
    """Where bytes of global memory lie; 0 after a fault."""
    found = find_allocation(context, address)
    if (
        found < 0
        or address + n_bytes > flat_u64(context.allocations, 2 * context.n_allocations)[2 * found + 1]
    ):
        fault_in(context, OUT_OF_BOUNDS, GLOBAL, lane, address)
        return np.uint64(0)
    if address & (align - np.uint64(1)):
        fault_in(context, MISALIGNED, GLOBAL, lane, address)
        return np.uint64(0)
    return address + context.global_memory - context.global_base


# ---- when copies complete


@njit(_INT(types.uint64))
def _bucket(tracker):
    return np.int64((tracker >> np.uint64(3)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(58))


@njit(types.void(_CONTEXT, _INT, _INT))
def _drop(context, bucket, place):
    """Take a transfer out of its bucket: the others keep their order."""
    bulk = bulk_at(context.bulk, 0)
    first = 1 + bucket * BULK_ENTRIES
    words = _BYTES // 8
    to = flat_i64(bulk.transfers + np.uint64((first + place) * _BYTES), BULK_ENTRIES * words)
    for k in range((bulk.n_of[bucket] - 1 - place) * words):
        to[k] = to[k + words]
    bulk.n_of[bucket] -= 1
    bulk.n -= 1


@njit(types.void(_CONTEXT, _TRANSFER))
def _complete(context, t):
    """Complete a transfer that was kept."""
    perform(context, t)
    tell(context, t)


@njit(types.void(_CONTEXT, types.uint64, _INT))
def _settle(context, tracker, is_test):
    bulk = bulk_at(context.bulk, 0)
    if bulk.n == 0 or is_test == 0:
        return
    bucket = _bucket(tracker)
    place = 0
    while place < bulk.n_of[bucket]:
        t = transfer_at(bulk.transfers, 1 + bucket * BULK_ENTRIES + place)
        if t.tracker == tracker and t.due == NEVER:
            t.due = context.cycle + 1  # the first test fails
        if t.tracker == tracker and t.due <= context.cycle:
            _complete(context, t)
            _drop(context, bucket, place)
        else:
            place += 1


@njit(types.void(_CONTEXT, _TRANSFER))
def _begin(context, t):
    """All of a transfer is known: make it, keep it, or give it to the engine."""
    bulk = bulk_at(context.bulk, 0)
    if bulk.when == WHEN_DUE:
        accept(context, t)
        return
    if bulk.when == AT_ONCE:
        perform(context, t)
        if context.error == 0:
            tell(context, t)
        return
    t.due = NEVER
    bucket = _bucket(t.tracker)
    first = 1 + bucket * BULK_ENTRIES
    if bulk.n_of[bucket] == BULK_ENTRIES:
        _complete(context, transfer_at(bulk.transfers, first))
        _drop(context, bucket, 0)
    words = _BYTES // 8
    of = flat_i64(bulk.transfers, words)
    to = flat_i64(bulk.transfers + np.uint64((first + bulk.n_of[bucket]) * _BYTES), words)
    for k in range(words):
        to[k] = of[k]
    bulk.n_of[bucket] += 1
    bulk.n += 1


@njit(types.uint64(_CONTEXT, _INT))
def _groups(context, lane):
    """Where a thread's count of groups lies, which tracks its copies."""
    return context.bulk_groups + np.uint64(8 * (context.warp * 32 + lane))


@njit(types.void(_CONTEXT, _INT))
def _forget(context, warp_in_cta):
    """A warp begins: its threads have no groups, and its CTA no copies to its shared memory."""
    bulk = bulk_at(context.bulk, 0)
    own = _groups(context, 0)
    groups = flat_i64(own, 32)
    for n in range(32):
        groups[n] = 0
    if bulk.n == 0:
        return
    for bucket in range(BULK_BUCKETS):
        place = 0
        while place < bulk.n_of[bucket]:
            t = transfer_at(bulk.transfers, 1 + bucket * BULK_ENTRIES + place)
            is_own = t.tracker - own < np.uint64(32 * 8)
            if t.what & TO_GLOBAL == 0:
                is_own = warp_in_cta == 0 and t.tracker - context.shared_memory < np.uint64(
                    context.shared_bytes
                )
            if is_own:
                _drop(context, bucket, place)
            else:
                place += 1


# ---- what lanes ask for


@njit(types.void(_CONTEXT, _TRANSFER, _INT))
def _track_by_group(context, t, lane):
    """A copy is part of its thread's open group."""
    t.tracker = _groups(context, lane)
    t.group = flat_i64(t.tracker, 1)[0]
    t.what |= TO_GLOBAL


@njit(_INT(_CONTEXT, _TRANSFER, _INT, types.uint64, types.uint64, _INT, types.uint64, _INT))
def _to_shared(context, t, flags, to, mbarrier, ctas, align, lane):
    """Begin a transfer to shared memory: of one CTA, or of every CTA of a mask. 0 after a fault."""
    size, timed = np.int64(t.bytes), bulk_at(context.bulk, 0).when == WHEN_DUE
    if flags & MULTICAST == 0:
        t.to = _in_shared(context, to, np.uint64(size), lane, align)
        t.tracker = _in_shared(context, mbarrier, np.uint64(8), lane, np.uint64(8))
        if t.to == np.uint64(0) or t.tracker == np.uint64(0):
            return 0
        _begin(context, t)
        return np.int64(context.error == 0)
    parity = rank_at(context, mbarrier) & 1 if flags & PAIRS else np.int64(0)
    for rank in range(MAX_CLUSTER):
        if ctas >> rank & 1:
            window = np.uint64(rank + 1) << np.uint64(CLUSTER_SHIFT)
            t.to = _in_shared(context, window | to & _OFFSET_BITS, np.uint64(size), lane, align)
            if flags & PAIRS:
                window = np.uint64((rank & ~1 | parity) + 1) << np.uint64(CLUSTER_SHIFT)
            t.tracker = _in_shared(
                context, window | mbarrier & _OFFSET_BITS, np.uint64(8), lane, np.uint64(8)
            )
            if t.to == np.uint64(0) or t.tracker == np.uint64(0):
                return 0
            if not timed:
                _begin(context, t)
            if context.error:
                return 0
    if timed and ctas:  # one read serves all
        t.ctas, t.cluster, t.home = ctas, context.cluster, context.shared_memory
        t.to, t.tracker = to & _OFFSET_BITS, mbarrier & _OFFSET_BITS
        t.pairs = 1 + parity if flags & PAIRS else 0
        _begin(context, t)
    return np.int64(context.error == 0)


@njit(types.uint64(_CONTEXT, types.uint64, _INT))
def _tensor_map(context, address, lane):
    """Where a tensor map lies, by its generic address; 0 after a fault."""
    space, n_bytes = generic_space(address), np.uint64(TENSOR_MAP_BYTES)
    if space == GLOBAL:
        return _in_global(context, address, n_bytes, lane, np.uint64(64))
    offset = address & np.uint64(0xFFFFFF)
    memory, size = context.param_memory, context.param_bytes
    if space == CONST:
        memory, size = context.constant_memory, context.constant_bytes
    if (space != PARAM and space != CONST) or offset + n_bytes > np.uint64(size):
        fault_in(context, OUT_OF_BOUNDS, space, lane, address)
        return np.uint64(0)
    return memory + offset


@njit(_INT(_INT))
def _signed(word):
    return (word ^ 0x80000000) - 0x80000000


@njit(_INT(_CONTEXT, _TRANSFER, _INT))
def _count_units(context, t, flags):
    """Count the first dimension in what is copied together: elements of 4 or 6 bits are. 0 after a fault."""
    type_ = np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD
    n = UNIT_ELEMENTS[type_]
    if np.int64(t.map[BOX]) % n or np.int64(t.map[SIZES]) % n or np.int64(t.place[0]) % n:
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    if (type_ == B4X16_P64 and flags & STORES) or (type_ >= B4X16 and flags & COMBINES):
        return fault_in(context, BAD_TENSOR_MAP, GLOBAL, t.lane, np.uint64(0))
    t.map[BOX] //= n
    t.map[SIZES] //= n
    t.place[0] //= n
    return 1


@njit(_INT(_CONTEXT, _TRANSFER, _UOPS, _INT, _INT))
def _ask_tensor(context, t, uops, at, lane):
    """BULK_TENSOR for one lane. 0 after a fault."""
    uop, more, places, offsets = uops[at], uops[at + 1], uops[at + 2], uops[at + 3]
    flags = np.int64(uop.c)
    pointer = _tensor_map(context, np.uint64(long_of(context, np.int64(uop.a), lane)), lane)
    if pointer == np.uint64(0):
        return 0
    words = flat_u32(pointer, TENSOR_MAP_BYTES // 4)
    for k in range(TENSOR_MAP_BYTES // 4):
        t.map[k] = words[k]
    t.what = TENSOR
    type_ = np.int64(t.map[PROPERTIES]) >> TYPE_SHIFT & FIELD
    if flags & COMBINES:
        how = np.int64(more.c) | ELEMENT_KINDS[type_] << 8 | ELEMENT_BYTES[type_] << 16
        t.what |= how << OPERATION_SHIFT | REDUCES
    t.what |= GATHER if flags & GATHERS else 0
    t.what |= IM2COL if flags & PIXELS else 0
    t.what |= ALONG_W if flags & PIXELS_ALONG_W else 0
    t.what |= BY_32 if flags & PIXELS_BY_32 else 0
    t.place[0] = _signed(word_of(context, np.int64(places.d), lane))
    t.place[1] = _signed(word_of(context, np.int64(places.a), lane))
    t.place[2] = _signed(word_of(context, np.int64(places.b), lane))
    t.place[3] = _signed(word_of(context, np.int64(places.c), lane))
    t.place[4] = _signed(word_of(context, np.int64(places.e), lane))
    t.offset[0] = word_of(context, np.int64(offsets.d), lane) & 0xFFFF
    t.offset[1] = word_of(context, np.int64(offsets.a), lane) & 0xFFFF
    t.offset[2] = word_of(context, np.int64(offsets.b), lane) & 0xFFFF
    if _count_units(context, t, flags) == 0:
        return 0
    rows = box_rows(context, t, np.int64(uop.b))
    if rows == 0:
        return 0
    t.bytes = rows * np.int64(t.map[BOX]) * GLOBAL_BYTES[type_]
    n_shared = np.uint64(rows * np.int64(t.map[BOX]) * ELEMENT_BYTES[type_])
    shared = np.uint64(long_of(context, np.int64(uop.d), lane))
    t.at = np.int64(shared & _OFFSET_BITS)
    if flags & STORES:
        t.to = _in_shared(context, shared, n_shared, lane, np.uint64(128))
        if t.to == np.uint64(0):
            return 0
        _track_by_group(context, t, lane)
        _begin(context, t)
        return np.int64(context.error == 0)
    mbarrier = np.uint64(long_of(context, np.int64(uop.e), lane))
    ctas = word_of(context, np.int64(more.d), lane)
    if _in_shared(context, shared, n_shared, lane, np.uint64(128)) == np.uint64(0):
        return 0
    return _to_shared(context, t, flags, shared, mbarrier, ctas, np.uint64(128), lane)


@njit(_INT(_CONTEXT, _TRANSFER, _UOPS, _INT, _INT))
def _ask_plain(context, t, uops, at, lane):
    """BULK_COPY for one lane. 0 after a fault."""
    uop, more = uops[at], uops[at + 1]
    flags = np.int64(uop.c)
    size = word_of(context, np.int64(uop.b), lane)
    to = np.uint64(long_of(context, np.int64(uop.d), lane))
    of = np.uint64(long_of(context, np.int64(uop.a), lane))
    if size & 15:
        return fault_in(context, MISALIGNED, GLOBAL if flags & FROM_GLOBAL else SHARED, lane, of)
    t.what = np.int64(more.c) << OPERATION_SHIFT
    t.what |= REDUCES if flags & COMBINES else 0
    t.what |= KEEPS_SUBNORMALS if more.e else 0
    mask = word_of(context, np.int64(more.d), lane)
    t.mask = mask & 0xFFFF if flags & MASKED else 0xFFFF
    t.first, t.end, t.bytes = 0, size, size
    if flags & LEAVES_OUT:
        t.first = word_of(context, np.int64(more.a), lane)
        t.end = max(np.int64(t.first), size - word_of(context, np.int64(more.b), lane))
    if size == 0:
        return 1
    sixteen, n_bytes = np.uint64(16), np.uint64(size)
    if flags & FROM_GLOBAL:
        first = np.uint64(t.first)
        t.of = _in_global(context, of + first, np.uint64(t.end - t.first), lane, np.uint64(1)) - first
        if context.error == 0 and of & np.uint64(15):
            return fault_in(context, MISALIGNED, GLOBAL, lane, of)
    else:
        t.of = _in_shared(context, of, n_bytes, lane, sixteen)
        t.what |= 0 if flags & STORES else WITHIN_CLUSTER
    if context.error:
        return 0
    if flags & STORES:
        t.to = _in_global(context, to, n_bytes, lane, sixteen)
        if t.to == np.uint64(0):
            return 0
        _track_by_group(context, t, lane)
        _begin(context, t)
        return np.int64(context.error == 0)
    mbarrier = np.uint64(long_of(context, np.int64(uop.e), lane))
    return _to_shared(context, t, flags, to, mbarrier, mask, sixteen, lane)


@njit(_INT(_CONTEXT, types.uint64, _INT, _INT))
def _zero(context, address, n_bytes, lane):
    """Zero bytes of shared memory. 0 after a fault."""
    to = _in_shared(context, address, np.uint64(n_bytes), lane, np.uint64(16))
    if to == np.uint64(0):
        return 0
    cells = flat_u8(to, n_bytes)
    for k in range(n_bytes):
        cells[k] = np.uint8(0)
    mark_written(context, to, n_bytes)
    return 1


@njit(_INT(_CONTEXT, _UOPS, _INT, _INT))
def _fill(context, uops, at, lane):
    """BULK_FILL for one lane. 0 after a fault."""
    uop = uops[at]
    to, size = np.uint64(long_of(context, np.int64(uop.d), lane)), long_of(context, np.int64(uop.a), lane)
    if np.int64(uop.c) & MULTICAST == 0:
        return _zero(context, to, size, lane)
    mbarrier = np.uint64(long_of(context, np.int64(uop.e), lane)) & _OFFSET_BITS
    t = transfer_at(bulk_at(context.bulk, 0).transfers, 0)
    t.what, t.bytes = 0, size
    for rank in range(cluster_size(context)):
        window = np.uint64(rank + 1) << np.uint64(CLUSTER_SHIFT)
        if _zero(context, window | to & _OFFSET_BITS, size, lane) == 0:
            return 0
        t.tracker = _in_shared(context, window | mbarrier, np.uint64(8), lane, np.uint64(8))
        if t.tracker == np.uint64(0):
            return 0
        tell(context, t)
    return 1


@njit(types.void(_CONTEXT, _INT, _INT, _INT))
def _await_groups(context, lane, left, is_read):
    """BULK_WAIT for one lane: complete its groups but the last `left`, or repeat the instruction."""
    bulk = bulk_at(context.bulk, 0)
    tracker = _groups(context, lane)
    groups = flat_i64(tracker, 1)[0]
    if bulk.when == WHEN_DUE:
        copies, sm = own_engine(context).used, context.warp // bulk.warps
        while copies:
            t = copy_at(bulk.transfers, sm, ctz(copies))
            copies &= copies - 1
            if t.tracker == tracker and t.group < groups - left and not (is_read and t.sent):
                context.repeats = context.yields = 1
        return
    bucket, place = _bucket(tracker), 0
    while place < bulk.n_of[bucket]:
        t = transfer_at(bulk.transfers, 1 + bucket * BULK_ENTRIES + place)
        if t.tracker != tracker or t.group >= groups - left:
            place += 1
        else:
            _complete(context, t)
            _drop(context, bucket, place)


@njit(_INT(_CONTEXT, _INT, _INT))
def _bulk(context, at, mask):
    uops = _uops(context.uops, context.n_uops)
    op = uops[at].op
    context.repeats = 0
    context.access_mask = np.uint64(0)
    bulk = bulk_at(context.bulk, 0)
    if bulk.when == WHEN_DUE and op <= BULK_TENSOR and popcount(mask) > free_places(own_engine(context)):
        context.repeats = 1
        return 1
    for lane in range(32):
        if mask >> lane & 1 == 0:
            continue
        t = transfer_at(bulk.transfers, 0)
        t.lane, t.ctas, t.pairs = lane, 0, 0
        done = 1
        if op == BULK_COPY:
            done = _ask_plain(context, t, uops, at, lane)
        elif op == BULK_TENSOR:
            done = _ask_tensor(context, t, uops, at, lane)
        elif op == BULK_FILL:
            done = _fill(context, uops, at, lane)
        elif op == BULK_COMMIT:
            flat_i64(_groups(context, lane), 1)[0] += 1
        else:
            _await_groups(context, lane, np.int64(uops[at].e), np.int64(uops[at].a))
        if done == 0 or context.error:
            return 0
    return 1


bulk: Any = boundary("bulk", _bulk, part="bulk")
"""`bulk(context, k, mask)`: micro-operation k, one of the BULK ones. 0 after a fault."""

settle: Any = boundary("settle_bulk", _settle)
"""`settle(context, mbarrier, is_test)`: before an operation on an mbarrier, count the copies that have completed."""

forget_copies: Any = boundary("forget_bulk", _forget)
"""`forget_copies(context, warp_in_cta)`: the executing warp begins."""
