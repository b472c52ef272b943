"""Marks on the words of global memory that lanes access: a byte for each word of 32 bits, with READ, WRITTEN, and
REDUCED (by an atomic that is done later).

Runs that share CTAs among threads of the simulator keep them (functional/threads.py).
"""

import numpy as np

from ptxsim.base.jit import flat_u8, njit, record_type, types
from ptxsim.base.program import CONTEXT

_CONTEXT = record_type(CONTEXT)
READ, WRITTEN, REDUCED = 1, 2, 4


@njit(types.void(_CONTEXT, types.int64, types.uint64, types.int64))
def mark(context, mask, n_bytes, what):
    """Mark what lies in global memory of an access of `n_bytes` by lanes `mask`, whose pointers have been found."""
    size, of = np.uint64(context.global_bytes), context.global_memory
    marks = flat_u8(context.marks, (context.global_bytes + 3) >> 2)
    first, last = context.lane_pointer[0] - of, context.lane_pointer[31] - of
    side_by_side = 0 < context.stride <= np.int64(n_bytes)
    if side_by_side and first < size and last - first == np.uint64(31 * context.stride):
        for word in range(np.int64(first) >> 2, np.int64(last + n_bytes + np.uint64(3)) >> 2):
            marks[word] |= what
        return
    words = np.int64(n_bytes + np.uint64(3)) >> 2
    for n in range(32):
        at = context.lane_pointer[n] - of
        if (mask >> n) & 1 and at < size:
            first_word = np.int64(at) >> 2
            marks[first_word] |= what
            for word in range(first_word + 1, first_word + words):
                marks[word] |= what
