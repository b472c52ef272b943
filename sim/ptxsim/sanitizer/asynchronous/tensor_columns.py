"""Tensor memory: products, copies and stores that may still write columns when they are read; allocation, the permit.

A column of a quarter (the 32 lanes of a warp) has the operation that has written it last. A load, a product that reads
the column, and a deallocation must know that it is complete: a store by `tcgen05.wait::st`, a product or a copy by the
mbarrier of its commit. Products and copies of one thread are performed in order and need not wait for one another.
Those of two CTAs are noted in both, each of which waits for itself.

Reference: PTX ISA, "TensorCore 5th Generation": memory consistency model, pipelined instructions, `tcgen05.alloc`.
"""

import numpy as np

from ptxsim.base.jit import array_of, flat_i64, njit, record_type, records, types
from ptxsim.base.program import CONTEXT, NO_SPACE, UOP
from ptxsim.execute.codes import TENSOR_COPY, TENSOR_MULTIPLY
from ptxsim.execute.lanes import lane_mask, long_of, word_of
from ptxsim.execute.tensor import tensor_layouts as layouts
from ptxsim.execute.tensor.tensor_layouts import (
    DEPTHS,
    F16,
    FORMATS,
    MXF4,
    MXF8F6F4,
    TF32,
    atom_of,
    line_bytes_of,
    shared_packing,
    tensor_packing,
)
from ptxsim.execute.tensor.tensor_memory import BY_LANES, HALVES, PACKED, PAIR
from ptxsim.sanitizer import asynchronous_state as state
from ptxsim.sanitizer import shadow_state as shadow
from ptxsim.sanitizer.asynchronous.accesses import reads_matrix
from ptxsim.sanitizer.asynchronous_state import COLUMNS, QUARTERS, asynchronous_at
from ptxsim.sanitizer.clusters import OF_OTHER, is_known, is_there, link, member
from ptxsim.sanitizer.findings import report
from ptxsim.sanitizer.operations import continued, part_of, stamp_of

_C, _X = record_type(shadow.CHECKS), record_type(CONTEXT)
_REPORTS = array_of(shadow.REPORT)
_INT = types.int64
_uops = records(UOP)
_IN_TENSOR_MEMORY, _STATIONARY, _PAIR, _MASKED, _SPARSE = 1, 2, 4, 8, 16
_EVERY = 15


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 6))
def _reads(checks, of, reports, context, i, lane, first, end, quarters, thread):
    """Columns of the CTA `of` are read. `thread`: its products and copies are in order with this; -1: of none."""
    a = asynchronous_at(of.asynchronous, 0)
    for q in range(QUARTERS):
        if quarters >> q & 1 == 0:
            continue
        for column in range(first, min(end, COLUMNS)):
            stamp = np.int64(a.columns[q * COLUMNS + column])
            if stamp == 0 or is_known(checks, of, stamp, context.warp):
                continue
            kind, other = part_of(of, stamp, state.KIND), part_of(of, stamp, state.THREAD)
            if kind == state.PRODUCTS and other == thread:
                continue
            at = part_of(of, stamp, state.AT)
            me, what = context.warp * 32 + lane, shadow.EARLY_COLUMN
            new = report(checks, reports, what, i, me, np.uint64(column), NO_SPACE, at, other, 1)
            if new >= 0:
                reports[new].other_cta = kind


@njit(types.void(_C, *[_INT] * 4))
def _writes(checks, first, end, quarters, number):
    a = asynchronous_at(checks.asynchronous, 0)
    for q in range(QUARTERS):
        if quarters >> q & 1:
            for column in range(first, min(end, COLUMNS)):
                a.columns[q * COLUMNS + column] = stamp_of(number)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 4))
