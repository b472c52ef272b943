"""Printing, assertions and the heap: what a kernel asks of the system, as micro-operations.

`PRINT` walks the format as printf does, to know how wide the values are and which of them are strings, and writes what
it finds to the print buffer; `ptxsim/memory_image/printing.py` makes text of it. A record is words of 64 bits: their
number, 0 for printf or 1 for an assertion, then strings (bytes, and the bytes in words) and values in order: format
first, `*` widths as values. Where the buffer is full, nothing is written and printf gives -1.

The heap is one global buffer of blocks, each with a header of 16 bytes: its size, the header included, and in bit 0
whether it is in use. `MALLOC` takes the next block that is large enough, from where the last one was found, and joins
free neighbours on the way.

Lanes take their turns, the lowest first.
"""

import numpy as np

from ptxsim.base.jit import (
    flat_i32,
    flat_i64,
    flat_u8,
    flat_u64,
    njit,
    record_type,
    rows_u32,
    rows_u64,
    types,
)
from ptxsim.base.program import ASSERTED, CONST, CONTEXT, GLOBAL, LOCAL, NO_BLOCK, NO_TEXT, SHARED, UOP
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import ASSERT, FREE, HEAP_HEADER, MALLOC, PRINT
from ptxsim.execute.memory.accesses import find_allocation, generic_space

_CONTEXT = record_type(CONTEXT)
_UOP = record_type(UOP)
_WINDOW_BITS = np.uint64(0x00FF_FFFF)
_MAX_TEXT = 1 << 16
# characters
_PERCENT, _STAR, _S, _P, _H = 37, 42, 115, 112, 104


@njit(types.UniTuple(types.uint64, 2)(_CONTEXT, types.int64, types.uint64))
def _locate(context, lane, address):
    """Where a generic address lies in the simulator's memory, and where that piece ends; zeros if nowhere."""
    nowhere = (np.uint64(0), np.uint64(0))
    space = generic_space(address)
    if space == GLOBAL:
        found = find_allocation(context, address)
        if found < 0:
            return nowhere
        end = flat_u64(context.allocations, 2 * context.n_allocations)[2 * found + 1]
        shift = context.global_memory - context.global_base
        return (address + shift, end + shift)
    base, size = context.param_memory, context.param_bytes
    if space == SHARED:
        base, size = context.shared_memory, context.shared_bytes
    elif space == LOCAL:
        base = context.local_memory + np.uint64((context.warp * 32 + lane) * context.local_bytes)
        size = context.local_bytes
    elif space == CONST:
        base, size = context.constant_memory, context.constant_bytes
    offset = address & _WINDOW_BITS
    if np.int64(offset) >= size:
        return nowhere
    return (base + offset, base + np.uint64(size))


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def _fault(context, kind, lane, address):
    context.error = kind
    context.error_lane = lane
    context.error_address = address
    return 0


@njit(types.int64(_CONTEXT, types.int64, types.int64, types.uint64))
def _text(context, at, lane, address):
    """Append a string at word `at`; the word after it, -1 if the buffer is full, -2 if the address is bad."""
    words = flat_i64(context.host_memory, context.host_bytes >> 3)
    if address == np.uint64(0):
        if (at + 1) * 8 > context.host_bytes:
            return -1
        words[at] = -1
        return at + 1
    pointer, end = _locate(context, lane, address)
    if pointer == np.uint64(0):
        return -2
    limit = min(np.int64(end - pointer), _MAX_TEXT)
    text = flat_u8(pointer, limit)
    n = 0
    while n < limit and text[n] != 0:
        n += 1
    if (at + 2) * 8 + n > context.host_bytes:
        return -1
    words[at] = n
    to = flat_u8(context.host_memory + np.uint64((at + 1) * 8), n)
    for k in range(n):
        to[k] = text[k]
    return at + 1 + ((n + 7) >> 3)


@njit(types.boolean(types.int64))
def _is_flag(c):
    """Flags, width and precision: `-+ #0123456789.`"""
    return 48 <= c <= 57 or c == 45 or c == 43 or c == 32 or c == 35 or c == 46


@njit(types.boolean(types.int64))
def _is_float(c):
    """`eEfFgGaA`"""
    return 101 <= c <= 103 or 69 <= c <= 71 or c == 97 or c == 65


@njit(types.boolean(types.int64))
def _is_integer(c):
    """`diouxXc`"""
    return c == 100 or c == 105 or c == 111 or c == 117 or c == 120 or c == 88 or c == 99


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.uint64))
def _print(context, lane, format_address, values_address):
    """Append what one lane prints; the number of its values, -1 if the buffer is full, -2 after a fault."""
    words = flat_i64(context.host_memory, context.host_bytes >> 3)
    first = context.host_used >> 3
    at = first + 2
    if at * 8 > context.host_bytes:
        return -1
    at = _text(context, at, lane, format_address)
    if at < 0 or format_address == np.uint64(0):
        return -1 if at != -2 else _fault(context, NO_TEXT, lane, format_address) - 2
    length = words[first + 2]
    text = flat_u8(context.host_memory + np.uint64((first + 3) * 8), length)
    offset, count, k = np.uint64(0), 0, 0
    while k < length:
        c = np.int64(text[k])
        k += 1
        if c != _PERCENT:
            continue
        longs = 0
        while k < length:
            c = np.int64(text[k])
            k += 1
            n_bytes = 0
            if c == _STAR:
                n_bytes = 4
            elif c == 108 or c == 106 or c == 122 or c == 116:  # l j z t
                longs += 1
            elif _is_float(c) or c == _S or c == _P:
                n_bytes = 8
            elif _is_integer(c):
                n_bytes = 8 if longs else 4
            elif not (_is_flag(c) or c == _H):
                break  # %%, or nothing that printf knows
            if n_bytes == 0:
                continue
            offset = (offset + np.uint64(n_bytes - 1)) & ~np.uint64(n_bytes - 1)
            pointer, end = _locate(context, lane, values_address + offset)
            if pointer == np.uint64(0) or pointer + np.uint64(n_bytes) > end:
                return _fault(context, NO_TEXT, lane, values_address + offset) - 2
            offset += np.uint64(n_bytes)
            count += 1
            if c == _S:
                address = flat_u64(pointer, 1)[0]
                at = _text(context, at, lane, address)
                if at < 0:
                    return -1 if at == -1 else _fault(context, NO_TEXT, lane, address) - 2
            else:
                if (at + 1) * 8 > context.host_bytes:
                    return -1
                words[at] = flat_i64(pointer, 1)[0] if n_bytes == 8 else np.int64(flat_i32(pointer, 1)[0])
                at += 1
            if c != _STAR:
                break
    words[first], words[first + 1] = at - first, 0
    context.host_used = at * 8
    if context.host_used > context.host_bytes >> 1:
        context.yields = 1  # so that it is emptied before it is full
    return count


