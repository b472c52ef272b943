"""The accesses of a warp's memory instruction, and its bank conflicts in shared memory.

Global and local memory: one access per touched segment of 32, 64 or 128 bytes (for lanes of 1, 2 or more bytes); an
access that uses one half of 128 or 64 bytes shrinks to that half. Local memory is interleaved by words of 4 bytes over
all threads of the GPU, so the same word of consecutive threads is adjacent. Atomics go by half warps or whole warps,
and lanes with the same address need accesses of their own. Accesses that bypass the L1 have segments of 32 bytes where
the L2 has sectors, all others where the L1 has. Constant memory and textures: one access per line. Accesses are listed
in the order in which the LDST unit serves them: the highest address first.

Input are `lane_address` and `access_mask` of the executing warp's `CONTEXT` record. The lists are arrays of the caller;
`words` has a bit for each word of 4 bytes that an access touches in its line of 128. Room for 64 accesses is enough
except for scattered vectors in local memory, whose accesses beyond it are dropped.

Handled simply: a lane of 1 or 2 bytes touches the whole word.
Reference: timing-model section 3.1, timing-model-42 section 3.1; the segment rules are those of the CUDA C Programming
Guide for compute capability 1.2 and 1.3.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import inline, njit

LOCAL_BASE = 1 << 44
"""Where local memory lies for caches and DRAM; far from any global buffer."""


@njit
def _segment_bytes(size: int) -> int:
    if size == 1:
        return 32
    return 64 if size == 2 else 128


@inline
def _stride(execution: Any, mask: int, size: int) -> int:
    """`size` if all 32 lanes access adjacent memory, 0 if all access the same address, else -1: a quick test for the
    most frequent patterns."""
    if mask != 0xFFFFFFFF:
        return -1
    first = np.int64(execution.lane_address[0])
    stride: Any = np.int64(execution.lane_address[1]) - first
    if stride != 0 and stride != size:
        return -1
    difference = np.int64(0)
    for lane in range(32):
        difference |= np.int64(execution.lane_address[lane]) ^ (first + lane * stride)
    return stride if difference == 0 else -1


@inline
def _insert(count: int, segment: int, touched: int, lines: Any, words: Any) -> int:
    """Enter the words that a lane touches into the ascending list; returns the new count."""
    k = count - 1
    while k >= 0 and np.int64(lines[k]) > segment:
        k -= 1
    if k >= 0 and np.int64(lines[k]) == segment:
        words[k] |= touched
        return count
    if count == len(lines):
        return count
    for j in range(count, k + 1, -1):
        lines[j] = lines[j - 1]
        words[j] = words[j - 1]
    lines[k + 1] = segment
    words[k + 1] = touched
    return count + 1


@njit
def _words(start: int, last: int) -> int:
    """The words, one bit each, that the bytes start .. last touch in their line of 128 bytes."""
    return (2 << ((last & 127) >> 2)) - (1 << ((start & 127) >> 2))


@njit
def _touch(count: int, start: Any, size: int, segment_bytes: int, lines: Any, words: Any) -> int:
    """Enter the bytes [start, start + size) of a lane, which may touch several segments."""
    end = start + size
    while start < end:
        segment = start & -segment_bytes
        last = min(end, segment + segment_bytes) - 1
        count = _insert(count, segment, _words(start, last), lines, words)
        start = last + 1
    return count


@njit
def _finish(count: int, segment_bytes: int, lines: Any, sizes: Any, words: Any) -> int:
    """Shrink every access to the half, then to the quarter, that it uses, and reverse the list."""
    for k in range(count):
        size: Any = segment_bytes
        line = np.int64(lines[k])
        used: Any = np.int64(words[k]) >> ((line & 127) >> 2)
        while size > 32:
            half = size >> 3  # words in one half
            low = used & ((1 << half) - 1)
            high = used >> half
            if low != 0 and high != 0:
                break
            size >>= 1
            used = low
            if high != 0:
                line += size
                used = high
        lines[k] = line
        sizes[k] = size
    for k in range(count >> 1):
        j = count - 1 - k
        for column in (lines, sizes, words):
            swapped = np.int64(column[k])
            column[k] = column[j]
            column[j] = swapped
    return count


@inline
def _local_threads(execution: Any) -> int:
    """Thread slots of the whole GPU."""
    if execution.rows32 <= 0:
        return 32 * (execution.warp + 1)
    return (execution.total_rows32 - execution.constant_rows32) // execution.rows32 * 32


@inline
def _local(execution: Any, size: int, segment_bytes: int, lines: Any, sizes: Any, words: Any) -> int:
    """Accesses in local memory: each word of a lane is adjacent to the same word of its neighbours."""
    mask = np.int64(execution.access_mask)
    piece = min(size, 4)
    segment_bytes = segment_bytes or _segment_bytes(piece)
    n_threads = _local_threads(execution)
    count = 0
    for lane in range(32):
        if mask >> lane & 1:
            start = np.int64(execution.lane_address[lane])
            for offset in range(start, start + size, piece):
                word = (offset >> 2) * n_threads + 32 * execution.warp + lane
                address = LOCAL_BASE + 4 * word + (offset & 3)
                count = _touch(count, address, piece, segment_bytes, lines, words)
    return _finish(count, segment_bytes, lines, sizes, words)


@inline
def _same_before(execution: Any, mask: Any, first: int, lane: int) -> int:
    """The number of lanes from `first` up to this one (excluded) with the same address."""
    same = 0
    for other in range(first, lane):
        if mask >> other & 1 and execution.lane_address[other] == execution.lane_address[lane]:
            same += 1
    return same


@inline
def _atomic(
    execution: Any, size: int, parts: int, segment_bytes: int, lines: Any, sizes: Any, words: Any
) -> int:
    """Accesses of an atomic: the n-th lane on an address is in the n-th access of its segment."""
    mask = np.int64(execution.access_mask)
    count = 0
    first = 0
    first_lane = 0
    for lane in range(32):
        if lane == 16 and parts == 2:
            first = count
            first_lane = lane
        if mask >> lane & 1:
            start = np.int64(execution.lane_address[lane])
            segment = start & -segment_bytes
            touched = _words(start, min(start + size, segment + segment_bytes) - 1)
            before = _same_before(execution, mask, first_lane, lane)
            k = first
            while k < count and (np.int64(lines[k]) != segment or before > 0):
                if np.int64(lines[k]) == segment:
                    before -= 1
                k += 1
            if k < count:
                words[k] |= touched
            elif count < len(lines):
                lines[count] = segment
                words[count] = touched
                count += 1
    return _finish(count, segment_bytes, lines, sizes, words)


@inline
def coalesce(
    execution: Any, size: int, local: int, atomic: int, segment_bytes: int, lines: Any, sizes: Any, words: Any
) -> int:
    """List the accesses (addresses, bytes, words) of a load, store or atomic of `size` bytes a lane; their number.

    `atomic` is 0, or the parts of a warp that atomics are split into (2: half warps, 1: the whole warp).
    `segment_bytes` is 0 for segments whose size follows from `size`.
    """
    if local:
        return _local(execution, size, segment_bytes, lines, sizes, words)
    if atomic:
        return _atomic(execution, size, atomic, segment_bytes or 128, lines, sizes, words)
    mask = np.int64(execution.access_mask)
    segment_bytes = segment_bytes or _segment_bytes(size)
    count = 0
    stride = _stride(execution, mask, size)
    if stride >= 0:
        count = _touch(
            count, np.int64(execution.lane_address[0]), 31 * stride + size, segment_bytes, lines, words
        )
        return _finish(count, segment_bytes, lines, sizes, words)
    for lane in range(32):
        if mask >> lane & 1:
            count = _touch(count, np.int64(execution.lane_address[lane]), size, segment_bytes, lines, words)
    return _finish(count, segment_bytes, lines, sizes, words)


@inline
def constant_lines(execution: Any, line_bytes: int, lines: Any) -> int:
    """List the distinct lines of the lanes' addresses (constant memory: 64 bytes); returns their number."""
    if execution.uniform:
        lines[0] = np.int64(execution.lane_address[0]) & -line_bytes
        return 1
    mask = np.int64(execution.access_mask)
    count = 0
    for lane in range(32):
        if mask >> lane & 1:
            line = np.int64(execution.lane_address[lane]) & -line_bytes
            k = count
            while k > 0 and np.int64(lines[k - 1]) < line:
                k -= 1
            if k > 0 and np.int64(lines[k - 1]) == line:
                continue
            for j in range(count, k, -1):
                lines[j] = lines[j - 1]
            lines[k] = line
            count += 1
    return count


