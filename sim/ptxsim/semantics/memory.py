"""Loads and stores: addresses of a warp's lanes, their check, and the accesses themselves.

An access first finds the address of every active lane within its space and where it lies in the simulator's own memory
(`lane_pointer`), and checks bounds and alignment of all lanes before anything is read or written: the first lane that
fails is reported and nothing happens. Global memory is checked against the exact bounds of the buffer that holds
the address. Generic addresses are global ones except for the windows of the other spaces (semantics/codes.py); the
space the timing model sees is the first active lane's.
"""

import numpy as np
from numba import types

from ptxsim.jit import (
    ctz,
    flat_u8,
    flat_u16,
    flat_u32,
    flat_u64,
    njit,
    record_type,
    rows_i32,
    rows_u32,
    rows_u64,
)
from ptxsim.program import (
    CONST,
    CONTEXT,
    GENERIC,
    GLOBAL,
    LOCAL,
    MISALIGNED,
    OUT_OF_BOUNDS,
    PARAM,
    SHARED,
    UOP,
)
from ptxsim.semantics.codes import (
    ACCESS32,
    CONST_WINDOW,
    LOAD_32,
    LOAD_64,
    LOAD_S8,
    LOAD_S16,
    LOAD_U8,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    STORE_16,
    STORE_32,
    STORE_64,
    WINDOWS_END,
)

_CONTEXT = record_type(CONTEXT)
_WINDOW_BITS = np.uint64(0x00FF_FFFF)


@njit(types.int64(_CONTEXT, types.uint64))
def find_allocation(x, address):
    """The number of the global buffer that holds an address, -1 if none does."""
    bounds = flat_u64(x.allocations, 2 * x.n_allocations)
    low, high = 0, x.n_allocations
    while low < high:
        middle = (low + high) >> 1
        if bounds[2 * middle + 1] > address:
            high = middle
        else:
            low = middle + 1
    if low < x.n_allocations and bounds[2 * low] <= address:
        return low
    return -1


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def _fault(x, kind, lane, address):
    x.error = kind
    x.error_lane = lane
    x.error_address = address
    x.access_mask = np.uint64(0)
    return 0


@njit(types.int64(_CONTEXT, types.int64, types.uint64))
def _check_global(x, mask, n_bytes):
    """Global accesses: pointers, bounds, alignment. 1 if all is well."""
    shift = x.global_memory - x.global_base
    first = x.lane_address[ctz(mask)]  # stands in for the lanes that do nothing: the loop has no branches
    low, high, union = first, first, np.uint64(0)
    for n in range(32):
        address = x.lane_address[n] if (mask >> n) & 1 else first
        x.lane_pointer[n] = address + shift
        low = min(low, address)
        high = max(high, address)
        union |= address
    found = find_allocation(x, low)
    bounds = flat_u64(x.allocations, 2 * x.n_allocations)
    if (
        found >= 0
        and high + n_bytes <= bounds[2 * found + 1]
        and union & (n_bytes - np.uint64(1)) == np.uint64(0)
    ):
        return 1
    for n in range(32):  # several buffers, or a fault
        if (mask >> n) & 1:
            address = x.lane_address[n]
            found = find_allocation(x, address)
            if found < 0 or address + n_bytes > bounds[2 * found + 1]:
                return _fault(x, OUT_OF_BOUNDS, n, address)
            if address & (n_bytes - np.uint64(1)) != np.uint64(0):
                return _fault(x, MISALIGNED, n, address)
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.int64))
def _check_window(x, mask, n_bytes, space):
    """Accesses to a space that begins at 0. 1 if all is well."""
    base, size, stride = x.shared_memory, x.shared_bytes, 0
    if space == LOCAL:
        base, size, stride = x.local_memory, x.local_bytes, x.local_bytes
        base += np.uint64(x.warp * 32 * stride)
    elif space == CONST:
        base, size = x.constant_memory, x.constant_bytes
    elif space == PARAM:
        base, size = x.param_memory, x.param_bytes
    limit = np.uint64(size)
    first = x.lane_address[ctz(mask)]
    high, union = first, np.uint64(0)
    for n in range(32):
        address = x.lane_address[n] if (mask >> n) & 1 else first
        x.lane_pointer[n] = base + address + np.uint64(n * stride)
        high = max(high, address)
        union |= address
    if n_bytes <= limit and high <= limit - n_bytes and union & (n_bytes - np.uint64(1)) == np.uint64(0):
        return 1
    for n in range(32):  # a fault: the first lane's
        address = x.lane_address[n]
        if (mask >> n) & 1:
            if address + n_bytes > limit or address > limit:
                return _fault(x, OUT_OF_BOUNDS, n, address)
            if address & (n_bytes - np.uint64(1)) != np.uint64(0):
                return _fault(x, MISALIGNED, n, address)
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.int64, types.uint64))
def _check_uniform(x, mask, n_bytes, space, address):
    """Shared memory, constants or parameters at one address for all lanes. 1 if all is well."""
    base, size = x.shared_memory, x.shared_bytes
    if space == CONST:
        base, size = x.constant_memory, x.constant_bytes
    elif space == PARAM:
        base, size = x.param_memory, x.param_bytes
    x.access_mask = np.uint64(mask)
    x.access_space = space
    x.uniform = 1
    for n in range(32):
        x.lane_address[n] = address
        x.lane_pointer[n] = base + address
    if mask == 0:
        return 1
    if address + n_bytes > np.uint64(size) or address > np.uint64(size):
        return _fault(x, OUT_OF_BOUNDS, ctz(mask), address)
    if address & (n_bytes - np.uint64(1)) != np.uint64(0):
        return _fault(x, MISALIGNED, ctz(mask), address)
    return 1


