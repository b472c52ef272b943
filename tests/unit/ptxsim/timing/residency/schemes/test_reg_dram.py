"""The decision of Reg+DRAM, in both orders."""

from decided import prefers

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, SWAP
from ptxsim.timing.residency.schemes import reg_dram


def test_new_ctas_first() -> None:
    assert prefers(reg_dram.launch_first, SWAP, LAUNCH, FETCH)


def test_ready_ctas_first() -> None:
    assert prefers(reg_dram.ready_first, SWAP, FETCH, LAUNCH)
