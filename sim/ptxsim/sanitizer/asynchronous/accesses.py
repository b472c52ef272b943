"""What an asynchronous operation accesses, against the accesses before it: order, proxy fences, swizzles.

    reads(checks, reports, context, space, i, lane, offset, n_bytes, number)     bytes that operation `number` reads
    writes(...)                                                                  and that it writes
    reads_other(checks, of, reports, context, i, lane, offset, n_bytes, number)    in the shared memory of the CTA `of`
    writes_other(of, i, thread, offset, n_bytes, number)
    reads_matrix(checks, of, reports, context, i, lane, descriptor, layout, extent, number)    by its descriptor

Reference: PTX ISA, "Memory Consistency Model": proxies; matrix descriptors (execute/tensor/descriptors.py).
"""

import numpy as np

from ptxsim.base.jit import array_of, flat_i32, njit, record_type, types
from ptxsim.base.program import CONTEXT, GLOBAL, LOAD, SHARED, STORE
from ptxsim.execute.tensor.descriptors import chunk_offset, swizzled
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.clusters import is_known
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import part_of, stamp_of
from ptxsim.sanitizer.proxies import is_fenced, is_fenced_by_any
from ptxsim.sanitizer.races import INSTRUCTION_SHIFT, note_reader, touch

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS = array_of(shadow.REPORT)
_INT = types.int64


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 6))
def fenced(checks, reports, context, space, i, lane, offset, n_bytes, proxy):
    """Report bytes whose last write is an ordinary one without a proxy fence on the way to the executing warp."""
    rows, shift, base = checks.granules, checks.granule_shift, np.uint64(0)
    if space == GLOBAL:
        rows, shift, base = checks.global_granules, checks.global_shift, context.global_base
    for granule in range(offset >> shift, ((offset + n_bytes - 1) >> shift) + 1):
        g = flat_i32(rows + np.uint64(4 * shadow.GRANULE * granule), shadow.GRANULE)
        writer, epoch = (
            np.int64(g[shadow.WRITE + shadow.THREAD]) - 1,
            np.int64(g[shadow.WRITE + shadow.EPOCH]),
        )
        if writer < 0 or epoch <= 0 or g[shadow.WRITE + shadow.CTA] != checks.cta:
            continue
        if not is_fenced(checks, proxy, context.warp, writer >> 5, epoch):
            kind = shadow.MISSING_MAP_FENCE if proxy == state.MAP_PROXY else shadow.MISSING_FENCE
            address = base + np.uint64(granule << shift)
            at = np.int64(g[shadow.WRITE + shadow.AT] >> INSTRUCTION_SHIFT)
            report(checks, reports, kind, i, context.warp * 32 + lane, address, space, at, writer, 1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 6))
def reads(checks, reports, context, space, i, lane, offset, n_bytes, number):
    """Operation `number`, which a lane has issued, reads bytes from `offset` on; -1: what completes it is unknown."""
    if n_bytes <= 0 or (space == GLOBAL and checks.global_granules == 0):
        return
    epoch = flat_i32(checks.clocks, 1 + context.warp * (shadow.MAX_WARPS + 1))[
        context.warp * (shadow.MAX_WARPS + 1)
    ]
    stamp = np.int64(epoch) if number < 0 else stamp_of(number)
    touch(
        checks, reports, context, space, i, np.uint64(offset), n_bytes, LOAD, 0, lane, 0, stamp, number >= 0
    )
    proxy = state.GLOBAL_PROXY if space == GLOBAL else state.SHARED_PROXY
    fenced(checks, reports, context, space, i, lane, offset, n_bytes, proxy)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 6))