@njit(types.int64(types.uint64))
def generic_space(address):
    """The space of a generic address."""
    if address < np.uint64(PARAM_WINDOW) or address >= np.uint64(WINDOWS_END):
        return GLOBAL
    if address >= np.uint64(SHARED_WINDOW):
        return SHARED
    if address >= np.uint64(LOCAL_WINDOW):
        return LOCAL
    return CONST if address >= np.uint64(CONST_WINDOW) else PARAM


@njit(types.int64(_CONTEXT, types.int64, types.uint64))
def _check_generic(x, mask, n_bytes):
    """Generic accesses: the lanes of each space by themselves. 1 if all is well."""
    found = np.int64(GLOBAL)  # the first lane's space
    left = mask
    for space in range(GLOBAL, PARAM + 1):
        lanes = np.int64(0)
        for n in range(32):
            if (left >> n) & 1 and generic_space(x.lane_address[n]) == space:
                lanes |= np.int64(1) << n
        if lanes == 0:
            continue
        if lanes & (mask & -mask):
            found = np.int64(space)
        x.access_space = space
        left &= ~lanes  # addresses in windows become offsets: a lane is looked at once
        if space == GLOBAL:
            if _check_global(x, lanes, n_bytes) == 0:
                return 0
        else:
            for n in range(32):
                if (lanes >> n) & 1:
                    x.lane_address[n] &= _WINDOW_BITS
            if _check_window(x, lanes, n_bytes, space) == 0:
                return 0
        if lanes == mask:
            return 1
        for n in range(32):  # a check writes the pointers of all lanes: keep those that are right
            if (lanes >> n) & 1:
                x.lane_target[n] = np.int64(x.lane_pointer[n])
    for n in range(32):
        x.lane_pointer[n] = np.uint64(x.lane_target[n])
    x.access_space = found
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def check_access(x, mask, space, n_bytes):
    """Check the access of lanes `mask` at `lane_address`, and find where it lies. 0 after a fault."""
    x.access_mask = np.uint64(mask)
    x.access_space = space
    if mask == 0:
        return 1
    if space == GLOBAL:
        return _check_global(x, mask, n_bytes)
    if space == GENERIC:
        return _check_generic(x, mask, n_bytes)
    return _check_window(x, mask, n_bytes, space)


