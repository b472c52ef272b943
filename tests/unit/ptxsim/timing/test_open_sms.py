"""The SMs with room for a CTA, and their number."""

from typing import Any

import numpy as np

from ptxsim.base.jit import uncached
from ptxsim.timing import open_sms
from ptxsim.timing.sm_state import RUN


@uncached
def set_open(runs: Any, index: int, is_open: int) -> None:
    open_sms.set_open(runs[0], index, is_open)


def test_an_sm_counts_once() -> None:
    run = np.zeros(1, RUN)
    for index, is_open in ((3, 1), (127, 1), (3, 1), (64, 0), (127, 0), (127, 0), (64, 1)):
        set_open(run, index, is_open)
    assert np.flatnonzero(run["is_open"][0]).tolist() == [3, 64]
    assert int(run["open_sms"][0]) == 2
