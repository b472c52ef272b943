"""The types of a policy's functions, as the compiled loop takes them: for narrow and for wide records of SMs."""

from ptxsim.base.jit import types
from ptxsim.timing.sm_state import MASK, SM, signatures

PICK = signatures(types.int64, SM, types.int64, MASK)
WINDOW = signatures(MASK, SM, types.int64)