def moves_columns(checks, reports, context, i, k, lane, what):
    """TENSOR_LOADS and TENSOR_STORES: micro-operation k."""
    uop = _uops(context.uops, context.n_uops)[k]
    number, address = word_of(context, np.int64(uop.e), lane), word_of(context, np.int64(uop.a), lane)
    shape, first = uop.b & 0xFFFF, address & 0xFFFF
    width = np.int64(uop.d if shape == BY_LANES or shape == HALVES else 2 * uop.d)
    width *= 2 if uop.b & PACKED else 1
    parts = (first, first + uop.c) if shape == HALVES else (first, first)
    quarter = np.int64(1) << (number & 3)
    if what == state.TENSOR_LOADS:
        for part in parts:
            _reads(checks, checks, reports, context, i, lane, part, part + width, quarter, np.int64(-1))
        return
    waits = np.int64(asynchronous_at(checks.asynchronous, 0).stores_waited[context.warp])
    store = continued(checks, state.STORES, i, context.warp * 32 + lane, context.warp, waits)
    for part in parts:
        _writes(checks, part, part + width, quarter, store)


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 4))
def _multiplies(checks, of, reports, context, i, k, lane, product):
    """TENSOR_MULTIPLY, micro-operation k: the part of the product of one lane in the CTA `of`."""
    uops = _uops(context.uops, context.n_uops)
    head, how = uops[k], uops[k + 1]
    kind, flags = np.int64(how.d & 0xFF), np.int64(how.d >> 8)
    what = word_of(context, np.int64(head.c), lane)
    n, n_ctas = (what >> 17 & 63) * 8, 2 if flags & _PAIR else 1
    m = ((what >> 27 & 3) * 128 if kind >= MXF8F6F4 else (what >> 24 & 31) * 16) // n_ctas
    of_a, of_b = FORMATS[kind, what >> 7 & 7], FORMATS[kind, what >> 10 & (3 if kind >= MXF4 else 7)]
    length, folded = DEPTHS[kind], flags & _STATIONARY != 0 or (n_ctas == 2 and flags & _SPARSE == 0)
    thread = part_of(of, stamp_of(product), state.THREAD)
    first = word_of(context, np.int64(head.d), lane) & 0xFFFF
    width = n * m // 128 if folded and m < 128 else n
    if np.int64(lane_mask(context, head.e)) >> lane & 1:
        _reads(checks, of, reports, context, i, lane, first, first + width, _EVERY, thread)
    if flags & _IN_TENSOR_MEMORY:
        place = word_of(context, np.int64(head.a), lane) & 0xFFFF
        columns = length // (tensor_packing(kind, of_a) & 0xFF)
        _reads(checks, of, reports, context, i, lane, place, place + columns, _EVERY, thread)
    else:
        descriptor = long_of(context, np.int64(head.a), lane)
        layout = line_bytes_of(descriptor) | (what >> 15 & 1) << 8 | atom_of(descriptor) << 9
        extent = m << 9 | length << 18 | (shared_packing(kind, of_a) & 0xFF) << 27
        reads_matrix(checks, of, reports, context, i, lane, descriptor, layout, extent, product)
    if kind >= MXF8F6F4:  # the scales of 32 rows, or columns, in each
        for part in range(2):
            place = word_of(context, np.int64(how.b if part else how.a), lane) & 0xFFFF
            columns = ((n // 2 if folded and m < 128 else n) if part else m) + 31 >> 5
            _reads(checks, of, reports, context, i, lane, place, place + columns, _EVERY, thread)
    if flags & _SPARSE:  # the metadata, in one column or two; B is twice as deep as what is stored of A
        is_wide = kind == F16 or kind == TF32
        place = (word_of(context, np.int64(uops[k + 4].d), lane) & 0xFFFF) + (what & 3 if is_wide else 0)
        _reads(checks, of, reports, context, i, lane, place, place + (1 if is_wide else 2), _EVERY, thread)
        length *= 2
    descriptor = long_of(context, np.int64(head.b), lane)
    layout = line_bytes_of(descriptor) | (what >> 16 & 1) << 8 | atom_of(descriptor) << 9
    extent = n // n_ctas << 9 | length << 18 | (shared_packing(kind, of_b) & 0xFF) << 27
    if flags & _MASKED:
        extent |= long_of(context, np.int64(uops[k + 3].e), lane) >> 56 & 63
    reads_matrix(checks, of, reports, context, i, lane, descriptor, layout, extent, product)
    _writes(of, first, first + width, _EVERY, product)


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 4))
def _copies(checks, of, reports, context, i, k, lane, copy):
    """TENSOR_COPY, micro-operation k, of one lane in the CTA `of`."""
    uop = _uops(context.uops, context.n_uops)[k]
    first = word_of(context, np.int64(uop.a), lane) & 0xFFFF
    descriptor = long_of(context, np.int64(uop.b), lane)
    lines, chunks = np.int64(uop.c >> 8), np.int64(uop.c & 0xFF)
    layout = line_bytes_of(descriptor) | atom_of(descriptor) << 9
    extent = lines << 9 | chunks << 18 | np.int64(1) << 27
    reads_matrix(checks, of, reports, context, i, lane, descriptor, layout, extent, copy)
    _writes(of, first, first + 4 * chunks, _EVERY, copy)