@inline
def shared_conflict_degree(execution: Any, size: int) -> int:
    """Cycles that the banks of shared memory need: the most distinct words of 4 bytes in one of the 32 banks.

    Only the first word of each lane counts: lanes are aligned, so the n-th words conflict with each other as the first
    ones do. A bank's words are chained in `lane_target`, which a memory instruction does not use: entry b holds the
    first lane of bank b in its low byte and the lane that follows lane b in the next byte (plus 1, 0 is the end).
    """
    mask = np.int64(execution.access_mask)
    worst = 1
    if size <= 4 and _stride(execution, mask, size) >= 0:
        return worst
    for lane in range(32):
        execution.lane_target[lane] = 0
    for lane in range(32):
        if mask >> lane & 1:
            word = np.int64(execution.lane_address[lane]) >> 2
            bank = word & 31
            first = execution.lane_target[bank] & 255
            found = first
            depth = 1
            while found > 0 and np.int64(execution.lane_address[found - 1]) >> 2 != word:
                found = execution.lane_target[found - 1] >> 8
                depth += 1
            if found == 0:
                execution.lane_target[lane] = (execution.lane_target[lane] & 255) | first << 8
                execution.lane_target[bank] = (execution.lane_target[bank] & ~255) | (lane + 1)
                worst = max(worst, depth)
    return worst
