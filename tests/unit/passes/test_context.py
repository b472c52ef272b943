"""Which machine a pass has: the caller's, that of `.target`, or none."""

import pytest

from ptxtool.analysis.occupancy.cuda_limits import cuda_target
from ptxtool.parse import parse
from ptxtool.passes.context import PassContext


@pytest.mark.parametrize(
    ("target", "name"),
    [("sm_52", "sm_52"), ("compute_90a", "sm_90a"), ("sm_13", None), ("sm_10, debug", None)],
)
def test_the_target_without_a_caller(target: str, name: str | None) -> None:
    found = PassContext().machine(parse(f".version 3.0\n.target {target}\n"))
    assert (found and found.name) == name


def test_the_caller_goes_first() -> None:
    module = parse(".version 8.0\n.target sm_52\n")
    assert PassContext(cuda_target("sm_90")).machine(module) == cuda_target("sm_90")
