"""Atomics: lane by lane in ascending order, each on what the one before it left.

Kinds of values: unsigned, signed and floating point; operations on other kinds are refused when a kernel is lowered.
Addresses have been checked by an ACCESS micro-operation before. Sums of f32 in global memory flush subnormals to zero,
in shared memory, and with `.noftz`, they keep them, as the manual says of current hardware.

Reference: PTX ISA, `atom` (inc wraps to 0 at the operand, dec wraps to the operand at 0).
"""

import numpy as np

from ptxsim.base.jit import (
    flat_u32,
    flat_u64,
    njit,
    record_type,
    rows_f32,
    rows_f64,
    rows_u32,
    rows_u64,
    types,
)
from ptxsim.base.program import CONTEXT, GLOBAL, UOP
from ptxsim.execute.codes import (
    ADD,
    AND,
    DECREMENT,
    EXCHANGE,
    FLOAT,
    INCREMENT,
    KEEPS_SUBNORMALS,
    MAX,
    MIN,
    OR,
    SIGNED,
    XOR,
)

_SMALLEST = 2.0**-126  # the smallest normal f32
_SIGN64 = np.uint64(0x8000000000000000)


@njit(types.uint64(types.int64, types.uint64, types.uint64, types.uint64))
def combine(operation, old, a, b):
    """The new value of an integer atomic, on values compared as unsigned."""
    if operation == ADD:
        return old + a
    if operation == MIN:
        return min(old, a)
    if operation == MAX:
        return max(old, a)
    if operation == AND:
        return old & a
    if operation == OR:
        return old | a
    if operation == XOR:
        return old ^ a
    if operation == EXCHANGE:
        return a
    if operation == INCREMENT:
        return np.uint64(0) if old >= a else old + np.uint64(1)
    if operation == DECREMENT:
        return a if old == np.uint64(0) or old > a else old - np.uint64(1)
    return b if old == a else old  # cas


@njit(types.float64(types.int64, types.float64, types.float64))
def combine_float(operation, old, a):
    """The new value of a floating-point atomic, before it is rounded to its width (exact enough for f32 sums)."""
    if operation == ADD:
        return old + a
    if operation == MIN:
        return a if a < old or old != old else old
    if operation == MAX:
        return a if a > old or old != old else old
    return a


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def atomic32(context, uop, mask):
    """A 32-bit atomic: row d = old values."""
    operation, kind = np.int64(uop.c & 0xFF), uop.c >> 8 & 0xFF
    base = context.constant_rows32 + context.warp * context.rows32
    r = rows_u32(context.r32, context.total_rows32)
    f = rows_f32(context.r32, context.total_rows32)
    rd = uop.d + base
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base if uop.b >= 0 else -1 - uop.b
    # adding 2^31 turns signed order into unsigned order
    bias = np.uint64(0x80000000) if kind == SIGNED and (operation in (MIN, MAX)) else np.uint64(0)
    low = np.uint64(0xFFFFFFFF)
    flushes = operation == ADD and context.access_space == GLOBAL and uop.c & KEEPS_SUBNORMALS == 0
    for n in range(32):
        if (mask >> n) & 1:
            pointer = context.lane_pointer[n] + np.uint64(uop.e)
            cell = flat_u32(pointer, 1)
            a = np.uint64(r[ra, n])
            b = np.uint64(r[rb, n])
            old = np.uint64(cell[0])
            if kind == FLOAT:
                operand = np.float64(f[ra, n])
                r[rd, n] = np.uint32(old)
                before = np.float64(f[rd, n])
                if flushes:
                    operand = np.copysign(0.0, operand) if abs(operand) < _SMALLEST else operand
                    before = np.copysign(0.0, before) if abs(before) < _SMALLEST else before
                new = np.float32(combine_float(operation, before, operand))
                f[rd, n] = np.float32(np.copysign(0.0, new)) if flushes and abs(new) < _SMALLEST else new
                cell[0] = r[rd, n]
                r[rd, n] = np.uint32(old)
            else:
                cell[0] = np.uint32((combine(operation, old ^ bias, a ^ bias, b) ^ bias) & low)
                r[rd, n] = np.uint32(old)


@njit(types.void(record_type(CONTEXT), record_type(UOP), types.int64))
def atomic64(context, uop, mask):
    """A 64-bit atomic: row d = old values."""
    operation, kind = np.int64(uop.c & 0xFF), uop.c >> 8
    base = context.constant_rows64 + context.warp * context.rows64
    r = rows_u64(context.r64, context.total_rows64)
    f = rows_f64(context.r64, context.total_rows64)
    rd = uop.d + base
    ra = uop.a + base if uop.a >= 0 else -1 - uop.a
    rb = uop.b + base if uop.b >= 0 else -1 - uop.b
    bias = _SIGN64 if kind == SIGNED and (operation in (MIN, MAX)) else np.uint64(0)
    for n in range(32):
        if (mask >> n) & 1:
            cell = flat_u64(context.lane_pointer[n] + np.uint64(uop.e), 1)
            a = r[ra, n]
            b = r[rb, n]
            old = cell[0]
            if kind == FLOAT:
                operand = f[ra, n]
                r[rd, n] = old
                f[rd, n] = combine_float(operation, f[rd, n], operand)
                cell[0] = r[rd, n]
                r[rd, n] = old
            else:
                cell[0] = combine(operation, old ^ bias, a ^ bias, b) ^ bias
                r[rd, n] = old
