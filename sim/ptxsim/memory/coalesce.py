"""What a warp's memory instruction asks of the memory system: its accesses, and the conflicts in shared memory.

Global and local memory: one access per touched segment of 32, 64 or 128 bytes (for lanes of 1, 2 or more bytes); an
access that uses one half of 128 or 64 bytes shrinks to that half. Local memory is interleaved by words of 4 bytes over
all threads of the GPU, so that the same word of consecutive threads lies side by side. Atomics go by half warps, and
lanes that hit the same word need accesses of their own. Constant memory and textures: one access per line.
Accesses are listed in the order in which the LDST unit serves them: the highest address first.

Input is what the instruction left in its `CONTEXT` record: `lane_address` and `access_mask`.
Reference: timing-model section 3.1; the segment rules are those of the CUDA C Programming Guide for compute capability
1.2 and 1.3.
"""

from typing import Any

import numpy as np

from ptxsim.jit import njit, record

MAX_ACCESSES = 128  # 32 lanes of 16 bytes in local memory
LOCAL_BASE = 1 << 44
"""Where local memory lies for caches and DRAM; far from any global buffer."""

ACCESSES = record(
    [
        ("count", "i8"),
        ("address", "i8", (MAX_ACCESSES,)),
        ("bytes", "i8", (MAX_ACCESSES,)),
        ("lanes", "i8", (MAX_ACCESSES,)),  # lanes (of local memory: lane words) it serves
        # scratch
        ("words", "i8", (MAX_ACCESSES,)),  # quarters of 32 bytes in use; of atomics: words of 4 bytes
        ("bank", "i8", (32,)),
        ("link", "i8", (MAX_ACCESSES,)),
    ]
)


def make_accesses(n: int) -> Any:
    """An array of `n` empty `ACCESSES` records."""
    return np.zeros(n, ACCESSES)


@njit
def _segment_bytes(size: int) -> int:
    if size == 1:
        return 32
    return 64 if size == 2 else 128


@njit
def _touch(out: Any, start: int, size: int, segment_bytes: int) -> None:
    """Enter the bytes [start, start + size) of a lane; the list is in ascending order."""
    segment = start & -segment_bytes
    last = min(start + size, segment + segment_bytes) - 1
    quarters = (2 << ((last - segment) >> 5)) - (1 << ((start - segment) >> 5))
    k = out.count - 1
    while k >= 0 and out.address[k] > segment:
        k -= 1
    if k >= 0 and out.address[k] == segment:
        out.lanes[k] += 1
        out.words[k] |= quarters
        return
    k += 1
    for j in range(out.count, k, -1):
        out.address[j] = out.address[j - 1]
        out.lanes[j] = out.lanes[j - 1]
        out.words[j] = out.words[j - 1]
    out.address[k] = segment
    out.lanes[k] = 1
    out.words[k] = quarters
    out.count += 1


