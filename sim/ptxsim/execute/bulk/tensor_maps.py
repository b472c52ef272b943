"""Tensor maps: the 128 bytes that describe a tensor in global memory, and the boxes that are copied of it.

On hardware the layout is opaque; this one, in words of 32 bits, is the simulator's own: `TensorMap`, the functions
cuTensorMapEncode... and `tensormap.replace` write it, copies read it.

    0, 1     address of the tensor
    2        rank - 1 | element type << 4 | interleave << 8 | swizzle << 12 | atomicity << 16 | fill << 20
             | L2 promotion << 24 | im2col << 28 (1; along W 2; by 32 pixels along W 3): the numbers of
             `tensormap.replace`. Bit 21 is always 0: CUTLASS clears it in maps of small tensors, for drivers up to
             CUDA 13.1
    4-8      its sizes, 9-13 the box's, 14-18 the steps from element to element of a box, by dimension, innermost first;
             in im2col mode the box has channels and pixels
    20-27    bytes from one index to the next in dimensions 1 to 4: 64 bits each
    28-30    im2col: lower corner | upper corner << 16 of the pixels' bounding box, W first

Elements of 4 and 6 bits lie packed in global memory, and are copied in units of 2 or 16:

    b4x16       units of 2, a byte in shared memory too
    b4x16_p64   16 take 8 bytes of global memory, and 8 of 16 bytes of shared memory; loads only
    b6x16_p32   16 take 12 bytes of global memory, and 12 of 16 bytes of shared memory; stores (b6p2x16) read 16 bytes
                of shared memory, the lower 6 bits of each

An mbarrier has the bytes of global memory, as CUTLASS and DeepGEMM expect (TmaTransactionBytes, TMA_B_BYTES).

A swizzle exclusive-ors bits of the address in shared memory with higher ones: of chunks of 16 bytes, bit 4 with bit 7
(32 bytes), 4-5 with 7-8 (64 bytes), 4-6 with 7-9 (128 bytes). Where 32 of 128 bytes stay together (atomicity) it is
bits 5-6 with 7-8, where 64 do, 6 with 7 (a guess after the former).

Reference: PTX ISA, "Tensors" (tiled and im2col mode, swizzling), `tensormap.replace`; CUDA driver API, "Tensor Map
Object Management".
"""

import numpy as np

from ptxsim.base.jit import njit, types
from ptxsim.execute.codes import BFLOAT, FLOAT, SIGNED, UNSIGNED
from ptxsim.execute.tensor import descriptors

ADDRESS, PROPERTIES, SIZES, BOX, STEPS, STRIDES, CORNERS = 0, 2, 4, 9, 14, 20, 28
RANK_SHIFT, TYPE_SHIFT, INTERLEAVE_SHIFT, SWIZZLE_SHIFT, ATOMICITY_SHIFT, FILL_SHIFT = 0, 4, 8, 12, 16, 20
PROMOTION_SHIFT, IM2COL_SHIFT = 24, 28
FIELD = 15
"""The mask of such a field."""

TYPE_NAMES = (
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "f32.ftz",
    "f64",
    "bf16",
    "tf32",
    "tf32.ftz",
    "b4x16",
    "b4x16_p64",
    "b6x16_p32",
)
"""Element types by their numbers."""
B4X16, B4X16_P64 = 13, 14
"""The first type of elements of less than a byte, and the one that is only loaded."""
UNIT_ELEMENTS = np.array([1] * 13 + [2, 16, 16], np.int64)
"""How many elements are copied together. All other numbers are those of such a unit."""
ELEMENT_BYTES = np.array([1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 1, 16, 16], np.int64)
"""In shared memory."""
GLOBAL_BYTES = np.array([1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 1, 8, 12], np.int64)
ELEMENT_KINDS = np.array(
    [
        UNSIGNED,
        UNSIGNED,
        UNSIGNED,
        SIGNED,
        UNSIGNED,
        SIGNED,
        FLOAT,
        FLOAT,
        FLOAT,
        FLOAT,
        BFLOAT,
        FLOAT,
        FLOAT,
        UNSIGNED,
        UNSIGNED,
        UNSIGNED,
    ],
    np.int64,
)
NANS = np.array(
    [0] * 6 + [0x7FFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FF8 << 48, 0x7FFF, 0x7FFFFFFF, 0x7FFFFFFF] + [0] * 3,
    np.int64,
)
"""guess: the bits of the NaN that fills elements outside of a tensor of floating-point numbers."""


@njit(types.int64(types.int64, types.int64, types.int64))
def swizzled(address, mode, atomicity):
    """The address at which a chunk of 16 bytes lies in shared memory, by a map's swizzle (0-3) and atomicity (0-3)."""
    if mode == 0:
        return address
    if atomicity == 3:
        return address ^ (address >> 7 & 1) << 6
    return descriptors.swizzled(address, 16 << mode, 0, 4 if atomicity else 8)
