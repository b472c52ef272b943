"""The lowering of `wgmma`: what the timing model sees. (Values: `execute/tensor/test_warpgroup.py`.)"""

import pytest

from ptxsim.base.program import BARRIER
from ptxsim.execute import codes
from ptxsim.lowering.lower import lower
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse

TEXT = """.version 8.0
.target sm_90a
.visible .entry k()
{
	.reg .b32 %r<8>;
	.reg .b64 %d<3>;
	wgmma.fence.sync.aligned;
	INSTRUCTION
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	ret;
}
"""
PRODUCT = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, %d1, %d2, 1, 1, SIGN, 0, 0;"
)


def test_a_product_occupies_a_tensor_core() -> None:
    """A warp's 16 by 8 by 16 products at 512 in a cycle of an H100: 4 cycles."""
    program = lower(
        next(iter(parse(TEXT.replace("INSTRUCTION", PRODUCT.replace("SIGN", "1"))).kernels.values())),
        load_gpu("h100"),
        (128, 1, 1),
    )
    assert program.multiplies_tiles
    assert (program.instructions["latency"][1], program.instructions["interval"][1]) == (20, 4)
    assert program.instructions["kind"][3] == BARRIER
    kinds = [u for u in program.uops["op"].tolist() if codes.WARPGROUP <= u <= codes.WARPGROUP_WAIT]
    assert kinds == [codes.WARPGROUP, codes.WARPGROUP_GROUP, codes.WARPGROUP_WAIT]


def test_an_operand_that_has_to_be_a_number() -> None:
    kernel = parse(TEXT.replace("INSTRUCTION", PRODUCT.replace("SIGN", "%r4"))).kernels["k"]
    with pytest.raises(PtxError, match="an operand that has to be a number"):
        lower(kernel, load_gpu("tesla-c2050"), (128, 1, 1))