@njit(types.int64(_CONTEXT, record_type(UOP), types.int64))
def access(x, u, mask):
    """ACCESS32 and ACCESS64: addresses and their check. 0 after a fault."""
    base32 = x.constant_rows32 + x.warp * x.rows32
    rb = u.b + base32 if u.b >= 0 else -1 - u.b
    offset = np.int64(u.e)
    x.uniform = 0
    if u.op == ACCESS32:
        r32 = rows_u32(x.r32, x.total_rows32)
        space = np.int64(u.c & 0xFF)
        if u.a < 0 and u.b < 0 and (space == SHARED or space == CONST or space == PARAM):
            address = (np.int64(r32[-1 - u.a, 0]) + np.int64(r32[-1 - u.b, 0]) + offset) & 0xFFFFFFFF
            return _check_uniform(x, mask, np.uint64(u.c >> 8), space, np.uint64(address))
        ra = u.a + base32 if u.a >= 0 else -1 - u.a
        for n in range(32):
            x.lane_address[n] = np.uint64((np.int64(r32[ra, n]) + np.int64(r32[rb, n]) + offset) & 0xFFFFFFFF)
    else:
        r64 = rows_u64(x.r64, x.total_rows64)
        i32 = rows_i32(x.r32, x.total_rows32)
        ra = u.a + x.constant_rows64 + x.warp * x.rows64 if u.a >= 0 else -1 - u.a
        for n in range(32):
            x.lane_address[n] = r64[ra, n] + np.uint64(np.int64(i32[rb, n])) + np.uint64(offset)
    return check_access(x, mask, np.int64(u.c & 0xFF), np.uint64(u.c >> 8))


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def load(x, u, mask):
    """LOAD_*: row d of the lanes that access memory."""
    op = u.op
    offset = np.uint64(u.e)
    if op == LOAD_64:
        r64 = rows_u64(x.r64, x.total_rows64)
        rd = u.d + x.constant_rows64 + x.warp * x.rows64
        for n in range(32):
            if (mask >> n) & 1:
                r64[rd, n] = flat_u64(x.lane_pointer[n] + offset, 1)[0]
        return
    r32 = rows_u32(x.r32, x.total_rows32)
    rd = u.d + x.constant_rows32 + x.warp * x.rows32
    if op == LOAD_32 and x.uniform:
        if mask:
            value = flat_u32(x.lane_pointer[0] + offset, 1)[0]
            for n in range(32):
                r32[rd, n] = value if (mask >> n) & 1 else r32[rd, n]
    elif op == LOAD_32 and mask == 0xFFFFFFFF:
        for n in range(32):
            r32[rd, n] = flat_u32(x.lane_pointer[n] + offset, 1)[0]
    elif op == LOAD_32:
        for n in range(32):
            if (mask >> n) & 1:
                r32[rd, n] = flat_u32(x.lane_pointer[n] + offset, 1)[0]
    elif op in (LOAD_U8, LOAD_S8):
        sign = np.int64(0x80) if op == LOAD_S8 else np.int64(0)
        for n in range(32):
            if (mask >> n) & 1:
                r32[rd, n] = (np.int64(flat_u8(x.lane_pointer[n] + offset, 1)[0]) ^ sign) - sign
    else:
        sign = np.int64(0x8000) if op == LOAD_S16 else np.int64(0)
        for n in range(32):
            if (mask >> n) & 1:
                r32[rd, n] = (np.int64(flat_u16(x.lane_pointer[n] + offset, 1)[0]) ^ sign) - sign


@njit(types.void(_CONTEXT, record_type(UOP), types.int64))
def store(x, u, mask):
    """STORE_*: row a to memory, lanes in ascending order (the last of several to one address stays)."""
    op = u.op
    offset = np.uint64(u.e)
    if op == STORE_64:
        r64 = rows_u64(x.r64, x.total_rows64)
        ra = u.a + x.constant_rows64 + x.warp * x.rows64 if u.a >= 0 else -1 - u.a
        for n in range(32):
            if (mask >> n) & 1:
                flat_u64(x.lane_pointer[n] + offset, 1)[0] = r64[ra, n]
        return
    r32 = rows_u32(x.r32, x.total_rows32)
    ra = u.a + x.constant_rows32 + x.warp * x.rows32 if u.a >= 0 else -1 - u.a
    if op == STORE_32:
        for n in range(32):
            if (mask >> n) & 1:
                flat_u32(x.lane_pointer[n] + offset, 1)[0] = r32[ra, n]
    elif op == STORE_16:
        for n in range(32):
            if (mask >> n) & 1:
                flat_u16(x.lane_pointer[n] + offset, 1)[0] = np.uint16(np.int64(r32[ra, n]) & 0xFFFF)
    else:
        for n in range(32):
            if (mask >> n) & 1:
                flat_u8(x.lane_pointer[n] + offset, 1)[0] = np.uint8(np.int64(r32[ra, n]) & 0xFF)
