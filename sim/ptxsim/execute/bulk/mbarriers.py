"""The state of an mbarrier, and what operations make of it.

An mbarrier is 64 bits of shared memory whose layout PTX leaves open; here (execute/codes.py) they are the arrivals that
are missing, the arrivals of every phase, the bytes that are missing, the phase's parity, and in the last bit whether it
is of layout v1. A phase is complete when neither arrivals nor bytes are missing; the next one begins at once. What can
report that a copy has failed is not simulated, and so the conditional phase of layout v1 is the primary one.

Reference: PTX ISA, sections on `mbarrier`.
"""

from ptxsim.base.jit import njit, types
from ptxsim.execute.codes import (
    ARRIVE,
    BYTES_BITS,
    BYTES_SHIFT,
    COMPLETE_BYTES,
    DROP,
    EXPECT_BYTES,
    EXPECTED_SHIFT,
    INITIALISE,
    LAYOUT_SHIFT,
    PENDING_BITS,
    PHASE_SHIFT,
    STAY,
)

_COUNT = (1 << PENDING_BITS) - 1
_SIGN = 1 << (BYTES_BITS - 1)


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def next_state(state, what, count, n_bytes):
    """The state of an mbarrier after an operation."""
    if what & INITIALISE:  # n_bytes: 1 for layout v1
        return count | count << EXPECTED_SHIFT | -n_bytes << LAYOUT_SHIFT
    pending = state & _COUNT
    expected = (state >> EXPECTED_SHIFT) & _COUNT
    missing = (((state >> BYTES_SHIFT) & (2 * _SIGN - 1)) ^ _SIGN) - _SIGN
    phase = (state >> PHASE_SHIFT) & 1
    if what & EXPECT_BYTES:
        missing += n_bytes
    if what & COMPLETE_BYTES:
        missing -= n_bytes
    if what & DROP:
        expected = max(expected - count, 0)
    if what & ARRIVE:
        pending = max(pending - count, 0)
    if pending == 0 and missing == 0 and what & STAY == 0:
        pending = expected
        phase ^= 1
    missing &= 2 * _SIGN - 1
    layout = state >> LAYOUT_SHIFT << LAYOUT_SHIFT
    return pending | expected << EXPECTED_SHIFT | missing << BYTES_SHIFT | phase << PHASE_SHIFT | layout
