"""CTAs that wait for loads on one SM with one place for a CTA: for the tests of CTA switching.

Loads take 40000 cycles, so that what happens can be seen by hand. Kernels are `microkernels.switching.waiting_kernel`:
a CTA loads, waits, stores, and ends with the acknowledgement, as far away again.
"""

from typing import Any

import numpy as np
from microkernels.switching import LONG, waiting_kernel, with_lines

import ptxsim
import ptxtool
from ptxtool.formats.gpu import Gpu

LIVE = 20
"""Registers that are live in a warp while it waits."""


def one_place(*settings: str, far: bool = True) -> Gpu:
    """One SM with a place for one CTA, and an ACRF of 1024 registers: a warp of 32."""
    own = ("sm.count=1", "sm.ctas=1", "switching.acrf_registers=1024", *(LONG if far else ()))
    return with_lines((*own, *settings))


def wait(n_ctas: int, *settings: str, live: int = LIVE, warps: int = 1, **options: Any) -> Any:
    """Run so many CTAs with so many registers live while they wait."""
    kernel = ptxtool.parse(waiting_kernel(live)).kernels["k"]
    memory = np.zeros(32 * warps * n_ctas, np.uint32)
    given = {"gpu": one_place(*settings), "switching": "finereg", "registers": 32} | options
    result = ptxsim.launch(kernel, n_ctas, 32 * warps, [memory], **given)
    thread = np.arange(len(memory), dtype=np.uint32)
    assert (memory == np.uint32(live - 1) * thread + np.uint32(live * (live - 1) // 2)).all()
    return result
