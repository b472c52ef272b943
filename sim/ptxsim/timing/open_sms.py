"""Which SMs CTA dispatch may launch a CTA on: a flag for each in `RUN`, and their number, which the cycle loop tests.

A flag and not a bit of a mask: a machine may have more SMs than a word has bits.
"""

from typing import Any

from ptxsim.base.jit import inline


@inline
def set_open(run: Any, index: int, is_open: int) -> None:
    """Note whether (1 or 0) SM `index` has room for a new CTA."""
    run.open_sms += is_open - run.is_open[index]
    run.is_open[index] = is_open
