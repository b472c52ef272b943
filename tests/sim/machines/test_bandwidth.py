"""What reaches the SMs of FineReg's machine of the 352.5 GB/s that its Table I names: docs/model/machine.md, 1.1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxtool.formats.gpu import load_gpu

GPU = "gtx980-finereg"
PEAK = 352.5e9
HEAD = """.version 4.0
.target sm_52
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
	.reg .b64 %l<8>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .pred %p1;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r2, %r3, %r1;
	ld.param.u64 %l0, [a];
	ld.param.u64 %l1, [b];
	mul.wide.u32 %l2, %r4, 4;
	add.s64 %l3, %l0, %l2;
	add.s64 %l4, %l1, %l2;
"""
COPY = "ld.global.u32 %r5, [%l3];\n\tst.global.u32 [%l4], %r5;\n\tret;\n}\n"
# y = 2 x + y
SAXPY = """ld.global.f32 %f1, [%l3];
	ld.global.f32 %f2, [%l4];
	fma.rn.f32 %f2, %f1, 0f40000000, %f2;
	st.global.f32 [%l4], %f2;
	ret;
}
"""
# stores only sums that are not there
READ = """ld.global.u32 %r5, [%l3];
	ld.global.u32 %r6, [%l4];
	add.u32 %r5, %r5, %r6;
	setp.eq.u32 %p1, %r5, 0;
	@%p1 st.global.u32 [%l4], %r5;
	ret;
}
"""


def _copy(a: Any, b: Any) -> Any:
    return a


def _unchanged(a: Any, b: Any) -> Any:
    return b


def _saxpy(a: Any, b: Any) -> Any:
    return 2 * a + b


@pytest.mark.parametrize(
    ("body", "kind", "expected", "words"),
    [(COPY, np.uint32, _copy, 2), (SAXPY, np.float32, _saxpy, 3), (READ, np.uint32, _unchanged, 2)],
    ids=["copy", "saxpy", "read"],
)
def test_streams_reach_four_fifths_of_the_peak(
    body: str, kind: Any, expected: Callable[[Any, Any], Any], words: int
) -> None:
    """4 MB in each of two buffers: of what is written, 2 MB at most are left in the L2 when the kernel ends."""
    n = 1 << 20
    kernel = ptxtool.parse(HEAD + "\t" + body).kernels["k"]
    a, b = np.arange(1, n + 1).astype(kind), np.full(n, 5, kind)
    wanted = expected(a, b)
    result = ptxsim.launch(kernel, n // 256, 256, [a, b], gpu=GPU)
    assert (b == wanted).all()
    seconds = result.cycles / (load_gpu(GPU).clocks.core_mhz * 1e6)
    assert 0.8 <= 4 * words * n / seconds / PEAK <= 1
