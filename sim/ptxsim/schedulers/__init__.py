"""Warp schedulers: policies with one signature, `pick(sm, scheduler, candidates) -> warp`.

`candidates` is a mask of the warps of that scheduler that can issue now; the policy names one of them. It may keep
numbers in `sm.policy[scheduler, 0..7]`, zero at the start. The core calls it only when the named warp then issues.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba import types

from ptxsim import jit
from ptxsim.schedulers import gto, lrr, owf
from ptxsim.state import SM
from ptxtool.base.diag import error

SCHEDULERS: dict[str, Callable[[Any, int, int], int]] = {
    "lrr": lrr.pick,
    "gto": gto.pick,
    "owf": owf.pick,
}

SIGNATURE = types.int64(jit.record_type(SM), types.int64, types.int64)


@cache
def compiled(name: str) -> Any:
    """The compiled policy of that name. Raises `PtxError` E502 for a name that is none."""
    if name not in SCHEDULERS:
        known = ", ".join(sorted(SCHEDULERS))
        raise error("E502", f"no warp scheduler '{name}'", help=f"the schedulers are {known}")
    return numba.njit(SIGNATURE, **jit.OPTIONS)(SCHEDULERS[name])