@njit(types.int64(_CONTEXT, types.int64, types.uint64, types.uint64, types.uint64, types.int64))
def _assert(context, lane, message, file, function, line):
    """Append what an assertion says, and stop."""
    words = flat_i64(context.host_memory, context.host_bytes >> 3)
    first = context.host_used >> 3
    at = first + 2
    if (at + 1) * 8 <= context.host_bytes:
        words[at] = line
        at = _text(context, at + 1, lane, message)
        if at >= 0:
            at = _text(context, at, lane, file)
        if at >= 0:
            at = _text(context, at, lane, function)
        if at >= 0:
            words[first], words[first + 1] = at - first, 1
            context.host_used = at * 8
    context.error = ASSERTED
    context.error_lane = lane
    context.error_address = message
    return 0


@njit(types.uint64(_CONTEXT, types.int64, types.uint64))
def _malloc(context, lane, size):
    """The address of a block, 0 if there is none."""
    heap = context.heap_start - context.global_base + context.global_memory
    if size > np.uint64(context.heap_bytes):
        return np.uint64(0)
    wanted = HEAP_HEADER + ((np.int64(size) + 15) & -16)
    words = flat_i64(heap, context.heap_bytes >> 3)
    if words[0] == 0:
        words[0] = context.heap_bytes
    at = context.heap_next
    walked = np.int64(0)
    while walked <= context.heap_bytes:
        block = words[at >> 3]
        if block & 1 == 0:
            while at + block < context.heap_bytes and words[(at + block) >> 3] & 1 == 0:
                block += words[(at + block) >> 3]
            words[at >> 3] = block
            if block >= wanted:
                if block > wanted:
                    words[(at + wanted) >> 3] = block - wanted
                words[at >> 3] = wanted | 1
                context.heap_next = at + wanted if at + wanted < context.heap_bytes else 0
                return context.heap_start + np.uint64(at + HEAP_HEADER)
        block &= ~np.int64(1)
        at += block
        walked += block
        if at >= context.heap_bytes:
            at = np.int64(0)
    return np.uint64(0)


@njit(types.int64(_CONTEXT, types.int64, types.uint64))
def _free(context, lane, address):
    """Give a block back. 0 after a fault: no block begins there, or it is free already."""
    if address == np.uint64(0):
        return 1
    at = np.int64(address - context.heap_start) - HEAP_HEADER
    if address < context.heap_start or at < 0 or at >= context.heap_bytes or at & 15:
        return _fault(context, NO_BLOCK, lane, address)
    words = flat_i64(
        context.heap_start - context.global_base + context.global_memory, context.heap_bytes >> 3
    )
    block = words[at >> 3]
    if block & 1 == 0 or block < HEAP_HEADER or at + block - 1 > context.heap_bytes:
        return _fault(context, NO_BLOCK, lane, address)
    words[at >> 3] = block - 1
    if context.heap_next > at:  # so that a block given back before its successor is taken joins it
        context.heap_next = at
    return 1


@njit(types.int64(_CONTEXT, _UOP, types.int64))
def _system(context, uop, mask):
    """PRINT, ASSERT, MALLOC, FREE. 0 after a fault."""
    r32 = rows_u32(context.r32, context.total_rows32)
    r64 = rows_u64(context.r64, context.total_rows64)
    base32 = context.constant_rows32 + context.warp * context.rows32
    base64 = context.constant_rows64 + context.warp * context.rows64
    ra = uop.a + base64 if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base64 if uop.b >= 0 else -1 - uop.b
    for n in range(32):
        if (mask >> n) & 1 == 0:
            continue
        if uop.op == PRINT:
            count = _print(context, n, r64[ra, n], r64[rb, n])
            if count < -1:
                return 0
            r32[uop.d + base32, n] = np.uint32(count & 0xFFFFFFFF)
        elif uop.op == MALLOC:
            r64[uop.d + base64, n] = _malloc(context, n, r64[ra, n])
        elif uop.op == FREE:
            if _free(context, n, r64[ra, n]) == 0:
                return 0
        elif uop.op == ASSERT:
            rc = uop.c + base64 if uop.c >= 0 else -1 - uop.c
            rd = uop.d + base32 if uop.d >= 0 else -1 - uop.d
            return _assert(context, n, r64[ra, n], r64[rb, n], r64[rc, n], np.int64(r32[rd, n]))
    return 1


system = boundary("system", _system, part="host")
