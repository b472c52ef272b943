"""For warp schedulers of your own: masks over warps, the warps that can issue, and `njit` (docs/schedulers.md)."""

from ptxsim.base.jit import bit, ctz, from_bit, njit, popcount
from ptxsim.timing.schedulers.warps import oldest, runnable

__all__ = ["bit", "ctz", "from_bit", "njit", "oldest", "popcount", "runnable"]
