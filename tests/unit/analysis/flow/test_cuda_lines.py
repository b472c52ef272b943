"""CUDA places of instructions from `.loc` directives."""

from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.parse import parse

TEXT = """.version 8.0
.target sm_80
.address_size 64
.file 1 "/home/me/a b.cu"
.file 2 "C:\\\\cuda\\\\math.h", 12, 34
.entry k()
{
	.reg .u32 %r<3>;
	mov.u32 %r0, 0;
	.loc 1 7 3
	mov.u32 %r1, 1;
	mov.u32 %r2, 2;
	.loc 2 90 0, function_name $L__info_string0, inlined_at 1 7 3
	mov.u32 %r2, 3;
	.loc 3 1 0
	mov.u32 %r2, 4;
	.loc 1 0 0
	ret;
}
.entry other()
{
	ret;
}
"""


def test_a_place_holds_up_to_the_next() -> None:
    kernels = parse(TEXT).kernels
    # a number without a `.file` is all there is; line 0 is code that the compiler made
    assert cuda_lines(kernels["k"]) == ("", "a b.cu:7", "a b.cu:7", "math.h:90", "3:1", "")
    assert cuda_lines(kernels["other"]) == ("",)
