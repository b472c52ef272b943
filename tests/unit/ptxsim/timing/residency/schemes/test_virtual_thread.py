"""The decision of Virtual Thread."""

from decided import prefers

from ptxsim.timing.residency.decisions import LAUNCH, SWAP
from ptxsim.timing.residency.schemes import virtual_thread


def test_a_ready_cta_comes_before_a_new_one() -> None:
    assert prefers(virtual_thread.decide, SWAP, LAUNCH)
