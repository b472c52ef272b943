"""The decision of FineReg, in both orders of the paper."""

from decided import prefers

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, LOOK_UP, SWAP
from ptxsim.timing.residency.schemes import finereg


def test_new_ctas_first() -> None:
    assert prefers(finereg.launch_first, SWAP, LAUNCH, LOOK_UP, FETCH)


def test_ready_ctas_first() -> None:
    assert prefers(finereg.ready_first, SWAP, FETCH, LOOK_UP, LAUNCH)
