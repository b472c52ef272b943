"""Loads and stores: addresses of a warp's lanes, their check, and the accesses themselves.

An access first finds the address of every active lane within its space and where it lies in the simulator's own memory
(`lane_pointer`), and checks bounds and alignment of all lanes before anything is read or written: the first lane that
fails is reported and nothing happens. Global memory is checked against the exact bounds of the buffer that holds
the address; a launch may tolerate accesses outside of all buffers, which are counted. Where all lanes lie at equal
distances (`stride`), as they mostly do, the two ends are checked instead of 32 addresses, and lanes side by side are
copied as one row. Generic addresses are global ones except for the windows of the other spaces (execute/codes.py); the
space the timing model sees is the first active lane's.
"""

import numpy as np

from ptxsim.base.jit import (
    address_of,
    ctz,
    flat_u8,
    flat_u16,
    flat_u32,
    flat_u64,
    inline,
    njit,
    record_type,
    types,
)
from ptxsim.base.program import (
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
from ptxsim.execute.arithmetic import select
from ptxsim.execute.cluster.clusters import check_cluster
from ptxsim.execute.codes import (
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
from ptxsim.execute.memory.access_marks import mark
from ptxsim.execute.row_elements import load_i32, load_u32, load_u64, store_u32, store_u64

_CONTEXT, _UOP = record_type(CONTEXT), record_type(UOP)
ALL_LANES = 0xFFFFFFFF
_WIDEST = 64  # bytes from lane to lane: what a stride may be
_WINDOW_BITS = np.uint64(0x00FF_FFFF)


@inline
def find_allocation(context, address):
    """The number of the global buffer that holds an address, -1 if none does."""
    bounds = flat_u64(context.allocations, 2 * context.n_allocations)
    low, high = 0, context.n_allocations
    while low < high:
        middle = (low + high) >> 1
        if bounds[2 * middle + 1] > address:
            high = middle
        else:
            low = middle + 1
    if low < context.n_allocations and bounds[2 * low] <= address:
        return low
    return -1


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def _fault(context, kind, lane, address):
    context.error = kind
    context.error_lane = lane
    context.error_address = address
    context.access_mask = np.uint64(0)
    return 0


@njit(types.int64(_CONTEXT, types.uint64, types.uint64))
def _tolerated(context, address, n_bytes):
    """Whether the launch tolerates an access outside of all allocations, which is counted: 1 or 0."""
    if (
        address < context.tolerated_start
        or address >= context.tolerated_end
        or address + n_bytes > context.tolerated_end
    ):
        return 0
    if context.n_tolerated == 0:
        context.first_tolerated = address
    context.n_tolerated += 1
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.uint64))
def _check_global(context, mask, n_bytes):
    """Global accesses: pointers, bounds, alignment. 1 if all is well."""
    shift = context.global_memory - context.global_base
    first = context.lane_address[
        ctz(mask)
    ]  # stands in for the lanes that do nothing: the loop has no branches
    addresses, pointers = address_of(context.lane_address), address_of(context.lane_pointer)
    low, high, union = first, first, np.uint64(0)
    for n in range(32):
        address = select((mask >> n) & 1 != 0, load_u64(addresses, addresses, 0, n), first)
        store_u64(pointers, n, address + shift)
        low = min(low, address)
        high = max(high, address)
        union |= address
    found = find_allocation(context, low)
    bounds = flat_u64(context.allocations, 2 * context.n_allocations)
    if (
        found >= 0
        and high <= bounds[2 * found + 1] - n_bytes
        and union & (n_bytes - np.uint64(1)) == np.uint64(0)
    ):
        return 1
    for n in range(32):  # several buffers, or a fault
        if (mask >> n) & 1:
            address = context.lane_address[n]
            found = find_allocation(context, address)
            is_outside = found < 0 or address + n_bytes > bounds[2 * found + 1]
            if is_outside and _tolerated(context, address, n_bytes) == 0:
                return _fault(context, OUT_OF_BOUNDS, n, address)
            if address & (n_bytes - np.uint64(1)) != np.uint64(0):
                return _fault(context, MISALIGNED, n, address)
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.int64))
def _check_window(context, mask, n_bytes, space):
    """Accesses to a space that begins at 0. 1 if all is well."""
    base, size, stride = context.shared_memory, context.shared_bytes, 0
    if space == LOCAL:
        base, size, stride = context.local_memory, context.local_bytes, context.local_bytes
        base += np.uint64(context.warp * 32 * stride)
    elif space == CONST:
        base, size = context.constant_memory, context.constant_bytes
    elif space == PARAM:
        base, size = context.param_memory, context.param_bytes
    limit = np.uint64(size)
    first = context.lane_address[ctz(mask)]
    addresses, pointers = address_of(context.lane_address), address_of(context.lane_pointer)
    high, union = first, np.uint64(0)
    for n in range(32):
        address = select((mask >> n) & 1 != 0, load_u64(addresses, addresses, 0, n), first)
        store_u64(pointers, n, base + address + np.uint64(n * stride))
        high = max(high, address)
        union |= address
    if n_bytes <= limit and high <= limit - n_bytes and union & (n_bytes - np.uint64(1)) == np.uint64(0):
        return 1
    if space == SHARED:
        return check_cluster(context, mask, n_bytes)
    for n in range(32):  # a fault: the first lane's
        address = context.lane_address[n]
        if (mask >> n) & 1:
            if address + n_bytes > limit or address > limit:
                return _fault(context, OUT_OF_BOUNDS, n, address)
            if address & (n_bytes - np.uint64(1)) != np.uint64(0):
                return _fault(context, MISALIGNED, n, address)
    return 1


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.int64, types.uint64))
def _check_uniform(context, mask, n_bytes, space, address):
    """Shared memory, constants or parameters at one address for all lanes. 1 if all is well."""
    base, size = context.shared_memory, context.shared_bytes
    if space == CONST:
        base, size = context.constant_memory, context.constant_bytes
    elif space == PARAM:
        base, size = context.param_memory, context.param_bytes
    context.access_mask = np.uint64(mask)
    context.access_space = space
    context.uniform = 1
    context.stride = 0 if mask == ALL_LANES else -1
    for n in range(32):
        context.lane_address[n] = address
        context.lane_pointer[n] = base + address
    if mask == 0:
        return 1
    if address + n_bytes > np.uint64(size) or address > np.uint64(size):
        if space == SHARED:
            return check_cluster(context, mask, n_bytes)
        return _fault(context, OUT_OF_BOUNDS, ctz(mask), address)
    if address & (n_bytes - np.uint64(1)) != np.uint64(0):
        return _fault(context, MISALIGNED, ctz(mask), address)
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
def _check_generic(context, mask, n_bytes):
    """Generic accesses: the lanes of each space by themselves. 1 if all is well."""
    found = np.int64(GLOBAL)  # the first lane's space
    left = mask
    for space in range(GLOBAL, PARAM + 1):
        lanes = np.int64(0)
        for n in range(32):
            if (left >> n) & 1 and generic_space(context.lane_address[n]) == space:
                lanes |= np.int64(1) << n
        if lanes == 0:
            continue
        if lanes & (mask & -mask):
            found = np.int64(space)
        context.access_space = space
        left &= ~lanes  # addresses in windows become offsets: a lane is looked at once
        if space == GLOBAL:
            if _check_global(context, lanes, n_bytes) == 0:
                return 0
        else:
            for n in range(32):
                if (lanes >> n) & 1:
                    context.lane_address[n] &= _WINDOW_BITS
            if _check_window(context, lanes, n_bytes, space) == 0:
                return 0
        if lanes == mask:
            return 1
        for n in range(32):  # a check writes the pointers of all lanes: keep those that are right
            if (lanes >> n) & 1:
                context.lane_target[n] = np.int64(context.lane_pointer[n])
    for n in range(32):
        context.lane_pointer[n] = np.uint64(context.lane_target[n])
    context.access_space = found
    return 1


