"""The lowering of `tcgen05`: what is refused, and why. (Values: `execute/tensor/test_tensor_memory.py`.)"""

import pytest

from ptxsim.lowering.lower import lower
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

TEXT = """.version 8.8
.target sm_100a
.visible .entry k()
{
	.reg .pred %p<2>;
	.reg .b16 %h<2>;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	INSTRUCTION
	ret;
}
"""


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        (
            "tcgen05.mma.sp.cta_group::1.kind::f16.ashift [%r1], [%r2], %d2, [%r4], %r3, %p1;",
            "rows of a sparse A that are shifted",
        ),
        (
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [64];",
            "this address of an mbarrier",
        ),
    ],
)
def test_what_is_refused(instruction: str, reason: str) -> None:
    kernel = parse(TEXT.replace("INSTRUCTION", instruction)).kernels["k"]
    with pytest.raises(PtxError, match=reason):
        lower(kernel, load_gpu("tesla-c2050"), (128, 1, 1))
