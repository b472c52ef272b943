"""Register schemes that switch CTAs: a decision each (`residency/decisions.py`), one file per paper."""

from collections.abc import Callable
from functools import cache
from typing import Any

from ptxsim.base import jit
from ptxsim.timing.residency.decisions import DECIDE
from ptxsim.timing.residency.schemes import finereg, reg_dram, virtual_thread

DECISIONS: dict[tuple[str, str], Callable[[Any], int]] = {
    ("virtual-thread", "launch-first"): virtual_thread.decide,
    ("virtual-thread", "ready-first"): virtual_thread.decide,
    ("reg-dram", "launch-first"): reg_dram.launch_first,
    ("reg-dram", "ready-first"): reg_dram.ready_first,
    ("finereg", "launch-first"): finereg.launch_first,
    ("finereg", "ready-first"): finereg.ready_first,
}


def built_in_decision(kind: str, order: str) -> Any:
    """The compiled decision of a kind of switching; that of Virtual Thread, never called, where there is none."""
    return _compiled(DECISIONS.get((kind, order), virtual_thread.decide))


@cache
def _compiled(function: Callable[[Any], int]) -> Any:
    return jit.njit(DECIDE)(function)