@inline
def _set_stride(context, mask):
    """Note whether all lanes access memory, at equal distances of no more than `_WIDEST` bytes."""
    context.stride = -1
    if mask == ALL_LANES:
        first = context.lane_address[0]
        stride = context.lane_address[1] - first
        if stride <= np.uint64(_WIDEST):
            addresses = address_of(context.lane_address)
            difference = np.uint64(0)
            for n in range(32):
                difference |= load_u64(addresses, addresses, 0, n) ^ (first + np.uint64(n) * stride)
            if difference == np.uint64(0):
                context.stride = np.int64(stride)


@inline
def _check_stride(context, space, n_bytes):
    """An access with a stride: 1 if all is well, and 0 if that is to be seen. Leaves the pointers."""
    first = context.lane_address[0]
    last = first + np.uint64(31 * context.stride)
    if (first | np.uint64(context.stride)) & (n_bytes - np.uint64(1)) != np.uint64(0):
        return 0
    if space == GENERIC and (last < np.uint64(PARAM_WINDOW) or first >= np.uint64(WINDOWS_END)):
        space = np.int64(GLOBAL)
    if space == GLOBAL:
        found = find_allocation(context, first)
        if (
            found < 0
            or last + n_bytes > flat_u64(context.allocations, 2 * context.n_allocations)[2 * found + 1]
        ):
            return 0
        shift = context.global_memory - context.global_base
    elif space == SHARED:
        if first > np.uint64(context.shared_bytes) or last + n_bytes > np.uint64(context.shared_bytes):
            return 0
        shift = context.shared_memory
    else:
        return 0
    context.access_space = space
    addresses, pointers = address_of(context.lane_address), address_of(context.lane_pointer)
    for n in range(32):
        store_u64(pointers, n, load_u64(addresses, addresses, 0, n) + shift)
    return 1


