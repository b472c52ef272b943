"""The special registers that are filled in when a warp starts, for blocks whose rows end anywhere in a warp."""

import numpy as np
import pytest

import ptxsim
from ptxtool.parse import parse

NAMES = (
    *(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *("laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"),
)
MASK = 0xFFFFFFFF

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
    mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y;
    mad.lo.u32 %r2, %r2, %r4, %r1; mad.lo.u32 %r2, %r2, %r3, %r0;
    ld.param.u64 %rd0, [a];
    mad.wide.u32 %rd1, %r2, {stride}, %rd0;
    {body}
    ret;
}}
"""


@pytest.mark.parametrize(
    "block", [(32, 1, 1), (5, 3, 7), (1, 33, 2), (48, 2, 1), (1, 1, 64), (31, 33, 1), (1024, 1, 1)]
)
def test_a_thread_reads_what_it_is(block: tuple[int, int, int]) -> None:
    body = "".join(
        f"mov.u32 %r5, %{name}; st.global.u32 [%rd1+{4 * k}], %r5;" for k, name in enumerate(NAMES)
    )
    kernel = parse(PTX.format(body=body, stride=4 * len(NAMES))).kernels["k"]
    n = int(np.prod(block))
    found = np.zeros((n, len(NAMES)), np.uint32)
    ptxsim.run(kernel, (1, 1, 1), block, [found])
    for thread in range(n):
        x, y, z = thread % block[0], thread // block[0] % block[1], thread // (block[0] * block[1])
        lane = thread % 32
        bit = 1 << lane
        masks = (bit, 2 * bit - 1, bit - 1, -bit & MASK, -2 * bit & MASK)
        assert tuple(found[thread]) == (x, y, z, *block, 0, 0, 0, 1, 1, 1, lane, *masks), thread


def test_ptxplus_packs_the_thread_into_the_first_register() -> None:
    """$r0 = tid.x + (tid.y << 16) + (tid.z << 26)."""
    text = """.version 1.4+
.target sm_10
.entry k ( .param .u32 a )
{
    .reg .u32 $r<8>;
    .reg .u32 $ofs<3>;
    mov.u32 $r1, $r0;
    and.b32 $r2, $r0, 0x0000ffff;
    shr.u32 $r3, $r0, 0x00000010;
    and.b32 $r3, $r3, 0x000003ff;
    shr.u32 $r4, $r0, 0x0000001a;
    mul.lo.u32 $r4, $r4, 0x00000003;
    add.u32 $r3, $r3, $r4;
    mul.lo.u32 $r3, $r3, 0x00000005;
    add.u32 $r2, $r2, $r3;
    shl.u32 $r2, $r2, 0x00000002;
    add.u32 $r2, $r2, s[0x0010];
    st.global.u32 [$r2], $r1;
    exit;
}
"""
    kernel = parse(text).kernels["k"]
    found = np.zeros(5 * 3 * 4, np.uint32)
    ptxsim.run(kernel, (1, 1, 1), (5, 3, 4), [found])
    assert list(found) == [x + (y << 16) + (z << 26) for z in range(4) for y in range(3) for x in range(5)]
