"""Execution of one instruction: PTXPlus condition codes on all lanes at once, and the lane that a trap names."""

import numpy as np
import pytest
from uncompiled import in_python

import ptxsim
from ptxsim.execute.micro_operations import condition_mask
from ptxtool.base.diag import PtxError
from ptxtool.isa.conditions import condition
from ptxtool.parse import parse

FLAGS = (0xAAAA, 0xCCCC, 0xF0F0, 0xFF00)
"""Lane n of 16 has the flags n: bit 0 is Z, bit 1 S, bit 2 C, bit 3 O. One mask for each."""


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        # GPGPU-Sim's table of PTXPlus guards, one digit per value of the flags O C S Z = 0000, 0001, .. 1111
        ("lt", "0010001011011101"),
        ("le", "0110011011001100"),
        ("gtu", "1001100100110011"),
        ("neu", "1011101110111011"),
        ("ab", "0000101000001010"),
        ("nsf", "1100110011001100"),
    ],
)
def test_the_lanes_where_a_condition_holds(name: str, holds: str) -> None:
    found = condition(name)
    assert found is not None
    mask = in_python(condition_mask)(found.code, *FLAGS)
    assert "".join(str(mask >> lane & 1) for lane in range(16)) == holds


@pytest.mark.parametrize("code", [20, 27])
def test_a_code_without_a_name_holds_nowhere(code: int) -> None:
    assert in_python(condition_mask)(code, *FLAGS) == 0


TRAP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<2>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, FIRST;
	@%p1 trap;
	ret;
}
"""


def test_a_trap_is_that_of_the_first_lane_whose_guard_holds() -> None:
    words = np.zeros(1, np.uint32)
    with pytest.raises(PtxError) as caught:
        ptxsim.run(parse(TRAP.replace("FIRST", "5")).kernels["k"], 1, 32, [words])
    (problem,) = caught.value.diagnostics
    assert problem.line == 10
    assert "thread (5,0,0)" in problem.message
    ptxsim.run(parse(TRAP.replace("FIRST", "32")).kernels["k"], 1, 32, [words])  # no lane is there