@inline
def _check_access(context, mask, space, n_bytes):
    """Check the access of lanes `mask` at `lane_address`, and find where it lies. 0 after a fault."""
    context.access_mask = np.uint64(mask)
    context.access_space = space
    _set_stride(context, mask)
    if mask == 0:
        return 1
    if context.stride >= 0 and _check_stride(context, space, n_bytes):
        return 1
    if space == GLOBAL:
        return _check_global(context, mask, n_bytes)
    if space == GENERIC:
        return _check_generic(context, mask, n_bytes)
    return _check_window(context, mask, n_bytes, space)


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def access(context, uop, mask):
    """ACCESS32 and ACCESS64: addresses, their check, and marks. 0 after a fault."""
    a, b, offset = np.int64(uop.a), np.int64(uop.b), np.int64(uop.e)
    space, n_bytes = np.int64(uop.c & 0xFF), np.uint64(uop.c >> 8)
    own32, all32, own64, all64 = context.own32, context.r32, context.own64, context.r64
    addresses = address_of(context.lane_address)
    context.uniform = 0
    if uop.op == ACCESS32:
        if a < 0 and b < 0 and (space == SHARED or space == CONST or space == PARAM):
            first, second = load_u32(all32, all32, a, 0), load_u32(all32, all32, b, 0)
            address = (np.int64(first) + np.int64(second) + offset) & 0xFFFFFFFF
            return _check_uniform(context, mask, n_bytes, space, np.uint64(address))
        for n in range(32):
            left, right = load_u32(own32, all32, a, n), load_u32(own32, all32, b, n)
            store_u64(addresses, n, np.uint64((np.int64(left) + np.int64(right) + offset) & 0xFFFFFFFF))
    else:
        for n in range(32):
            right = np.uint64(np.int64(load_i32(own32, all32, b, n)))
            store_u64(addresses, n, load_u64(own64, all64, a, n) + right + np.uint64(offset))
    found = _check_access(context, mask, space, n_bytes)
    if uop.d and found and mask:
        mark(context, mask, n_bytes, uop.d)
    return found


