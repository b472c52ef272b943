"""Facts of the fifth generation: tensor memory's sizes, kinds of products, fields of its descriptors.

Reference: PTX ISA, "TensorCore 5th Generation Family Instructions": tensor memory, shared memory descriptor,
instruction descriptor, packing formats.
"""

import numpy as np

from ptxsim.base.jit import inline, njit, record_type, types
from ptxsim.base.program import CONTEXT, TENSOR_BYTES
from ptxsim.execute.tensor.mma import IEEE, NO_SPECIALS, ONE_NAN

_CONTEXT = record_type(CONTEXT)

LANES, COLUMNS, UNIT = 128, 512, 32
"""Lanes and columns of 32 bits; columns of the unit of allocation."""
KINDS = ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")
F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 = range(7)

_E4M3, _E5M2 = 3 | 4 << 8 | ONE_NAN << 16, 2 | 5 << 8 | IEEE << 16
_E2M3, _E3M2, _E2M1 = (m | e << 8 | NO_SPECIALS << 16 for m, e in ((3, 2), (2, 3), (1, 2)))
_TINY = [_E4M3, _E5M2, -1, _E2M3, _E3M2, _E2M1, -1, -1]
FORMATS = np.array(
    [
        [10 | 5 << 8 | IEEE << 16, 7 | 8 << 8 | IEEE << 16, -1, -1, -1, -1, -1, -1],
        [-1, -1, 10 | 8 << 8 | IEEE << 16, -1, -1, -1, -1, -1],
        _TINY,
        [8, 8 | 1 << 8, -1, -1, -1, -1, -1, -1],
        _TINY,
        [-1, _E2M1, -1, -1, -1, -1, -1, -1],
        [-1, _E2M1, -1, -1, -1, -1, -1, -1],
    ]
)
"""Formats (as in `mma.py`) by kind and the number in the instruction descriptor; -1: none."""
DEPTHS = np.array([16, 8, 32, 32, 32, 64, 64])
"""k of a dense product, by kind; half of that of a sparse one."""


@njit(types.int64(types.int64, types.int64))
def shared_packing(kind, code):
    """Elements in 16 bytes of shared memory | bits of one << 8 | low bits without a meaning << 16."""
    if kind == F16:
        return 8 | 16 << 8
    if kind == TF32:
        return 4 | 32 << 8 | 13 << 16
    if kind >= MXF4:
        return 32 | 4 << 8
    bits = 8 if kind == I8 else 1 + (code & 0xFF) + (code >> 8 & 0xFF)
    return 16 | bits << 8  # 4 and 6 bits: 16 elements, then nothing up to 16 bytes


@njit(types.int64(types.int64, types.int64))
def tensor_packing(kind, code):
    """Elements in a column of tensor memory | bits of one << 8 | low bits without a meaning << 16."""
    if kind == F16:
        return 2 | 16 << 8
    if kind == TF32:
        return 1 | 32 << 8 | 13 << 16
    if kind >= MXF4:
        return 8 | 4 << 8
    return (
        4 | 8 << 8 | (2 << 16 if code & 0xFF == 1 and kind != I8 else 0)
    )  # `.e2m1` is in the middle of its byte


@inline
def memory_of(context, number):
    """The address of the tensor memory of the CTA whose warp `number` executes."""
    return context.tensor_memory + np.uint64((context.warp - number) * TENSOR_BYTES)


@njit(types.int64(types.int64))
def line_bytes_of(descriptor):
    """Bytes of a line of a matrix in shared memory, by the swizzle."""
    mode = descriptor >> 61 & 7
    if mode == 1 or mode == 2:
        return 128
    return 64 if mode == 4 else 32 if mode == 6 else 16


@njit(types.int64(types.int64))
def atom_of(descriptor):
    """Lines of an atom: 4 where 32 bytes stay together, otherwise 8."""
    return 4 if descriptor >> 61 & 7 == 1 else 8


@njit(types.int64(*[types.int64] * 4))
def source_column(mask, m, n, column):
    """The column of B that a column of a product is made of, by a zero-column mask descriptor; -1: of zeros.

    Spans of columns that are used and that are zeros alternate in each of the 128 / m parts of the columns. (The
    manual's table has the lengths of both exchanged, against all of its examples.)
    """
    if mask >> 39 & 1:
        part = column // (n * m // 128)
        used, zeros = (mask >> 48 & 0xFF) + 1, (mask >> 40 & 0xFF) + 1
        position = (column % (n * m // 128) + (mask >> 8 * part & 0xFF)) % (used + zeros)
        if position < zeros if mask >> 32 + part & 1 else position >= used:
            return -1
    return column + (mask >> 56 & 63)


@njit(types.int64(types.int64, types.int64))
def is_mask(mask, m):
    """Whether a zero-column mask descriptor is one that the manual explains: a first span is skipped in part only."""
    if mask >> 56 & 63 > (16 if m == 32 else 32):
        return 0
    for part in range(128 // m):
        first = (mask >> (40 if mask >> 32 + part & 1 else 48) & 0xFF) + 1
        if mask >> 39 & 1 and mask >> 8 * part & 0xFF >= first:
            return 0
    return 1


@njit(types.int64(*[types.int64] * 3))
def metadata_place(kind, lane, chunk):
    """lane << 16 | column << 8 | bit of the 4 bits that say where the elements of a chunk of a row of A stand.

    `lane` is that of the row in D. Of 16-bit and 32-bit elements 16 lanes have the metadata of 16 rows, those of the
    first half of k in the lower eight; a word has a row's chunks in its lower half, those of eight rows later above.
    """
    if kind == F16 or kind == TF32:
        row = lane & 15
        return lane - row + row % 8 + 8 * (chunk // 4) << 16 | 16 * (row // 8) + 4 * (chunk % 4)
    return lane << 16 | chunk // 8 << 8 | 4 * (chunk % 8)


@njit(types.int64(*[types.int64] * 3))
def place_in_row(kind, index, j):
    """Where element j of a compressed row of A stands in the whole one, by the 4 bits of its chunk."""
    if kind == TF32:  # one of two, whose halves are 0 and 1 or 2 and 3
        return 2 * j + (index >> 1 & 1)
    if kind >= MXF4:  # two pairs of four
        return 8 * (j // 4) + 2 * (index >> 2 * (j // 2 % 2) & 3) + j % 2
    return 4 * (j // 2) + (index >> 2 * (j % 2) & 3)
