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
    join(checks, arrived, released)                            a barrier, or a `bar.warp.sync`, ends
    acquire(checks, warp)                                      a warp acquires the published accesses
    release(checks, warp)                                      it publishes its own

`checks` is one CHECKS record, `context` the context of the executing warp.
"""

import numpy as np
from numba import types

from ptxsim.base.jit import array_of, ctz, flat_i32, flat_u8, flat_u32, inline, njit, popcount, record_type
from ptxsim.base.program import CONTEXT, GLOBAL, LOAD, LOCAL, MISALIGNED, NO_SPACE, SHARED, STORE
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.copies import (
    NEVER,
    await_groups,
    end_segment,
    forget_copies,
    segment_stamp,
    written_since,
)
from ptxsim.sanitizer.frames import enter_frame, grow_stack, leave_frame, stack_row

_C, _X = record_type(state.CHECKS), record_type(CONTEXT)
_REPORTS, _CHECKED = array_of(state.REPORT), array_of(state.CHECKED)
_INT = types.int64
_ORDERED, _UNORDERED, _UNDER_WAY = range(3)
_CLOCKS = state.MAX_WARPS * state.MAX_WARPS


@njit(types.void(_C, _REPORTS, *[_INT] * 3, types.uint64, *[_INT] * 4))
def _report(checks, reports, kind, at, thread, address, space, other, other_thread, count):
    """Note a finding; the same one at the same place again only counts."""
    for k in range(checks.n_reports):
        r = reports[k]
        if r.other >= 0 and other >= 0:  # a race in either order is one
            same = (r.at == at and r.other == other) or (r.at == other and r.other == at)
        else:
            same = r.kind == kind and r.at == at
            same &= kind != state.UNWRITTEN_REGISTER or r.address == address
        if same:
            r.count += count
            return
    if checks.n_reports == state.MAX_REPORTS:
        checks.lost_reports += 1
        return
    r = reports[checks.n_reports]
    checks.n_reports += 1
    r.kind, r.at, r.thread, r.cta = kind, at, thread, checks.cta
    r.address, r.space, r.other, r.other_thread, r.count = address, space, other, other_thread, count


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
        clocks = flat_i32(checks.clocks, _CLOCKS)
        for k in range(state.MAX_WARPS * state.MAX_WARPS):
            clocks[k] = 0
        for w in range(state.MAX_WARPS):
            clocks[w * state.MAX_WARPS + w] = 1
        published = flat_i32(checks.published, state.MAX_WARPS)
        for k in range(state.MAX_WARPS):
            published[k] = 0
        granules = flat_i32(checks.granules, checks.n_granules * state.GRANULE)
        for k in range(checks.n_granules * state.GRANULE):
            granules[k] = 0
        if checks.segments:
            forget_copies(checks)


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
    _report(checks, reports, kind, i, thread, np.uint64(register), NO_SPACE, -1, origin - 1, count)


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
                _report(
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


@njit(types.int64(_C, _X, *[_INT] * 6))
def _unordered(checks, context, lane, thread, epoch, many, strong, me_strong):
    """Whether another thread's access (its number + 1, its warp's epoch then) may be at the same time as this lane's.

    `many`: other lanes of that thread's warp made the same access. _UNDER_WAY: a copy that was not waited for.
    """
    if thread == 0 or (strong and me_strong):
        return _ORDERED
    other = thread - 1
    warp = other >> 5
    if epoch < 0:
        epoch = written_since(checks, other, epoch, context.warp)
        if epoch == NEVER:
            return _UNDER_WAY
    known = flat_i32(checks.clocks, _CLOCKS)[context.warp * state.MAX_WARPS + warp]
    if warp == context.warp:
        if checks.lockstep or (other & 31 == lane and not many):
            return _ORDERED
        return _UNORDERED if epoch == known else _ORDERED
    return _UNORDERED if epoch > known else _ORDERED


@njit(types.int32(types.uint64, _INT))
def _content(address, shift):
    """What a granule holds."""
    if shift == 2:
        return flat_i32(address, 1)[0]
    bytes_ = flat_u8(address, 2)
    return np.int32(bytes_[0]) | (np.int32(bytes_[1]) << 8 if shift else np.int32(0))


@inline
def _row_of(checks, granule):
    """The address of a granule's row."""
    return checks.granules + np.uint64(4 * state.GRANULE * granule)


@njit
def _reader(g, me, epoch, i, strong, many):
    """Keep a granule's new reader, and the last one of another warp."""
    if g[state.READER] != 0:
        if (g[state.READER] - 1) >> 5 == (me - 1) >> 5:
            many |= g[state.READER_EPOCH] == epoch and (g[state.READER] != me or g[state.READER_MANY] != 0)
        else:
            for k in range(state.OTHER - state.READER):
                g[state.OTHER + k] = g[state.READER + k]
    g[state.READER], g[state.READER_EPOCH], g[state.READER_AT], g[state.READER_STRONG] = me, epoch, i, strong
    g[state.READER_MANY] = np.int32(many)