@njit(types.void(_CONTEXT, _UOP, types.int64))
def load(context, uop, mask):
    """LOAD_*: row d of the lanes that access memory."""
    op = uop.op
    offset = np.uint64(np.int64(uop.e))
    first = context.lane_pointer[0] + offset
    if op == LOAD_64:
        to = context.own64 + np.uint64(np.int64(uop.d) << 8)
        if context.stride == 8 and mask == ALL_LANES:
            for n in range(32):
                store_u64(to, n, load_u64(first, first, 0, n))
            return
        for n in range(32):
            if (mask >> n) & 1:
                store_u64(to, n, flat_u64(context.lane_pointer[n] + offset, 1)[0])
        return
    to = context.own32 + np.uint64(np.int64(uop.d) << 7)
    if op == LOAD_32 and context.uniform:
        if mask:
            value = np.int64(flat_u32(first, 1)[0])
            for n in range(32):
                old = np.int64(load_u32(to, to, 0, n))
                store_u32(to, n, select((mask >> n) & 1 != 0, value, old))
    elif op == LOAD_32 and mask == ALL_LANES:
        if context.stride == 4:
            for n in range(32):
                store_u32(to, n, np.int64(load_u32(first, first, 0, n)))
            return
        for n in range(32):
            store_u32(to, n, np.int64(flat_u32(context.lane_pointer[n] + offset, 1)[0]))
    elif op == LOAD_32:
        for n in range(32):
            if (mask >> n) & 1:
                store_u32(to, n, np.int64(flat_u32(context.lane_pointer[n] + offset, 1)[0]))
    elif op in (LOAD_U8, LOAD_S8):
        sign = np.int64(0x80) if op == LOAD_S8 else np.int64(0)
        for n in range(32):
            if (mask >> n) & 1:
                value = np.int64(flat_u8(context.lane_pointer[n] + offset, 1)[0])
                store_u32(to, n, (value ^ sign) - sign)
    else:
        sign = np.int64(0x8000) if op == LOAD_S16 else np.int64(0)
        for n in range(32):
            if (mask >> n) & 1:
                value = np.int64(flat_u16(context.lane_pointer[n] + offset, 1)[0])
                store_u32(to, n, (value ^ sign) - sign)


@njit(types.void(_CONTEXT, _UOP, types.int64))
def store(context, uop, mask):
    """STORE_*: row a to memory, lanes in ascending order (the last of several to one address stays)."""
    op = uop.op
    a, offset = np.int64(uop.a), np.uint64(np.int64(uop.e))
    own32, all32, own64, all64 = context.own32, context.r32, context.own64, context.r64
    first = context.lane_pointer[0] + offset
    if op == STORE_64:
        if context.stride == 8 and mask == ALL_LANES:
            for n in range(32):
                store_u64(first, n, load_u64(own64, all64, a, n))
            return
        for n in range(32):
            if (mask >> n) & 1:
                flat_u64(context.lane_pointer[n] + offset, 1)[0] = load_u64(own64, all64, a, n)
    elif op == STORE_32:
        if context.stride == 4 and mask == ALL_LANES:
            for n in range(32):
                store_u32(first, n, np.int64(load_u32(own32, all32, a, n)))
            return
        for n in range(32):
            if (mask >> n) & 1:
                flat_u32(context.lane_pointer[n] + offset, 1)[0] = load_u32(own32, all32, a, n)
    elif op == STORE_16:
        for n in range(32):
            if (mask >> n) & 1:
                value = np.uint16(np.int64(load_u32(own32, all32, a, n)) & 0xFFFF)
                flat_u16(context.lane_pointer[n] + offset, 1)[0] = value
    else:
        for n in range(32):
            if (mask >> n) & 1:
                value = np.uint8(np.int64(load_u32(own32, all32, a, n)) & 0xFF)
                flat_u8(context.lane_pointer[n] + offset, 1)[0] = value
