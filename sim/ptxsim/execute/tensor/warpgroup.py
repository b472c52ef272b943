"""`wgmma`: a warp's part of a product of a warp group, 16 of its 64 rows, and when it is done.

A warp multiplies its 16 rows when it executes the instruction: B, and A unless it lies in the warp's registers, are in
shared memory, which the program must not change before it has waited. Waiting for a group is a barrier of the four
warps too, because a product is complete only when all of them have executed it (barriers 16 and up).

With `CONTEXT.late_products` a product is kept instead (its descriptors and whether it adds are those of its
instruction) until a wait covers it, the latest time that PTX allows: what reads the result without waiting, or changes
A or B too early, gets a wrong result. A warp keeps at most KEPT_ENTRIES products, and the oldest completes
for another one; its words are how many it keeps, how many groups have ended, and the products: micro-operation, number
of the group, descriptors of A and B, whether D is added, the warp's place in its group.

WARPGROUP is followed by OPERANDS: four describe the product, in this order,

    d registers of D, a registers of A (0: it has a descriptor), b descriptor of B, c that of A, e predicate: D is added
    d n, a k, b kind, c format of A, e format of B
    d format of D, a products of a group, b unit bits | result bits << 8, c flags, e row of the warp's number in the CTA
    d row of the metadata, a their arrangement (0: A is dense), b selector, c A's and e B's packing in shared memory

the first is WARPGROUP itself; then one per register with its row in D and A. Fragments are those of `mma` for 16 rows
and n columns; the metadata are those of `mma.sp`.

Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import array_of, ctz, flat_f64, flat_i64, njit, record_type, records, rows_u32, types
from ptxsim.base.program import CONTEXT, ENTRY_WORDS, KEPT_ENTRIES, KEPT_WORDS, UOP
from ptxsim.execute.boundary import boundary
from ptxsim.execute.codes import WARPGROUP, WARPGROUP_GROUP
from ptxsim.execute.lanes import lane_mask, long_of, row32, word_of
from ptxsim.execute.tensor.descriptors import load_matrix
from ptxsim.execute.tensor.mma import FLOATS, compressed_column
from ptxsim.execute.tensor.tiles import (
    A_POWERS,
    A_VALUES,
    B_POWERS,
    B_VALUES,
    COLUMNS,
    DEPTH,
    HALF_BITS,
    RESULT,
    SCRATCH_WORDS,
    SUMS,
    UNITS,
    half_bits,
    multiply_floats,
    multiply_integers,
    negate_a,
    put_element,
    set_aside,
    single_bits,
)

_CONTEXT = record_type(CONTEXT)
_UOPS = array_of(UOP)
_uops = records(UOP)

# flags of a product
A_ACROSS, B_ACROSS, NEGATES_A, NEGATES_B, SATURATES = 1, 2, 4, 8, 16
DESCRIBING = 4  # micro-operations before those of the registers
GROUP_BARRIERS = 16  # the number of the first warp group's barrier

_WARP_ROWS = 16
# bytes of a line by the descriptor's bits 62 and 63: no swizzle, 128, 64, 32 bytes
_LINE_BYTES = np.array([16, 128, 64, 32])


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64))
def _read_a(context, uops, at, columns):
    """Decode A's fragment."""
    words = rows_u32(context.r32, context.total_rows32)
    kind, code = np.int64(uops[at + 1].b), np.int64(uops[at + 1].c)
    bits, shift = np.int64(uops[at + 3].c >> 8 & 0xFF), np.int64(uops[at + 3].c >> 16)
    per_register = 32 // bits
    mask = (np.int64(1) << bits) - 1
    for r in range(uops[at].a):
        row = row32(context, np.int64(uops[at + DESCRIBING + r].a))
        for lane in range(32):
            word = np.int64(words[row, lane])
            line = lane // 4 + 8 * (r % 2)
            for j in range(per_register):
                column = r // 2 * 4 * per_register + lane % 4 * per_register + j
                if column < columns:
                    place = line * DEPTH + column
                    value = (word >> j * bits & mask) >> shift
                    put_element(context.tile_scratch, A_VALUES + place, A_POWERS + place, value, kind, code)


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64))
def _expand(context, uops, at, k):
    """Spread the elements of a compressed A over the whole rows."""
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    for row in range(_WARP_ROWS):
        v, p = A_VALUES + row * DEPTH, A_POWERS + row * DEPTH
        set_aside(context.tile_scratch, row, k)
        for j in range(k // 2):
            column = compressed_column(context, uops, at + 1, row, j, k // 2)
            values[v + column], values[p + column] = values[SUMS + j], values[UNITS + j]


@njit(types.int64(types.int64, types.int64))
def _place_of_result(lane, i):
    """Where element i of a lane's fragment of D lies in the scratch."""
    return RESULT + (lane // 4 + 8 * (i // 2 % 2)) * COLUMNS + i // 4 * 8 + lane % 4 * 2 + i % 2


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64))
def _read_result(context, uops, at, adds):
    """Decode D's fragment; zeros where nothing is added to it."""
    words = rows_u32(context.r32, context.total_rows32)
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    if not adds:
        for row in range(_WARP_ROWS):
            for c in range(uops[at + 1].d):
                values[RESULT + row * COLUMNS + c] = 0.0
        return
    code, kind = np.int64(uops[at + 2].d), np.int64(uops[at + 1].b)
    is_half = kind == FLOATS and code & 0xFF == HALF_BITS
    for r in range(uops[at].d):
        row = row32(context, np.int64(uops[at + DESCRIBING + r].d))
        for lane in range(32):
            word = np.int64(words[row, lane])
            for j in range(2 if is_half else 1):
                place = _place_of_result(lane, 2 * r + j if is_half else r)
                bits = word >> 16 * j & 0xFFFF if is_half else word
                put_element(context.tile_scratch, place, SUMS, bits, kind, code)


@njit(types.void(_CONTEXT, _UOPS, types.int64))
def _write_result(context, uops, at):
    words = rows_u32(context.r32, context.total_rows32)
    values = flat_f64(context.tile_scratch, SCRATCH_WORDS)
    code, kind = np.int64(uops[at + 2].d), np.int64(uops[at + 1].b)
    is_half = kind == FLOATS and code & 0xFF == HALF_BITS
    for r in range(uops[at].d):
        row = row32(context, np.int64(uops[at + DESCRIBING + r].d))
        for lane in range(32):
            place = _place_of_result(lane, 2 * r if is_half else r)
            if is_half:
                bits = half_bits(context.tile_scratch, place)
                bits |= half_bits(context.tile_scratch, place + 1) << 16
            elif kind != FLOATS:
                bits = np.int64(values[place])
            else:
                bits = single_bits(context.tile_scratch, place)
            words[row, lane] = np.uint32(bits & 0xFFFFFFFF)


@njit(types.void(_CONTEXT, _UOPS, types.int64, types.int64, types.int64, types.int64, types.int64))
def _multiply(context, uops, at, of_a, of_b, adds, rank):
    """Execute the product of micro-operation `at` with these descriptors; the warp's rows of A begin at 16 `rank`."""
    scratch = context.tile_scratch
    head, shape, how, layout = uops[at], uops[at + 1], uops[at + 2], uops[at + 3]
    n, k, kind, flags = np.int64(shape.d), np.int64(shape.a), np.int64(shape.b), np.int64(how.c)
    columns = k // 2 if layout.a else k
    if head.a:
        _read_a(context, uops, at, columns)
    else:
        if not load_matrix(
            context,
            of_a,
            _LINE_BYTES[of_a >> 62 & 3],
            flags & A_ACROSS != 0,
            _WARP_ROWS * rank,
            _WARP_ROWS,
            columns,
            np.int64(layout.c),
            kind,
            np.int64(shape.c),
            A_VALUES,
            A_POWERS,
            DEPTH,
            1,
            8,
        ):
            return
    if layout.a:
        _expand(context, uops, at, k)
    if not load_matrix(
        context,
        of_b,
        _LINE_BYTES[of_b >> 62 & 3],
        flags & B_ACROSS != 0,
        0,
        n,
        k,
        np.int64(layout.e),
        kind,
        np.int64(shape.e),
        B_VALUES,
        B_POWERS,
        1,
        COLUMNS,
        8,
    ):
        return
    if (flags & NEGATES_A != 0) != (flags & NEGATES_B != 0):
        negate_a(scratch, _WARP_ROWS, k)
    _read_result(context, uops, at, adds)
    if kind == FLOATS:
        unit_bits, result_bits = np.int64(how.b & 0xFF), np.int64(how.b >> 8)
        is_half = np.int64(how.d & 0xFF == HALF_BITS)
        multiply_floats(scratch, _WARP_ROWS, n, k, min(np.int64(how.a), k), unit_bits, result_bits, is_half)
    else:
        multiply_integers(scratch, _WARP_ROWS, n, k, flags & SATURATES)
    _write_result(context, uops, at)


@njit(types.void(_CONTEXT, _UOPS))
def _complete_oldest(context, uops):
    """Execute the oldest product that the warp has kept."""
    kept = flat_i64(context.late_products + np.uint64(context.warp * KEPT_WORDS * 8), KEPT_WORDS)
    _multiply(context, uops, kept[2], kept[4], kept[5], kept[6], kept[7])
    kept[0] -= 1
    for j in range(kept[0] * ENTRY_WORDS):
        kept[2 + j] = kept[2 + j + ENTRY_WORDS]


@njit(types.void(_CONTEXT, _UOPS, types.int64))
def _start(context, uops, at):
    """WARPGROUP."""
    head = uops[at]
    of_a = np.int64(0) if head.a else long_of(context, np.int64(head.c), 0)
    of_b = long_of(context, np.int64(head.b), 0)
    adds = np.int64(lane_mask(context, head.e)) & 1
    rank = word_of(context, np.int64(uops[at + 2].e), 0) & 3
    if context.late_products == 0:
        _multiply(context, uops, at, of_a, of_b, adds, rank)
        return
    kept = flat_i64(context.late_products + np.uint64(context.warp * KEPT_WORDS * 8), KEPT_WORDS)
    if kept[0] == KEPT_ENTRIES:
        _complete_oldest(context, uops)
    entry = 2 + kept[0] * ENTRY_WORDS
    kept[entry], kept[entry + 1], kept[entry + 2] = at, kept[1], of_a
    kept[entry + 3], kept[entry + 4], kept[entry + 5] = of_b, adds, rank
    kept[0] += 1


@njit(types.int64(_CONTEXT, types.int64, types.int64))
def _warpgroup(context, at, mask):
    """One of these micro-operations. 0 after a fault."""
    uops = _uops(context.uops, context.n_uops)
    op = uops[at].op
    if mask == 0:
        return 1
    if op == WARPGROUP:
        _start(context, uops, at)
        return np.int64(context.error == 0)
    kept = flat_i64(context.late_products + np.uint64(context.warp * KEPT_WORDS * 8), KEPT_WORDS)
    if op == WARPGROUP_GROUP:
        if context.late_products:
            kept[1] += 1
        return 1
    if context.late_products:
        while kept[0] and kept[3] < kept[1] - uops[at].e and context.error == 0:
            _complete_oldest(context, uops)
    number = word_of(context, np.int64(uops[at].a), ctz(mask))
    context.barrier, context.barrier_threads = GROUP_BARRIERS + number // 4, 128
    context.barrier_votes = np.int64(0)
    return np.int64(context.error == 0)


warpgroup: Any = boundary("warpgroup", _warpgroup, part="warpgroup")
"""`warpgroup(context, k, mask)`: micro-operation k, one of WARPGROUP, WARPGROUP_GROUP and WARPGROUP_WAIT."""
