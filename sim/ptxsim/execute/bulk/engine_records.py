"""What the parts of a copy engine share: flags of transfers, and where its `TRANSFER` records lie.

The loop of a timed run has this linked in, so it depends on nothing that moves bytes.
"""

from ptxsim.base.jit import njit, record_type, types
from ptxsim.base.program import ENGINE_COPIES, TRANSFER, transfer_at

# flags of a transfer
TENSOR, TO_GLOBAL, GATHER, IM2COL, REDUCES, WITHIN_CLUSTER, ALONG_W, BY_32 = (1 << k for k in range(8))
# of one that reduces: the operation, the kind of its values (execute/codes.py), bytes of an element, subnormals kept
OPERATION_SHIFT, KIND_SHIFT, SIZE_SHIFT, KEEPS_SUBNORMALS = 8, 16, 24, 1 << 32


@njit(record_type(TRANSFER)(types.uint64, types.int64, types.int64))
def copy_at(transfers, sm, k):
    """Copy k of an SM's engine."""
    return transfer_at(transfers, 1 + sm * ENGINE_COPIES + k)