@njit(types.void(_C, _C, _REPORTS, _X, *[_INT] * 4))
def _changes(checks, of, reports, context, i, k, lane, number):
    """An operation of one lane in the CTA `of`, where it has a number: a product, a copy, or a shift of 8 columns."""
    uop = _uops(context.uops, context.n_uops)[k]
    if uop.op == TENSOR_MULTIPLY:
        _multiplies(checks, of, reports, context, i, k, lane, number)
    elif uop.op == TENSOR_COPY:
        _copies(checks, of, reports, context, i, k, lane, number)
    else:
        first, thread = (
            word_of(context, np.int64(uop.a), lane) & 0xFFFF,
            part_of(of, stamp_of(number), state.THREAD),
        )
        _reads(checks, of, reports, context, i, lane, first, first + 8, _EVERY, thread)
        _writes(of, first, first + 8, _EVERY, number)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def changes_columns(checks, reports, context, i, k, lane):
    """TENSOR_MULTIPLY, TENSOR_COPY and TENSOR_SHIFT: micro-operation k of one lane, in its CTA or in both of a pair."""
    uops = _uops(context.uops, context.n_uops)
    op, thread = uops[k].op, context.warp * 32 + lane
    is_pair = uops[k].c & PAIR != 0
    if op == TENSOR_MULTIPLY:
        is_pair = uops[k + 1].d >> 8 & _PAIR != 0
    elif op == TENSOR_COPY:
        is_pair = uops[k].d & PAIR != 0
    number = continued(checks, state.PRODUCTS, i, thread, np.int64(state.OPEN), 0)
    _changes(checks, checks, reports, context, i, k, lane, number)
    if is_pair and is_there(checks, checks.rank ^ 1):
        of = member(checks, checks.rank ^ 1)
        other = continued(of, state.PRODUCTS, i, thread | OF_OTHER, np.int64(state.OPEN), 0)
        link(checks, number, of, other)
        _changes(checks, of, reports, context, i, k, lane, other)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def allocates(checks, reports, context, i, k, lane):
    """ALLOCATES: micro-operation k."""
    uop = _uops(context.uops, context.n_uops)[k]
    a = asynchronous_at(checks.asynchronous, 0)
    first, n = word_of(context, np.int64(uop.d), lane), word_of(context, np.int64(uop.a), lane)
    for unit in range(first // layouts.UNIT, (first + n + layouts.UNIT - 1) // layouts.UNIT):
        a.allocated_at[unit] = i + 1
    if a.permit_given_at and checks.what & shadow.MEMORY:
        at, me = np.int64(a.permit_given_at - 1), context.warp * 32 + lane
        report(checks, reports, shadow.NO_PERMIT, i, me, np.uint64(0), NO_SPACE, at, 0, 1)


@njit(types.void(_C, _REPORTS, _X, *[_INT] * 3))
def frees(checks, reports, context, i, k, lane):
    """FREES: micro-operation k."""
    uop = _uops(context.uops, context.n_uops)[k]
    first, n = word_of(context, np.int64(uop.a), lane), word_of(context, np.int64(uop.b), lane)
    _reads(checks, checks, reports, context, i, lane, first, first + n, _EVERY, np.int64(-1))
    a = asynchronous_at(checks.asynchronous, 0)
    for q in range(QUARTERS):
        for column in range(first, min(first + n, COLUMNS)):
            a.columns[q * COLUMNS + column] = 0


@njit(types.void(_C, _REPORTS, _X))
def left_columns(checks, reports, context):
    """The CTA has ended: tensor memory that it has not freed."""
    if context.tensor_memory == np.uint64(0) or checks.what & shadow.MEMORY == 0:
        return
    a = asynchronous_at(checks.asynchronous, 0)
    units = flat_i64(context.tensor_memory, 1)[0]
    for unit in range(state.UNITS):
        at = np.int64(a.allocated_at[unit]) - 1
        if units >> unit & 1 and at >= 0:
            what = shadow.NOT_FREED
            column = np.uint64(unit * layouts.UNIT)
            report(checks, reports, what, at, 0, column, NO_SPACE, -1, 0, layouts.UNIT)