@njit
def _reverse(out: Any) -> None:
    """Turn the list: what came last is served first."""
    for k in range(out.count // 2):
        j = out.count - 1 - k
        out.address[k], out.address[j] = out.address[j], out.address[k]
        out.bytes[k], out.bytes[j] = out.bytes[j], out.bytes[k]
        out.lanes[k], out.lanes[j] = out.lanes[j], out.lanes[k]
        out.words[k], out.words[j] = out.words[j], out.words[k]


@njit
def _shrink(out: Any, segment_bytes: int) -> None:
    """Reduce every access to the half, and that to the quarter, that it uses."""
    for k in range(out.count):
        size = segment_bytes
        used = out.words[k]
        while size > 32:
            half = size >> 6  # quarters in one half
            low = used & ((1 << half) - 1)
            high = used >> half
            if low and high:
                break
            size >>= 1
            used = low
            if high:
                out.address[k] += size
                used = high
        out.bytes[k] = size


@njit
def coalesce(x: Any, size: int, out: Any) -> int:
    """List the accesses of a load or store of `size` bytes a lane in global memory; their number."""
    mask = np.int64(x.access_mask)
    segment_bytes = _segment_bytes(size)
    out.count = 0
    for lane in range(32):
        if mask >> lane & 1:
            start = np.int64(x.lane_address[lane])
            end = start + size
            while start < end:
                piece = min(end, (start & -segment_bytes) + segment_bytes) - start
                _touch(out, start, piece, segment_bytes)
                start += piece
    _shrink(out, segment_bytes)
    _reverse(out)
    return out.count


@njit
def coalesce_local(x: Any, size: int, n_threads: int, out: Any) -> int:
    """The same for local memory: `x.warp` is the warp's slot on the GPU, `n_threads` the thread slots of the GPU."""
    mask = np.int64(x.access_mask)
    piece = min(size, 4)
    segment_bytes = _segment_bytes(piece)
    out.count = 0
    for lane in range(32):
        if mask >> lane & 1:
            start = np.int64(x.lane_address[lane])
            thread = 32 * np.int64(x.warp) + lane
            for offset in range(start, start + size, piece):
                word = (offset >> 2) * n_threads + thread
                _touch(out, LOCAL_BASE + 4 * word + (offset & 3), piece, segment_bytes)
    _shrink(out, segment_bytes)
    _reverse(out)
    return out.count


@njit
def coalesce_atomic(x: Any, size: int, out: Any) -> int:
    """The same for atomics (4 or 8 bytes a lane): half warps, no two lanes of an access on the same word."""
    mask = np.int64(x.access_mask)
    out.count = 0
    for half in range(2):
        first = out.count
        for lane in range(16 * half, 16 * half + 16):
            if mask >> lane & 1:
                start = np.int64(x.lane_address[lane])
                segment = start & -128
                words = ((1 << ((size + 3) >> 2)) - 1) << ((start - segment) >> 2)
                k = first
                while k < out.count and (out.address[k] != segment or out.words[k] & words):
                    k += 1
                if k == out.count:
                    out.address[k] = segment
                    out.bytes[k] = 0
                    out.lanes[k] = 0
                    out.words[k] = 0
                    out.count += 1
                out.lanes[k] += 1
                out.words[k] |= words
    for k in range(out.count):
        quarters = 0
        for quarter in range(4):
            if out.words[k] >> (8 * quarter) & 0xFF:
                quarters |= 1 << quarter
        out.words[k] = quarters
    _shrink(out, 128)
    _reverse(out)
    return out.count


@njit
def coalesce_lines(x: Any, size: int, line_bytes: int, out: Any) -> int:
    """One access per line: constant memory (lines of 64 bytes) and textures (128)."""
    mask = np.int64(x.access_mask)
    out.count = 0
    for lane in range(32):
        if mask >> lane & 1:
            start = np.int64(x.lane_address[lane])
            _touch(out, start, min(size, line_bytes), line_bytes)
    for k in range(out.count):
        out.bytes[k] = line_bytes
    _reverse(out)
    return out.count


@njit
def shared_conflict_degree(x: Any, size: int, out: Any) -> int:
    """Cycles that the banks of shared memory need: the most distinct words of 4 bytes in one of the 32 banks."""
    mask = np.int64(x.access_mask)
    n_words = 0
    for bank in range(32):
        out.bank[bank] = -1
    worst = 1
    for lane in range(32):
        if mask >> lane & 1:
            start = np.int64(x.lane_address[lane])
            for word in range(start >> 2, ((start + size - 1) >> 2) + 1):
                # the words of a bank are a list through `link`
                k = out.bank[word & 31]
                depth = 1
                while k >= 0 and out.words[k] != word:
                    k = out.link[k]
                    depth += 1
                if k < 0 and n_words < MAX_ACCESSES:
                    out.words[n_words] = word
                    out.link[n_words] = out.bank[word & 31]
                    out.bank[word & 31] = n_words
                    n_words += 1
                    worst = max(worst, depth)
    return worst
