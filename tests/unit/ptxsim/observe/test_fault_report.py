"""The error of a timed launch that a fault ended: code, line, help, and where in the grid and on the GPU it was."""

import re

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<5>;
	.reg .b64 %d<4>;
	.reg .pred %p<3>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.y;
	setp.eq.u32 %p1, %r1, 1;
	setp.eq.and.u32 %p2, %r2, 3, %p1;
"""


def reported(instruction: str) -> Diagnostic:
    """The error of two CTAs of 8 x 4 threads, where only the last row of the second has line 14."""
    kernel = parse(f"{HEAD}\t@%p2 {instruction}\n\tret;\n}}\n", "k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(kernel, 2, (8, 4), [np.zeros(4, np.uint32)])
    (problem,) = caught.value.diagnostics
    assert problem.line == 14
    return problem


@pytest.mark.parametrize(
    ("instruction", "code", "what"),
    [
        ("ld.global.u32 %r3, [%d1+16];", "E404", "access out of bounds"),
        ("ld.global.u32 %r3, [%d1+2];", "E405", "misaligned access"),
        ("trap;", "E414", "trap"),
    ],
)
def test_the_place_of_a_fault(instruction: str, code: str, what: str) -> None:
    problem = reported(instruction)
    assert problem.code == code
    assert problem.message.startswith(what)
    # CTAs are dealt to the SMs in turn, beginning with SM 1
    where = r"kernel 'k', CTA \(1,0,0\), thread \(0,3,0\), SM 2, cycle [1-9]\d*$"
    assert re.search(re.escape(f" in '@%p2 {instruction}': ") + where, problem.message), problem.message