def writes(checks, reports, context, space, i, lane, offset, n_bytes, number):
    """It writes bytes from `offset` on."""
    if n_bytes <= 0 or (space == GLOBAL and checks.global_granules == 0):
        return
    touch(
        checks,
        reports,
        context,
        space,
        i,
        np.uint64(offset),
        n_bytes,
        STORE,
        0,
        lane,
        0,
        stamp_of(number),
        True,
    )


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 5))
def reads_other(checks, of, reports, context, i, lane, offset, n_bytes, number):
    """Operation `number` of another CTA, issued by a lane of the executing one, reads bytes of its shared memory. The
    order of ordinary writes there is not known; they need a fence of the proxy."""
    thread, shift = context.warp * 32 + lane, of.granule_shift
    for granule in range(offset >> shift, ((offset + n_bytes - 1) >> shift) + 1):
        row = of.granules + np.uint64(4 * shadow.GRANULE * granule)
        g = flat_i32(row, shadow.GRANULE)
        writer, epoch = (
            np.int64(g[shadow.WRITE + shadow.THREAD]) - 1,
            np.int64(g[shadow.WRITE + shadow.EPOCH]),
        )
        kind = 0
        if writer >= 0 and epoch <= state.FIRST_STAMP:
            kind = 0 if is_known(checks, of, epoch, context.warp) else shadow.READ_BEFORE_COPY
        elif writer >= 0 and epoch > 0 and not is_fenced_by_any(of, state.SHARED_PROXY, writer >> 5, epoch):
            kind = shadow.MISSING_FENCE
        if kind:
            at = np.int64(g[shadow.WRITE + shadow.AT] >> INSTRUCTION_SHIFT)
            report(checks, reports, kind, i, thread, np.uint64(granule << shift), SHARED, at, writer, 1)
        note_reader(of, row, thread + 1, stamp_of(number), i, 0, 0)


@njit(types.void(_C, *[_INT] * 5))
def writes_other(of, i, thread, offset, n_bytes, number):
    """Operation `number` of another CTA, of a thread of the executing one, writes bytes of its shared memory."""
    for granule in range(offset >> of.granule_shift, ((offset + n_bytes - 1) >> of.granule_shift) + 1):
        g = flat_i32(of.granules + np.uint64(4 * shadow.GRANULE * granule), shadow.GRANULE)
        g[shadow.READ + shadow.THREAD] = g[shadow.OTHER_READ + shadow.THREAD] = 0
        g[shadow.WRITE + shadow.CTA], g[shadow.WRITE + shadow.THREAD] = of.cta, thread + 1
        g[shadow.WRITE + shadow.EPOCH], g[shadow.WRITE + shadow.AT] = stamp_of(number), i << INSTRUCTION_SHIFT


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 4))
def _same_swizzle(checks, of, reports, context, i, lane, address, mode):
    """Report a chunk that a tensor copy has written with another swizzle than the one it is read with."""
    row = of.granules + np.uint64(4 * shadow.GRANULE * (address >> of.granule_shift))
    g = flat_i32(row, shadow.GRANULE)
    stamp = np.int64(g[shadow.WRITE + shadow.EPOCH])
    if g[shadow.WRITE + shadow.THREAD] == 0 or stamp > state.FIRST_STAMP:
        return
    written = part_of(of, stamp, state.SWIZZLE)
    at = np.int64(g[shadow.WRITE + shadow.AT] >> INSTRUCTION_SHIFT)
    if written and written != mode and part_of(of, stamp, state.AT) == at:
        thread, how = context.warp * 32 + lane, written << 8 | mode
        k = report(checks, reports, shadow.OTHER_SWIZZLE, i, thread, np.uint64(address), SHARED, at, how, 1)
        if k >= 0:
            reports[k].other_cta = checks.cta


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 6))
def reads_matrix(checks, of, reports, context, i, lane, descriptor, layout, extent, number):
    """An operation of the CTA `of` reads a matrix. `layout`: bytes of a line | across << 8 | lines of an atom << 9;
    `extent`: its first row | rows << 9 | elements along k << 18 | elements of a chunk << 27."""
    line_bytes, across, atom = layout & 0xFF, layout >> 8 & 1 != 0, layout >> 9
    first, count, k, per_chunk = extent & 0x1FF, extent >> 9 & 0x1FF, extent >> 18 & 0x1FF, extent >> 27
    start = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    base = descriptor >> 49 & 7
    mode = 1 if line_bytes == 16 else 2 if line_bytes == 32 else 3 if line_bytes == 64 else 4
    lines, chunks = (k, count // per_chunk) if across else (count, k // per_chunk)
    for line in range(lines):
        for chunk in range(chunks):
            offset = chunk_offset(
                line if across else line + first,
                chunk + first // per_chunk if across else chunk,
                line_bytes,
                leading,
                stride,
                across,
                atom,
            )
            address = swizzled(start + offset, line_bytes, base, atom)
            if address < 0 or address + 16 > context.shared_bytes:
                return
            if of.rank == checks.rank:
                reads(checks, reports, context, SHARED, i, lane, address, 16, number)
            else:
                reads_other(checks, of, reports, context, i, lane, address, 16, number)
            if checks.what & shadow.MEMORY:
                _same_swizzle(checks, of, reports, context, i, lane, address, mode)
