"""The types of a policy's functions, as the compiled loop takes them."""

from numba import types

from ptxsim.base import jit
from ptxsim.timing.sm_state import SM

PICK = types.int64(jit.record_type(SM), types.int64, types.int64)
WINDOW = types.int64(jit.record_type(SM), types.int64)
