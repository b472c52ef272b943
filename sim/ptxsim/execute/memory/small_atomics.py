"""Atomics on 16 and 128 bits: lane by lane in ascending order, each on what the one before it left.

For `micro_operations.py`, across a boundary. 16 bits: f16 and bf16 are added in f64 and rounded once; for `min` and
`max` their bits are made integers of the same order (-0 before +0), a NaN loses. 128 bits, in two rows of the
64-bit file, are exchanged or compared and swapped.

Reference: PTX ISA, `atom` (`.noftz`: subnormals stay).
"""

import numpy as np

from ptxsim.base.jit import flat_u16, flat_u64, njit, record_type, rows_u32, rows_u64, types
from ptxsim.base.program import CONTEXT, UOP
from ptxsim.execute.codes import ADD, ATOMIC128, BFLOAT, EXCHANGE, MIN, SWAP
from ptxsim.execute.small_floats import double_to_format, format_to_double

# formats of small_floats.py: 10 and 5 bits, 7 and 8 bits, with infinities
_F16, _BF16 = 10 | 5 << 4, 7 | 8 << 4


@njit(types.int64(types.int64))
def _order(bits):
    """Bits of a half as an integer of the same order."""
    return -1 - (bits & 0x7FFF) if bits & 0x8000 else bits


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def _combined(operation, form, old, a):
    """The new value of an f16 or bf16 atomic."""
    if operation == ADD:
        return double_to_format(format_to_double(old, form) + format_to_double(a, form), 0, form)
    infinity = np.int64(0x7C00 if form == _F16 else 0x7F80)
    if old & 0x7FFF > infinity:
        return np.int64(0x7FFF) if a & 0x7FFF > infinity else a
    if a & 0x7FFF > infinity:
        return old
    is_less = _order(a) < _order(old)
    return a if is_less == (operation == MIN) else old


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def combined_small(operation, kind, old, a):
    """The same, of a kind of values."""
    return _combined(operation, np.int64(_BF16 if kind == BFLOAT else _F16), old, a)


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def _wide(context, uop, mask):
    """ATOMIC128: exchange, compare and swap; each operand is a row and the one after it."""
    base = context.constant_rows64 + context.warp * context.rows64
    r = rows_u64(context.r64, context.total_rows64)
    rd, ra, rb = uop.d + base, uop.a + base, uop.b + base
    is_swap = np.int64(uop.c & 0xFF) == SWAP
    for n in range(32):
        if (mask >> n) & 1:
            cell = flat_u64(context.lane_pointer[n] + np.uint64(uop.e), 2)
            low, high = cell[0], cell[1]
            source = rb if is_swap else ra
            if not is_swap or (low == r[ra, n] and high == r[ra + 1, n]):
                cell[0], cell[1] = r[source, n], r[source + 1, n]
            r[rd, n], r[rd + 1, n] = low, high


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def small_atomic(context, uop, mask):
    """ATOMIC16 and ATOMIC128: row d = old values."""
    if uop.op == ATOMIC128:
        _wide(context, uop, mask)
        return
    operation, kind = np.int64(uop.c & 0xFF), uop.c >> 8
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    rd = uop.d + base
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base if uop.b >= 0 else -1 - uop.b
    form = np.int64(_BF16 if kind == BFLOAT else _F16)
    for n in range(32):
        if (mask >> n) & 1:
            cell = flat_u16(context.lane_pointer[n] + np.uint64(uop.e), 1)
            old = np.int64(cell[0])
            a, b = np.int64(r[ra, n]) & 0xFFFF, np.int64(r[rb, n]) & 0xFFFF
            new = a
            if operation == SWAP:
                new = b if old == a else old
            elif operation != EXCHANGE:
                new = _combined(operation, form, old, a)
            cell[0] = np.uint16(new)
            r[rd, n] = np.uint32(old)