@njit(types.void(_C, _REPORTS, _CHECKED, _X, *[_INT] * 3))
def _races(checks, reports, checked, context, i, k, lanes):
    """An access to shared memory against those before it. Lanes at one address count as one, several lanes wide."""
    epoch = flat_i32(checks.clocks, _CLOCKS)[context.warp * state.MAX_WARPS + context.warp]
    strong, access = np.int64(checked[k].strong), checked[k].access
    copies = checked[k].copies == state.COPIES
    shift, last_byte = checks.granule_shift, np.int64(checked[k].bytes) - 1
    shared_bytes = np.uint64(context.shared_bytes)
    many = False
    if context.uniform:
        many = lanes & (lanes - 1) != 0
        first = ctz(lanes)
        g = flat_i32(_row_of(checks, np.int64(context.lane_address[first]) >> shift), state.GRANULE)
        if (
            many and g[state.WRITER] == context.warp * 32 + first + 1
        ):  # its own value is no race: test another lane
            first = ctz(lanes & (lanes - 1))
        lanes = np.int64(1) << first
    for n in range(32):
        if (lanes >> n) & 1 == 0:
            continue
        offset = context.lane_pointer[n] - context.shared_memory
        if offset >= shared_bytes:
            continue
        me = context.warp * 32 + n + 1
        stamp = segment_stamp(checks, me - 1) if copies else np.int64(epoch)
        for granule in range(np.int64(offset) >> shift, ((np.int64(offset) + last_byte) >> shift) + 1):
            g = flat_i32(_row_of(checks, granule), state.GRANULE)
            writer = np.int64(g[state.WRITER])
            # many lanes of one store: one wins
            same_store = g[state.WRITER_AT] == i and (writer - 1) >> 5 == context.warp
            if copies:
                same_store &= g[state.WRITER_EPOCH] == stamp
            if access != LOAD:
                value = _content(context.shared_memory + np.uint64(granule << shift), shift)
                same_store |= access == STORE and g[state.VALUE] == value  # nor is the same value
                g[state.VALUE] = value
            if writer != 0 and not same_store:
                found = _unordered(
                    checks, context, n, writer, g[state.WRITER_EPOCH], 0, g[state.WRITER_STRONG], strong
                )
                if found != _ORDERED:
                    kind = state.READ_AFTER_WRITE if access == LOAD else state.WRITE_AFTER_WRITE
                    if found == _UNDER_WAY:
                        kind = state.READ_BEFORE_COPY if access == LOAD else state.WRITE_BEFORE_COPY
                    _report(
                        checks, reports, kind, i, me - 1, offset, SHARED, g[state.WRITER_AT], writer - 1, 1
                    )
            if access == LOAD:
                _reader(g, me, epoch, i, strong, many)
                continue
            if g[state.READER] != 0:
                for r in range(state.READER, state.OTHER + 1, state.OTHER - state.READER):
                    if _unordered(checks, context, n, g[r], g[r + 1], g[r + 4], g[r + 3], strong):
                        kind, at, other = state.WRITE_AFTER_READ, g[r + 2], g[r] - 1
                        _report(checks, reports, kind, i, me - 1, offset, SHARED, at, other, 1)
                        break
                g[state.READER] = g[state.OTHER] = 0
            g[state.WRITER], g[state.WRITER_EPOCH] = me, stamp
            g[state.WRITER_AT], g[state.WRITER_STRONG] = i, strong


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
                _report(
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
        _races(checks, reports, checked, context, i, k, lanes)


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
    _report(
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
        _report(checks, reports, kind, i, thread, lanes, NO_SPACE, -1, other, popcount(missing))


@njit(types.void(_C, _INT, _INT))
def join(checks, arrived, released):
    """A barrier ends: accesses of the arrived warps are ordered before those of the released; a new epoch begins."""
    if checks.what & state.RACES == 0:
        return
    clocks = flat_i32(checks.clocks, _CLOCKS)
    for k in range(state.MAX_WARPS):
        latest = np.int32(0)
        for w in range(checks.n_warps):
            if ((arrived | released) >> w) & 1:
                latest = max(latest, clocks[w * state.MAX_WARPS + k])
        for w in range(checks.n_warps):
            if (released >> w) & 1:
                clocks[w * state.MAX_WARPS + k] = latest
    for w in range(checks.n_warps):
        if ((arrived | released) >> w) & 1:
            clocks[w * state.MAX_WARPS + w] += 1


@njit(types.void(_C, _INT))
def acquire(checks, warp):
    """All published accesses are ordered before the later ones of a warp."""
    if checks.what & state.RACES:
        known, published = flat_i32(checks.clocks, _CLOCKS), flat_i32(checks.published, state.MAX_WARPS)
        for k in range(state.MAX_WARPS):
            if k != warp:
                known[warp * state.MAX_WARPS + k] = max(known[warp * state.MAX_WARPS + k], published[k])
        if checks.tests:
            flat_i32(checks.tests, state.MAX_WARPS)[warp] += 1


@njit(types.void(_C, _INT))
def release(checks, warp):
    """Publish the accesses of a warp, and those ordered before them; the warp begins a new epoch."""
    if checks.what & state.RACES:
        known, published = flat_i32(checks.clocks, _CLOCKS), flat_i32(checks.published, state.MAX_WARPS)
        for k in range(state.MAX_WARPS):
            published[k] = max(published[k], known[warp * state.MAX_WARPS + k])
        known[warp * state.MAX_WARPS + warp] += 1
