"""Budgets of units: by hand, for a kernel in which at most two units are in use."""

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.demotion.unit_liveness import unit_liveness
from ptxtool.parse import parse

TEXT = """.version 7.0
.target sm_70
.address_size 64
.entry k() {
.reg .b32 %r<3>;
mov.u32 %r0, 1;
mov.u32 %r1, 2;
add.u32 %r0, %r0, %r1;
st.shared.u32 [0], %r0;
ret;
}
"""


def budget(limit: int) -> UnitBudget:
    return UnitBudget(unit_liveness(parse(TEXT).kernels["k"]), limit)


def test_what_is_admitted() -> None:
    two, three = budget(2), budget(3)
    assert [two.admits(i, 0b100) for i in range(5)] == [True, True, False, True, True]
    assert all(three.admits(i, 0b100) for i in range(5))
    assert two.admits(2, 0b11), "these are in use already"


def test_an_extension_is_whole_or_not_at_all() -> None:
    two = budget(2)
    assert not two.extend(0, 2, 0b100)
    assert two.before == [0, 0b1, 0b11, 0b1, 0]
    assert two.extend(3, 4, 0b100)
    assert two.before == [0, 0b1, 0b11, 0b101, 0b100]
    assert not two.admits(3, 0b1000)
